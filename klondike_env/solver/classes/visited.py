"""A set of 64-bit keys that only grows: open addressing with linear probing in one array of numbers.

The array may have any size. Keys are exact, never 0 (which marks a free slot), and fewer than the slots.
"""

from __future__ import annotations

import numpy as np

from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import mix

# The largest share of slots in use. A fuller table would take less memory, but finding a free slot takes longer.
MAX_LOAD = 0.75
SLOT_BYTES = 8

_32 = np.uint64(32)


@kernel
def slot_of(key: np.uint64, n_slots: int) -> np.int64:
    """Where the search for a key begins: its mixed bits scaled to 0..n_slots-1 (n_slots below 2**32)."""
    return np.int64(((mix(key) >> _32) * np.uint64(n_slots)) >> _32)


@kernel
def insert(table: np.ndarray, key: np.uint64) -> bool:
    """Add a key; return whether it is new. table: uint64[n_slots], with a free slot."""
    slot = int(slot_of(key, len(table)))
    while table[slot] != 0:
        if table[slot] == key:
            return False
        slot = slot + 1 if slot + 1 < len(table) else 0
    table[slot] = key
    return True


@kernel
def move_keys(source: np.ndarray, target: np.ndarray) -> None:
    """Add all keys of one table to another. source: uint64[n]; target: uint64[m], with room for them."""
    for slot in range(len(source)):
        if source[slot] != 0:
            insert(target, source[slot])


def capacity(table: np.ndarray) -> int:
    """How many keys a table may hold before it should grow."""
    return int(len(table) * MAX_LOAD)


def grown(table: np.ndarray, max_bytes: int, factor: int = 4) -> np.ndarray | None:
    """A larger table with the same keys; None if the two tables do not fit into `max_bytes`.

    Args:
        table: uint64[n_slots], left as it is.
        max_bytes: memory for both tables together.
        factor: how many times as many slots the larger one has, if there is room.
    """
    n_slots = min(factor * len(table), max_bytes // SLOT_BYTES - len(table))
    if n_slots < 2 * len(table):
        return None
    larger = np.zeros(n_slots, dtype=np.uint64)
    move_keys(table, larger)
    return larger
