"""Checks of what users pass in. Every message names the thing, its value and what is allowed."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np


def check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """The value, once it is known to be one of the allowed texts.

    Raises:
        ValueError: it is not.
    """
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} is {value!r}; allowed: {', '.join(allowed)}")
    return value


def check_flag(name: str, value: Any) -> bool:
    """The value as a bool of Python.

    Raises:
        ValueError: it is neither True nor False.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} is {value!r}; allowed: True or False")
    return bool(value)


def whole_number(value: Any) -> int | None:
    """The value as an int of Python, whatever kind of whole number it is; None for all else, bools too."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def check_whole_number(name: str, value: Any, low: int, high: int | None = None, also: str = "") -> int:
    """The value as an int of Python, once it is known to be a whole number from `low` to `high`.

    Args:
        name: what the value is, for the message.
        value: what the user passed.
        low: the lowest that is allowed.
        high: the highest that is allowed; None for no limit.
        also: what else is allowed, to end the message with.

    Raises:
        ValueError: it is no whole number, or out of range.
    """
    number = whole_number(value)
    if number is None or number < low or (high is not None and number > high):
        span = f"from {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} is {value!r}; allowed: a whole number {span}{also}")
    return number


def check_generator(rng: Any) -> np.random.Generator:
    """The generator itself, or a fresh one of a seed.

    Raises:
        ValueError: it is neither a numpy Generator nor a whole number from 0.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    seed = whole_number(rng)
    if seed is None or seed < 0:
        raise ValueError(f"rng is {rng!r}; allowed: a numpy Generator, or a whole number from 0 as a seed")
    return np.random.default_rng(seed)
