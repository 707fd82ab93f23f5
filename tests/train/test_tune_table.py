"""Learning the pair table from trials."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from klondike_env.agents.tuned.pair_table import N_ENTRIES, N_PAIRS, PairTable, find_entries, tables
from klondike_env.agents.tuned.scores import MOVE, look
from klondike_env.rules import PRESETS
from tests.train.test_trials import bench_for
from train.lessons import Lessons
from train.trials import Trials, record
from train.tune_table import BATCH, TEMPERATURE, app, learn, lessons_of


def test_moves_are_described_by_their_entries() -> None:
    rules = PRESETS["draw1"]
    block = record(rules, bench_for("draw1"), 10**9, 30)
    lessons, pair_table = lessons_of([block], rules), PairTable.of(np.empty(0, dtype=np.int16))
    for i in range(30):
        moves = block.moves[block.starts[i] : block.starts[i + 1]]
        scene = look(block.games, i, block.layouts[i : i + 1], rules.params())
        find_entries(scene, moves, len(moves), pair_table)
        described = lessons.descriptions[block.starts[i] : block.starts[i + 1]].numpy()
        assert np.array_equal(described, pair_table.entries[: len(moves)])


def test_learns_what_wins() -> None:
    n = 4 * BATCH
    entries = np.zeros((2 * n, N_PAIRS), dtype=np.uint16)
    entries[:, 0] = np.tile([1, 2], n)
    wins = np.random.default_rng(1).random(2 * n) / 2 + np.tile([0.0, 0.3], n)
    block = Trials(
        np.arange(0, 2 * n + 1, 2), np.empty(0), np.empty(0), np.zeros(2 * n, dtype=MOVE), wins.astype(np.float32)
    )
    table = learn(Lessons([block], [entries], TEMPERATURE), 0)
    assert table.dtype == np.int16
    assert table[2] > 50 > -50 > table[1]
    assert table[3] == 0


def test_writes_a_table_and_replaces_none(tmp_path: Path) -> None:
    file = tmp_path / "tables.npz"
    arguments = ["--variant", "classic", "--minutes", "0.001", "--rounds", "1", "--deals", "50", "--out", str(file)]
    outcome = CliRunner().invoke(app, arguments)
    assert outcome.exit_code == 0, outcome.output
    with np.load(file) as written:
        assert written["classic"].shape == (N_ENTRIES,)
        assert set(written) == {"classic", *tables()}
    outcome = CliRunner().invoke(app, arguments)
    assert outcome.exit_code == 2
    assert "exists; name another file" in outcome.output.replace("\n", " ")
    assert CliRunner().invoke(app, [*arguments, "--force"]).exit_code == 0


def test_an_unknown_variant_is_told_without_traceback(tmp_path: Path) -> None:
    outcome = CliRunner().invoke(app, ["--variant", "draw9", "--out", str(tmp_path / "x.npz")])
    assert outcome.exit_code == 2
    assert "no such variant: 'draw9'" in outcome.output
    assert "Traceback" not in outcome.output
