"""Cards numbered by pairs, so that building in alternating colours is a shift of bits.

Within the class search a card is a number 0..51: `4 * rank + 2 * (red XOR odd rank) + twin`. Its *twin* is the other
card of the same rank and colour, one bit away; the two are a *pair*. The pair that may be built on a card is exactly
four bits lower. A set of cards is an int64. Bits 52..55 stand for a rank above the king: what a full foundation takes
next.
"""

from __future__ import annotations

import numpy as np

from klondike_env.cards import ACE, KING, N_CARDS, N_RANKS, N_SUITS, card_at, is_red, rank_of, suit_of
from klondike_env.engine.card_sets import count_cards, lowest_bit
from klondike_env.engine.jit import kernel

RANK_WIDTH = 4  # bits of a rank: the pair that may be built on a card is this many bits lower
_TWIN_OF_SUIT = (0, 0, 1, 1)  # clubs and spades, diamonds and hearts are twins


def _number(rank: int, suit: int) -> int:
    red = is_red(card_at(ACE, suit))
    return RANK_WIDTH * rank + 2 * (red ^ rank % 2) + _TWIN_OF_SUIT[suit]


def _set_of(numbers: list[int]) -> int:
    return sum(1 << number for number in numbers)


# NUMBERS[card]: the number of a card of klondike_env.cards; CARDS is the inverse.
NUMBERS = np.array([_number(rank_of(card), suit_of(card)) for card in range(N_CARDS)], dtype=np.int64)
CARDS = np.argsort(NUMBERS).astype(np.int64)

FIRST_OF_PAIRS = _set_of(list(range(0, N_CARDS, 2)))
KINGS = _set_of([_number(KING, suit) for suit in range(N_SUITS)])
ALL_ON_FOUNDATIONS = _set_of([_number(N_RANKS, suit) for suit in range(N_SUITS)])  # `wanted` after a win
_RED = _set_of([_number(rank, suit) for rank in range(N_RANKS + 1) for suit in (1, 2)])
_BLACK = _set_of([_number(rank, suit) for rank in range(N_RANKS + 1) for suit in (0, 3)])


@kernel
def number_of(bit: int) -> int:
    """The number of the only card in a set."""
    return count_cards(bit - 1)


@kernel
def next_in_suit(card: int) -> int:
    """The number of the card of the same suit one rank higher."""
    return (card + RANK_WIDTH) ^ 2


@kernel
def one_rank_lower(cards: int) -> int:
    """The cards of the same suits one rank lower; none for an ace."""
    swapped = ((cards & 0x3333333333333333) << 2) | ((cards >> 2) & 0x3333333333333333)
    return swapped >> RANK_WIDTH


@kernel
def pair_of(card: int) -> int:
    """The set of a card and its twin."""
    return 3 << (card & ~1)


@kernel
def fitting_on_pair(pair: int) -> int:
    """The pair that may be built on a pair."""
    return pair >> RANK_WIDTH


@kernel
def uncovered(visible: int, placed: int) -> int:
    """The pairs of which at least one visible card has nothing on it; the set holds both cards of each.

    Each placed card covers one card of the pair that is four bits higher. It is left open which of the two.

    Args:
        visible: the face-up cards of the columns.
        placed: those of them that lie on a face-up card, and kings at the bottom of their columns.
    """
    first, second = visible & FIRST_OF_PAIRS, (visible >> 1) & FIRST_OF_PAIRS
    below = placed << RANK_WIDTH
    first_below, second_below = below & FIRST_OF_PAIRS, (below >> 1) & FIRST_OF_PAIRS
    two_visible_one_covered = (first & second) & ~(first_below & second_below)
    one_visible_none_covered = (first | second) & ~(first_below | second_below)
    return (two_visible_one_covered | one_visible_none_covered) * 3


@kernel
def safe_cards(wanted: int) -> int:
    """The safe cards: they may always go up and stay up, since only cards that are safe too could still need them.

    A card is safe when both foundations of the other colour take next at least the rank one below it, and the other
    foundation of its own colour at least the rank two below it (Blake and Gent, The Winnability of Klondike Solitaire
    and Many Other Patience Games, appendix B).

    Args:
        wanted: what the foundations take next, one card of each suit.
    """
    red, black = wanted & _RED, wanted & _BLACK
    lowest_red = number_of(lowest_bit(red)) // RANK_WIDTH
    lowest_black = number_of(lowest_bit(black)) // RANK_WIDTH
    highest_black = min(lowest_red + 1, lowest_black + 2)
    highest_red = min(lowest_black + 1, lowest_red + 2)
    up_to_black = (1 << (RANK_WIDTH * (highest_black + 1))) - 1
    up_to_red = (1 << (RANK_WIDTH * (highest_red + 1))) - 1
    return (_BLACK & up_to_black) | (_RED & up_to_red)
