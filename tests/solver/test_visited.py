"""The set of visited positions."""

from __future__ import annotations

import numpy as np

from klondike_env.solver.classes.visited import capacity, grown, insert


def test_a_key_is_new_only_once() -> None:
    rng = np.random.default_rng(1)
    table, seen = np.zeros(1000, dtype=np.uint64), set[int]()
    for key in rng.integers(1, 900, 3000).tolist():
        assert insert(table, np.uint64(key << 40)) == (key not in seen)
        seen.add(key)
    assert len(set(table.tolist())) == len(seen) + 1


def test_a_grown_table_holds_the_same_keys() -> None:
    table = np.zeros(64, dtype=np.uint64)
    for key in range(1, 41):
        insert(table, np.uint64(key))
    larger = grown(table, 10_000)
    assert larger is not None
    assert capacity(larger) == 4 * capacity(table)
    assert sorted(larger[larger != 0]) == list(range(1, 41))
    assert not insert(larger, np.uint64(17))


def test_a_table_grows_as_far_as_memory_allows() -> None:
    table = np.zeros(64, dtype=np.uint64)
    larger = grown(table, 8 * 200)
    assert larger is not None
    assert len(larger) == 136
    assert grown(table, 8 * 191) is None
