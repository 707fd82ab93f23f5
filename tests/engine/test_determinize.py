"""Determinization: what was seen stays, the rest is shuffled uniformly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from klondike_env.engine.determinize import determinized
from klondike_env.engine.faults import faults_of
from klondike_env.engine.restore import index_records
from klondike_env.engine.state import HIDDEN_PLACE
from klondike_env.games import Games
from klondike_env.rules import DISTINCT_PRESETS, PRESETS

everywhere = pytest.mark.parametrize("variant", DISTINCT_PRESETS)


def played(variant: str, n: int = 30, steps: int = 25, **options: Any) -> Games:
    games = Games(n, PRESETS[variant], **options)
    games.deal(np.arange(n))
    generator = np.random.default_rng(4)
    for _ in range(steps):
        games.step(games.random_actions(generator))
    return games


@everywhere
@pytest.mark.parametrize("talon", ["draw", "reach"])
def test_the_player_cannot_tell_a_determinized_game(variant: str, talon: str) -> None:
    games = played(variant, talon=talon)
    worlds = games.take(range(30))
    worlds.shuffle_unseen(1)
    np.testing.assert_array_equal(worlds.views(), games.views())
    np.testing.assert_array_equal(worlds.masks, games.masks)
    assert (worlds.deals == -1).all()
    hiding = ~games.over & (games.states["face_down"].sum(axis=1) > 2)
    assert hiding.any()
    assert (worlds.states[hiding] != games.states[hiding]).all()


@everywhere
def test_a_determinized_game_is_sound(variant: str) -> None:
    games = played(variant)
    games.shuffle_unseen(2)
    for record in games.states:
        assert faults_of(record, PRESETS[variant]) == []
    indexed = games.states.copy()
    index_records(indexed)
    np.testing.assert_array_equal(indexed, games.states)


@everywhere
def test_a_view_is_filled_exactly_as_the_game_it_hides_is_shuffled(variant: str) -> None:
    games = played(variant)
    views = games.views().copy()
    filled = determinized(views, 7)
    assert (views["place"] == HIDDEN_PLACE).any()  # views are left as they are
    games.shuffle_unseen(7)  # so nothing hidden has a part in it
    np.testing.assert_array_equal(filled, games.states)
    world = Games(30, PRESETS[variant])
    world.resume(views)
    world.shuffle_unseen(7)
    np.testing.assert_array_equal(world.states, games.states)
    world.resume(filled)
    np.testing.assert_array_equal(world.masks[~games.over], games.masks[~games.over])


def test_rows_are_shuffled_one_by_one_and_others_left_alone() -> None:
    games = played("draw1", 3, 0)
    games.deal([5, 5, 5])
    before = games.states.copy()
    games.shuffle_unseen(np.random.default_rng(0), [0, 2])
    assert games.states[1] == before[1]
    assert games.deals.tolist() == [-1, 5, -1]
    assert games.states[0] != games.states[2]
    assert games.states[0] != before[0]


def test_every_unseen_card_comes_to_every_unseen_place_equally_often() -> None:
    n = 20_000
    games = played("draw3", 1, 2)
    worlds = games.take(np.zeros(n, dtype=np.int64))
    worlds.shuffle_unseen(11)
    view = games.views()[0]
    unseen = np.flatnonzero(view["place"] == HIDDEN_PLACE)
    columns = [worlds.states["columns"][:, c, r] for c in range(7) for r in range(int(view["face_down"][c]))]
    stock = [worlds.states["talon"][:, k] for k in range(int(view["seen_size"]), int(view["talon_size"]))]
    places = np.array(columns + stock)
    assert len(places) == len(unseen) > 35
    counts = np.array([np.bincount(cards, minlength=52)[unseen] for cards in places])
    assert (counts.sum(axis=1) == n).all()
    expected, freedom = n / len(unseen), (len(unseen) - 1) ** 2
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert abs(chi_square - freedom) < 5 * (2 * freedom) ** 0.5


@everywhere
def test_visited_positions_are_still_known_after_a_shuffle(variant: str) -> None:
    games = played(variant, 40, 60, no_repeats=True, stall_limit=None)
    worlds = games.take(range(40))
    worlds.shuffle_unseen(3)
    generator = np.random.default_rng(5)
    compared = 0
    for _ in range(40):
        chosen = np.argmax(games.masks * generator.random(games.masks.shape), axis=1)
        games.step(chosen)
        worlds.step(chosen)
        # Until an action is progress nothing hidden matters, and the masks depend on what was visited.
        same = ~games.over & (games.states["since_progress"] > 0)
        same &= (games.views() == worlds.views()) & (games.states["since_progress"] == worlds.states["since_progress"])
        np.testing.assert_array_equal(games.masks[same], worlds.masks[same])
        compared += np.count_nonzero(same)
    assert compared > 100
