"""`python -m benchmarks`: the form of its figures. Whether they are good is for people to judge."""

import json
import os
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks import soak, solving, startup, training
from benchmarks.__main__ import app
from benchmarks.clock import rates
from benchmarks.ours import threaded
from benchmarks.peers import PEERS
from benchmarks.process import answer_of
from benchmarks.report import markdown_of, notes_of
from klondike_env.machine import cores
from klondike_env.rules import PRESETS

# A package that fails, with the number of cores it may use as its message.
FAILING = """
import os
import re

def make(name):
    raise OSError(f"{len(os.sched_getaffinity(0))} core, {os.environ['OMP_NUM_THREADS']} thread")
"""
# A package whose games are over after two steps; it fails on illegal actions.
PLAYING = """
class Env:
    def reset(self):
        self.left = 2
        return {"legal_actions": {7: None}}, 0

    def step(self, action):
        assert action == 7 and self.left > 0
        self.left -= 1
        return {"legal_actions": {7: None}}, 0

    def is_over(self):
        return self.left == 0

def make(name, config):
    print("welcome")
    return Env()
"""


# A solver that gives up on every second deal, starting with the first.
SOLVING = """
import enum, os

class SolveResult(enum.Enum):
    Impossible = 0
    CouldNotComplete = -2

class Solitaire:
    count = 0

    def load_solitaire(self, deck):
        assert len(deck) == 3 * 52

    def reset_game(self, draw_count):
        assert draw_count == self.draw_count == 3 and len(os.sched_getaffinity(0)) == 1

    def solve_fast(self, max_closed_count):
        Solitaire.count += 1
        return SolveResult.Impossible if Solitaire.count % 2 else SolveResult.CouldNotComplete
"""


def bench(*arguments):
    return CliRunner().invoke(app, ["--seconds", "0.01", *arguments])


def figures_of(file: Path, *arguments):
    shown = bench("--json", str(file), *arguments)
    assert shown.exit_code == 0, shown.output
    return json.loads(file.read_text())


def test_every_variant_is_measured_and_written_to_a_file_that_is_not_overwritten(tmp_path):
    file = tmp_path / "figures.json"
    figures = figures_of(file, "--only", "batched", "--only", "single", "--only", "vector")
    assert set(figures["klondike"]) == {"batched", "single", "vector"}
    rate, time = "steps_per_second", "microseconds_per_frame"
    for kind, key in {"batched": rate, "single": rate, "vector": time}.items():
        assert set(figures["klondike"][kind]) == set(PRESETS)
        assert all(figure[key] > 0 for figure in figures["klondike"][kind].values())
    assert figures["machine"]["versions"]["numpy"]
    assert figures["seconds"] == 0.01
    again = bench("--json", str(file))
    assert (again.exit_code, again.stderr) == (2, f"benchmarks: {file} exists; name another file\n")


def test_threads_are_compared_with_one():
    figures = threaded("draw1", 0.01)
    assert figures["threads"] == cores()
    one, many = figures["steps_per_second_one_thread"], figures["steps_per_second_all_threads"]
    assert figures["ratio"] == many / one > 0


@pytest.mark.skipif(find_spec("stable_baselines3") is None, reason="needs stable-baselines3")
def test_the_interface_of_stable_baselines3_is_measured_where_it_is_installed(tmp_path):
    figures = figures_of(tmp_path / "figures.json", "--only", "sb3")
    assert figures["klondike"]["sb3"]["microseconds_per_frame"] > 0


def test_what_is_not_installed_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.suite.has_sb3", lambda: False)
    monkeypatch.setattr("benchmarks.suite.is_installed", lambda name: False)
    figures = figures_of(tmp_path / "figures.json", "--only", "sb3", "--only", "peers")
    assert (figures["klondike"], figures["peers"]) == ({}, {})
    assert list(notes_of(figures)) == ["not installed, so left out: open_spiel, pgx, jumanji, envpool, rlcard"]


def test_the_start_is_measured_in_fresh_processes(tmp_path, monkeypatch):
    monkeypatch.setattr(startup, "REPEATS", 1)
    figures = figures_of(tmp_path / "figures.json", "--only", "startup")
    assert 0 < figures["startup"]["import_seconds"] < figures["startup"]["first_step_seconds"]


