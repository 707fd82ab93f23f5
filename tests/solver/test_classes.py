"""The class search, for draw 1 and other draw counts: its verdicts, its solutions, and what it promises to callers."""

from __future__ import annotations

import csv
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from klondike_env.deals import parse
from klondike_env.engine.state import STATE
from klondike_env.games import Games
from klondike_env.rules import PRESETS, Rules
from klondike_env.solver.classes.search import ALL, ClassPruning, ClassSearch, decide, supports
from tests.boards import board, outcome_of
from tests.reference import Options, game_of
from tests.solver.class_positions import random_start
from tests.solver.small_positions import verdict

DATA = Path(__file__).parents[1] / "data"
DRAW1 = Rules()
DRAW_COUNTS = [1, 1, 1, 2, 3, 4, 5, 7, 24]


def rows(file: str) -> list[dict[str, str]]:
    with (DATA / file).open() as lines:
        return list(csv.DictReader(lines))


def dealt(columns: list[str], rules: Rules) -> np.ndarray:
    games = Games(len(columns), rules)
    games.deal_decks([parse(text, format="columns") for text in columns])
    return games.states.copy()


def after_random_play(number: int, rules: Rules, steps: int) -> np.ndarray:
    """The states of 20 deals after a number of random steps, without those of games that are over."""
    games = Games(20, rules, stall_limit=None)
    games.deal(range(20 * number, 20 * number + 20))
    generator = np.random.default_rng(number)
    for _ in range(steps):
        games.step(games.random_actions(generator))
    return games.states[~games.over].copy()


# Verdicts.


@pytest.mark.parametrize("draw_count", [1, 2, 3, 4, 5, 6])
def test_verdicts_agree_with_those_of_public_solvers(draw_count: int) -> None:
    rules, known = Rules(draw_count=draw_count), rows("verdicts_by_draw.csv")
    verdicts, _ = decide(dealt([row["columns"] for row in known], rules), rules, 300_000)
    for row, found in zip(known, verdicts.tolist(), strict=True):
        assert found == row[f"draw{draw_count}"] or "undecided" in (found, row[f"draw{draw_count}"] or "undecided")
    assert (verdicts != "undecided").sum() >= 175


def test_deals_on_which_other_solvers_were_wrong_are_decided() -> None:
    named = {row["name"]: row["columns"] for row in rows("deals.csv")}
    for name, draw_count, expected in [
        ("worry_back_to_same_column", 1, "solved"),
        ("worry_back_to_same_column", 3, "solved"),
        ("worry_back_draw3", 3, "solved"),
        ("draw1_only", 1, "solved"),
        ("draw1_only", 3, "unsolvable"),
        ("long_draw", 1, "solved"),
        ("long_draw", 3, "solved"),
    ]:
        rules = Rules(draw_count=draw_count)
        assert ClassSearch(dealt([named[name]], rules), rules).run(10_000_000) == expected, name


def test_small_positions_have_the_verdict_of_trying_everything() -> None:
    rng, decided = random.Random(1), Counter[str]()
    for _ in range(1000):
        rules = Rules(draw_count=rng.choice(DRAW_COUNTS))
        start = random_start(rng, 9, 12)
        expected = verdict(game_of(start, rules, Options()).position, rules, 300, "reach")
        decided[expected] += 1
        for pruning in (ALL, ClassPruning(0)):
            found = ClassSearch(start, rules, pruning=pruning).run(1_000_000)
            assert expected in (found, "undecided"), (rules, start)
    assert decided["solved"] > 500
    assert decided["unsolvable"] > 3


def test_prunings_change_no_verdict_of_positions_in_which_cards_must_come_back() -> None:
    rng, decided = random.Random(2), Counter[str]()
    for _ in range(6000):
        rules = Rules(draw_count=rng.choice(DRAW_COUNTS))
        start = random_start(rng, 5, 9)
        expected = ClassSearch(start, rules, pruning=ClassPruning.SAFE_CARDS).run(20_000)
        found = ClassSearch(start, rules).run(20_000)
        assert found == expected or "undecided" in (found, expected), (rules, start)
        decided[expected] += 1
    assert decided["solved"] > 4000
    assert decided["unsolvable"] > 300


def test_no_set_of_prunings_changes_a_verdict() -> None:
    rng, decided = random.Random(3), 0
    for number in range(40):
        rules = Rules(draw_count=rng.choice(DRAW_COUNTS))
        for start in after_random_play(number, rules, rng.randrange(150)):
            flags = [ClassPruning(0), ALL, ClassPruning(rng.randrange(ALL + 1)), ClassPruning(rng.randrange(ALL + 1))]
            found = {ClassSearch(start, rules, pruning=pruning).run(5_000) for pruning in flags} - {"undecided"}
            assert len(found) <= 1, (rules, start)
            decided += len(found)
    assert decided > 500


def test_a_win_is_a_win_at_every_divisor_of_the_draw_count() -> None:
    decks = [row["columns"] for row in rows("verdicts_by_draw.csv")[:60]]
    won = {}
    for draw_count in (1, 3, 4, 6, 8, 12, 24):
        rules = Rules(draw_count=draw_count)
        verdicts, _ = decide(dealt(decks, rules), rules, 300_000)
        won[draw_count] = verdicts != "unsolvable"
        for divisor in won:
            if draw_count % divisor == 0:
                assert not (won[draw_count] & (verdicts == "solved") & ~won[divisor]).any()
    assert won[24].sum() < won[3].sum()


