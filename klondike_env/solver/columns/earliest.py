"""The positions searched, and how late in the talon each was reached.

Of two positions that differ only in that, the earlier one can do all that the later one can, after some
draws and redeals. So a position is searched only if it was not reached before, or only later in the talon.

A position is entered under a key of 64 bits, a hash of its words. The lowest `late_bits` of the key are
replaced by its lateness: one bit with unlimited redeals, five with a single pass, ten at most. A solvable
game can be called unsolvable only if the keys of two positions collide on every winning line. For a line
of 200 positions among 10**8 searched ones the probability of that is below 200 * 10**8 / 2**63 = 2.2e-9 with unlimited
redeals, 3.5e-8 with a single pass, and 1.1e-6 with 20 redeals or more. Only 25 million positions fit into 500 MB, which
lowers the last figure to 2.8e-7.
"""

from __future__ import annotations

import numpy as np

from klondike_env.engine.card_sets import count_cards
from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import mix
from klondike_env.engine.state import N_COLUMNS, TALON_SIZE
from klondike_env.solver.columns.nodes import (
    COLUMNS,
    DEPTHS,
    ENOUGH,
    FACE_UP,
    FLOOR,
    PLACES,
    REDEALS,
    Game,
)
from klondike_env.solver.columns.reach import is_pure, waste_places

OLD, EARLIER, NEW = range(3)

ON_TIME = 1  # the least lateness, so that no slot in use is 0
_PASS = TALON_SIZE + 1  # how many sizes the waste can have in a pass
_REDEAL = 1 << 5  # waste size and redeals as one number; a waste size needs five bits
_LIMITED = 1 << 10  # above all waste sizes, which stand alone where there are enough redeals
_DEPTHS_SHIFT, _WASTE_SHIFT = TALON_SIZE, np.uint64(48)


@kernel
def latest(redeals: int) -> int:
    """The greatest lateness in a game that starts with so many redeals."""
    return ON_TIME if redeals == ENOUGH else ON_TIME + (redeals + 1) * _PASS


@kernel
def lateness(words: np.ndarray, first_redeals: int, game: Game) -> int:
    """How late a position is, in a game that started with so many redeals.

    It is ON_TIME where waste and redeals are part of the key instead.

    Without enough redeals, drawing from a pure waste can make any later waste of the pass, and any pure waste of later
    passes.
    """
    if words[REDEALS] == ENOUGH or not game.earliest or not is_pure(words, game.draw_count):
        return ON_TIME
    return ON_TIME + 1 + (first_redeals - words[REDEALS]) * _PASS + count_cards(waste_places(words))


@kernel
def key_of(words: np.ndarray, late: int, game: Game) -> np.uint64:
    """The key of a position."""
    waste = 0
    if late == ON_TIME:
        waste = count_cards(waste_places(words))
        if words[REDEALS] != ENOUGH:
            waste += _LIMITED + words[REDEALS] * _REDEAL
    key = mix(np.uint64(words[PLACES] | (words[DEPTHS] << _DEPTHS_SHIFT)) | (np.uint64(waste) << _WASTE_SHIFT))
    key = mix(key ^ np.uint64(words[FLOOR]))
    key = mix(key ^ np.uint64(words[FACE_UP]))
    if game.by_columns:
        for column in range(N_COLUMNS):  # a sum, for the order of columns makes no difference
            key += mix(np.uint64(words[COLUMNS + column]))
        key = mix(key)
    return key


@kernel
def enter(slots: np.ndarray, key: np.uint64, late: int, late_bits: int) -> int:
    """Enter a position; return OLD if it was there and no later, EARLIER if it was there but later, else NEW.

    slots: uint64[a power of two], at least one of them 0, which means free.
    """
    shift = np.uint64(late_bits)
    stem, last = key >> shift, len(slots) - 1
    slot = np.int64(stem) & last
    while slots[slot] != 0 and slots[slot] >> shift != stem:
        slot = (slot + 1) & last
    found, entry = slots[slot], (stem << shift) | np.uint64(late)
    if found != 0 and found <= entry:
        return OLD
    slots[slot] = entry
    return NEW if found == 0 else EARLIER


@kernel
def enter_all(slots: np.ndarray, larger: np.ndarray, late_bits: int) -> None:
    """Enter all entries of a table into a larger one. slots: uint64[n]; larger: uint64[m], all 0 before."""
    for entry in slots:
        if entry != 0:
            slot = np.int64(entry >> np.uint64(late_bits)) & (len(larger) - 1)
            while larger[slot] != 0:
                slot = (slot + 1) & (len(larger) - 1)
            larger[slot] = entry
