"""Which cards are safe to go up: by the definition, and in a position that a looser rule would lose."""

from __future__ import annotations

import random

import numpy as np
import pytest

from klondike_env.engine.actions import parse as parse_action
from klondike_env.rules import BUILDS, Rules
from klondike_env.solver.columns.card_numbering import NUMBERS
from klondike_env.solver.columns.column_search import ALL, ColumnSearch
from klondike_env.solver.columns.nodes import N_WORDS, NEXT
from klondike_env.solver.columns.pruning import make_game
from klondike_env.solver.columns.safe import is_safe, up_or_next
from tests.boards import board, outcome_of
from tests.reference import hosts


def followers(card: int, foundation: list[int], rules: Rules) -> set[int]:
    """The cards that may lie on the card, those that may lie on these, and so on. foundation: how many, by suit."""
    found, waiting = set(), [card]
    while waiting:
        lower = waiting.pop()
        above = {upper for upper in range(52) if lower in hosts(upper, rules.build)}
        if not rules.worry_back:
            above = {upper for upper in above if upper % 13 >= foundation[upper // 13]}
        waiting += above - found
        found |= above
    return found


def words_of(foundation: list[int]) -> np.ndarray:
    words = np.zeros(N_WORDS, dtype=np.int64)
    words[NEXT] = sum(1 << 4 * count + suit for suit, count in enumerate(foundation))
    return words


@pytest.mark.parametrize("worry_back", [True, False])
@pytest.mark.parametrize("build", BUILDS)
def test_a_card_is_safe_if_each_of_its_followers_is_up_or_next(build: str, worry_back: bool) -> None:
    rules, chance = Rules(build=build, worry_back=worry_back), random.Random(build)
    game = make_game(rules.params(), ALL)
    verdicts = []
    for _ in range(100):
        level = chance.randrange(13)
        foundation = [min(13, max(0, level + chance.choice([-2, -1, 0, 0, 1, 2]))) for _ in range(4)]
        ready = {13 * suit + rank for suit in range(4) for rank in range(min(foundation[suit] + 1, 13))}
        assert up_or_next(words_of(foundation)) & ((1 << 52) - 1) == sum(1 << NUMBERS[card] for card in ready)
        for card in ready:
            expected = followers(card, foundation, rules) <= ready
            assert is_safe(words_of(foundation), NUMBERS[card], game) == expected, (foundation, card)
            verdicts.append(expected)
    assert any(verdicts)
    assert build == "same_suit" or not all(verdicts)


@pytest.mark.parametrize("worry_back", [True, False])
def test_a_card_is_kept_for_a_follower_two_ranks_lower(worry_back: bool) -> None:
    """The 7H can go up, and both sixes that may lie on it can follow, but 5D may lie on these and cannot.

    5D has to leave the 4D. It can go onto the 6C only, which lies in the talon and needs the 7H as its host.
    """
    rules = Rules(gaps="none", worry_back=worry_back)
    start = board(
        "KD QC JD TC 9D 8C 7H",
        "KC QH JC TH 9C 8H 7C",
        "KS QD JS TD 9S 8D 7S",
        "KH QS JH TS 9H 8S",
        "7D 6D 6S 4D | 5D",
        foundations="5C 3D 6H 5S",
        waste="6C",
    )
    search = ColumnSearch(start, rules)
    assert search.run(1000) == "solved"
    actions = search.actions()
    assert parse_action("6C onto 7H") in actions
    assert outcome_of(start, rules, actions) == "won"