# Solutions.


@pytest.mark.parametrize("draw_count", [1, 2, 3, 5, 24])
def test_solutions_win_by_the_rules(draw_count: int) -> None:
    rules, won = Rules(draw_count=draw_count), 0
    for start in dealt([row["columns"] for row in rows("verdicts_by_draw.csv")[:12]], rules):
        search = ClassSearch(start, rules)
        if search.run(100_000) == "solved":
            won += 1
            assert outcome_of(start, rules, search.actions()) == "won"
    assert won > 5 or draw_count > 3


def test_solutions_start_in_the_middle_of_games_too() -> None:
    rng, won = random.Random(4), 0
    for number in range(8):
        rules = Rules(draw_count=rng.choice(DRAW_COUNTS))
        for start in after_random_play(number, rules, rng.randrange(100)):
            search = ClassSearch(start, rules)
            if search.run(20_000) == "solved":
                won += 1
                assert outcome_of(start, rules, search.actions()) == "won"
    assert won > 20


def test_a_run_moves_to_the_twin_of_the_card_that_goes_up() -> None:
    start = board("KC QH", "KS", "KD QS", "KH", foundations="QC JH JS QD", stock_seen=True)
    search = ClassSearch(start, DRAW1, pruning=ClassPruning(0))
    assert search.run(1000) == "solved"
    assert outcome_of(start, DRAW1, search.actions()) == "won"


def test_a_won_position_needs_no_action() -> None:
    search = ClassSearch(board(foundations="KC KD KH KS"), DRAW1)
    assert search.run(1) == "solved"
    assert search.actions() == []


# Promises to callers.


def test_a_search_in_pieces_is_the_same_search() -> None:
    start = dealt([rows("verdicts_by_draw.csv")[13]["columns"]], DRAW1)
    whole, pieces = ClassSearch(start, DRAW1), ClassSearch(start, DRAW1)
    expected = whole.run(1_000_000)
    while pieces.run(997) == "undecided":
        ClassSearch(start, DRAW1).run(50)  # another search meanwhile
    assert (pieces.verdict, pieces.nodes) == (expected, whole.nodes)
    assert whole.nodes > 997


def test_a_search_has_no_more_nodes_than_it_may() -> None:
    search = ClassSearch(dealt([rows("verdicts_by_draw.csv")[13]["columns"]], DRAW1), DRAW1)
    assert search.run(7) == "undecided"
    assert search.nodes == 7
    assert not search.exhausted


def test_a_search_says_when_its_memory_is_used_up() -> None:
    rules = Rules(draw_count=3)
    lost = dealt([row["columns"] for row in rows("verdicts_by_draw.csv") if row["draw3"] == "unsolvable"], rules)
    searches = [ClassSearch(start, rules, max_bytes=200_000) for start in lost]
    for search in searches:
        search.run(1_000_000)
    exhausted = [search for search in searches if search.exhausted]
    assert len(exhausted) > 3
    for search in exhausted:
        nodes = search.nodes
        assert search.run(10) == "undecided"
        assert search.nodes == nodes < 25_000


def test_many_games_are_decided_as_one_by_one() -> None:
    rules = Rules(draw_count=3)
    starts = dealt([row["columns"] for row in rows("verdicts_by_draw.csv")[:40]], rules)
    verdicts, nodes = decide(starts, rules, 50_000)
    for start, word, count in zip(starts, verdicts.tolist(), nodes.tolist(), strict=True):
        search = ClassSearch(start, rules)
        assert (search.run(50_000), search.nodes) == (word, count)
    assert len(set(verdicts)) > 1


def test_only_rules_that_the_search_knows_are_accepted() -> None:
    known = [name for name, rules in PRESETS.items() if supports(rules)]
    assert known == ["draw1", "draw3", "deal1"]
    for rules in (Rules(worry_back=False), Rules(redeals=3), Rules(gaps="any"), Rules(runs="whole_or_last")):
        with pytest.raises(ValueError, match="knows no such rules"):
            ClassSearch(board(foundations="KC KD KH KS"), rules)
        with pytest.raises(ValueError, match="knows no such rules"):
            decide(np.empty(0, dtype=STATE), rules, 10)


def test_a_view_with_unseen_cards_is_refused() -> None:
    games = Games(1, DRAW1)
    games.deal([7])
    with pytest.raises(ValueError, match="the position is not possible"):
        ClassSearch(games.views()[0], DRAW1)


def test_a_solution_is_shown_only_when_there_is_one() -> None:
    with pytest.raises(ValueError, match="there is no solution to show"):
        ClassSearch(board(foundations="KC KD KH KS"), DRAW1).actions()


@pytest.mark.parametrize("nodes", [0, -1, 1.5])
def test_nodes_are_positive_whole_numbers(nodes: Any) -> None:
    start = board(foundations="KC KD KH KS")
    with pytest.raises(ValueError, match="nodes"):
        ClassSearch(start, DRAW1).run(nodes)
