"""Intervals and tests against values worked out by hand or printed in textbooks."""

from __future__ import annotations

from math import isclose, sqrt

import numpy as np
import pytest

from klondike_env.intervals import interval_with_unknown, wilson_interval
from train.statistics import Pairs, count_pairs, difference_interval, mcnemar_p_value

Z_SQUARED = 1.959964**2


@pytest.mark.parametrize(
    ("wins", "games", "low", "high"),
    [
        (10, 100, 0.05523, 0.17437),
        (0, 20, 0.0, Z_SQUARED / (20 + Z_SQUARED)),
        (20, 20, 20 / (20 + Z_SQUARED), 1.0),
        (1, 1, 1 / (1 + Z_SQUARED), 1.0),
        (21400, 40000, 0.53011, 0.53988),
    ],
)
def test_wilson_interval_matches_known_values(wins: int, games: int, low: float, high: float) -> None:
    assert wilson_interval(wins, games) == pytest.approx((low, high), abs=1e-5)


def test_wilson_interval_covers_the_rate_and_narrows_with_games() -> None:
    few, many = wilson_interval(5, 10), wilson_interval(500, 1000)
    assert few.low < many.low < 0.5 < many.high < few.high


def test_wilson_interval_takes_another_confidence() -> None:
    assert wilson_interval(10, 100, confidence=0.99).high > wilson_interval(10, 100).high


def test_what_is_not_known_counts_as_lost_below_and_as_won_above() -> None:
    interval = interval_with_unknown(11, 5, 100)
    assert interval == (wilson_interval(11, 100).low, wilson_interval(16, 100).high)
    assert interval_with_unknown(11, 0, 100) == wilson_interval(11, 100)
    assert interval_with_unknown(11, 5, 100, confidence=0.99).low < interval.low


@pytest.mark.parametrize(
    ("wins", "games", "message"),
    [
        (0, 0, "games is 0; a win rate needs at least one game"),
        (5, 4, "wins is 5; allowed: 0 to 4 games"),
        (-1, 4, "wins is -1; allowed: 0 to 4 games"),
    ],
)
def test_wilson_interval_refuses_impossible_counts(wins: int, games: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wilson_interval(wins, games)


def test_count_pairs() -> None:
    first = np.array([1, 1, 1, 0, 0, 0], dtype=bool)
    second = np.array([1, 0, 0, 1, 0, 0], dtype=bool)
    pairs = count_pairs(first, second)
    assert pairs == Pairs(both=1, only_first=2, only_second=1, neither=2)
    assert pairs.deals == 6
    assert isclose(pairs.difference, 3 / 6 - 2 / 6)


def test_count_pairs_adds_up_to_the_deals() -> None:
    generator = np.random.default_rng(3)
    first, second = generator.random((2, 200)) < 0.3
    pairs = count_pairs(first, second)
    assert pairs.deals == 200
    assert pairs.both + pairs.only_first == first.sum()
    assert pairs.both + pairs.only_second == second.sum()


@pytest.mark.parametrize(("first", "second"), [([], []), ([True], [True, False]), ([[True]], [[True]])])
def test_count_pairs_refuses_different_deals(first: list[bool], second: list[bool]) -> None:
    with pytest.raises(ValueError, match="a paired comparison needs the same deals, at least one"):
        count_pairs(np.array(first), np.array(second))


def test_mcnemar_is_the_exact_binomial_test_of_the_decided_deals() -> None:
    tail = 1 + 12 + 66  # ways in which the second wins at most 2 of 12 deals
    assert mcnemar_p_value(Pairs(100, 10, 2, 50)) == pytest.approx(2 * tail / 2**12)
    assert mcnemar_p_value(Pairs(0, 2, 10, 0)) == pytest.approx(2 * tail / 2**12)


def test_mcnemar_without_a_decided_deal_shows_nothing() -> None:
    assert mcnemar_p_value(Pairs(3, 0, 0, 4)) == 1.0


def test_approval_ratings_of_agresti() -> None:
    """Agresti, Categorical Data Analysis: 944 of 1600 approved at first, 880 later; 150 and 86 changed their minds."""
    pairs = Pairs(both=794, only_first=86, only_second=150, neither=570)
    assert pairs.difference == pytest.approx(-0.04)
    assert difference_interval(pairs) == pytest.approx((-0.059, -0.021), abs=5e-4)
    assert 1e-5 < mcnemar_p_value(pairs) < 5e-5  # its chi-squared statistic is 17.36


def test_difference_interval_of_few_deals_by_hand() -> None:
    """Agresti and Min add half a deal to each of the four counts: 1.5, 2.5, 1.5 and 2.5 of 8."""
    middle, half = (2.5 - 1.5) / 8, sqrt(Z_SQUARED * (2.5 + 1.5 - (2.5 - 1.5) ** 2 / 8)) / 8
    interval = difference_interval(Pairs(both=1, only_first=2, only_second=1, neither=2))
    assert interval == pytest.approx((middle - half, middle + half), abs=1e-6)


def test_difference_interval_stays_within_bounds() -> None:
    low, high = difference_interval(Pairs(0, 3, 0, 0))
    assert 0 < low < high <= 1
    low, high = difference_interval(Pairs(0, 0, 3, 0))
    assert -1 <= low < high < 0
