"""Which arm is best: all arms are tried on the same determinizations, and those that fall behind drop out.

A determinization lays the cards that the player has not seen on the unseen places at random. An arm is
worth the share of them in which a player who sees all cards could still win after it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.arms import MAX_ARMS
from agents.playout import GAME, LAYOUT, index_talon, play_out, read_game, read_layout
from klondike_env.cards import N_CARDS
from klondike_env.engine.apply import apply
from klondike_env.engine.determinize import fill_unseen, gather_unplaced
from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import mix, shuffle
from klondike_env.engine.state import STATE
from klondike_env.rules import RuleParams, Rules
from klondike_env.solver import columns, free

# Of so few unseen cards or fewer all orders are tried, once each, instead of random ones.
FEW_UNSEEN = 6
_FACTORIALS = np.array([1, 1, 2, 6, 24, 120, 720], dtype=np.int64)
_STRIDE = 5003  # a prime above all of these, so that its multiples visit all orders, well mixed

BLIND_WIN = 3


class Judge(NamedTuple):
    """How a position whose cards are all known is judged."""

    is_free: bool
    free: free.SmallSearch
    columns: columns.SmallSearch
    games: np.ndarray
    layouts: np.ndarray
    values: np.ndarray
    blind: bool

    @classmethod
    def of(cls, rules: Rules, visits: int, open_value: float, weight: float) -> Judge:
        """A judge who visits so many positions at most."""
        is_free = free.supports(rules)
        return cls(
            is_free,
            free.SmallSearch.of(visits if is_free else 1),
            columns.SmallSearch.of(1 if is_free else visits, rules),
            np.zeros(1, dtype=GAME),
            np.zeros(1, dtype=LAYOUT),
            np.array([0.0, open_value, 1.0 - weight, 1.0]),
            weight > 0,
        )


class Field(NamedTuple):
    """The arms in a race."""

    views: np.ndarray  # STATE[MAX_ARMS], what the player knows before the arm's action
    actions: np.ndarray  # int64[MAX_ARMS]
    alive: np.ndarray  # uint8[MAX_ARMS], whether it is still in the race
    results: np.ndarray  # uint8[MAX_ARMS, samples], the verdicts
    trial: np.ndarray  # STATE[1], scratch
    cards: np.ndarray  # uint8[52], scratch

    @classmethod
    def of(cls, samples: int) -> Field:
        """Room for so many determinizations."""
        return cls(
            np.zeros(MAX_ARMS, dtype=STATE),
            np.zeros(MAX_ARMS, dtype=np.int64),
            np.zeros(MAX_ARMS, dtype=np.uint8),
            np.zeros((MAX_ARMS, samples), dtype=np.uint8),
            np.zeros(1, dtype=STATE),
            np.zeros(N_CARDS, dtype=np.uint8),
        )


@kernel
def arrange(cards: np.ndarray, count: int, number: int) -> None:
    """Bring the first `count` cards into the order of a number 0 to count! - 1."""
    for k in range(count - 1, 0, -1):
        j = number % (k + 1)
        number //= k + 1
        cards[k], cards[j] = cards[j], cards[k]


@kernel
def lay_unseen(states: np.ndarray, i: int, seed: np.uint64, sample: int, cards: np.ndarray) -> None:
    """Make a view a state: the determinization of a number."""
    count = gather_unplaced(states, i, cards)
    if count <= FEW_UNSEEN:
        arrange(cards, count, (sample * _STRIDE) % _FACTORIALS[count])
    else:
        shuffle(cards, count, mix(seed + np.uint64(sample)))
    fill_unseen(states, i, cards)


@kernel
def try_arm(k: int, seed: np.uint64, sample: int, field: Field, judge: Judge, rules: RuleParams) -> int:
    """The verdict on an arm in one determinization."""
    trial = field.trial
    trial[0] = field.views[k]
    lay_unseen(trial, 0, seed, sample, field.cards)
    apply(trial, 0, field.actions[k], rules)
    if judge.blind:
        read_game(trial, 0, judge.games, 0)
        read_layout(trial, 0, judge.layouts)
        index_talon(trial, 0, judge.layouts, judge.games, 0)
        if play_out(judge.games, 0, judge.layouts, rules):
            return BLIND_WIN
    if judge.is_free:
        return free.judge(trial, 0, rules.draw_count, judge.free)
    return columns.judge(trial, 0, rules, judge.columns)


@kernel
def total(results: np.ndarray, k: int, n: int, values: np.ndarray) -> float:
    """What the first `n` verdicts on an arm count."""
    points = 0.0
    for sample in range(n):
        points += values[results[k, sample]]
    return points


@kernel
def drop_losers(field: Field, n_arms: int, n: int, values: np.ndarray, z: float, ties_after: int) -> int:
    """Take arms out that are behind the best by `z` standard errors, or equal to it so far; how many are left."""
    best, most = -1, -1.0
    for k in range(n_arms):
        if field.alive[k]:
            points = total(field.results, k, n, values)
            if points > most:
                best, most = k, points
    left = 0
    for k in range(n_arms):
        if field.alive[k] and k != best:
            behind, squares = 0.0, 0.0
            for sample in range(n):
                difference = values[field.results[best, sample]] - values[field.results[k, sample]]
                behind += difference
                squares += difference * difference
            if (squares > 0 and behind > 0 and behind >= z * np.sqrt(squares + 1)) or (squares == 0 and n >= ties_after):
                field.alive[k] = 0
        left += field.alive[k]
    return left


@kernel
def race(
    field: Field,
    n_arms: int,
    start: int,
    stop: int,
    seed: np.uint64,
    block: int,
    z: float,
    ties_after: int,
    judge: Judge,
    rules: RuleParams,
) -> int:
    """Try the arms on the determinizations `start` to `stop` - 1; how many arms are left."""
    left = 0
    for k in range(n_arms):
        left += field.alive[k]
    sample = start
    while sample < stop and left > 1:
        for k in range(n_arms):
            if field.alive[k]:
                field.results[k, sample] = try_arm(k, seed, sample, field, judge, rules)
        sample += 1
        if sample % block == 0:
            left = drop_losers(field, n_arms, sample, judge.values, z, ties_after)
    return left
