"""Games as bytes, copied rows, and games resumed from records."""

from __future__ import annotations

import copy
import pickle
import re
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from klondike_env.engine.actions import STOCK_ACTION
from klondike_env.engine.batch import TURN
from klondike_env.engine.saving import DERIVED_FIELDS, FORMAT, SAVED, SAVED_FIELDS
from klondike_env.engine.state import STATE
from klondike_env.games import Games
from klondike_env.rules import DISTINCT_PRESETS, PRESETS, Rules

OPTIONS: dict[str, Any] = {"no_repeats": True, "reward": "standard", "stall_limit": 200}


def played(n: int = 8, steps: int = 60, variant: str = "thumb_and_pouch", **options: Any) -> Games:
    games = Games(n, PRESETS[variant], **OPTIONS | options)
    games.deal(np.arange(n))
    generator = np.random.default_rng(0)
    for _ in range(steps):
        games.step(games.random_actions(generator))
    return games


def play_equally(games: Games, twin: Games, steps: int = 80) -> None:
    generator = np.random.default_rng(1)
    for _ in range(steps):
        np.testing.assert_array_equal(games.masks, twin.masks)
        chosen = np.argmax(games.masks * generator.random(games.masks.shape), axis=1)
        assert games.step(chosen) == twin.step(chosen)
        np.testing.assert_array_equal(games.states, twin.states)
        np.testing.assert_array_equal(games.rewards, twin.rewards)


def test_every_field_of_a_record_is_saved_or_follows_from_the_others() -> None:
    assert sorted([*SAVED_FIELDS, *DERIVED_FIELDS]) == sorted(STATE.names or ())
    of_the_last_step = {"version", "action", "source"}  # what an observer follows; a restored game is observed afresh
    saved = set(TURN.names or ()) - {"moves"} - of_the_last_step
    assert {"reward", "illegal", "visited_count"} == saved <= set(SAVED.names or ())


@pytest.mark.parametrize("variant", DISTINCT_PRESETS)
@pytest.mark.parametrize("talon", ["draw", "reach"])
def test_all_games_of_a_batch_are_restored_exactly(variant: str, talon: str) -> None:
    games = played(variant=variant, talon=talon)
    twin = Games(8, PRESETS[variant], **OPTIONS, talon=talon)
    for row in range(8):
        twin.set_state(games.get_state(row), row)
    np.testing.assert_array_equal(twin.deals, games.deals)
    play_equally(games, twin)


def test_a_long_list_of_visited_positions_is_restored_into_a_fresh_batch() -> None:
    games = played(1, 400, stall_limit=None, step_limit=None)
    games._make_room(200)
    games.turns["visited_count"] = 150
    games._visited[0, :150] = np.arange(150)
    twin = Games(1, games.rules, **OPTIONS | {"stall_limit": None})
    twin.set_state(games.get_state())
    np.testing.assert_array_equal(twin._visited[0, :150], np.arange(150))
    twin.step(twin.random_actions(np.random.default_rng(0)))


def test_bytes_of_equal_games_are_equal_whatever_came_before_in_their_rows() -> None:
    games = played()
    games.deal([3, 3], [0, 5])
    fresh = Games(1, games.rules, **OPTIONS)
    fresh.deal([3])
    assert games.get_state(0) == games.get_state(5) == fresh.get_state()


@pytest.mark.parametrize(
    ("rules", "options", "message"),
    [
        (Rules(draw_count=3), {}, "draw_count was 1 and is 3 here"),
        (Rules(redeals=2), {"stall_limit": 7}, "redeals was None and is 2 here; stall_limit was 250 and is 7 here"),
        (Rules(), {"no_repeats": True}, "no_repeats was False and is True here"),
        (Rules(), {"talon": "reach"}, "talon was 'draw' and is 'reach' here"),
        (Rules(), {"reward": "vegas"}, "reward was 'win' and is 'vegas' here"),
    ],
)
def test_a_game_of_other_rules_or_options_is_refused(rules: Rules, options: dict[str, Any], message: str) -> None:
    games = Games(1, Rules())
    games.deal([0])
    expected = f"^state was saved under other rules or options: {message}$"
    with pytest.raises(ValueError, match=expected):
        Games(1, rules, **options).set_state(games.get_state())


def with_checksum(content: bytes) -> bytes:
    return content + zlib.crc32(content).to_bytes(4, "little")


