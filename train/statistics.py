"""Tests and intervals for two agents on the same deals; for one agent, see `klondike_env.intervals`."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest, norm

from klondike_env.intervals import CONFIDENCE, Interval


class Pairs(NamedTuple):
    """How many deals both, one or neither of two agents won: four counts that add up to the number of deals."""

    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def deals(self) -> int:
        """Number of deals played by both."""
        return sum(self)

    @property
    def difference(self) -> float:
        """Win rate of the first minus win rate of the second, -1 to 1."""
        return (self.only_first - self.only_second) / self.deals


def count_pairs(first_won: np.ndarray, second_won: np.ndarray) -> Pairs:
    """Count the deals that both, one or neither won.

    Args:
        first_won: bool[n], whether the first agent won each deal.
        second_won: bool[n], the same for the second agent and the same deals in the same order.

    Raises:
        ValueError: the arrays are empty or differ in shape.
    """
    first, second = np.asarray(first_won, dtype=bool), np.asarray(second_won, dtype=bool)
    if first.ndim != 1 or first.shape != second.shape or first.size == 0:
        raise ValueError(
            f"shapes are {first.shape} and {second.shape}; a paired comparison needs the same deals, at least one"
        )
    both = int(np.count_nonzero(first & second))
    only_first = int(np.count_nonzero(first & ~second))
    only_second = int(np.count_nonzero(~first & second))
    return Pairs(both, only_first, only_second, first.size - both - only_first - only_second)


def mcnemar_p_value(pairs: Pairs) -> float:
    """Two-sided exact McNemar test: how likely so uneven a split of the deals that only one won is, 0 to 1."""
    discordant = pairs.only_first + pairs.only_second
    if discordant == 0:
        return 1.0
    return float(binomtest(pairs.only_first, discordant, 0.5).pvalue)


def difference_interval(pairs: Pairs, confidence: float = CONFIDENCE) -> Interval:
    """Interval of the difference of two paired win rates (adjusted Wald, Agresti and Min 2005), within -1 to 1."""
    z = float(norm.ppf((1 + confidence) / 2))
    deals = pairs.deals + 2
    gain = pairs.only_first - pairs.only_second
    spread = pairs.only_first + pairs.only_second + 1 - gain**2 / deals
    middle, half = gain / deals, z * sqrt(spread) / deals
    return Interval(max(-1.0, middle - half), min(1.0, middle + half))
