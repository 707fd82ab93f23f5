"""Questions about a position: what lies where, and what could be done with it.

Every kernel takes `(states, i)`, reads record i of `states: STATE[n]` and changes nothing. Sets of cards
are those of `klondike_env.engine.card_sets`. The record may be a view, because unseen cards are never read.
"""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_SUITS
from klondike_env.engine.card_sets import FULL_SUIT, GAP_SETS, SUIT_WIDTH, bit_of, count_cards, lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import MAX_HEIGHT, N_COLUMNS
from klondike_env.engine.talon import reachable_places, redeal_is_left, talon_is_free
from klondike_env.rules import RuleParams

NO_CARD = -1

# The columns.


@kernel
def last_card(states: np.ndarray, i: int, column: int) -> int:
    """The card at the open end of a column, or NO_CARD."""
    height = int(states[i]["height"][column])
    return int(states[i]["columns"][column, height - 1]) if height > 0 else NO_CARD


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
def run_head(states: np.ndarray, i: int, column: int) -> int:
    """The set that holds the first face-up card of a column; empty if the column is empty."""
    bit = bit_of(int(states[i]["columns"][column, int(states[i]["face_down"][column])]))
    return bit if int(states[i]["height"][column]) > 0 else 0


@kernel
def run_heads(states: np.ndarray, i: int) -> int:
    """The set of the columns' first face-up cards."""
    cards = 0
    for column in range(N_COLUMNS):
        cards |= run_head(states, i, column)
    return cards


@kernel
def floor_cards(states: np.ndarray, i: int) -> int:
    """The set of face-up cards with no card under them in their column."""
    cards = 0
    for column in range(N_COLUMNS):
        cards |= run_head(states, i, column) if int(states[i]["face_down"][column]) == 0 else 0
    return cards


@kernel
def has_gap(states: np.ndarray, i: int) -> bool:
    """Whether a column is empty."""
    lowest = MAX_HEIGHT
    for column in range(N_COLUMNS):
        lowest = min(lowest, int(states[i]["height"][column]))
    return lowest == 0


@kernel
def gap_takes(states: np.ndarray, i: int, rules: RuleParams) -> int:
    """The set of cards, wherever they lie, that an empty column takes; empty if there is no empty column."""
    return int(GAP_SETS[rules.gaps]) if has_gap(states, i) else 0


@kernel
def face_down_total(states: np.ndarray, i: int) -> int:
    """Face-down cards in the columns, 0..21."""
    total = 0
    for column in range(N_COLUMNS):
        total += int(states[i]["face_down"][column])
    return total


# The foundations.


@kernel
def foundation_tops(states: np.ndarray, i: int) -> int:
    """The set of the foundations' top cards."""
    cards = 0
    for suit in range(N_SUITS):
        cards |= ((1 << int(states[i]["foundation"][suit])) >> 1) << (SUIT_WIDTH * suit)
    return cards


@kernel
def wanted_cards(states: np.ndarray, i: int) -> int:
    """The set of cards that the foundations take next, wherever they lie."""
    cards = 0
    for suit in range(N_SUITS):
        cards |= ((1 << int(states[i]["foundation"][suit])) & FULL_SUIT) << (SUIT_WIDTH * suit)
    return cards


@kernel
def foundation_total(states: np.ndarray, i: int) -> int:
    """Cards on the foundations, 0..52."""
    total = 0
    for suit in range(N_SUITS):
        total += int(states[i]["foundation"][suit])
    return total


# The talon.


@kernel
def may_redeal(states: np.ndarray, i: int, rules: RuleParams) -> bool:
    """Whether a redeal is left, now or once the stock is empty."""
    return redeal_is_left(int(states[i]["redeals_used"]), rules.redeals)


@kernel
def stock_is_live(states: np.ndarray, i: int, rules: RuleParams) -> bool:
    """Whether the stock action does something: there is a card to draw, or a waste that may be redealt."""
    size = int(states[i]["talon_size"])
    return int(states[i]["waste_size"]) < size or (size > 0 and may_redeal(states, i, rules))


@kernel
def can_pass(states: np.ndarray, i: int, rules: RuleParams) -> bool:
    """Whether the player has seen the whole talon and a redeal is left, so that a redeal brings known cards only."""
    return int(states[i]["seen_size"]) == int(states[i]["talon_size"]) and may_redeal(states, i, rules)


@kernel
def waste_card(states: np.ndarray, i: int) -> int:
    """The top of the waste, or NO_CARD."""
    waste = int(states[i]["waste_size"])
    return int(states[i]["talon"][waste - 1]) if waste > 0 else NO_CARD


@kernel
def waste_top(states: np.ndarray, i: int) -> int:
    """The set that holds the top card of the waste; empty if the waste is empty."""
    card = waste_card(states, i)
    return bit_of(card) if card != NO_CARD else 0


@kernel
def talon_cards(states: np.ndarray, i: int, places: int) -> int:
    """The set of the cards at a set of the talon's places."""
    cards = 0
    while places != 0:
        place = lowest_bit(places)
        places ^= place
        cards |= bit_of(int(states[i]["talon"][count_cards(place - 1)]))
    return cards


@kernel
def playable_talon(states: np.ndarray, i: int, rules: RuleParams, reach: int) -> int:
    """The set of playable talon cards: the waste's top, and with `reach` every seen card that drawing can reach."""
    if not reach:
        return waste_top(states, i)
    size, waste, seen = int(states[i]["talon_size"]), int(states[i]["waste_size"]), int(states[i]["seen_size"])
    places = reachable_places(size, waste, seen, rules.draw_count, may_redeal(states, i, rules))
    return talon_cards(states, i, places)


# The game.


@kernel
def is_decided(states: np.ndarray, i: int, rules: RuleParams) -> bool:
    """Whether nothing is face down and every talon card is free.

    Such a game is as good as won, because the lowest card that is not on a foundation is always free.
    """
    return talon_is_free(int(states[i]["talon_size"]), rules) and face_down_total(states, i) == 0
