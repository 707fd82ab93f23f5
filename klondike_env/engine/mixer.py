"""The integer mixer behind deal numbers and position keys: splitmix64 (Steele, Lea and Flood, 2014)."""

from __future__ import annotations

import numpy as np

from klondike_env.engine.jit import kernel

GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)


@kernel
def mix(value: np.uint64) -> np.uint64:
    """The finalizer of splitmix64: a bijection of the 64-bit integers that spreads every bit."""
    value = (value ^ (value >> _30)) * _FIRST
    value = (value ^ (value >> _27)) * _SECOND
    return value ^ (value >> _31)