def test_a_cold_start_has_an_empty_cache_for_what_is_compiled(monkeypatch):
    monkeypatch.setattr(startup, "_FIRST_STEP", "import os; print(len(os.listdir(os.environ['NUMBA_CACHE_DIR'])))")
    assert startup.cold_start() == {"cold_compile_seconds": 0}


@pytest.mark.skipif(not soak._STATUS.exists(), reason="the system does not tell the resident memory")
def test_a_soak_plays_as_many_steps_as_wanted_and_tells_the_memory(tmp_path):
    figures = figures_of(tmp_path / "figures.json", "--only", "threaded", "--soak", "1")["klondike"]["soak"]
    assert 1_000_000 <= figures["steps"] < 1_100_000
    assert figures["megabytes_before"] > 10
    assert figures["megabytes_after"] > 10


def test_a_soak_tells_how_far_it_is(monkeypatch):
    monkeypatch.setattr(soak, "batched_play", lambda variant: lambda: 100_000)
    monkeypatch.setattr(soak, "resident_megabytes", lambda: 12.34)
    said = []
    assert soak.soak(2, said.append) == {"steps": 2_000_000, "megabytes_before": 12.34, "megabytes_after": 12.34}
    assert len(said) == 20
    assert said[2] == "soak: 0.3 of 2 million steps, 12.3 MB resident"


def test_what_cannot_be_measured_is_refused_in_one_line(monkeypatch, tmp_path):
    unknown = bench("--only", "bathed")
    known = "batched, threaded, single, vector, sb3, solver, startup, peers"
    assert (unknown.exit_code, unknown.stderr) == (2, f"benchmarks: no such measurement: 'bathed'; known: {known}\n")
    nowhere = bench("--json", str(tmp_path / "missing" / "figures.json"))
    assert nowhere.exit_code == 2
    assert nowhere.stderr.endswith("missing to write figures.json to; make it first\n")
    monkeypatch.setattr(soak, "_STATUS", tmp_path / "statm")
    no_memory = bench("--soak", "1")
    assert no_memory.exit_code == 2
    assert no_memory.stderr.endswith("statm, which this system does not have\n")


@pytest.fixture
def two_peers(tmp_path, monkeypatch):
    """Two peers, one that fails and one that plays."""
    (tmp_path / "pgx").mkdir()
    (tmp_path / "pgx" / "__init__.py").write_text(FAILING)
    (tmp_path / "pgx" / "experimental.py").write_text("auto_reset = None")
    (tmp_path / "jax.py").write_text("")
    (tmp_path / "rlcard.py").write_text(PLAYING)
    monkeypatch.syspath_prepend(tmp_path)
    for name in set(PEERS) - {"pgx", "rlcard"}:
        monkeypatch.delitem(PEERS, name)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system cannot hold a process to one core")
@pytest.mark.usefixtures("two_peers")
def test_a_peer_that_fails_is_reported_and_the_next_one_is_measured_on_one_core(tmp_path):
    figures = figures_of(tmp_path / "figures.json", "--only", "peers")
    assert figures["peers"]["pgx"] == {"what": PEERS["pgx"].what, "error": "OSError: 1 core, 1 thread"}
    assert figures["peers"]["rlcard"]["what"] == PEERS["rlcard"].what
    assert figures["peers"]["rlcard"]["steps_per_second"] > 0
    assert list(notes_of(figures)) == ["pgx failed: OSError: 1 core, 1 thread"]


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_that_is_installed_plays_as_many_steps_as_it_says(name):
    pytest.importorskip(PEERS[name].module)
    play = PEERS[name].play()
    assert play() == play() >= 100


