"""Deals: a number stands for one order of the 52 cards, on every platform, for ever.

The deck of a deal number is a Fisher-Yates shuffle of the cards in order of their ids, driven by the splitmix64
sequence that starts at the mixed deal number: for i = 51 down to 1 the card at i changes places with the card at
j = (top 32 bits of the next value * (i + 1)) >> 32.

A deck is in dealing order: cards 0 to 27 are dealt row by row (row r gives one card to each of the
columns r to 6, the first of them face up), cards 28 to 51 are the stock, card 28 drawn first. `parse` and
`format_deck` read and write decks as text, see `klondike_env.formats`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klondike_env.cards import N_CARDS
from klondike_env.checks import check_whole_number
from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import shuffle
from klondike_env.formats import check_deck, format_deck, parse

__all__ = [
    "CUSTOM_DEAL",
    "TEST_DEALS",
    "TRAINING_DEALS",
    "VALIDATION_DEALS",
    "check_deal",
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
    shuffle(deck, N_CARDS, np.uint64(deal))


@kernel
def shuffle_decks(deals: np.ndarray, decks: np.ndarray) -> None:
    """Write the deck of each deal number. deals: int64[m]; decks: uint8[m, 52], overwritten."""
    for i in range(len(deals)):
        shuffle_deck(deals[i], decks[i])


def check_deal(deal: Any) -> int:
    """Return the deal number as a Python int.

    Raises:
        ValueError: it is not a whole number from 0 to 2**53 - 1.
    """
    return check_whole_number("deal", deal, 0, TRAINING_DEALS.stop - 1)


def check_deals(deals: Any) -> np.ndarray:
    """Return several deal numbers as int64[m].

    Raises:
        ValueError: one is not a whole number from 0 to 2**53 - 1; the message names it.
    """
    if not np.iterable(deals):
        raise ValueError(f"deals are {deals!r}; allowed: a list of deal numbers")
    if isinstance(deals, np.ndarray) and deals.ndim == 1 and np.issubdtype(deals.dtype, np.integer):
        for number in deals[(deals < 0) | (deals >= TRAINING_DEALS.stop)][:1].tolist():
            check_deal(number)
        return deals.astype(np.int64)
    return np.array([check_deal(deal) for deal in deals], dtype=np.int64)


def decks_of(deals: Any) -> np.ndarray:
    """The decks of several deal numbers.

    Args:
        deals: int[m], each 0 to 2**53 - 1.

    Returns:
        uint8[m, 52] card ids in dealing order.

    Raises:
        ValueError: one is not a whole number, or out of range.
    """
    numbers = check_deals(deals)
    decks = np.empty((len(numbers), N_CARDS), dtype=np.uint8)
    shuffle_decks(numbers, decks)
    return decks


def deck_of(deal: int) -> np.ndarray:
    """The deck of a deal number: uint8[52] card ids in dealing order.

    Raises:
        ValueError: it is not a whole number from 0 to 2**53 - 1.
    """
    return decks_of([deal])[0]
