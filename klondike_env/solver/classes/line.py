"""Turning the moves of `klondike_env.solver.classes.moves` into actions of the environment."""

from __future__ import annotations

import numpy as np

from klondike_env.cards import KING
from klondike_env.engine.actions import N_DESTINATIONS, ONTO_SUIT, STOCK_ACTION, TO_FOUNDATION, TO_GAP
from klondike_env.engine.apply import apply
from klondike_env.engine.card_arithmetic import rank_of, suit_of
from klondike_env.engine.jit import kernel
from klondike_env.engine.legal import find_moves, is_legal
from klondike_env.engine.state import N_COLUMNS, TALON
from klondike_env.rules import RuleParams
from klondike_env.solver.classes.card_numbering import CARDS, NUMBERS, RANK_WIDTH
from klondike_env.solver.classes.moves import COLUMN_TO_FOUNDATION, TALON_TO_FOUNDATION, card_of, kind_of

ILLEGAL = -1


@kernel
def is_last(states: np.ndarray, i: int, card: int) -> bool:
    """Whether a card is the last of a column."""
    column = int(states[i]["place"][card])
    return column < N_COLUMNS and int(states[i]["row"][card]) + 1 == int(states[i]["height"][column])


@kernel
def onto(card: int, below: int) -> int:
    """The action that builds a card on another."""
    return card * N_DESTINATIONS + ONTO_SUIT + suit_of(below)


@kernel
def landing_action(states: np.ndarray, i: int, card: int) -> int:
    """The action that takes a king to a gap, or another card onto an uncovered card of the pair it may lie on."""
    if rank_of(card) == KING:
        return card * N_DESTINATIONS + TO_GAP
    above = int(NUMBERS[card]) + RANK_WIDTH
    first = int(CARDS[above])
    return onto(card, first if is_last(states, i, first) else int(CARDS[above ^ 1]))


@kernel
def next_action(states: np.ndarray, i: int, kind: int, card: int) -> int:
    """The next action towards a move.

    A talon card may need draws first. The run on a card that goes to its foundation is moved to the card's twin first.
    """
    place, row = int(states[i]["place"][card]), int(states[i]["row"][card])
    if place == TALON:
        waste = int(states[i]["waste_size"])
        if waste == 0 or int(states[i]["talon"][waste - 1]) != card:
            return STOCK_ACTION
    if kind == COLUMN_TO_FOUNDATION and not is_last(states, i, card):
        return onto(int(states[i]["columns"][place, row + 1]), int(CARDS[int(NUMBERS[card]) ^ 1]))
    if kind in (COLUMN_TO_FOUNDATION, TALON_TO_FOUNDATION):
        return card * N_DESTINATIONS + TO_FOUNDATION
    return landing_action(states, i, card)


@kernel
def write_line(states: np.ndarray, line: np.ndarray, rules: RuleParams, moves: np.ndarray, actions: np.ndarray) -> int:
    """Play a line and write its actions; return how many there are, or ILLEGAL if one is not legal.

    states: STATE[1], changed in place; line: int64[n], moves of the search; moves: int64[N_MOVE_SETS], scratch;
    actions: int64[m], overwritten.
    """
    count, done = 0, 0
    while done < len(line) and count < len(actions):
        kind, card = kind_of(int(line[done])), int(CARDS[card_of(int(line[done]))])
        action = next_action(states, 0, kind, card)
        find_moves(states, 0, rules, 0, moves)
        if not is_legal(moves, action):
            return ILLEGAL
        apply(states, 0, action, rules)
        actions[count] = action
        count += 1
        if action != STOCK_ACTION and action // N_DESTINATIONS == card:
            done += 1
    return count if done == len(line) else ILLEGAL
