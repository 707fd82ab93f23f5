"""Deals: a number stands for one order of the 52 cards, on every platform and for ever.

The deck of a deal number comes from Fisher-Yates driven by the splitmix64 sequence that starts at
the mixed deal number: for i = 51 down to 1 the card at i changes places with the card at
j = (top 32 bits of the next value * (i + 1)) >> 32, starting from the cards in order of their ids.

A deck is in dealing order: cards 0 to 27 are dealt row by row (row r gives one card to each of the
columns r to 6, so the last card of each column is dealt face up), cards 28 to 51 are the stock, card
28 drawn first. `parse` and `format_deck` read and write decks as text, see `klondike_env.formats`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from klondike_env.cards import N_CARDS
from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import GOLDEN_GAMMA, mix
from klondike_env.formats import check_deck, format_deck, parse

__all__ = [
    "CUSTOM_DEAL",
    "TEST_DEALS",
    "TRAINING_DEALS",
    "VALIDATION_DEALS",
    "check_deals",
    "check_deck",
    "deck_of",
    "decks_of",
    "format_deck",
    "parse",
]

TEST_DEALS = range(0, 1_000_000)  # public; benchmarks use the first 40,000
VALIDATION_DEALS = range(1_000_000, 2_000_000)
TRAINING_DEALS = range(2_000_000, 2**53)
CUSTOM_DEAL = -1  # the label of a custom deck or position


@kernel
def shuffle_deck(deal: int, deck: np.ndarray) -> None:
    """Write the deck of a deal number. deck: uint8[52], overwritten."""
    for card in range(N_CARDS):
        deck[card] = card
    sequence = mix(np.uint64(deal))
    for i in range(N_CARDS - 1, 0, -1):
        sequence += GOLDEN_GAMMA
        top = mix(sequence) >> np.uint64(32)
        j = np.int64((top * np.uint64(i + 1)) >> np.uint64(32))
        deck[i], deck[j] = deck[j], deck[i]


@kernel
def shuffle_decks(deals: np.ndarray, decks: np.ndarray) -> None:
    """Write the deck of each deal number. deals: int64[m]; decks: uint8[m, 52], overwritten."""
    for i in range(len(deals)):
        shuffle_deck(deals[i], decks[i])


def check_deals(deals: ArrayLike) -> np.ndarray:
    """Deal numbers as int64[m], once they are known to be some.

    Raises:
        ValueError: one is no whole number from 0 to 2**53 - 1.
    """
    numbers = np.asarray(deals)
    if not np.issubdtype(numbers.dtype, np.integer) and len(numbers):
        raise ValueError(f"deals are of type {numbers.dtype}; allowed: whole numbers 0 to {TRAINING_DEALS.stop - 1}")
    numbers = numbers.astype(np.int64)
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= TRAINING_DEALS.stop):
        wrong = numbers[(numbers < 0) | (numbers >= TRAINING_DEALS.stop)][0]
        raise ValueError(f"deal is {wrong}; allowed: 0 to {TRAINING_DEALS.stop - 1}")
    return numbers


def decks_of(deals: ArrayLike) -> np.ndarray:
    """The decks of several deal numbers.

    Args:
        deals: int[m], each 0 to 2**53 - 1.

    Returns:
        uint8[m, 52] card ids in dealing order.

    Raises:
        ValueError: a number is out of range.
    """
    numbers = check_deals(deals)
    decks = np.empty((len(numbers), N_CARDS), dtype=np.uint8)
    shuffle_decks(numbers, decks)
    return decks


def deck_of(deal: int) -> np.ndarray:
    """The deck of a deal number: uint8[52] card ids in dealing order.

    Raises:
        ValueError: the number is not 0 to 2**53 - 1.
    """
    return decks_of([deal])[0]
