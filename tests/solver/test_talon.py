"""What the searches find in reach in a talon that cards have left, compared with drawing step by step."""

from __future__ import annotations

import random

import numpy as np
import pytest

from klondike_env.solver.classes import moves
from klondike_env.solver.columns import reach
from klondike_env.solver.columns.nodes import BORDER, N_WORDS, PLACES, REDEALS

CASES = [(size, waste, draw_count) for size in range(25) for waste in range(size + 1) for draw_count in range(1, 25)]


def drawn(size: int, waste: int, draw_count: int) -> set[int]:
    """The indices of the cards that are on top of the waste after each draw until the stock is empty."""
    tops = set()
    while waste < size:
        waste = min(waste + draw_count, size)
        tops.add(waste - 1)
    return tops


def places_of(size: int, rng: random.Random) -> list[int]:
    """Random places, in a talon of 24, of as many cards as are left."""
    return sorted(rng.sample(range(24), size))


def bits(places: list[int], indices: set[int]) -> int:
    return sum(1 << places[index] for index in indices)


@pytest.mark.parametrize("seed", range(3))
def test_the_column_search_reaches_what_drawing_brings_up(seed: int) -> None:
    rng = random.Random(seed)
    words = np.zeros(N_WORDS, dtype=np.int64)
    for size, waste, draw_count in CASES:
        places = places_of(size, rng)
        words[PLACES] = sum(1 << place for place in places)
        words[BORDER] = places[waste] if waste < size else 24
        top = {waste - 1} if waste > 0 else set()
        assert reach.reach_now(words, draw_count) == bits(places, top | drawn(size, waste, draw_count))
        for redeals in (0, 1):
            words[REDEALS] = redeals
            expected = bits(places, drawn(size, 0, draw_count)) if redeals else 0
            assert reach.reach_later(words, draw_count) == expected
        assert reach.is_pure(words, draw_count) == (waste == 0 or waste - 1 in drawn(size, 0, draw_count))


@pytest.mark.parametrize("seed", range(3))
def test_the_class_search_reaches_what_drawing_brings_up(seed: int) -> None:
    rng = random.Random(seed)
    deal = np.zeros(moves.DEAL_SHAPE, dtype=np.int64)
    deal[moves.TALON_CARD, :24] = numbers = rng.sample(range(52), 24)
    for size, waste, draw_count in CASES:
        places = places_of(size, rng)
        code = sum(1 << (moves.TALON_SHIFT + place) for place in places)
        top = {waste - 1} if waste > 0 else set()
        reached = top | drawn(size, waste, draw_count) | drawn(size, 0, draw_count)
        code = moves.with_waste(code, waste, draw_count)
        assert moves.reachable(code, deal, draw_count) == sum(1 << numbers[places[index]] for index in reached)
        as_good_as_none = waste == 0 or waste - 1 in drawn(size, 0, draw_count)
        assert (code >> moves.WASTE_SHIFT) == (0 if as_good_as_none else waste)
