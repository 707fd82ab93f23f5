"""Pair scores of the agent `tuned`: a table that decides between moves whose scores are close.

The table has an entry for each kind of move, each pair of features in PAIRS, and each pair of their values. The entries
that a move looks up are added to its score.

The entries were learned from moves that were tried out in many games each, see `train.tune_table`. Sums of terms of
one and two variables are the model of Lou, Caruana, Gehrke and Hooker, "Accurate intelligible models with pairwise
interactions" (2013).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from klondike_env.agents.tuned.features import (
    FEATURES,
    FIRST_OF_MOVE,
    VALUES,
    describe_move,
    describe_position,
    recall,
)
from klondike_env.agents.tuned.scores import KINDS, MAX_MOVES, Scene
from klondike_env.agents.tuned.weights import most_like
from klondike_env.engine.jit import kernel
from klondike_env.rules import Rules

# Moves whose scores are further behind the best are dropped. Without this bound games of draw 1 took half as long again
# and were won as often.
MARGIN = 6000

PAIRS = (
    ("none", "none"),
    ("under", "face_down"),
    ("hosted", "rank"),
    ("hosted", "under"),
    ("hosts_talon", "hosted"),
    ("place", "gaps"),
    ("hosted_ahead", "hosted"),
    ("gaps", "under"),
    ("gaps", "hosted"),
    ("talon", "under"),
    ("playable", "under"),
    ("playable", "hosted"),
    ("movable", "hosted"),
    ("home", "ahead"),
    ("twin", "rank"),
    ("twin", "hosted"),
    ("length", "under"),
    ("length", "place"),
    ("length", "rank"),
    ("welcome", "under"),
    ("welcome", "hosted"),
    ("over", "hosted"),
    ("over", "under"),
    ("rivals", "under"),
    ("rivals", "hosted"),
    ("wanted", "under"),
    ("fillers", "place"),
    ("fillers", "under"),
    ("stock", "hosted"),
    ("hosted_ahead", "ahead"),
    ("hosts_unseen", "hosted"),
    ("hosts_unseen", "face_down"),
    ("hosts_unseen", "rank"),
    ("hosts_unseen", "under"),
    ("follower", "ahead"),
    ("follower", "hosted_ahead"),
    ("beneath", "hosted"),
    ("beneath", "under"),
    ("useful_after", "under"),
    ("useful_after", "hosted"),
    ("useful_after", "reach_after"),
    ("reach_after", "talon"),
    ("other_host", "rank"),
    ("other_host", "under"),
    ("other_host", "twin"),
    ("freed", "hosted"),
    ("freed", "under"),
    ("freed", "hosts_talon"),
    ("ahead", "hosted"),
)
N_PAIRS = len(PAIRS)
SIZES = np.array(list(VALUES.values()))
_FIRST = np.array([list(VALUES).index(first) for first, _ in PAIRS])
_SECOND = np.array([list(VALUES).index(second) for _, second in PAIRS])
_SECOND_SIZES = SIZES[_SECOND]
_ENTRIES = SIZES[_FIRST] * _SECOND_SIZES  # of each pair, for one kind of move
_STARTS = np.concatenate([[0], np.cumsum(_ENTRIES * len(KINDS))[:-1]])
N_ENTRIES = int(_ENTRIES.sum()) * len(KINDS)

_FILE = Path(__file__).with_name("pair_tables.npz")


@cache
def tables() -> dict[str, np.ndarray]:
    """The tables in use, by variant."""
    with np.load(_FILE) as file:
        return dict(file)


def table_for(rules: Rules) -> np.ndarray:
    """The table for a game, int16[N_ENTRIES]: that of the variant that it is most like; int16[0] if that has none."""
    return tables().get(most_like(rules), np.empty(0, dtype=np.int16))


class PairTable(NamedTuple):
    """A table, and the scratch memory to look moves up in it.

    Attributes:
        table: int16[N_ENTRIES], or int16[0] for no pair scores.
        features: FEATURES[1].
        values: int64[N_FEATURES], the same memory.
        entries: int64[MAX_MOVES, N_PAIRS], where in the table each move is looked up.
    """

    table: np.ndarray
    features: np.ndarray
    values: np.ndarray
    entries: np.ndarray

    @classmethod
    def of(cls, table: np.ndarray) -> PairTable:
        """A table with scratch memory of its own."""
        features = np.zeros(1, dtype=FEATURES)
        return cls(table, features, features.view(np.int64), np.zeros((MAX_MOVES, N_PAIRS), dtype=np.int64))


@kernel
def entry_of(pair: int, kind: int, values: np.ndarray) -> int:
    """The index of a pair's entry. values: int64[N_FEATURES], of all features."""
    return _STARTS[pair] + kind * _ENTRIES[pair] + values[_FIRST[pair]] * _SECOND_SIZES[pair] + values[_SECOND[pair]]


@kernel
def keep_close(moves: np.ndarray, n: int, margin: int) -> int:
    """Keep those of `n` moves whose scores are at most a margin below the best; return how many."""
    most, left = int(moves[0]["score"]), 0
    for p in range(1, n):
        most = max(most, int(moves[p]["score"]))
    for p in range(n):
        if int(moves[p]["score"]) >= most - margin:
            moves[left] = moves[p]
            left += 1
    return left


@kernel
def find_entries(scene: Scene, moves: np.ndarray, n: int, pair_table: PairTable) -> None:
    """Find the entries of the first `n` moves."""
    known, features, values = recall(scene), pair_table.features, pair_table.values
    values[:] = 0
    describe_position(scene, known, features)
    for p in range(n):
        kind = int(moves[p]["kind"])
        values[FIRST_OF_MOVE:] = 0
        describe_move(scene, known, kind, int(moves[p]["what"]), features)
        for pair in range(N_PAIRS):
            pair_table.entries[p, pair] = entry_of(pair, kind, values)


@kernel
def add_pair_scores(scene: Scene, moves: np.ndarray, n: int, pair_table: PairTable) -> int:
    """Keep the moves whose scores are close, and add their pair scores; return how many are kept.

    moves: MOVE[MAX_MOVES], of which the first `n` have scores.
    """
    n = keep_close(moves, n, MARGIN)
    if n == 1:
        return n
    find_entries(scene, moves, n, pair_table)
    for p in range(n):
        for pair in range(N_PAIRS):
            moves[p]["score"] += pair_table.table[pair_table.entries[p, pair]]
    return n
