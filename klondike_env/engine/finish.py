"""Playing a decided game (`klondike_env.engine.queries.is_decided`) to its end."""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_CARDS, N_RANKS, N_SUITS
from klondike_env.engine.actions import N_DESTINATIONS, TO_FOUNDATION
from klondike_env.engine.card_arithmetic import card_at
from klondike_env.engine.card_sets import bit_of
from klondike_env.engine.jit import kernel
from klondike_env.engine.queries import column_tops, foundation_total, wanted_cards, waste_top
from klondike_env.engine.scoring import play
from klondike_env.engine.setup import Scheme
from klondike_env.engine.talon import draws_to
from klondike_env.rules import RuleParams


@kernel
def nearest_wanted(states: np.ndarray, i: int, wanted: int, rules: RuleParams) -> int:
    """The card among `wanted` in the talon that the fewest draws reach."""
    size, waste = int(states[i]["talon_size"]), int(states[i]["waste_size"])
    nearest, fewest = N_CARDS, 0
    for place in range(size):
        card = int(states[i]["talon"][place])
        if wanted & bit_of(card):
            draws = draws_to(size, waste, place, rules.draw_count)
            if nearest == N_CARDS or draws < fewest:
                nearest, fewest = card, draws
    return nearest


@kernel
def next_to_finish(states: np.ndarray, i: int, rules: RuleParams) -> int:
    """The card that goes to its foundation next: a free card, lowest suit first, else the nearest in the talon."""
    wanted = wanted_cards(states, i)
    for free in (column_tops(states, i) & wanted, waste_top(states, i) & wanted):
        for suit in range(N_SUITS):
            height = int(states[i]["foundation"][suit])
            if height < N_RANKS and free & bit_of(card_at(height, suit)):
                return card_at(height, suit)
    return nearest_wanted(states, i, wanted, rules)


@kernel
def finish(states: np.ndarray, i: int, rules: RuleParams, scheme: Scheme) -> None:
    """Play a decided game to its end and count every move. The rest of the stock is seen on the way."""
    states[i]["seen_size"] = states[i]["talon_size"]
    while foundation_total(states, i) < N_CARDS:
        card = next_to_finish(states, i, rules)
        play(states, i, card * N_DESTINATIONS + TO_FOUNDATION, rules, scheme)
