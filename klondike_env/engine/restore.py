"""Preparing records from elsewhere to be played on: where each card is, and whether the game is over."""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_SUITS, UNSEEN
from klondike_env.engine.card_arithmetic import card_at
from klondike_env.engine.card_sets import bit_of
from klondike_env.engine.jit import kernel
from klondike_env.engine.outcome import settle
from klondike_env.engine.setup import unpack
from klondike_env.engine.state import FOUNDATION, HIDDEN_PLACE, N_COLUMNS, TALON


@kernel
def index_cards(states: np.ndarray, i: int) -> None:
    """Write where each card is and which cards are face up, as the piles say.

    Unseen cards get HIDDEN_PLACE. Unused places of the piles are cleared.
    """
    states[i]["place"][:] = HIDDEN_PLACE
    states[i]["row"][:] = 0
    states[i]["face_up"] = 0
    for column in range(N_COLUMNS):
        states[i]["columns"][column, int(states[i]["height"][column]) :] = 0
        for row in range(int(states[i]["height"][column])):
            card = int(states[i]["columns"][column, row])
            if card != UNSEEN:
                states[i]["place"][card] = column
                states[i]["row"][card] = row
                if row >= int(states[i]["face_down"][column]):
                    states[i]["face_up"] |= bit_of(card)
    for suit in range(N_SUITS):
        for rank in range(int(states[i]["foundation"][suit])):
            states[i]["place"][card_at(rank, suit)] = FOUNDATION
    states[i]["talon"][int(states[i]["talon_size"]) :] = 0
    for index in range(int(states[i]["talon_size"])):
        card = int(states[i]["talon"][index])
        if card != UNSEEN:
            states[i]["place"][card] = TALON


@kernel
def index_records(states: np.ndarray) -> None:
    """Write where each card is in every record. states: STATE[n], changed in place."""
    for i in range(len(states)):
        index_cards(states, i)


@kernel
def settle_records(states: np.ndarray, packed: np.ndarray, moves: np.ndarray) -> None:
    """Write the outcome of each game. states: STATE[n], changed in place; packed: a setup; moves: int64[7], scratch."""
    setup = unpack(packed)
    for i in range(len(states)):
        settle(states, i, setup, moves)
