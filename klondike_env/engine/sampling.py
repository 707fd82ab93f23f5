"""Uniformly random legal actions for a batch, without going through the masks."""

from __future__ import annotations

import numpy as np

from klondike_env.engine.actions import N_DESTINATIONS, STOCK_ACTION
from klondike_env.engine.jit import kernel
from klondike_env.engine.lanes import card_of_bit, count_cards, lowest_bit
from klondike_env.engine.legal import STOCK_MOVE


@kernel
def count_legal(moves: np.ndarray) -> int:
    """How many actions are legal. moves: int64[7], see `klondike_env.engine.legal`."""
    count = moves[STOCK_MOVE]
    for destination in range(N_DESTINATIONS):
        count += count_cards(moves[destination])
    return count


@kernel
def nth_legal(moves: np.ndarray, n: int) -> int:
    """The n-th legal action, n from 0, in a fixed order."""
    for destination in range(N_DESTINATIONS):
        cards = moves[destination]
        count = count_cards(cards)
        if n < count:
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
        actions[i] = nth_legal(moves, int(uniforms[i] * count_legal(moves)))
