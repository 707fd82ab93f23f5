"""The talon: drawing, redealing, and which talon cards can be reached.

`talon[:waste_size]` is the waste, `talon[waste_size:talon_size]` the stock in order of drawing. So a draw
moves the border between them forward, and a redeal moves it back to 0.

Every question about drawing is answered here from plain numbers: the size of the talon and of the waste, how many
talon cards were seen, the draw count. A place is an index into the talon, and a set of places has one bit for each.
`klondike_env.engine.queries` asks these questions about a record. The kernels here that take a record change it.
"""

from __future__ import annotations

import numpy as np

from klondike_env.engine.jit import kernel
from klondike_env.engine.state import TALON_SIZE
from klondike_env.rules import MAX_DRAW_COUNT, UNLIMITED, RuleParams

_MAX_REDEALS_COUNTED = 65535

# _WHOLE_DRAWS[draw_count]: the set of places where draws of `draw_count` cards end, from the start of a full talon.
_WHOLE_DRAWS = np.array(
    [0]
    + [
        sum(1 << place for place in range(draw_count - 1, TALON_SIZE, draw_count))
        for draw_count in range(1, MAX_DRAW_COUNT + 1)
    ],
    dtype=np.int64,
)


@kernel
def redeals_are_unlimited(redeals: int) -> bool:
    """Whether `RuleParams.redeals` sets no limit, so that looking through the talon costs nothing but moves."""
    return redeals == UNLIMITED


@kernel
def redeal_is_left(redeals_used: int, redeals: int) -> bool:
    """Whether a redeal is left, now or once the stock is empty; `redeals` is that of the rules."""
    return redeals_are_unlimited(redeals) or redeals_used < redeals


@kernel
def talon_is_free(size: int, rules: RuleParams) -> bool:
    """Whether every card of a talon of `size` cards can be played whenever it is wanted, whatever is played before."""
    return size == 0 or (rules.draw_count == 1 and redeals_are_unlimited(rules.redeals))


@kernel
def draws_for(cards: int, draw_count: int) -> int:
    """How many draws turn `cards` cards of the stock."""
    return (cards + draw_count - 1) // draw_count


@kernel
def waste_after_draw(size: int, waste: int, draw_count: int) -> int:
    """The size of the waste after one more draw, which may be short; `size` is that of the talon."""
    return min(waste + draw_count, size)


@kernel
def comes_up(ahead: int, left: int, draw_count: int) -> bool:
    """Whether drawing brings the `ahead`-th card, counted from 1, of a stock of `left` cards to the waste's top.

    The last card always comes up, because the last draw may be short. Called with the size of the waste and that of the
    talon, it tells whether draws from the start of a pass can produce this waste.
    """
    return ahead % draw_count == 0 or ahead == left


@kernel
def draw_stops(size: int, waste: int, draw_count: int) -> int:
    """The set of stock places that draws before a redeal bring to the waste's top: `comes_up` for all at once."""
    stock = (1 << size) - (1 << waste)
    last = (1 << size) >> 1
    return ((int(_WHOLE_DRAWS[draw_count]) << waste) | last) & stock


@kernel
def places_before_redeal(size: int, waste: int, draw_count: int) -> int:
    """The set of places that are the waste's top now or become it before a redeal."""
    return ((1 << waste) >> 1) | draw_stops(size, waste, draw_count)


@kernel
def reachable_places(size: int, waste: int, seen: int, draw_count: int, may_redeal: bool) -> int:
    """The set of places that are the waste's top now or become it without turning an unseen card."""
    places = places_before_redeal(size, waste, draw_count)
    if seen == size and may_redeal:
        places |= draw_stops(size, 0, draw_count)
    return places & ((1 << seen) - 1)


@kernel
def needs_redeal(size: int, waste: int, place: int, draw_count: int) -> bool:
    """Whether the card at a place becomes the waste's top only after a redeal."""
    return (places_before_redeal(size, waste, draw_count) >> place) & 1 == 0


@kernel
def draws_to(size: int, waste: int, place: int, draw_count: int) -> int:
    """How many stock actions, a redeal included if needed, bring the card at a place to the waste's top."""
    if needs_redeal(size, waste, place, draw_count):
        return draws_for(size - waste, draw_count) + 1 + draws_for(place + 1, draw_count)
    return draws_for(place + 1 - waste, draw_count)


@kernel
def count_redeal(states: np.ndarray, i: int) -> None:
    """Add one to the redeals used."""
    states[i]["redeals_used"] = min(int(states[i]["redeals_used"]) + 1, _MAX_REDEALS_COUNTED)


@kernel
def draw_or_redeal(states: np.ndarray, i: int, rules: RuleParams) -> bool:
    """Draw, or redeal when the stock is empty; return whether a card was seen for the first time."""
    size, waste, seen = int(states[i]["talon_size"]), int(states[i]["waste_size"]), int(states[i]["seen_size"])
    if waste == size:
        states[i]["waste_size"] = 0
        count_redeal(states, i)
        return False
    waste = waste_after_draw(size, waste, rules.draw_count)
    states[i]["waste_size"] = waste
    states[i]["seen_size"] = max(seen, waste)
    return waste > seen


@kernel
def find_in_talon(states: np.ndarray, i: int, card: int) -> int:
    """The place of a card that is in the talon."""
    place = 0
    while int(states[i]["talon"][place]) != card:
        place += 1
    return place


@kernel
def take_from_talon(states: np.ndarray, i: int, card: int, rules: RuleParams) -> None:
    """Remove a reachable card; first make the draws that bring it to the waste's top, and count them as moves."""
    size, waste = int(states[i]["talon_size"]), int(states[i]["waste_size"])
    place = find_in_talon(states, i, card)
    states[i]["moves"] += draws_to(size, waste, place, rules.draw_count)
    if needs_redeal(size, waste, place, rules.draw_count):
        count_redeal(states, i)
    for index in range(place, size - 1):
        states[i]["talon"][index] = states[i]["talon"][index + 1]
    states[i]["talon"][size - 1] = 0
    states[i]["talon_size"] = size - 1
    states[i]["seen_size"] = int(states[i]["seen_size"]) - 1
    states[i]["waste_size"] = place


@kernel
def look_through(states: np.ndarray, i: int, rules: RuleParams) -> None:
    """Draw the whole stock once and redeal: every talon card is then seen, and the waste is empty."""
    size = int(states[i]["talon_size"])
    if size > 0:
        states[i]["moves"] += draws_for(size - int(states[i]["waste_size"]), rules.draw_count) + 1
        states[i]["waste_size"] = 0
        states[i]["seen_size"] = size
        count_redeal(states, i)
