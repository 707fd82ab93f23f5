"""How long a user waits before the first step, each time in a fresh process."""

from __future__ import annotations

import tempfile
from typing import Any

from benchmarks.process import answer_of

REPEATS = 3  # the shortest time counts
_TIMED = "import time; start = time.perf_counter(); {statements}; print(time.perf_counter() - start)"
_IMPORT = _TIMED.format(statements="import klondike_env")
_FIRST_STEP = _TIMED.format(
    statements="import gymnasium, klondike_env; env = gymnasium.make('Klondike/Draw1-v0');"
    " env.reset(seed=0); env.step(312)"
)


def startup() -> dict[str, Any]:
    """Seconds of wall time until the package is imported, and until the first step of a game is made.

    Imports are counted, but the start of Python itself is not. Compiled code comes from the cache.
    """
    answer_of(["-c", _FIRST_STEP])  # fills the cache
    return {
        "import_seconds": min(answer_of(["-c", _IMPORT]) for _ in range(REPEATS)),
        "first_step_seconds": min(answer_of(["-c", _FIRST_STEP]) for _ in range(REPEATS)),
    }


def cold_start() -> dict[str, Any]:
    """Seconds of wall time until the first step if everything has to be compiled; measured once."""
    with tempfile.TemporaryDirectory() as empty:
        return {"cold_compile_seconds": answer_of(["-c", _FIRST_STEP], NUMBA_CACHE_DIR=empty)}
