"""Whether memory stays constant over a long play."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.ours import DEFAULT_VARIANT, batched_play

_STATUS = Path("/proc/self/statm")
_REPORTS = 20


def resident_megabytes() -> float:
    """Resident memory of this process in units of 10**6 bytes.

    Raises:
        ValueError: the system does not report it.
    """
    if not _STATUS.exists():
        raise ValueError(f"a soak reads the resident memory from {_STATUS}, which this system does not have")
    pages = int(_STATUS.read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def soak(millions: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Play random steps in batches, and compare the resident memory before and after.

    Args:
        millions: steps to play, in millions, rounded up to whole rounds.
        say: called with the progress, 20 times.

    Raises:
        ValueError: the system does not report the resident memory.
    """
    play = batched_play(DEFAULT_VARIANT)
    play()  # allocates all that it needs
    before = resident_megabytes()
    steps = reports = 0
    while steps < millions * 1_000_000:
        steps += play()
        if steps * _REPORTS >= (reports + 1) * millions * 1_000_000:
            reports += 1
            say(f"soak: {steps / 1e6:,.1f} of {millions:,} million steps, {resident_megabytes():,.1f} MB resident")
    return {"steps": steps, "megabytes_before": before, "megabytes_after": resident_megabytes()}
