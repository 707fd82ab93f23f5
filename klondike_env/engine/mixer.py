"""The integer mixer behind deal numbers, shuffles and position keys: splitmix64 (Steele, Lea and Flood, 2014)."""

from __future__ import annotations

import numpy as np

from klondike_env.engine.jit import kernel

GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


@kernel
def mix(value: np.uint64) -> np.uint64:
    """The finalizer of splitmix64: a bijection of the 64-bit integers that spreads every bit."""
    value = (value ^ (value >> _30)) * _FIRST
    value = (value ^ (value >> _27)) * _SECOND
    return value ^ (value >> _31)


@kernel
def shuffle(cards: np.ndarray, count: int, seed: np.uint64) -> None:
    """Shuffle the first `count` cards by Fisher-Yates on the sequence that starts at the mixed seed.

    For i = count - 1 down to 1 the card at i changes places with the card at
    j = (top 32 bits of the next value * (i + 1)) >> 32. cards: uint8[count or more], changed in place.
    """
    sequence = mix(seed)
    for i in range(count - 1, 0, -1):
        sequence += GOLDEN_GAMMA
        top = mix(sequence) >> _32
        j = np.int64((top * np.uint64(i + 1)) >> _32)
        cards[i], cards[j] = cards[j], cards[i]
