"""Sets of cards, and the questions about columns that the lists of agents ask."""

from __future__ import annotations

import random

import pytest

from klondike_env.engine.card_sets import bit_of, card_of_bit, count_cards, lowest_bit, may_lie_on
from klondike_env.engine.queries import NO_CARD, last_card
from klondike_env.rules import BUILDS
from tests import reference
from tests.boards import board


def test_a_set_holds_the_cards_that_were_put_into_it() -> None:
    chance = random.Random(1)
    for size in range(53):
        cards = set(chance.sample(range(52), size))
        held, found = sum(bit_of(card) for card in cards), set()
        assert count_cards(held) == size
        while held:
            found.add(card_of_bit(lowest_bit(held)))
            held ^= lowest_bit(held)
        assert found == cards


@pytest.mark.parametrize("build", BUILDS)
def test_cards_may_lie_on_those_that_the_reference_allows(build: str) -> None:
    for card in range(52):
        allowed = [below for below in range(52) if may_lie_on(card, below, BUILDS.index(build))]
        assert allowed == reference.hosts(card, build)


def test_the_last_card_of_a_column() -> None:
    states = board("KS QD", "2C | 3C", foundations="", waste="", stock="").reshape(1)
    assert [last_card(states, 0, column) for column in range(3)] == [24, 2, NO_CARD]
    assert NO_CARD not in range(52)
