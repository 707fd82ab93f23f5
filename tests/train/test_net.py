"""Training the network of the agent `net`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from rich.progress import Progress
from typer.testing import CliRunner

from klondike_env.agents.tuned.inputs import N_ACTIVE
from klondike_env.agents.tuned.net import load_network
from klondike_env.agents.tuned.scores import MOVE
from klondike_env.rules import PRESETS
from tests.agents.test_net import output_in_numpy
from tests.train.test_trials import bench_for
from train.config import CONFIG_FILE, NetConfig, load_config
from train.lessons import Lessons
from train.net import NET_FILE, Learner, Run, app, learn, lessons_of
from train.trials import Trials, record

ROUNDS = "rounds=[{plays_on: weights, decisions: 200}, {plays_on: net, decisions: 200}]"
SHORT = ["variant=classic", ROUNDS, "epochs=1", "deals=300", "threads=1"]


def trained(directory: Path, *arguments: str) -> list[str]:
    """The lines that the command prints."""
    outcome = CliRunner().invoke(app, [*SHORT, f"run_dir={directory}", *arguments])
    assert outcome.exit_code == 0, outcome.output
    return outcome.output.splitlines()


def files_of(directory: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in directory.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("runs") / "whole"
    lines = trained(directory)
    assert lines[-4].endswith("% of 300 validation deals")
    assert "learned from 400 decisions" in lines[-2]
    return directory


def test_a_run_leaves_a_network_that_can_be_played(run: Path) -> None:
    assert set(files_of(run)) >= {CONFIG_FILE, NET_FILE, "round_1.safetensors", "round_2.safetensors", "1_1.npz"}
    assert load_network(run / NET_FILE).first_bias.shape == (32,)


@pytest.mark.parametrize("lost", ["round_2.safetensors", "2_1.npz", "1_1.npz"])
def test_an_interrupted_run_comes_to_the_same(run: Path, lost: str, tmp_path: Path) -> None:
    """Trials do not depend on what was there before, and learning starts from the same weights."""
    for name, content in files_of(run).items():
        file = tmp_path / ("trials" if name.endswith(".npz") else "") / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
    for name in {lost, "training.json", NET_FILE}:
        next(tmp_path.rglob(name)).unlink()
    outcome = CliRunner().invoke(app, ["--resume", str(tmp_path)])
    assert outcome.exit_code == 0, outcome.output
    for name in (NET_FILE, "round_1.safetensors", "round_2.safetensors"):
        before, after = (load_network(directory / name) for directory in (run, tmp_path))
        for array, again in zip(before, after, strict=True):
            assert np.array_equal(array, again)


def test_a_finished_run_is_not_overwritten(run: Path) -> None:
    before = files_of(run)
    outcome = CliRunner().invoke(app, [*SHORT, f"run_dir={run}"])
    assert outcome.exit_code == 2
    assert "holds an earlier run" in outcome.output.replace("\n", " ")
    assert files_of(run) == before


def test_a_mistake_is_told_without_traceback() -> None:
    outcome = CliRunner().invoke(app, ["variant=draw9"])
    assert outcome.exit_code == 2
    assert "no such variant: 'draw9'" in outcome.output
    assert "Traceback" not in outcome.output


def test_no_network_plays_on_in_the_first_round() -> None:
    outcome = CliRunner().invoke(app, ["rounds=[{plays_on: net}]"])
    assert outcome.exit_code == 2
    assert "rounds.0.plays_on is 'net'; allowed: weights or tuned" in outcome.output.replace("\n", " ")


def test_torch_and_the_agent_compute_the_same() -> None:
    torch.manual_seed(1)
    learner = Learner(8, 8)
    torch.nn.init.normal_(learner.last.weight)
    active = np.random.default_rng(2).integers(0, 1000, (20, N_ACTIVE))
    outputs = learner(torch.from_numpy(active)).tolist()
    assert outputs == pytest.approx([output_in_numpy(learner.weights(), row) for row in active.tolist()], rel=1e-4)


def test_moves_are_described_by_their_active_inputs() -> None:
    rules = PRESETS["draw3"]
    blocks = [record(rules, bench_for("draw3"), first, 20) for first in (10**9, 2 * 10**9)]
    lessons = lessons_of(blocks, rules)
    assert lessons.descriptions.shape == (sum(len(block.moves) for block in blocks), N_ACTIVE)
    alone = lessons_of(blocks[1:], rules)
    assert torch.equal(lessons.descriptions[-len(alone.descriptions) :], alone.descriptions)
    assert len(torch.unique(alone.descriptions, dim=0)) > 0.9 * len(alone.descriptions)


def test_learns_what_wins() -> None:
    n = 4000
    wins = np.random.default_rng(1).random(2 * n) / 2 + np.tile([0.0, 0.3], n)
    moves, nothing = np.zeros(2 * n, dtype=MOVE), np.empty(0)
    block = Trials(np.arange(0, 2 * n + 1, 2), nothing, nothing, moves, wins.astype(np.float32))
    active = np.zeros((2 * n, N_ACTIVE), dtype=np.int16)
    active[:, 0] = np.tile([1, 2], n)
    weights = learn(
        Lessons([block], [active], 1.0), NetConfig(epochs=10, batch_size=500, learning_rate=1e-2), Progress()
    )
    worse, better = (output_in_numpy(weights, row.tolist()) for row in active[:2])
    assert better > worse + 1


def test_a_run_knows_its_best_round(run: Path) -> None:
    config = load_config(NetConfig, run / CONFIG_FILE, [f"run_dir={run}"])
    results = Run(config, Progress()).finish()  # nothing is left to do
    rates = [done.win_rate for done in results.rounds]
    assert rates[results.best] == max(rates)
    best = load_network(run / f"round_{results.best + 1}.safetensors")
    assert all(np.array_equal(*pair) for pair in zip(best, load_network(run / NET_FILE), strict=True))
