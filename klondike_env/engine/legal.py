"""Legal actions: first as a set of cards for each destination, then as a mask."""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_SUITS
from klondike_env.engine.actions import N_DESTINATIONS, ONTO_SUIT, STOCK_ACTION, TO_FOUNDATION, TO_GAP
from klondike_env.engine.card_sets import bit_of, card_of_bit, fitting_on, lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.queries import (
    column_tops,
    floor_cards,
    foundation_tops,
    gap_takes,
    playable_talon,
    run_heads,
    stock_is_live,
    wanted_cards,
)
from klondike_env.engine.talon import redeals_are_unlimited
from klondike_env.rules import RuleParams

# `moves: int64[7]` holds for each of the six destinations the set of cards that may go there, and last a 1 if
# the stock action is legal, else 0.
STOCK_MOVE = N_DESTINATIONS
N_MOVE_SETS = N_DESTINATIONS + 1


@kernel
def find_card_moves(states: np.ndarray, i: int, rules: RuleParams, reach: int, moves: np.ndarray) -> bool:
    """Write the sets of cards for the six destinations; return whether a card can be moved. moves: int64[7]."""
    tops = column_tops(states, i)
    talon = playable_talon(states, i, rules, reach)
    extra = talon | (foundation_tops(states, i) if rules.worry_back else 0)
    movable = (run_heads(states, i) | tops) if rules.whole_runs else int(states[i]["face_up"])
    moves[TO_FOUNDATION] = (tops | talon) & wanted_cards(states, i)
    found = moves[TO_FOUNDATION]
    for suit in range(N_SUITS):
        moves[ONTO_SUIT + suit] = (movable | extra) & fitting_on(tops, suit, rules.build)
        found |= moves[ONTO_SUIT + suit]
    takes = gap_takes(states, i, rules)
    moves[TO_GAP] = ((movable & ~floor_cards(states, i)) | extra) & takes if takes != 0 else 0
    return (found | moves[TO_GAP]) != 0


@kernel
def find_moves(states: np.ndarray, i: int, rules: RuleParams, reach: int, moves: np.ndarray) -> bool:
    """Write all legal moves; return whether a card can be moved. moves: int64[7], overwritten.

    With `reach` and unlimited redeals there is nothing to draw for, so the stock action is legal only when no
    card can be moved. Under any rules it is legal when nothing else is, so that some action is always legal.
    """
    found = find_card_moves(states, i, rules, reach, moves)
    drawing = stock_is_live(states, i, rules) and not (reach and redeals_are_unlimited(rules.redeals))
    moves[STOCK_MOVE] = 1 if drawing or not found else 0
    return found


@kernel
def is_legal(moves: np.ndarray, action: int) -> bool:
    """Whether an action id is among the moves, which no id outside 0..312 is. moves: int64[7]."""
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
