"""Uniformly random legal actions for a batch, drawn from the sets of moves instead of the masks."""

from __future__ import annotations

import numpy as np

from klondike_env.engine.actions import N_DESTINATIONS, STOCK_ACTION
from klondike_env.engine.card_sets import card_of_bit, count_cards, lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.legal import STOCK_MOVE


@kernel
def count_moves(moves: np.ndarray) -> int:
    """How many cards may go to each destination, packed into eight bits for each. moves: int64[7]."""
    counts = 0
    for destination in range(N_DESTINATIONS):
        counts |= count_cards(int(moves[destination])) << (8 * destination)
    return counts


@kernel
def add_counts(counts: int) -> int:
    """The sum of the eight-bit counts."""
    return ((counts * 0x010101010101) >> (8 * (N_DESTINATIONS - 1))) & 0xFF


@kernel
def nth_legal(moves: np.ndarray, counts: int, n: int) -> int:
    """The n-th legal action in a fixed order, counted from 0."""
    for destination in range(N_DESTINATIONS):
        count = (counts >> (8 * destination)) & 0xFF
        if n < count:
            cards = int(moves[destination])
            for _ in range(n):
                cards ^= lowest_bit(cards)
            return card_of_bit(lowest_bit(cards)) * N_DESTINATIONS + destination
        n -= count
    return STOCK_ACTION


@kernel
def sample_actions(turns: np.ndarray, uniforms: np.ndarray, actions: np.ndarray) -> None:
    """Choose a legal action in each game. uniforms: float64[n] in [0, 1); actions: int64[n], overwritten."""
    for i in range(len(turns)):
        moves = turns[i]["moves"]
        counts = count_moves(moves)
        actions[i] = nth_legal(moves, counts, int(uniforms[i] * (add_counts(counts) + moves[STOCK_MOVE])))
