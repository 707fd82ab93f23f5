"""Legal actions: first as seven sets of cards, one a destination, then as a mask."""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_SUITS
from klondike_env.engine.actions import N_DESTINATIONS, ONTO_SUIT, STOCK_ACTION, TO_FOUNDATION, TO_GAP
from klondike_env.engine.jit import kernel
from klondike_env.engine.lanes import FULL_LANE, GAP_SETS, LANE, bit_of, card_of_bit, fitting_on, lowest_bit
from klondike_env.engine.state import MAX_HEIGHT, N_COLUMNS
from klondike_env.engine.stock import playable_talon, stock_is_live
from klondike_env.rules import UNLIMITED, RuleParams

# `moves: int64[7]`: for each destination of an action the set of cards that may go there, then 1 if
# the stock action is legal.
STOCK_MOVE = N_DESTINATIONS
N_MOVE_SETS = N_DESTINATIONS + 1


@kernel
def column_tops(states: np.ndarray, i: int) -> int:
    """The set of the columns' last cards."""
    cards = 0
    for column in range(N_COLUMNS):
        height = int(states[i]["height"][column])
        bit = bit_of(int(states[i]["columns"][column, max(height - 1, 0)]))
        cards |= bit if height > 0 else 0
    return cards


@kernel
def run_heads(states: np.ndarray, i: int) -> int:
    """The set of the columns' first face-up cards."""
    cards = 0
    for column in range(N_COLUMNS):
        bit = bit_of(int(states[i]["columns"][column, int(states[i]["face_down"][column])]))
        cards |= bit if int(states[i]["height"][column]) > 0 else 0
    return cards


@kernel
def floor_cards(states: np.ndarray, i: int) -> int:
    """The set of face-up cards with no card under them in their column."""
    cards = 0
    for column in range(N_COLUMNS):
        n_down = int(states[i]["face_down"][column])
        bit = bit_of(int(states[i]["columns"][column, n_down]))  # the lowest card may be one that nobody has seen
        on_floor = int(states[i]["height"][column]) > 0 and n_down == 0
        cards |= bit if on_floor else 0
    return cards


@kernel
def has_gap(states: np.ndarray, i: int) -> bool:
    """Whether a column is empty."""
    lowest = MAX_HEIGHT
    for column in range(N_COLUMNS):
        lowest = min(lowest, int(states[i]["height"][column]))
    return lowest == 0


@kernel
def foundation_tops(states: np.ndarray, i: int) -> int:
    """The set of the foundations' top cards."""
    cards = 0
    for suit in range(N_SUITS):
        cards |= ((1 << int(states[i]["foundation"][suit])) >> 1) << (LANE * suit)
    return cards


@kernel
def wanted_cards(states: np.ndarray, i: int) -> int:
    """The set of cards that the foundations take next."""
    cards = 0
    for suit in range(N_SUITS):
        cards |= ((1 << int(states[i]["foundation"][suit])) & FULL_LANE) << (LANE * suit)
    return cards


@kernel
def find_card_moves(states: np.ndarray, i: int, rules: RuleParams, reach: int, moves: np.ndarray) -> bool:
    """Write the sets of cards for the six destinations; whether any is not empty. moves: int64[7]."""
    tops = column_tops(states, i)
    talon = playable_talon(states, i, rules, reach)
    extra = talon | (foundation_tops(states, i) if rules.worry_back else 0)
    movable = (run_heads(states, i) | tops) if rules.whole_runs else int(states[i]["face_up"])
    moves[TO_FOUNDATION] = (tops | talon) & wanted_cards(states, i)
    found = moves[TO_FOUNDATION]
    for suit in range(N_SUITS):
        moves[ONTO_SUIT + suit] = (movable | extra) & fitting_on(tops, suit, rules.build)
        found |= moves[ONTO_SUIT + suit]
    moves[TO_GAP] = 0
    if has_gap(states, i):
        moves[TO_GAP] = ((movable & ~floor_cards(states, i)) | extra) & GAP_SETS[rules.gaps]
    return (found | moves[TO_GAP]) != 0


@kernel
def find_moves(states: np.ndarray, i: int, rules: RuleParams, reach: int, moves: np.ndarray) -> bool:
    """Write all legal moves; whether a card can be moved. moves: int64[7], overwritten.

    Where redeals are unlimited, `reach` leaves nothing to draw for, and the stock action is offered
    only when no card can be moved. It is offered too when nothing at all is legal, so that the set of
    legal actions is never empty.
    """
    found = find_card_moves(states, i, rules, reach, moves)
    drawing = stock_is_live(states, i, rules) and not (reach and rules.redeals == UNLIMITED)
    moves[STOCK_MOVE] = 1 if drawing or not found else 0
    return found


@kernel
def is_legal(moves: np.ndarray, action: int) -> bool:
    """Whether an action id is among the moves; ids outside 0..312 are not. moves: int64[7]."""
    if action == STOCK_ACTION:
        return moves[STOCK_MOVE] == 1
    if action < 0 or action > STOCK_ACTION:
        return False
    return (moves[action % N_DESTINATIONS] & bit_of(action // N_DESTINATIONS)) != 0


@kernel
def write_mask(moves: np.ndarray, mask: np.ndarray) -> None:
    """Write the moves as a mask. moves: int64[7]; mask: int8[313], overwritten with 0 and 1."""
    mask[:] = 0
    for destination in range(N_DESTINATIONS):
        cards = int(moves[destination])
        while cards != 0:
            bit = lowest_bit(cards)
            mask[card_of_bit(bit) * N_DESTINATIONS + destination] = 1
            cards ^= bit
    mask[STOCK_ACTION] = moves[STOCK_MOVE]
