"""Solving many deals: results in order, kept as they come, and resumed after a kill."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from klondike_env.solver import Limits, solve
from klondike_env.solver.study.labels import read_labels
from klondike_env.solver.study.labels.__main__ import pack_file
from klondike_env.solver.study.many import solve_many

LIMITS = Limits(nodes=2000, seconds=None)


def told(results):
    return [(row.deal, row.verdict, row.n_actions, row.nodes) for row in results]


def alone(deals, rules="draw1"):
    solutions = [(deal, solve(deal, rules, LIMITS)) for deal in deals]
    return [(deal, found.verdict, len(found.actions), found.nodes) for deal, found in solutions]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_many_deals_are_solved_as_each_is_alone(workers):
    deals = list(range(50, 0, -1))
    assert told(solve_many(deals, workers=workers, limits=LIMITS, show_progress=False)) == alone(deals)


def test_a_file_keeps_results_and_what_was_cut_off_is_done_again(tmp_path):
    file = tmp_path / "draw3.csv"
    first = solve_many(range(25), "draw3", limits=LIMITS, file=file, show_progress=False)
    lines = file.read_text().splitlines(keepends=True)
    assert lines[1] == "deal,verdict,n_actions,nodes,seconds\n"
    assert len(lines) == 27
    file.write_text("".join(lines[:12]) + lines[12][:5])  # as a kill may leave it
    again = solve_many(range(30), "draw3", limits=LIMITS, file=file, show_progress=False)
    assert again[:10] == first[:10]  # with their times: they were not done again
    assert told(again) == alone(range(30), "draw3")
    assert len(file.read_text().splitlines()) == 32
    assert solve_many(range(30), "draw3", limits=LIMITS, file=file, show_progress=False) == again


def test_a_file_of_other_rules_or_limits_is_not_mixed_with(tmp_path):
    file = tmp_path / "results.csv"
    solve_many(range(2), "draw3", limits=LIMITS, file=file, show_progress=False)
    kept = file.read_bytes()
    for rules, limits in (("draw1", LIMITS), ("draw3", Limits(nodes=1999, seconds=None))):
        with pytest.raises(ValueError, match="holds results of other rules or limits, or something else"):
            solve_many(range(2), rules, limits=limits, file=file, show_progress=False)
    assert file.read_bytes() == kept
    file.write_bytes(kept + b"7,won,1,1,1\n")
    with pytest.raises(ValueError, match=re.escape("line 5: '7,won,1,1,1' is not a result; correct or remove it")):
        solve_many(range(2), "draw3", limits=LIMITS, file=file, show_progress=False)


OLD_FILE = """\
# {"rules": {"build": "alternating_colour", "gaps": "kings", "draw_count": 3, "redeals": null, "worry_back": true, \
"runs": "any_tail"}, "limits": {"visits": 2000, "seconds": null, "megabytes": 500}}
deal,verdict,n_actions,visits,seconds
1,solved,7,8,0.5
0,unsolvable,0,9,0.25
"""


def test_a_file_that_calls_nodes_visits_is_read_and_added_to(tmp_path):
    file = tmp_path / "draw3.csv"
    file.write_text(OLD_FILE)
    results = solve_many(range(3), "draw3", limits=LIMITS, file=file, show_progress=False)
    assert results[:2] == [(0, "unsolvable", 0, 9, 0.25), (1, "solved", 7, 8, 0.5)]
    assert told(results[2:]) == alone([2], "draw3")
    assert file.read_text().startswith(OLD_FILE)
    assert pack_file(file, tmp_path) == f"{file}: 3 deals in {tmp_path / 'draw3.npz'}"
    packed = read_labels(tmp_path / "draw3.npz")
    assert (packed.limits, packed.nodes.tolist()) == (LIMITS, [9, 8, results[2].nodes])


@pytest.mark.parametrize(("deals", "message"), [([1, 1], "a deal is named twice"), ([1, -1], "deal is -1; allowed")])
def test_deals_that_cannot_be_are_refused(deals, message):
    with pytest.raises(ValueError, match=message):
        solve_many(deals, show_progress=False)


SOLVE = """
import sys
from klondike_env.solver import Limits
from klondike_env.solver.study.many import solve_many

if __name__ == "__main__":
    limits = Limits(nodes=2000, seconds=None)
    solve_many(range(4000), "draw3", workers=2, limits=limits, file=sys.argv[1], show_progress=False)
"""


@pytest.mark.slow
def test_a_run_that_is_killed_is_resumed(tmp_path):
    (tmp_path / "program.py").write_text(SOLVE)
    file = tmp_path / "draw3.csv"
    program = subprocess.Popen(
        [sys.executable, tmp_path / "program.py", file],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    end = time.monotonic() + 120
    while not file.exists() or file.read_bytes().count(b"\n") < 42:
        assert time.monotonic() < end
        time.sleep(0.01)
    program.kill()
    program.wait()
    kept = file.read_text()
    kept = kept[: kept.rfind("\n") + 1]
    assert kept.count("\n") < 2 + 4000
    results = solve_many(range(4000), "draw3", limits=LIMITS, file=file, show_progress=False)
    assert file.read_text().startswith(kept)  # times too: what was done is not done again
    assert told(results) == told(solve_many(range(4000), "draw3", limits=LIMITS, show_progress=False))
