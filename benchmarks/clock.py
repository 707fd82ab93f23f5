"""Rates of play.

Processor time, the default, is what a machine shared with other work measures best. Only threads need
the time on the wall. Either way, compare figures of one run only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

Play = Callable[[], int]  # plays on for a while and returns how many steps that were
Clock = Callable[[], float]


def steps_per_second(play: Play, seconds: float) -> float:
    """Steps per second of processor time; the first call, which may compile, is not counted."""
    return rates([play], seconds, time.process_time)[0]


def rates(plays: Sequence[Play], seconds: float, clock: Clock) -> list[float]:
    """Steps per second of several plays that take turns, so that what disturbs one disturbs all alike.

    Args:
        plays: what to measure.
        seconds: time spent on each, by the clock, after a first call that is not counted.
        clock: the time in seconds.
    """
    for play in plays:
        play()
    steps, spent = [0] * len(plays), [0.0] * len(plays)
    while min(spent) < seconds:
        for i, play in enumerate(plays):
            start = clock()
            steps[i] += play()
            spent[i] += clock() - start
    return [count / time_spent for count, time_spent in zip(steps, spent, strict=True)]
