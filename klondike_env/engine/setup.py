"""What stays fixed while games are played: the rules, the options, and the reward scheme.

Python passes it to kernels as one packed array, because passing nested tuples costs microseconds a call. `pack`
writes the fields one after another, and `unpacker` generates the kernel that reads them in the same order.
So no code depends on the index of a field.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from klondike_env.engine.jit import kernel
from klondike_env.rules import RuleParams

NO_LIMIT = -1


class Options(NamedTuple):
    """Which actions games offer and when games end, as plain integers for kernels."""

    reach: int  # 1: every seen talon card that drawing can reach is offered as a direct play
    no_repeats: int  # 1: actions that lead back to a position visited since the last progress are masked
    auto_finish: int  # 1: a decided game is played to its end at once
    stall_limit: int  # steps in a row without progress that end a game, or NO_LIMIT
    step_limit: int  # steps that end a game, or NO_LIMIT


class Scheme(NamedTuple):
    """A reward scheme: what each event pays. All fields are floats, so that kernels see one type."""

    win: float = 0.0  # once, when the game is won
    foundation_potential: float = 0.0  # shaping potential of each card on the foundations
    face_up_potential: float = 0.0  # shaping potential of each of the 21 face-down cards that was turned up
    waste_to_column: float = 0.0  # points for a card from the waste to a column
    to_foundation: float = 0.0  # points for a card to a foundation; 0 only in schemes without any points
    turn_up: float = 0.0  # points for turning a card up
    worry_back: float = 0.0  # points for a card moved back from a foundation
    redeal: float = 0.0  # points for a redeal when cards are drawn one at a time
    stake: float = 0.0  # points paid once, on the first accepted action
    floored: float = 0.0  # 1.0 when the total of the points never falls below 0


class Setup(NamedTuple):
    """All that stays fixed while games are played."""

    rules: RuleParams
    options: Options
    scheme: Scheme


def pack(value: Any) -> np.ndarray:
    """All numbers of a named tuple, nested tuples included, in order: float64[k]."""

    def numbers(value: Any) -> Iterator[float]:
        if isinstance(value, tuple):
            for field in value:
                yield from numbers(field)
        else:
            yield value

    return np.array(list(numbers(value)), dtype=np.float64)


def unpacker(kind: type) -> Callable[[np.ndarray], Any]:
    """Make a kernel that turns a packed array into a named tuple; the inverse of `pack`.

    The kernel is generated as source, `Setup(RuleParams(int(packed[0]), ...), ...)`, because kernels cannot loop over
    fields of several types. To the cache it belongs to the module that defines the type, so it is compiled again
    when the type changes.

    Args:
        kind: a `NamedTuple` class, whose fields are ints, floats and other such classes.
    """
    places, types = count(), {"int": int, "float": float}

    def reading(kind: type) -> str:
        if kind in (int, float):
            return f"{kind.__name__}(packed[{next(places)}])"
        types[kind.__name__] = kind
        return f"{kind.__name__}({', '.join(reading(field) for field in get_type_hints(kind).values())})"

    name = f"unpack_{kind.__name__}"
    source = f"def {name}(packed): return {reading(kind)}"
    namespace: dict[str, Any] = {**types, "__name__": kind.__module__}
    exec(compile(source, str(sys.modules[kind.__module__].__file__), "exec"), namespace)
    unpack: Callable[[np.ndarray], Any] = kernel(namespace[name])
    return unpack


unpack: Callable[[np.ndarray], Setup] = unpacker(Setup)