def test_the_solver_is_measured_under_every_set_of_rules(tmp_path, monkeypatch):
    monkeypatch.setattr(solving, "has_peer", lambda: False)
    monkeypatch.setattr(solving, "MOST_POSITIONS", 1_000)
    figures = figures_of(tmp_path / "figures.json", "--only", "solver")
    assert list(figures["solver"]) == ["klondike_env"]
    assert list(figures["solver"]["klondike_env"]) == list(solving.RULES)
    for row in figures["solver"]["klondike_env"].values():
        assert row["deals"] == 1
        assert row["decided"] <= 1
        assert row["median_ms"] == row["mean_ms"] > 0
        assert row["nodes_per_second"] > 0
    assert list(notes_of(figures)) == ["not installed, so left out: pyksolve"]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system cannot hold a process to one core")
def test_the_other_solver_is_measured_on_one_core_and_its_failure_reported(tmp_path, monkeypatch):
    (tmp_path / "pyksolve").mkdir()
    (tmp_path / "pyksolve" / "__init__.py").write_text("")
    (tmp_path / "pyksolve" / "solver.py").write_text(SOLVING)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(solving, "RULES", {})
    figures = figures_of(tmp_path / "figures.json", "--only", "solver", "--seconds", "0.5")
    row = figures["solver"]["pyksolve"]["draw3"]
    assert (row["deals"], row["decided"], row["nodes_per_second"]) == (5, 2, None)
    assert row["mean_ms"] > 0
    assert figures["solver"]["pyksolve"]["draw1"] == {"error": "AssertionError"}
    assert list(notes_of(figures)) == ["pyksolve draw1 failed: AssertionError"]


def test_the_summary_of_a_solver_leaves_the_first_deal_out_of_the_times(monkeypatch):
    now, deals = [0.0], []
    monkeypatch.setattr(solving.time, "process_time", lambda: now[0])

    def solve_deal(deal):
        deals.append(deal)
        now[0] += 100.0 if deal == 123456 else (1.0, 2.0, 6.0)[deal]
        return solving.Found(deal != 1, 45)

    figures = {"deals": 3, "decided": 2, "median_ms": 2000.0, "mean_ms": 3000.0, "nodes_per_second": 15.0}
    assert solving.summary(solve_deal, 3) == figures
    assert deals == [123456, 0, 1, 2]


@pytest.mark.skipif(not solving.has_peer(), reason="pyksolve is not installed")
def test_pyksolve_decides_a_deal():
    assert solving.measure_peer("draw3", 0.1)["decided"] == 1


def test_the_answer_of_a_process_is_its_last_line_and_its_failure_an_error():
    program = "import os; print('noise'); print(os.environ['ANSWER'])"
    assert answer_of(["-c", program], ANSWER="[1, 2]") == [1, 2]
    with pytest.raises(RuntimeError, match=r"^KeyError: 'x'$"):
        answer_of(["-c", "{}['x']"])
    with pytest.raises(RuntimeError, match=r"^exit code 3$"):
        answer_of(["-c", "raise SystemExit(3)"])
    with pytest.raises(RuntimeError, match=r"^no answer after 0 seconds$"):
        answer_of(["-c", "import time; time.sleep(60)"], timeout=0.1)


def test_rates_take_turns_and_do_not_count_the_first_call():
    now, calls = [0.0], []

    def play_of(name, steps, duration):
        def play():
            calls.append(name)
            now[0] += 1000.0 if calls.count(name) == 1 else duration  # the first call compiles
            return steps

        return play

    assert rates([play_of("slow", 10, 2.0), play_of("fast", 30, 1.0)], 3.0, lambda: now[0]) == [5.0, 30.0]
    assert calls == ["slow", "fast"] * 4


