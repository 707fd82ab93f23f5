"""Reproducible random numbers: a function of the agent's seed and what the agent sees.

There is no generator with a state. A number is mixed from the seed, the visible tops of all piles and the step count,
so an agent plays a deal the same way whatever the row, batch size or order of deals. Boards whose tops look the same at
the same step get the same number, which does no harm.
"""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_SUITS
from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import GOLDEN_GAMMA, mix
from klondike_env.engine.queries import NO_CARD, last_card, waste_card
from klondike_env.engine.state import N_COLUMNS

_32 = np.uint64(32)
_STEPS = 2**32 - 1  # how many numbers between 0 and 1 there are, the most that `roll` allows


@kernel
def column_word(views: np.ndarray, i: int, column: int) -> int:
    """Height, face-down count and last card of a column in one number."""
    card = last_card(views, i, column) - NO_CARD
    return card | int(views[i]["height"][column]) << 8 | int(views[i]["face_down"][column]) << 16


@kernel
def talon_word(views: np.ndarray, i: int) -> int:
    """Waste size, talon size and the waste's top card in one number."""
    card = waste_card(views, i) - NO_CARD
    return card | int(views[i]["waste_size"]) << 8 | int(views[i]["talon_size"]) << 16


@kernel
def foundation_word(views: np.ndarray, i: int) -> int:
    """The heights of the foundations in one number."""
    word = 0
    for suit in range(N_SUITS):
        word |= int(views[i]["foundation"][suit]) << 8 * suit
    return word


@kernel
def visible_word(views: np.ndarray, i: int, seed: int) -> np.uint64:
    """64 random bits for the view in record `i`."""
    number = mix(np.uint64(seed) + GOLDEN_GAMMA)
    for column in range(N_COLUMNS):
        number = mix(number ^ np.uint64(column_word(views, i, column)))
    number = mix(number ^ np.uint64(talon_word(views, i)))
    number = mix(number ^ np.uint64(foundation_word(views, i)))
    return mix(number ^ np.uint64(views[i]["steps"]))


@kernel
def roll(views: np.ndarray, i: int, seed: int, sides: int) -> int:
    """A number 0 to `sides` - 1 for the view in record `i`, all equally likely; `sides` is below 2**32."""
    return int(((visible_word(views, i, seed) >> _32) * np.uint64(sides)) >> _32)


@kernel
def write_uniforms(views: np.ndarray, seed: int, numbers: np.ndarray) -> None:
    """A number 0 or more and below 1 for each view; numbers: float64[n], overwritten."""
    for i in range(views.shape[0]):
        numbers[i] = roll(views, i, seed, _STEPS) / _STEPS
