"""Confidence intervals of a win rate or another proportion. SciPy is imported on first use."""

from __future__ import annotations

from importlib.util import find_spec
from typing import NamedTuple

from gymnasium.error import DependencyNotInstalled

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """A confidence interval, `low <= high`."""

    low: float
    high: float


def check_scipy() -> None:
    """Check that intervals can be computed.

    Raises:
        DependencyNotInstalled: SciPy is not installed.
    """
    if find_spec("scipy") is None:
        raise DependencyNotInstalled("intervals need SciPy; run: pip install 'klondike-env[cli]'")


def wilson_interval(wins: int, games: int, confidence: float = CONFIDENCE) -> Interval:
    """The Wilson score interval of a win rate, within 0 to 1.

    Raises:
        ValueError: no games, or wins not within 0 to games.
        DependencyNotInstalled: SciPy is not installed.
    """
    check_scipy()
    from scipy.stats import binomtest

    if games < 1:
        raise ValueError(f"games is {games}; a win rate needs at least one game")
    if not 0 <= wins <= games:
        raise ValueError(f"wins is {wins}; allowed: 0 to {games} games")
    interval = binomtest(int(wins), int(games)).proportion_ci(confidence, method="wilson")
    return Interval(float(interval.low), float(interval.high))


def interval_with_unknown(wins: int, unknown: int, games: int, confidence: float = CONFIDENCE) -> Interval:
    """The interval if some results are unknown: the lower bound counts them all as lost, the upper bound as won.

    Raises:
        ValueError: no games, or wins and unknown not within 0 to games.
        DependencyNotInstalled: SciPy is not installed.
    """
    low = wilson_interval(wins, games, confidence).low
    return Interval(low, wilson_interval(wins + unknown, games, confidence).high)
