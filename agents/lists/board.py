"""Queries of rule lists beside those of `klondike_env.engine.queries`: what may be built, and the action for it."""

from __future__ import annotations

from klondike_env.cards import N_SUITS
from klondike_env.engine.actions import N_DESTINATIONS, ONTO_SUIT
from klondike_env.engine.card_arithmetic import suit_of
from klondike_env.engine.card_sets import fitting_on
from klondike_env.engine.jit import kernel
from klondike_env.rules import RuleParams


@kernel
def fitting(cards: int, rules: RuleParams) -> int:
    """The set of cards that may be built on one of a set of cards."""
    found = 0
    for suit in range(N_SUITS):
        found |= fitting_on(cards, suit, rules.build)
    return found


@kernel
def onto(card: int, below: int) -> int:
    """The action that builds `card` on `below`."""
    return card * N_DESTINATIONS + ONTO_SUIT + suit_of(below)
