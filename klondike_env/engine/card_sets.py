"""Sets of cards as integers: 16 bits for each suit, of which the lowest 13 are in use, bit `suit * 16 + rank`.

Shifting a suit right by one replaces every card by the next lower one. Building on columns needs no other
arithmetic. Bit 60 is the highest in use, so an int64 holds a set.
"""

from __future__ import annotations

import numpy as np

from klondike_env.cards import KING, N_CARDS, N_RANKS, N_SUITS, is_red, rank_of, suit_of
from klondike_env.engine import card_arithmetic
from klondike_env.engine.jit import kernel
from klondike_env.rules import BUILDS, GAPS

SUIT_WIDTH = 16
FULL_SUIT = (1 << N_RANKS) - 1
_ONE_IN_EACH_SUIT = sum(1 << (SUIT_WIDTH * suit) for suit in range(N_SUITS))


def _may_build(build: str, suit: int, below: int) -> bool:
    """Whether a card of `suit` may lie on a card of suit `below` one rank higher."""
    same_colour = is_red(suit * N_RANKS) == is_red(below * N_RANKS)
    return {
        "alternating_colour": not same_colour,
        "other_suit": suit != below,
        "same_suit": suit == below,
        "same_colour": same_colour,
        "any_suit": True,
    }[build]


def _suit_set(suits: list[int]) -> int:
    return sum(FULL_SUIT << (SUIT_WIDTH * suit) for suit in suits)


# BUILD_SETS[build, below]: the cards whose suit may lie on a card of suit `below`.
BUILD_SETS = np.array(
    [
        [_suit_set([suit for suit in range(N_SUITS) if _may_build(build, suit, below)]) for below in range(N_SUITS)]
        for build in BUILDS
    ],
    dtype=np.int64,
)

# GAP_SETS[gaps]: the cards that an empty column takes.
GAP_SETS = np.array(
    [{"kings": _ONE_IN_EACH_SUIT << KING, "any": _suit_set([0, 1, 2, 3]), "none": 0}[gaps] for gaps in GAPS],
    dtype=np.int64,
)

_BITS = np.array([1 << (SUIT_WIDTH * suit_of(card) + rank_of(card)) for card in range(N_CARDS)], dtype=np.int64)


@kernel
def bit_of(card: int) -> int:
    """The set that holds one card 0..51."""
    return int(_BITS[card])


@kernel
def lowest_bit(cards: int) -> int:
    """The set that holds the card of the lowest bit only; `cards` is not empty."""
    return cards & -cards


@kernel
def count_cards(cards: int) -> int:
    """How many cards a set holds, by adding up bits in parallel (Warren, Hacker's Delight, 5-1).

    The compiler recognizes this form and turns it into one instruction.
    """
    cards = cards - ((cards >> 1) & 0x5555555555555555)
    cards = (cards & 0x3333333333333333) + ((cards >> 2) & 0x3333333333333333)
    cards = (cards + (cards >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((cards * 0x0101010101010101) >> 56) & 0xFF


@kernel
def card_of_bit(bit: int) -> int:
    """The card 0..51 of a set that holds one card; the inverse of `bit_of`."""
    index = count_cards(bit - 1)
    return index - (SUIT_WIDTH - N_RANKS) * (index // SUIT_WIDTH)


@kernel
def fitting_on(tops: int, suit: int, build: int) -> int:
    """The cards that may be built on the cards of one suit among `tops`."""
    one_lower = (tops >> (SUIT_WIDTH * suit + 1)) & (FULL_SUIT >> 1)
    return (one_lower * _ONE_IN_EACH_SUIT) & int(BUILD_SETS[build, suit])


@kernel
def may_lie_on(card: int, below: int, build: int) -> bool:
    """Whether `card` may be built on the column card `below`."""
    return fitting_on(bit_of(below), card_arithmetic.suit_of(below), build) & bit_of(card) != 0
