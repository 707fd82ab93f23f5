"""Which candidate is best: successive elimination.

All candidates are evaluated in the same determinizations. Those that have clearly fallen behind are dropped, which
leaves more time for the others. The base's candidate is given up only on clear evidence.
"""

from __future__ import annotations

import numpy as np

from klondike_env.agents.planner.evaluation import Contest, Evaluator, evaluate
from klondike_env.engine.jit import kernel

ROUND = 10  # determinizations between two looks at which candidates have fallen behind
_BEHIND = 3.0  # standard errors by which a candidate is eliminated
_ALIKE_AFTER = 20  # points after which candidates with the same verdicts in all determinizations count as one


@kernel
def points_of(contest: Contest, k: int, n: int, values: np.ndarray) -> float:
    """The sum of what the verdicts on a candidate in `n` determinizations are worth. values: float64[4], by verdict."""
    points = 0.0
    for sample in range(n):
        points += values[contest.verdicts[k, sample]]
    return points


@kernel
def leader(contest: Contest, n: int, values: np.ndarray) -> int:
    """The candidate with the best verdicts in `n` determinizations, the first of equals."""
    best, most = 0, -1.0
    for k in range(contest.n_candidates[0]):
        if contest.alive[k]:
            points = points_of(contest, k, n, values)
            if points > most:
                best, most = k, points
    return best


@kernel
def difference(contest: Contest, k: int, best: int, n: int, values: np.ndarray) -> tuple[float, float]:
    """By how many points one candidate is behind another after `n` determinizations, and the sum of squares."""
    behind, squares = 0.0, 0.0
    for sample in range(n):
        points = values[contest.verdicts[best, sample]] - values[contest.verdicts[k, sample]]
        behind += points
        squares += points * points
    return behind, squares


@kernel
def standard_errors(contest: Contest, k: int, best: int, n: int, values: np.ndarray) -> float:
    """By how many standard errors one candidate is behind another after `n` determinizations."""
    behind, squares = difference(contest, k, best, n, values)
    return behind / np.sqrt(squares) if squares > 0 else 0.0


@kernel
def is_out(contest: Contest, k: int, best: int, n: int, values: np.ndarray) -> bool:
    """Whether a candidate can be given up after `n` determinizations, in favour of the best one."""
    behind, squares = difference(contest, k, best, n, values)
    if squares == 0:
        return points_of(contest, best, n, values) >= _ALIKE_AFTER
    return behind >= _BEHIND * np.sqrt(squares + 1)


@kernel
def drop_behind(contest: Contest, n: int, values: np.ndarray) -> int:
    """Drop candidates that have fallen behind after `n` determinizations; return how many are left."""
    best, base, left = leader(contest, n, values), contest.base[0], 0
    if base >= 0 and contest.alive[base] and standard_errors(contest, base, best, n, values) == 0:
        best = base
    for k in range(contest.n_candidates[0]):
        if contest.alive[k] and k != best and is_out(contest, k, best, n, values):
            contest.alive[k] = False
        left += contest.alive[k]
    return left


@kernel
def eliminate(contest: Contest, start: int, stop: int, evaluator: Evaluator) -> int:
    """Evaluate in samples `start` to `stop` - 1 until one candidate is left; return how many samples are done."""
    left, sample = contest.n_candidates[0], start
    while sample < stop and left > 1:
        evaluate(contest, sample, sample + 1, evaluator)
        sample += 1
        if sample % ROUND == 0:
            left = drop_behind(contest, sample, evaluator.values)
    return sample


@kernel
def winner(contest: Contest, n: int, z: float, values: np.ndarray) -> int:
    """The best candidate after `n` determinizations, if it leads the base's by `z` standard errors; else the base's."""
    base = contest.base[0]
    if base >= 0 and contest.alive[base]:
        for k in range(contest.n_candidates[0]):
            lead = standard_errors(contest, base, k, n, values)
            contest.alive[k] = contest.alive[k] and (k == base or (lead > 0 and lead >= z))
    return leader(contest, n, values)
