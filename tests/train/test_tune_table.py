"""Trying moves out, and learning the table from these trials."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from klondike_env.agents.lists.list_player import read_position
from klondike_env.agents.tuned.agent import Scoring
from klondike_env.agents.tuned.pair_table import N_ENTRIES, N_PAIRS, tables
from klondike_env.games import Games
from klondike_env.rules import PRESETS
from train.tune_table import BATCH, SAMPLES, Bench, Trials, Trier, app, learn, shuffle_unseen, without_table


@pytest.mark.parametrize(("variant", "n_unseen"), [("draw1", 21), ("classic", 21 + 24)])
def test_shuffles_only_unseen_cards(variant: str, n_unseen: int) -> None:
    games = Games(1, PRESETS[variant])
    games.deal(np.arange(1))
    scoring = Scoring.of(PRESETS[variant])
    bench = Bench.of(scoring, scoring)
    read_position(games.states, 0, bench.games, bench.layouts)
    talon = shuffle_unseen(bench, np.uint64(5), PRESETS[variant].params())
    before, after = bench.layouts[0], bench.others[0]
    moved = np.count_nonzero(before["face_down"] != after["face_down"])
    moved += np.count_nonzero(before["talon"] != after["talon"])
    assert n_unseen // 2 < moved <= n_unseen
    everything = [*np.trim_zeros(np.sort(np.append(after["face_down"].ravel(), after["talon"])))]
    assert everything == [*np.trim_zeros(np.sort(np.append(before["face_down"].ravel(), before["talon"])))]
    known = bench.games["talon"][0]
    assert (talon == known) == (variant == "draw1")
    for index, card in enumerate(after["talon"].tolist()):
        assert after["index"][card] == index


@pytest.fixture(scope="module")
def trials() -> Trials:
    return Trier(PRESETS["draw1"], 10**9, 300).block(np.zeros(N_ENTRIES, dtype=np.int16), 60.0)


def test_trials_are_of_moves_that_differ(trials: Trials) -> None:
    assert len(trials.starts) == 301
    assert np.diff(trials.starts).min() >= 2
    assert len(trials.scores) == len(trials.entries) == len(trials.wins) == trials.starts[-1]
    assert set(np.unique(trials.wins * SAMPLES).round(3) % 1) == {0.0}
    most, least = (bound.reduceat(trials.wins, trials.starts[:-1]) for bound in (np.maximum, np.minimum))
    assert np.mean(most > least) > 0.9  # after all samples, as they did after the first


def test_scores_without_pair_scores_do_not_depend_on_the_table(trials: Trials) -> None:
    table = np.arange(N_ENTRIES, dtype=np.int16)
    scored = trials._replace(scores=trials.scores + table[trials.entries].sum(axis=1, dtype=np.int64))
    assert np.array_equal(without_table(scored, table).scores, trials.scores)


def test_learns_what_wins() -> None:
    n = 4 * BATCH
    entries = np.zeros((2 * n, N_PAIRS), dtype=np.uint16)
    entries[:, 0] = np.tile([1, 2], n)
    wins = np.random.default_rng(1).random(2 * n) / 2 + np.tile([0.0, 0.3], n)
    starts = np.arange(0, 2 * n + 1, 2)
    table = learn(Trials(starts, entries, np.zeros(2 * n, dtype=np.int64), wins.astype(np.float32)), 0)
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
