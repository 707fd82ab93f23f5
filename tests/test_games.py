"""The batch in Python: what `Games` promises beyond the rules."""

import numpy as np
import pytest

from klondike_env.engine.actions import STOCK_ACTION
from klondike_env.engine.state import LOST, PLAYING
from klondike_env.games import Games
from klondike_env.rules import PRESETS


def dealt(n, variant="draw1", **options):
    games = Games(n, PRESETS[variant], **options)
    games.deal(np.arange(n))
    return games


def test_a_step_tells_how_many_games_ended_with_it():
    games = dealt(40, stall_limit=4)
    generator = np.random.default_rng(0)
    before = games.over
    for _ in range(60):
        ended = games.step(games.random_actions(generator))
        assert ended == np.count_nonzero(games.over & ~before)
        before = games.over
    assert before.any()


def test_games_that_have_ended_or_are_not_active_are_left_alone():
    games = dealt(3, stall_limit=250)
    games.forfeit(np.array([1]))
    before = games.states.copy()
    assert games.step(np.full(3, STOCK_ACTION), active=np.array([True, True, False])) == 0
    assert games.states[0] != before[0]
    assert games.states[1] == before[1]
    assert games.states[2] == before[2]


def test_a_forfeit_is_a_loss_with_an_open_mask():
    games = dealt(2)
    games.forfeit(np.array([1]))
    assert games.outcomes.tolist() == [PLAYING, LOST]
    assert games.masks[1].all()
    assert not games.masks[0].all()


@pytest.mark.slow
def test_random_actions_are_legal_and_every_legal_one_is_as_likely():
    games = Games(20_000, PRESETS["draw1"])
    games.deal(np.zeros(20_000, dtype=np.int64))
    actions = games.random_actions(np.random.default_rng(1))
    legal = np.flatnonzero(games.masks[0])
    counts = np.bincount(actions, minlength=313)
    assert counts.sum() == counts[legal].sum()
    np.testing.assert_allclose(counts[legal] / 20_000, 1 / len(legal), atol=0.02)
    games.step(actions)
    assert not games.illegal.any()


def test_room_for_visited_positions_grows_where_there_is_no_stall_limit():
    games, twin = (dealt(2, "thumb_and_pouch", no_repeats=True, stall_limit=limit) for limit in (None, 4000))
    for _ in range(600):  # nothing but refused actions and moves back and forth fill the list
        actions = games.masks.argmax(axis=1)
        games.step(actions)
        twin.step(actions)
        np.testing.assert_array_equal(games.masks, twin.masks)
    assert games._visited.shape[1] >= games.turns["visited_count"].max()


@pytest.mark.parametrize("masks", [True, False])
def test_play_is_the_same_with_and_without_masks(masks):
    games, twin = dealt(30, masks=masks, no_repeats=True), dealt(30, no_repeats=True)
    generator = np.random.default_rng(2)
    for _ in range(80):
        actions = twin.random_actions(generator)
        games.step(actions)
        twin.step(actions)
    np.testing.assert_array_equal(games.states, twin.states)
    assert len(games.masks) == (30 if masks else 0)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([312], r"actions are int64 of shape \(1,\); allowed: int64 of shape \(3,\), one for each game"),
        ([312] * 4, r"actions are int64 of shape \(4,\)"),
        ([], r"actions are float64 of shape \(0,\)"),
        ([312.0] * 3, r"actions are float64 of shape \(3,\)"),
        ([True] * 3, r"actions are bool of shape \(3,\)"),
        ([[312]] * 3, r"actions are int64 of shape \(3, 1\)"),
        (312, r"actions are int64 of shape \(\)"),
        (None, r"actions are object of shape \(\)"),
        ("abc", r"actions are <U3 of shape \(\)"),
    ],
)
def test_actions_that_are_not_one_whole_number_for_each_game_are_refused(actions, message):
    games = Games(3, PRESETS["draw1"])
    games.deal([1, 2, 3])
    with pytest.raises(ValueError, match=message):
        games.step(actions)
    with pytest.raises(ValueError, match=r"active are int64 of shape \(3,\); allowed: bool of shape \(3,\)"):
        games.step([312] * 3, [1, 1, 0])
    assert games.moves.tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", [np.int16, np.uint8, np.int32, np.uint64])
def test_actions_of_any_whole_type_are_played(dtype):
    games, twin = Games(3, PRESETS["draw1"]), Games(3, PRESETS["draw1"])
    for batch in (games, twin):
        batch.deal([1, 2, 3])
    games.step(np.full(3, 200, dtype=dtype))
    twin.step([200] * 3)
    np.testing.assert_array_equal(games.states, twin.states)


@pytest.mark.parametrize("limit", [2**31 - 1, 2**31, 2**40, 2**63, 10**30])
@pytest.mark.parametrize("name", ["stall_limit", "step_limit"])
def test_a_limit_that_no_game_reaches_is_none(name, limit):
    games = Games(1, PRESETS["draw1"], **{"stall_limit": None, name: limit})
    games.deal([1])
    for _ in range(300):
        games.step([312])
    assert not games.over[0]


def test_a_view_is_resumed_with_the_legal_actions_of_its_game():
    games = dealt(20, "draw3")
    generator = np.random.default_rng(6)
    for _ in range(100):
        games.step(games.random_actions(generator))
    views = games.views()
    has_gap, hides = (views["height"] == 0).any(axis=1), (views["face_down"] > 0).any(axis=1)
    assert (has_gap & hides & ~games.over).any()
    resumed = Games(20, games.rules)
    resumed.resume(views)
    np.testing.assert_array_equal(resumed.masks, games.masks)
