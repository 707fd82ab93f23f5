"""The move network: a small network that adds to the scores of the moves of `tuned`.

Its first layer adds up one row for each active input, so it costs a few hundred additions of vectors; efficiently
updatable networks of chess programs begin the same way (Nasu, "Efficiently updatable neural-network-based evaluation
functions", 2018). Two more layers follow. No sum depends on how many numbers a processor adds at a time, so the scores
are the same on every machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.agents.tuned.features import recall
from klondike_env.agents.tuned.inputs import N_ACTIVE, Inputs, begin_inputs, list_inputs
from klondike_env.agents.tuned.pair_table import keep_close
from klondike_env.agents.tuned.scores import Scene
from klondike_env.engine.jit import kernel
from klondike_env.rules import Rules

SCORE_UNIT = 1000.0  # one unit of the network's output, in units of a score
# Moves whose scores are further behind the best are dropped before the network is asked; it was trained on such moves.
# With twice the bound, games took up to twice as long and 0.0 to 0.1 in a hundred more were won.
CLOSE = 3000


class Weights(NamedTuple):
    """The weights of a network.

    Attributes:
        rows: float32[N_INPUTS, a], a row for each input; no rows stand for no network.
        first_bias: float32[a].
        second: float32[a, b].
        second_bias: float32[b].
        last: float32[b].
    """

    rows: np.ndarray
    first_bias: np.ndarray
    second: np.ndarray
    second_bias: np.ndarray
    last: np.ndarray

    @classmethod
    def none(cls) -> Weights:
        """No network."""
        return cls.zeros(0, 0, 0)

    @classmethod
    def zeros(cls, n_inputs: int, first: int, second: int) -> Weights:
        """A network of two hidden layers of these sizes, whose scores are all 0."""
        sizes = (n_inputs, first), (first,), (first, second), (second,), (second,)
        return cls(*(np.zeros(size, dtype=np.float32) for size in sizes))


class MoveNetwork(NamedTuple):
    """A network, and scratch memory to score moves with it.

    Attributes:
        weights: the weights.
        inputs: the inputs of a move.
        first: float32[a], the first hidden layer.
        second: float32[b], the second.
    """

    weights: Weights
    inputs: Inputs
    first: np.ndarray
    second: np.ndarray

    @classmethod
    def of(cls, weights: Weights, rules: Rules) -> MoveNetwork:
        """A network with scratch memory of its own."""
        return cls(weights, Inputs.of(rules), np.zeros_like(weights.first_bias), np.zeros_like(weights.second_bias))


@kernel
def copy_row(row: np.ndarray, target: np.ndarray) -> None:
    """Copy a row to another; both float32[k]."""
    for unit in range(len(target)):
        target[unit] = row[unit]


@kernel
def add_active_rows(rows: np.ndarray, active: np.ndarray, total: np.ndarray) -> None:
    """Add the rows of the active inputs to a total, four at a time, which is faster than one by one."""
    fours = N_ACTIVE // 4 * 4
    for k in range(0, fours, 4):
        a, b, c, d = active[k], active[k + 1], active[k + 2], active[k + 3]
        for unit in range(len(total)):
            total[unit] += (rows[a, unit] + rows[b, unit]) + (rows[c, unit] + rows[d, unit])
    for k in range(fours, N_ACTIVE):
        for unit in range(len(total)):
            total[unit] += rows[active[k], unit]


@kernel
def add_dense(values: np.ndarray, rows: np.ndarray, total: np.ndarray) -> None:
    """Add a dense layer's rows, times those values that are positive, to a total; four at a time."""
    zero, fours = np.float32(0), len(values) // 4 * 4
    for k in range(0, fours, 4):
        a, b, c, d = max(values[k], zero), max(values[k + 1], zero), max(values[k + 2], zero), max(values[k + 3], zero)
        for unit in range(len(total)):
            left = a * rows[k, unit] + b * rows[k + 1, unit]
            total[unit] += left + (c * rows[k + 2, unit] + d * rows[k + 3, unit])
    for k in range(fours, len(values)):
        for unit in range(len(total)):
            total[unit] += max(values[k], zero) * rows[k, unit]


@kernel
def output_of(network: MoveNetwork) -> float:
    """The network's output for the move whose active inputs are listed."""
    weights, first, second = network.weights, network.first, network.second
    copy_row(weights.first_bias, first)
    add_active_rows(weights.rows, network.inputs.active, first)
    copy_row(weights.second_bias, second)
    add_dense(first, weights.second, second)
    output = 0.0
    for unit in range(len(second)):
        output += max(second[unit], 0.0) * weights.last[unit]
    return output


@kernel
def add_network_scores(scene: Scene, moves: np.ndarray, n: int, network: MoveNetwork) -> int:
    """Keep the moves whose scores are close, and add what the network says of them; return how many are kept.

    moves: MOVE[MAX_MOVES], of which the first `n` have scores.
    """
    n = keep_close(moves, n, CLOSE)
    if n == 1:
        return n
    known = recall(scene)
    begin_inputs(scene, known, network.inputs)
    for p in range(n):
        list_inputs(scene, known, int(moves[p]["kind"]), int(moves[p]["what"]), network.inputs)
        moves[p]["score"] += int(np.rint(SCORE_UNIT * output_of(network)))
    return n
