"""What holds in every position that random play can reach, under any rules."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from klondike_env.cards import UNSEEN
from klondike_env.engine.state import FOUNDATION, HIDDEN_PLACE, N_COLUMNS, PLAYING, TALON
from klondike_env.games import Games
from klondike_env.rules import BUILDS, DISTINCT_PRESETS, GAPS, PRESETS, RUNS, Rules
from tests.reference import may_lie_on

N_GAMES = 8
N_STEPS = 120


def random_rules(seed: int) -> Rules:
    chance = random.Random(seed)
    return Rules(
        build=chance.choice(BUILDS),
        gaps=chance.choice(GAPS),
        draw_count=chance.choice([1, 2, 3, chance.randint(1, 24)]),
        redeals=chance.choice([0, 1, 3, None]),
        worry_back=chance.random() < 0.7,
        runs=chance.choice(RUNS),
    )


RULES = {**DISTINCT_PRESETS, **{f"custom{seed}": random_rules(seed) for seed in range(12)}}
everywhere = pytest.mark.parametrize(
    ("rules", "talon"),
    [pytest.param(rules, talon, id=f"{name}-{talon}") for name, rules in RULES.items() for talon in ("draw", "reach")],
)


def random_actions(masks: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    """A legal action for each row: int64[n]."""
    return np.argmax(masks * chance.random(masks.shape), axis=1)


def random_play(rules: Rules, talon: str, **options: Any) -> Iterator[Games]:
    """A batch of games after the deal and after every step; games that have ended are dealt anew."""
    chance = np.random.default_rng(7)
    games = Games(N_GAMES, rules, talon=talon, stall_limit=60, **options)
    games.deal(np.arange(N_GAMES))
    yield games
    for step in range(N_STEPS):
        games.step(random_actions(games.masks, chance))
        yield games
        over = np.flatnonzero(games.over)
        if len(over):
            games.deal(1000 * (step + 1) + over, over)


def column_cards(record: np.void) -> list[list[int]]:
    return [
        cards[:height].tolist() for cards, height in zip(record["columns"], record["height"].astype(int), strict=True)
    ]


def cards_of(record: np.void) -> list[int]:
    """Every card of a record, from wherever it lies."""
    on_foundations = [suit * 13 + rank for suit, height in enumerate(record["foundation"]) for rank in range(height)]
    talon = record["talon"][: int(record["talon_size"])].tolist()
    return sum(column_cards(record), on_foundations + talon)


@everywhere
def test_52_distinct_cards(rules: Rules, talon: str) -> None:
    for games in random_play(rules, talon):
        for record in games.states:
            assert sorted(cards_of(record)) == list(range(52))


@everywhere
def test_face_up_cards_are_legal_runs(rules: Rules, talon: str) -> None:
    for games in random_play(rules, talon):
        for record in games.states:
            for cards, face_down in zip(column_cards(record), record["face_down"].tolist(), strict=True):
                face_up = cards[face_down:]
                assert all(may_lie_on(upper, lower, rules.build) for lower, upper in itertools.pairwise(face_up))


@everywhere
def test_face_down_counts_are_consistent(rules: Rules, talon: str) -> None:
    for games in random_play(rules, talon):
        face_down, height = games.states["face_down"], games.states["height"]
        assert (face_down <= np.arange(N_COLUMNS)).all()
        assert ((face_down < height) | (height == 0) & (face_down == 0)).all()


@everywhere
def test_place_and_row_say_where_each_card_lies(rules: Rules, talon: str) -> None:
    for games in random_play(rules, talon):
        for record in games.states:
            place, row = np.full(52, FOUNDATION), np.zeros(52, dtype=int)
            place[record["talon"][: record["talon_size"]]] = TALON
            for column, cards in enumerate(column_cards(record)):
                place[cards] = column
                row[cards] = range(len(cards))
            assert (record["place"] == place).all()
            assert (record["row"] == row).all()


@everywhere
def test_counters_keep_within_their_ranges(rules: Rules, talon: str) -> None:
    for games in random_play(rules, talon):
        states = games.states
        assert (states["waste_size"] <= states["seen_size"]).all()
        assert (states["seen_size"] <= states["talon_size"]).all()
        assert (states["foundation"].sum(axis=1) <= states["best_foundation"]).all()
        assert (states["since_progress"] <= states["steps"]).all()
        if rules.redeals is not None:
            assert (states["redeals_used"] <= rules.redeals).all()


@everywhere
def test_unused_places_of_a_column_are_zero(rules: Rules, talon: str) -> None:
    for games in random_play(rules, talon):
        unused = np.arange(games.states["columns"].shape[2]) >= games.states["height"][:, :, None]
        assert not games.states["columns"][unused].any()


@pytest.mark.parametrize("no_repeats", [False, True])
@everywhere
def test_an_action_is_legal_unless_the_game_is_over(rules: Rules, talon: str, no_repeats: bool) -> None:
    for games in random_play(rules, talon, no_repeats=no_repeats):
        assert games.masks.any(axis=1).all()
        assert games.masks[games.over].all()
        assert not games.masks[~games.over].all(axis=1).any()


@everywhere
def test_legal_actions_are_accepted_and_others_refused(rules: Rules, talon: str) -> None:
    chance = np.random.default_rng(3)
    for games in random_play(rules, talon):
        playing = ~games.over
        masks = games.masks.copy()
        before = games.states.copy()
        tried = chance.integers(0, masks.shape[1], N_GAMES)
        legal = masks[np.arange(N_GAMES), tried].astype(bool)
        games.step(tried)
        assert (games.illegal[playing] == ~legal[playing]).all()
        refused = playing & ~legal
        assert (games.states["moves"][refused] == before["moves"][refused]).all()
        assert (games.states["columns"][refused] == before["columns"][refused]).all()
        assert (games.rewards[refused] == 0).all()


@everywhere
def test_every_accepted_action_is_at_least_one_move(rules: Rules, talon: str) -> None:
    moves = None
    for games in random_play(rules, talon):
        fresh = games.states["steps"] == 0
        if moves is not None:
            assert (fresh | (games.states["moves"] > moves)).all()
        moves = np.where(games.over, -1, games.states["moves"])


@everywhere
def test_no_repeats_shows_a_position_twice_only_where_every_action_leads_back(rules: Rules, talon: str) -> None:
    without = Games(1, rules, talon=talon)
    visited: list[set[Any]] = [set() for _ in range(N_GAMES)]
    before: Any = None
    masks: Any = None
    for games in random_play(rules, talon, no_repeats=True):
        for row, record in enumerate(games.states):
            if record["since_progress"] == 0:
                visited[row].clear()
            elif no_repeats_key(record, rules) in visited[row]:
                without.resume(before[row])
                assert (masks[row] == without.masks[0]).all()  # nothing was masked
            visited[row].add(no_repeats_key(record, rules))
        before, masks = games.states.copy(), games.masks.copy()


def no_repeats_key(record: np.void, rules: Rules) -> tuple[Any, ...]:
    return (
        tuple(sorted(map(tuple, column_cards(record)))),
        record["talon"][: record["talon_size"]].tobytes(),
        int(record["waste_size"]),
        0 if rules.redeals is None else int(record["redeals_used"]),
    )


@everywhere
def test_a_view_hides_every_unseen_card_and_nothing_else(rules: Rules, talon: str) -> None:
    for games in random_play(rules, talon):
        for record, view in zip(games.states, games.views(), strict=True):
            assert view == expected_view(record)
            shown = {*view["columns"].ravel().tolist(), *view["talon"].tolist()} - {0}  # 0 fills unused places
            assert shown.isdisjoint(hidden_cards(record))


def expected_view(record: np.void) -> np.void:
    view = record.copy()
    for column, face_down in enumerate(record["face_down"].tolist()):
        view["columns"][column, :face_down] = UNSEEN
    view["talon"][record["seen_size"] : record["talon_size"]] = UNSEEN
    view["place"][hidden_cards(record)] = HIDDEN_PLACE
    view["row"][hidden_cards(record)] = 0
    return view


def hidden_cards(record: np.void) -> list[int]:
    """Cards whose faces the player has not seen."""
    hidden: list[int] = record["talon"][record["seen_size"] : record["talon_size"]].tolist()
    for cards, face_down in zip(record["columns"], record["face_down"].tolist(), strict=True):
        hidden += cards[:face_down].tolist()
    return hidden


@everywhere
def test_what_the_player_has_not_seen_changes_no_mask_and_no_view(rules: Rules, talon: str) -> None:
    chance = np.random.default_rng(11)
    other = Games(1, rules, talon=talon)
    for games in random_play(rules, talon):
        row = int(chance.integers(N_GAMES))
        if games.over[row]:
            continue
        other.resume(shuffle_hidden(games.states[row], chance))
        assert (other.masks[0] == games.masks[row]).all()
        assert other.views()[0] == games.views()[row]


def shuffle_hidden(record: np.void, chance: np.random.Generator) -> np.void:
    """The same game with the unseen cards in other unseen places."""
    hidden = hidden_cards(record)
    exchange = np.arange(52, dtype=np.uint8)
    exchange[hidden] = chance.permutation(hidden)
    shuffled = record.copy()
    for column, height in enumerate(record["height"].astype(int)):
        shuffled["columns"][column, :height] = exchange[record["columns"][column, :height]]
    size = int(record["talon_size"])
    shuffled["talon"][:size] = exchange[record["talon"][:size]]
    shuffled["place"][exchange] = record["place"]
    shuffled["row"][exchange] = record["row"]
    return shuffled


@everywhere
def test_the_order_of_columns_changes_no_mask(rules: Rules, talon: str) -> None:
    chance = np.random.default_rng(13)
    other = Games(1, rules, talon=talon)
    for games in random_play(rules, talon):
        row = int(chance.integers(N_GAMES))
        if games.over[row]:
            continue
        record = games.states[row].copy()
        order = chance.permutation(N_COLUMNS)
        for name in ("columns", "height", "face_down"):
            record[name] = games.states[row][name][order]
        on_columns = record["place"] < N_COLUMNS
        record["place"][on_columns] = np.argsort(order)[record["place"][on_columns]]
        other.resume(record)
        assert (other.masks[0] == games.masks[row]).all()


@pytest.mark.parametrize("options", [{}, {"no_repeats": True, "auto_finish": True}])
@everywhere
def test_a_batch_plays_each_game_as_if_it_were_alone(rules: Rules, talon: str, options: dict[str, Any]) -> None:
    chance = np.random.default_rng(17)
    batch = Games(4, rules, talon=talon, stall_limit=60, **options)
    alone = [Games(1, rules, talon=talon, stall_limit=60, **options) for _ in range(4)]
    batch.deal(np.arange(4))
    for row, game in enumerate(alone):
        game.deal([row])
    for _ in range(100):
        chosen = random_actions(batch.masks, chance)
        batch.step(chosen)
        for row, game in enumerate(alone):
            game.step(chosen[row : row + 1])
            assert game.states[0] == batch.states[row]
            assert (game.masks[0] == batch.masks[row]).all()
            assert game.rewards[0] == batch.rewards[row] or batch.over[row]


@everywhere
def test_a_copied_record_is_a_copied_game(rules: Rules, talon: str) -> None:
    chance = np.random.default_rng(19)
    games, copy = Games(1, rules, talon=talon), Games(1, rules, talon=talon)
    games.deal([5])
    for _ in range(20):
        games.step(random_actions(games.masks, chance))
    copy.resume(games.states[0])
    while games.outcomes[0] == PLAYING:
        chosen = random_actions(games.masks, chance)
        games.step(chosen)
        copy.step(chosen)
        assert copy.states[0] == games.states[0]
        assert (copy.masks == games.masks).all()


def test_games_that_have_ended_are_left_alone() -> None:
    games = Games(2, PRESETS["draw1"], stall_limit=1)
    games.deal([0, 1])
    while not games.over.all():
        games.step(random_actions(games.masks, np.random.default_rng(0)))
    before = games.states.copy()
    games.step(np.array([312, 0]))
    assert (games.states == before).all()


def test_inactive_games_are_left_alone() -> None:
    games = Games(2, PRESETS["draw1"])
    games.deal([0, 1])
    games.step(np.array([312, 312]), active=np.array([True, False]))
    assert games.states["steps"].tolist() == [1, 0]
    assert games.states["moves"].tolist() == [1, 0]


@pytest.mark.parametrize("action", [-1, 313, 10_000, -(2**40)])
def test_a_number_that_is_no_action_is_refused(action: int) -> None:
    games = Games(1, PRESETS["draw1"])
    games.deal([0])
    games.step(np.array([action]))
    assert games.illegal[0]
    assert games.states["moves"][0] == 0
    assert games.states["steps"][0] == 1


def test_some_rows_can_be_dealt_anew() -> None:
    games = Games(3, PRESETS["draw1"])
    games.deal([7, 8, 9])
    games.step(np.array([312, 312, 312]))
    games.deal([100], [1])
    assert games.states["steps"].tolist() == [1, 0, 1]
    assert games.deals.tolist() == [7, 100, 9]
    games.deal_decks([np.arange(52)], [2])
    assert games.deals.tolist() == [7, 100, -1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"talon": "peek"}, "talon is 'peek'; allowed: draw, reach"),
        ({"stall_limit": 0}, "stall_limit is 0; allowed: a whole number from 1, or None for no limit"),
        ({"step_limit": 1.5}, "step_limit is 1.5; allowed: a whole number from 1, or None for no limit"),
        ({"reward": "gold"}, "reward is 'gold'; allowed: win, progress, standard, vegas"),
    ],
)
def test_a_wrong_option_says_what_is_allowed(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Games(1, PRESETS["draw1"], **options)
