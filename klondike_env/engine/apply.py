"""Playing an action: cards move, a face-down card may be turned up, moves are counted.

Nothing here checks whether an action is legal. Callers ask `klondike_env.engine.legal` first.
"""

from __future__ import annotations

import numpy as np

from klondike_env.engine.actions import N_DESTINATIONS, ONTO_SUIT, STOCK_ACTION, TO_FOUNDATION, TO_GAP
from klondike_env.engine.card_arithmetic import card_at, rank_of, suit_of
from klondike_env.engine.card_sets import bit_of
from klondike_env.engine.jit import kernel
from klondike_env.engine.queries import foundation_total
from klondike_env.engine.state import FOUNDATION, N_COLUMNS, TALON
from klondike_env.engine.talon import draw_or_redeal, take_from_talon
from klondike_env.rules import RuleParams


@kernel
def turn_up(states: np.ndarray, i: int, column: int) -> bool:
    """Turn the column's last card up if it is face down; return whether it was."""
    height = int(states[i]["height"][column])
    if height == 0 or int(states[i]["face_down"][column]) < height:
        return False
    states[i]["face_down"][column] = height - 1
    states[i]["face_up"] |= bit_of(int(states[i]["columns"][column, height - 1]))
    return True


@kernel
def place_card(states: np.ndarray, i: int, card: int, column: int) -> None:
    """Put one card on a column."""
    height = int(states[i]["height"][column])
    states[i]["columns"][column, height] = card
    states[i]["place"][card] = column
    states[i]["row"][card] = height
    states[i]["face_up"] |= bit_of(card)
    states[i]["height"][column] = height + 1


@kernel
def move_run(states: np.ndarray, i: int, card: int, target: int) -> bool:
    """Move a card and all that lies on it to another column; return whether a card was turned up."""
    source, row = int(states[i]["place"][card]), int(states[i]["row"][card])
    for index in range(row, int(states[i]["height"][source])):
        place_card(states, i, int(states[i]["columns"][source, index]), target)
        states[i]["columns"][source, index] = 0
    states[i]["height"][source] = row
    return turn_up(states, i, source)


@kernel
def lift(states: np.ndarray, i: int, card: int, rules: RuleParams) -> bool:
    """Take one free card from its place; return whether that is progress (a card turned up or out of the talon)."""
    source = int(states[i]["place"][card])
    if source == TALON:
        take_from_talon(states, i, card, rules)
        return True
    if source == FOUNDATION:
        suit = suit_of(card)
        states[i]["foundation"][suit] = int(states[i]["foundation"][suit]) - 1
        return False
    row = int(states[i]["height"][source]) - 1
    states[i]["columns"][source, row] = 0
    states[i]["height"][source] = row
    states[i]["face_up"] &= ~bit_of(card)
    return turn_up(states, i, source)


@kernel
def send_to_foundation(states: np.ndarray, i: int, card: int) -> bool:
    """Put a lifted card on its foundation; return whether the foundations hold more cards than ever in this game."""
    suit = suit_of(card)
    states[i]["foundation"][suit] = int(states[i]["foundation"][suit]) + 1
    states[i]["place"][card] = FOUNDATION
    states[i]["row"][card] = 0
    total = foundation_total(states, i)
    if total <= int(states[i]["best_foundation"]):
        return False
    states[i]["best_foundation"] = total
    return True


@kernel
def target_column(states: np.ndarray, i: int, card: int, destination: int) -> int:
    """The column that a card goes to: that of the card it is built on, or the leftmost empty column."""
    if destination != TO_GAP:
        return int(states[i]["place"][card_at(rank_of(card) + 1, destination - ONTO_SUIT)])
    column = 0
    while int(states[i]["height"][column]) > 0:
        column += 1
    return column


@kernel
def apply(states: np.ndarray, i: int, action: int, rules: RuleParams) -> bool:
    """Play a legal action; return whether it is progress.

    Progress is a card turned up, a card leaving the talon, more cards on the foundations than ever before in
    this game, or a stock card seen for the first time.
    """
    states[i]["moves"] += 1
    if action == STOCK_ACTION:
        return draw_or_redeal(states, i, rules)
    card, destination = action // N_DESTINATIONS, action % N_DESTINATIONS
    if destination == TO_FOUNDATION:
        lifted = lift(states, i, card, rules)
        return send_to_foundation(states, i, card) or lifted
    column = target_column(states, i, card, destination)
    if int(states[i]["place"][card]) < N_COLUMNS:
        return move_run(states, i, card, column)
    lifted = lift(states, i, card, rules)
    place_card(states, i, card, column)
    return lifted
