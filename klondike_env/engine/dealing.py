"""Laying out a deck as a fresh game."""

from __future__ import annotations

import numpy as np

from klondike_env.engine.card_sets import bit_of
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import N_COLUMNS, PLAYING, TALON, TALON_SIZE
from klondike_env.engine.talon import look_through, redeals_are_unlimited
from klondike_env.rules import RuleParams


@kernel
def clear(states: np.ndarray, i: int) -> None:
    """Empty the record's piles and set its counters to 0."""
    states[i]["columns"][:] = 0
    states[i]["height"][:] = 0
    states[i]["foundation"][:] = 0
    states[i]["row"][:] = 0
    states[i]["face_up"] = 0
    states[i]["waste_size"] = 0
    states[i]["seen_size"] = 0
    states[i]["outcome"] = PLAYING
    states[i]["best_foundation"] = 0
    states[i]["redeals_used"] = 0
    states[i]["since_progress"] = 0
    states[i]["moves"] = 0
    states[i]["steps"] = 0
    states[i]["score"] = 0


@kernel
def lay_out(states: np.ndarray, i: int, deck: np.ndarray) -> None:
    """Deal a deck, row by row, as a fresh game. deck: uint8[52] in dealing order."""
    clear(states, i)
    dealt = 0
    for row in range(N_COLUMNS):
        for column in range(row, N_COLUMNS):
            card = int(deck[dealt])
            states[i]["columns"][column, row] = card
            states[i]["place"][card] = column
            states[i]["row"][card] = row
            dealt += 1
    for column in range(N_COLUMNS):
        states[i]["height"][column] = column + 1
        states[i]["face_down"][column] = column
        states[i]["face_up"] |= bit_of(int(states[i]["columns"][column, column]))
    for index in range(TALON_SIZE):
        card = int(deck[dealt + index])
        states[i]["talon"][index] = card
        states[i]["place"][card] = TALON
    states[i]["talon_size"] = TALON_SIZE


@kernel
def open_talon(states: np.ndarray, i: int, rules: RuleParams) -> None:
    """Where redeals are unlimited, look through the talon once, which costs nothing but moves."""
    if redeals_are_unlimited(rules.redeals):
        look_through(states, i, rules)
