"""Trying moves out, and reading the trials for learning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from klondike_env.agents.lists.list_player import read_position
from klondike_env.agents.tuned.agent import Scoring
from klondike_env.agents.tuned.scores import MAX_MOVES, MOVE, Sheet, look, score_moves
from klondike_env.agents.tuned.weights import weights_for
from klondike_env.games import Games
from klondike_env.rules import PRESETS
from train.lessons import Lessons
from train.trials import Bench, Effort, Trials, record, shuffle_unseen

EFFORT = Effort(margin=3000, first=4, all=8)


def bench_for(variant: str) -> Bench:
    rules = PRESETS[variant]
    return Bench.of(rules, Scoring.of(rules), Scoring.of(rules), EFFORT)


@pytest.mark.parametrize(("variant", "n_unseen"), [("draw1", 21), ("classic", 21 + 24)])
def test_shuffles_only_unseen_cards(variant: str, n_unseen: int) -> None:
    games = Games(1, PRESETS[variant])
    games.deal(np.arange(1))
    bench = bench_for(variant)
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


@pytest.fixture(scope="module", params=["draw1", "draw3", "classic"])
def trials(request: pytest.FixtureRequest) -> tuple[str, Trials]:
    return request.param, record(PRESETS[request.param], bench_for(request.param), 10**9, 300)


def test_trials_are_of_moves_that_differ(trials: tuple[str, Trials]) -> None:
    _, recorded = trials
    assert len(recorded.sizes) == len(recorded.games) == len(recorded.layouts) == 300
    assert recorded.sizes.min() >= 2
    assert len(recorded.moves) == len(recorded.wins) == recorded.starts[-1]
    assert set(np.unique(recorded.wins * EFFORT.all).round(3) % 1) == {0.0}
    most, least = (bound.reduceat(recorded.wins, recorded.starts[:-1]) for bound in (np.maximum, np.minimum))
    assert np.mean(most > least) > 0.9  # after all samples, as they did after the first


def test_scores_are_those_of_the_weights_alone(trials: tuple[str, Trials]) -> None:
    variant, recorded = trials
    rules = PRESETS[variant]
    sheet = Sheet(weights_for(rules), np.zeros(MAX_MOVES, dtype=MOVE))
    for i in range(50):
        scene = look(recorded.games, i, recorded.layouts[i : i + 1], rules.params())
        scored = {tuple(move) for move in sheet.moves[: score_moves(scene, sheet)].tolist()}
        tried = [tuple(move) for move in recorded.moves[recorded.starts[i] : recorded.starts[i + 1]].tolist()]
        assert len(set(tried)) == len(tried)
        assert set(tried) <= scored


def test_moves_far_behind_are_not_tried() -> None:
    recorded = record(PRESETS["classic"], bench_for("classic"), 10**9, 200)  # it has no table, so scores are final
    for i in range(200):
        scores = recorded.moves["score"][recorded.starts[i] : recorded.starts[i + 1]]
        assert scores.max() - scores.min() <= EFFORT.margin


def test_the_same_deals_give_the_same_trials(trials: tuple[str, Trials]) -> None:
    variant, recorded = trials
    again = record(PRESETS[variant], bench_for(variant), 10**9, 100)
    assert np.array_equal(again.wins, recorded.first(100).wins)
    assert np.array_equal(again.moves, recorded.first(100).moves)


def test_trials_survive_a_file(trials: tuple[str, Trials], tmp_path: Path) -> None:
    _, recorded = trials
    np.savez(tmp_path / "trials.npz", **recorded._asdict())
    for array, loaded in zip(recorded, Trials.load(tmp_path / "trials.npz"), strict=True):
        assert array.dtype == loaded.dtype
        assert np.array_equal(array, loaded)


def made_up(sizes: list[int], wins: list[float]) -> Trials:
    blank = Trials.of_size(len(sizes))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    moves = np.zeros(len(wins), dtype=MOVE)
    return blank._replace(starts=starts, moves=moves, wins=np.array(wins, dtype=np.float32))


def test_a_batch_holds_the_moves_of_its_decisions() -> None:
    blocks = [made_up([2, 3], [0, 1, 0, 0, 0.6]), made_up([2], [0.5, 0.25])]
    descriptions = [np.arange(5)[:, np.newaxis], np.arange(5, 7)[:, np.newaxis]]
    lessons = Lessons(blocks, descriptions, 1.0)
    assert lessons.gains.numpy() == pytest.approx([-0.5, 0.5, -0.2, -0.2, 0.4, 0.125, -0.125])
    (batch,) = lessons.batches(10, np.random.default_rng(1))
    assert sorted(batch.rows.tolist()) == list(range(7))
    moves_of = [batch.rows[batch.decisions == k].tolist() for k in range(3)]
    assert sorted(moves_of) == [[0, 1], [2, 3, 4], [5, 6]]
    assert [len(batch.rows) for batch in lessons.batches(1, np.random.default_rng(1))] != []
    assert sum(batch.n for batch in lessons.batches(2, np.random.default_rng(1))) == 2


def test_the_loss_is_what_a_softmax_would_not_win() -> None:
    lessons = Lessons([made_up([2, 2], [0, 1, 0.5, 0.25])], [np.zeros((4, 1), dtype=np.int64)], 1.0)
    (batch,) = lessons.batches(2, np.random.default_rng(1))
    even = lessons.loss(torch.zeros(4), batch)
    assert float(even) == pytest.approx(0)
    added = 30.0 * lessons.gains[batch.rows]
    assert float(lessons.loss(added, batch)) == pytest.approx(-(0.5 + 0.125) / 2, abs=0.01)