def test_the_markdown_tables_hold_what_was_measured():
    figures = {
        "machine": {"processor": "Abacus", "cores": 2, "versions": {"python": "3.11.7", "numba": "0.68.1"}},
        "klondike": {
            "batched": {"draw1": {"steps_per_second": 2_345_678.0}, "draw3": {"steps_per_second": 12_345_678.0}},
            "single": {"draw1": {"steps_per_second": 81_234.0}},
            "vector": {"draw1": {"microseconds_per_frame": 0.8, "batch": 512}},
            "sb3": {"microseconds_per_frame": 1.25, "batch": 512, "variant": "draw1"},
            "threaded": {
                "draw1": {"steps_per_second_all_threads": 4e6, "ratio": 1.9, "threads": 2, "batch": 4096},
            },
            "soak": {"steps": 100_000_000, "megabytes_before": 200.04, "megabytes_after": 200.06},
        },
        "startup": {"import_seconds": 0.2512, "first_step_seconds": 1.5, "cold_compile_seconds": 61.26},
        "peers": {
            "open_spiel": {"what": "OpenSpiel solitaire", "steps_per_second": 100_000.0},
            "rlcard": {"what": "RLCard gin rummy", "steps_per_second": 950.0},
            "pgx": {"what": "Pgx 2048", "error": "OSError: broken"},
        },
        "solver": {
            "klondike_env": {
                "draw3": {
                    "deals": 30,
                    "decided": 29,
                    "median_ms": 0.12345,
                    "mean_ms": 12.3456,
                    "nodes_per_second": 2_345_678.0,
                },
            },
            "pyksolve": {
                "draw1": {"error": "OSError: broken"},
                "draw3": {
                    "deals": 30,
                    "decided": 20,
                    "median_ms": 123.45,
                    "mean_ms": 1234.5,
                    "nodes_per_second": None,
                },
            },
        },
    }
    assert (
        markdown_of(figures)
        == """\
| steps per second of one core | batched | times OpenSpiel | `gymnasium.make` | `gymnasium.make_vec` |
| --- | ---: | ---: | ---: | ---: |
| `Klondike/Draw1-v0` | 2.35 M | 23 | 81.2 k | 1.25 M |
| `Klondike/Draw3-v0` | 12.3 M | 123 |  |  |
| OpenSpiel solitaire | 100 k | 1 |  |  |
| RLCard gin rummy | 950 | 0.0095 |  |  |
| Pgx 2048 | failed |  |  |  |

| solving, all cards known, on one core | deals | decided | median, ms | mean, ms | positions/s |
| --- | ---: | ---: | ---: | ---: | ---: |
| klondike_env, draw3 | 30 | 29 | 0.123 | 12.3 | 2.35 M |
| pyksolve, draw1 |  | failed |  |  |  |
| pyksolve, draw3 | 30 | 20 | 123 | 1,234 |  |

|  | measured |
| --- | ---: |
| `gymnasium.make_vec`, 512 games, `Klondike/Draw1-v0` | 0.80 µs per step of a game |
| Stable-Baselines3, 512 games with masks, `Klondike/Draw1-v0` | 1.25 µs per step of a game |
| 2 threads, 4,096 games, `Klondike/Draw1-v0` | 4.00 M steps/s, 1.90 times one thread |
| `import klondike_env` | 0.251 s |
| imports and first step of a game | 1.5 s |
| imports and first step ever, with compilation | 61.3 s |
| resident memory before and after 100 M steps | 200.0 MB, 200.1 MB |

Abacus, 2 cores; python 3.11.7, numba 0.68.1."""
    )


def test_markdown_is_all_that_goes_to_the_standard_output():
    shown = bench("--only", "threaded", "--markdown")
    assert shown.stdout.startswith("|  | measured |\n| --- | ---: |\n| ")
    assert "threaded draw1\n" in shown.stderr


def test_training_is_timed_beside_plain_maskable_ppo():
    small = ["n_games=8", "n_steps=16", "batch_size=64", "hidden_sizes=[8]", "precision=float32"]
    shown = CliRunner().invoke(training.app, ["--seconds", "0.01", *small])
    assert shown.exit_code == 0
    assert "draw1, network [8], batch 64, epochs 2" in shown.output
    rates = re.findall(r"([\d,]+) frames/s", shown.output)
    plain, ours = (float(rate.replace(",", "")) for rate in rates)
    ratio = float(re.search(r"ratio +([\d.]+)", shown.output)[1])
    assert ratio == pytest.approx(ours / plain, abs=0.05)
    assert "float32" in shown.output


def test_a_wrong_value_of_the_timed_training_is_explained():
    shown = CliRunner().invoke(training.app, ["clip=-1"])
    assert shown.exit_code == 2
    assert "clip is -1; allowed: greater than 0" in shown.output
