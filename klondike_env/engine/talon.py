"""The talon: drawing, redealing, and which of its cards can be reached.

`talon[:waste_size]` is the waste, `talon[waste_size:talon_size]` the stock in order of drawing, so a
draw moves the border forward and a redeal moves it back to 0.
"""

from __future__ import annotations

import numpy as np

from klondike_env.engine.card_sets import bit_of
from klondike_env.engine.jit import kernel
from klondike_env.rules import UNLIMITED, RuleParams

_MAX_REDEALS_COUNTED = 65535


@kernel
def may_redeal(states: np.ndarray, i: int, rules: RuleParams) -> bool:
    """Whether a redeal is left, now or once the stock is empty."""
    return rules.redeals == UNLIMITED or int(states[i]["redeals_used"]) < rules.redeals


@kernel
def stock_is_live(states: np.ndarray, i: int, rules: RuleParams) -> bool:
    """Whether the stock action does something: a card to draw, or a redeal left for the waste."""
    size = int(states[i]["talon_size"])
    return int(states[i]["waste_size"]) < size or (size > 0 and may_redeal(states, i, rules))


@kernel
def next_stop(states: np.ndarray, i: int, waste: int, draw_count: int) -> int:
    """The waste size after one draw from a waste of `waste` cards, or 0 if that would turn an unseen card or none."""
    size = int(states[i]["talon_size"])
    stop = min(waste + draw_count, size)
    return stop if waste < size and stop <= int(states[i]["seen_size"]) else 0


@kernel
def sweep(states: np.ndarray, i: int, start: int, draw_count: int) -> int:
    """The set of cards that drawing from a waste of `start` cards brings to its top, among the seen cards."""
    cards = 0
    stop = next_stop(states, i, start, draw_count)
    while stop > 0:
        cards |= bit_of(int(states[i]["talon"][stop - 1]))
        stop = next_stop(states, i, stop, draw_count)
    return cards


@kernel
def can_pass(states: np.ndarray, i: int, rules: RuleParams) -> bool:
    """Whether the whole talon is seen and a redeal is left, so that known cards can be reached through it."""
    return int(states[i]["seen_size"]) == int(states[i]["talon_size"]) and may_redeal(states, i, rules)


@kernel
def waste_top(states: np.ndarray, i: int) -> int:
    """The set that holds the waste's top card; empty when the waste is."""
    waste = int(states[i]["waste_size"])
    return bit_of(int(states[i]["talon"][waste - 1])) if waste > 0 else 0


@kernel
def playable_talon(states: np.ndarray, i: int, rules: RuleParams, reach: int) -> int:
    """The talon cards that can be played: the waste's top, and with `reach` every seen card that drawing can reach."""
    cards = waste_top(states, i)
    if reach:
        waste = int(states[i]["waste_size"])
        cards |= sweep(states, i, waste, rules.draw_count)
        if can_pass(states, i, rules):
            cards |= sweep(states, i, 0, rules.draw_count)
    return cards


@kernel
def draws(cards: int, draw_count: int) -> int:
    """Draws needed to turn `cards` cards."""
    return (cards + draw_count - 1) // draw_count


@kernel
def passes_to(states: np.ndarray, i: int, index: int, draw_count: int) -> int:
    """Redeals, 0 or 1, on the shortest way to make talon card `index` the waste's top."""
    waste, last = int(states[i]["waste_size"]), int(states[i]["talon_size"]) - 1
    ahead = index + 1 - waste
    return 0 if ahead == 0 or (ahead > 0 and (ahead % draw_count == 0 or index == last)) else 1


@kernel
def taps_to(states: np.ndarray, i: int, index: int, draw_count: int) -> int:
    """Stock taps, a redeal included, on the shortest way to make talon card `index` the waste's top."""
    waste, size = int(states[i]["waste_size"]), int(states[i]["talon_size"])
    if passes_to(states, i, index, draw_count) == 0:
        return draws(index + 1 - waste, draw_count)
    return draws(size - waste, draw_count) + 1 + draws(index + 1, draw_count)


@kernel
def count_redeal(states: np.ndarray, i: int) -> None:
    """Add one to the redeals used."""
    states[i]["redeals_used"] = min(int(states[i]["redeals_used"]) + 1, _MAX_REDEALS_COUNTED)


@kernel
def tap(states: np.ndarray, i: int, rules: RuleParams) -> bool:
    """Draw, or redeal when the stock is empty; whether a card was seen for the first time."""
    size, waste, seen = int(states[i]["talon_size"]), int(states[i]["waste_size"]), int(states[i]["seen_size"])
    if waste == size:
        states[i]["waste_size"] = 0
        count_redeal(states, i)
        return False
    waste = min(waste + rules.draw_count, size)
    states[i]["waste_size"] = waste
    states[i]["seen_size"] = max(seen, waste)
    return waste > seen


@kernel
def find_in_talon(states: np.ndarray, i: int, card: int) -> int:
    """The index of a card that is in the talon."""
    index = 0
    while int(states[i]["talon"][index]) != card:
        index += 1
    return index


@kernel
def take_from_talon(states: np.ndarray, i: int, card: int, rules: RuleParams) -> None:
    """Remove a reachable card; the taps that bring it to the waste's top are made and counted as moves."""
    index = find_in_talon(states, i, card)
    states[i]["moves"] += taps_to(states, i, index, rules.draw_count)
    if passes_to(states, i, index, rules.draw_count):
        count_redeal(states, i)
    size = int(states[i]["talon_size"]) - 1
    for position in range(index, size):
        states[i]["talon"][position] = states[i]["talon"][position + 1]
    states[i]["talon"][size] = 0
    states[i]["talon_size"] = size
    states[i]["seen_size"] = int(states[i]["seen_size"]) - 1
    states[i]["waste_size"] = index


@kernel
def look_through(states: np.ndarray, i: int, rules: RuleParams) -> None:
    """Turn over the whole stock once and redeal it: every talon card is seen, the waste is empty."""
    size = int(states[i]["talon_size"])
    if size > 0:
        states[i]["moves"] += draws(size - int(states[i]["waste_size"]), rules.draw_count) + 1
        states[i]["waste_size"] = 0
        states[i]["seen_size"] = size
        count_redeal(states, i)
