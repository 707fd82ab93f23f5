"""Rates of play.

Where other work shares the machine, processor time is the more reliable measure, so it is the default. Only
threads need wall time. Either way, compare only figures of the same run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

Play = Callable[[], int]  # plays on for a while and returns the number of steps played
Clock = Callable[[], float]


def steps_per_second(play: Play, seconds: float) -> float:
    """Steps per second of processor time; the first call, which may compile, is not counted."""
    return rates([play], seconds, time.process_time)[0]


def rates(plays: Sequence[Play], seconds: float, clock: Clock) -> list[float]:
    """Steps per second of several plays. They take turns, so that other work on the machine slows all alike.

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
