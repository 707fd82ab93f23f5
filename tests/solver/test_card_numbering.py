"""Cards numbered by pairs, compared with the rules in plain words."""

from __future__ import annotations

import random

from klondike_env.solver.classes.card_numbering import (
    CARDS,
    NUMBERS,
    fitting_on_pair,
    next_in_suit,
    one_rank_lower,
    pair_of,
    uncovered,
)
from tests.reference import may_lie_on


def cards_of(numbers: int) -> list[int]:
    return [int(CARDS[number]) for number in range(52) if numbers >> number & 1]


def test_the_pair_four_lower_is_what_may_be_built() -> None:
    for below in range(52):
        fitting = cards_of(fitting_on_pair(pair_of(int(NUMBERS[below]))))
        assert sorted(fitting) == [card for card in range(52) if may_lie_on(card, below, "alternating_colour")]


def test_neighbours_in_a_suit_are_found() -> None:
    for card in range(52):
        number = int(NUMBERS[card])
        assert cards_of(one_rank_lower(1 << number)) == ([card - 1] if card % 13 else [])
        if card % 13 < 12:
            assert CARDS[next_in_suit(number)] == card + 1


def test_a_pair_is_uncovered_if_more_cards_are_visible_than_lie_on_it() -> None:
    rng = random.Random(1)
    for _ in range(2000):
        visible = rng.getrandbits(52)
        placed = visible & rng.getrandbits(52)
        found = uncovered(visible, placed)
        for first in range(0, 52, 2):
            covering = (placed << 4 >> first & 3).bit_count()
            shown = (visible >> first & 3).bit_count()
            if covering <= shown:  # as in every real position
                assert (found >> first & 3) == (3 if shown > covering else 0)
