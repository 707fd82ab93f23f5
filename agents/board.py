"""Reading a board: the questions about one record of views that rule lists ask."""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_SUITS
from klondike_env.engine.actions import N_DESTINATIONS, ONTO_SUIT
from klondike_env.engine.card_arithmetic import suit_of
from klondike_env.engine.card_sets import bit_of, fitting_on
from klondike_env.engine.jit import kernel
from klondike_env.rules import RuleParams

NO_CARD = -1


@kernel
def last_card(views: np.ndarray, i: int, column: int) -> int:
    """The card at the open end of a column, or NO_CARD."""
    height = int(views[i]["height"][column])
    return int(views[i]["columns"][column, height - 1]) if height > 0 else NO_CARD


@kernel
def run_head(views: np.ndarray, i: int, column: int) -> int:
    """The set that holds the first face-up card of a column; empty when the column is."""
    bit = bit_of(int(views[i]["columns"][column, int(views[i]["face_down"][column])]))
    return bit if int(views[i]["height"][column]) > 0 else 0


@kernel
def waste_card(views: np.ndarray, i: int) -> int:
    """The top of the waste, or NO_CARD."""
    waste = int(views[i]["waste_size"])
    return int(views[i]["talon"][waste - 1]) if waste > 0 else NO_CARD


@kernel
def fitting(cards: int, rules: RuleParams) -> int:
    """The set of cards that may be built on one of a set of cards."""
    found = 0
    for suit in range(N_SUITS):
        found |= fitting_on(cards, suit, rules.build)
    return found


@kernel
def fits(card: int, below: int, rules: RuleParams) -> bool:
    """Whether `card` may be built on `below`."""
    return fitting_on(bit_of(below), suit_of(below), rules.build) & bit_of(card) != 0


@kernel
def onto(card: int, below: int) -> int:
    """The action that builds `card` on `below`."""
    return card * N_DESTINATIONS + ONTO_SUIT + suit_of(below)