DAMAGES: dict[str, tuple[Callable[[bytes], Any], str]] = {
    "no bytes": (lambda state: "state", "state is 'state'; allowed: the bytes of get_state"),
    "empty": (lambda state: b"", "state begins with b''; allowed: the bytes of get_state"),
    "foreign": (lambda state: b"PK" + state, "state begins with b'PKKLONDI'; allowed: the bytes of get_state"),
    "a bit": (lambda state: state[:-60] + bytes([state[-60] ^ 1]) + state[-59:], "state is damaged: the checksum"),
    "an end": (lambda state: state[:-1], "state is damaged: the checksum of its"),
    "short": (lambda state: with_checksum(state[:-60]), "state is damaged: it ends after"),
    "long": (lambda state: with_checksum(state + b"12345678"), "state is damaged: 1 visited positions do not fit"),
    "format": (
        lambda state: with_checksum(state[:8] + b"\7\0" + state[10:-4]),
        f"state has format 7; this version of klondike_env reads format {FORMAT}",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_bytes_are_refused_and_change_nothing(damage: str) -> None:
    games = played(1, 0)
    before = games.get_state()
    spoil, message = DAMAGES[damage]
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        games.set_state(spoil(before))
    assert games.get_state() == before


def test_no_forged_record_reaches_the_kernels() -> None:
    games = played(1, 30)
    state = games.get_state()[:-4]
    start = len(games._header)
    generator = np.random.default_rng(2)
    refused = 0
    for _ in range(1500):
        forged = bytearray(state)
        forged[start + 8 + int(generator.integers(SAVED.itemsize - 8))] = generator.integers(256)
        try:
            games.set_state(with_checksum(bytes(forged)))
        except ValueError:
            refused += 1
        games.step(games.random_actions(generator))
        assert not games.states["height"][0].max() > 19
    assert refused > 400


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda games: pickle.loads(pickle.dumps(games))])
def test_a_copied_batch_plays_on_by_itself_and_equally(duplicate: Callable[[Games], Games]) -> None:
    games = played()
    twin = duplicate(games)
    before = games.states.copy()
    copy.deepcopy(twin).step(twin.random_actions(np.random.default_rng(3)))
    np.testing.assert_array_equal(games.states, before)
    play_equally(games, twin)


@pytest.mark.parametrize("masks", [True, False])
def test_games_are_taken_as_a_batch_of_their_own(masks: bool) -> None:
    games = played(masks=masks)
    taken = games.take([5, 2, 5])
    assert (len(taken), len(taken.masks)) == (3, 3 if masks else 0)
    assert [taken.get_state(row) for row in range(3)] == [games.get_state(row) for row in (5, 2, 5)]
    before = games.states.copy()
    chosen = taken.random_actions(np.random.default_rng(0))
    taken.step(chosen)
    assert taken.outcomes.base is taken.states or np.shares_memory(taken.outcomes, taken.states)
    np.testing.assert_array_equal(games.states, before)
    games.step(np.array([0, 0, chosen[1], 0, 0, chosen[0], 0, 0]))
    assert taken.get_state(0) == games.get_state(5)
    assert taken.get_state(1) == games.get_state(2)


def test_rows_are_copied_within_a_batch_and_from_another() -> None:
    games, pool = played(), played(20, 5)
    pool.copy_rows(3, range(10), games)
    pool.copy_rows([1, 2], [18, 19], games)
    pool.copy_rows([18, 19], [19, 18])
    for row in range(10):
        assert pool.get_state(row) == games.get_state(3)
    assert [pool.get_state(row) for row in (19, 18)] == [games.get_state(row) for row in (1, 2)]
    assert pool.deals[12] == 12
    play_equally(pool.take([0, 19, 18]), games.take([3, 1, 2]))


def test_rows_are_copied_between_batches_with_different_room_for_visited_positions() -> None:
    wide, narrow = played(2, 10, stall_limit=None), played(2, 10, stall_limit=None)
    wide._make_room(300)
    narrow.copy_rows(0, 1, wide)
    wide.copy_rows(1, 0, narrow)
    assert narrow.get_state(1) == wide.get_state(0)


def test_rows_that_do_not_fit_are_refused() -> None:
    games = played(3, 0)
    with pytest.raises(ValueError, match=r"^there are 2 sources for 3 targets$"):
        games.copy_rows([0, 1], [0, 1, 2])
    for other in (played(3, 0, "draw1"), played(3, 0, masks=False), played(3, 0, no_repeats=False)):
        with pytest.raises(ValueError, match=r"^the other games have other rules or options"):
            games.copy_rows(0, 1, other)
    for rows in ([0, 3], [-1], 3):
        with pytest.raises(ValueError, match=r"^row is (3|-1); allowed: a whole number from 0 to 2$"):
            games.take(rows)
    for rows in ([0.5], np.array([True, False, True]), [[0]], "0"):
        with pytest.raises(ValueError, match=r"^rows are .*; allowed: whole numbers from 0 to 2$"):
            games.take(rows)
    with pytest.raises(ValueError, match=r"^2 deals are given for 3 games$"):
        games.deal([1, 2])


def test_a_record_is_resumed_with_nothing_visited() -> None:
    games = played(2, 40)
    fresh = Games(3, games.rules, **OPTIONS)
    fresh.deal([0, 1, 2])
    fresh.resume(games.states[1], [0, 2])
    assert fresh.states[0] == fresh.states[2] == games.states[1]
    assert fresh.states[1]["steps"] == 0
    assert fresh.deals.tolist() == [-1, 1, -1]
    assert fresh.turns["visited_count"].tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match=r"^records have shape \(2,\); allowed: one, or \(3,\)$"):
        fresh.resume(games.states)
    with pytest.raises(ValueError, match=r"^records are of type int64; allowed: the STATE"):
        fresh.resume(np.arange(3))


def test_one_position_can_be_started_in_many_rows() -> None:
    games = played(1, 30)
    many = Games(5, games.rules, **OPTIONS)
    many.start_positions(games.states)
    assert (many.states == games.states[0]).all()
    many.step(np.full(5, STOCK_ACTION))
    assert (many.states == many.states[0]).all()
