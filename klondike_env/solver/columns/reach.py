"""The talon in a search: the cards that drawing and redealing bring to the top of the waste, without single draws.

`klondike_env.engine.talon` says what drawing does. Its places have no gaps; here a card keeps the place that it had in
the talon at the start.

Playing a card of the talon leaves the cards before it as the waste. A waste is *pure* if whole draws from the start of
a pass make it. With enough redeals a pure waste may be turned over at once, so it is as good as an empty one.
"""

from __future__ import annotations

import numpy as np

from klondike_env.engine.card_sets import count_cards, lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.talon import comes_up, draw_stops
from klondike_env.solver.columns.nodes import BORDER, ENOUGH, PLACE, PLACES, REDEALS, TALON_CARDS


@kernel
def drawn_last(stock: int, draw_count: int) -> int:
    """The places of a stock whose cards come to the top of the waste while it is drawn to its end."""
    if draw_count == 1:
        return stock
    stops, reached = draw_stops(count_cards(stock), 0, draw_count), 0
    while stops != 0:
        place = lowest_bit(stock)
        stock ^= place
        reached |= place if stops & 1 else 0
        stops >>= 1
    return reached


@kernel
def highest_bit(places: int) -> int:
    """The highest of a set of places or cards, as a set; empty if the set is empty."""
    places |= places >> 1
    places |= places >> 2
    places |= places >> 4
    places |= places >> 8
    places |= places >> 16
    places |= places >> 32
    return places ^ (places >> 1)


@kernel
def waste_places(words: np.ndarray) -> int:
    """The places of the cards in the waste."""
    return words[PLACES] & ((1 << words[BORDER]) - 1)


@kernel
def reach_now(words: np.ndarray, draw_count: int) -> int:
    """The places whose cards can be on top of the waste before the next redeal."""
    waste = waste_places(words)
    return highest_bit(waste) | drawn_last(words[PLACES] ^ waste, draw_count)


@kernel
def reach_later(words: np.ndarray, draw_count: int) -> int:
    """The places whose cards can be on top of the waste after a redeal; none if no redeal is left."""
    return drawn_last(words[PLACES], draw_count) if words[REDEALS] > 0 else 0


@kernel
def is_pure(words: np.ndarray, draw_count: int) -> bool:
    """Whether the waste is what whole draws from the start of a pass make."""
    return draw_count == 1 or comes_up(count_cards(waste_places(words)), count_cards(words[PLACES]), draw_count)


@kernel
def settle_talon(words: np.ndarray, draw_count: int) -> None:
    """Replace a talon by the one that stands for all equally good ones."""
    if words[REDEALS] >= count_cards(words[PLACES]):
        words[REDEALS] = ENOUGH
        if is_pure(words, draw_count):
            words[BORDER] = 0


@kernel
def take_from_talon(words: np.ndarray, number: int, cards: np.ndarray, draw_count: int) -> None:
    """Draw until a card is on top of the waste, with a redeal only if it is needed, and take the card."""
    place = cards[PLACE, number]
    if words[REDEALS] != ENOUGH and not (reach_now(words, draw_count) >> place) & 1:
        words[REDEALS] -= 1
    words[TALON_CARDS] ^= 1 << number
    words[PLACES] ^= 1 << place
    words[BORDER] = place
    settle_talon(words, draw_count)
