"""Checks of what users pass in. Every message gives the name, the value and what is allowed."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np


def check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return the value if it is one of the allowed strings.

    Raises:
        ValueError: it is not.
    """
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} is {value!r}; allowed: {', '.join(allowed)}")
    return value


def check_flag(name: str, value: Any) -> bool:
    """Return the value as a Python bool.

    Raises:
        ValueError: it is neither True nor False.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} is {value!r}; allowed: True or False")
    return bool(value)


def whole_number(value: Any) -> int | None:
    """Return a whole number of any type as a Python int; None for anything else, bools included."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def check_whole_number(name: str, value: Any, low: int, high: int | None = None, also: str = "") -> int:
    """Return the value as a Python int if it is a whole number from `low` to `high`.

    Args:
        name: what the value is, for the message.
        value: what the user passed.
        low: the lowest allowed value.
        high: the highest allowed value; None for no limit.
        also: what else is allowed, appended to the message.

    Raises:
        ValueError: it is not a whole number, or out of range.
    """
    number = whole_number(value)
    if number is None or number < low or (high is not None and number > high):
        span = f"from {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} is {value!r}; allowed: a whole number {span}{also}")
    return number


def check_generator(rng: Any) -> np.random.Generator:
    """Return the generator itself, or a new one for a seed.

    Raises:
        ValueError: it is neither a numpy Generator nor a whole number from 0.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    seed = whole_number(rng)
    if seed is None or seed < 0:
        raise ValueError(f"rng is {rng!r}; allowed: a numpy Generator, or a whole number from 0 as a seed")
    return np.random.default_rng(seed)
