"""Kernels run on slices of a batch, each slice in its own thread, because they release the interpreter's lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from queue import SimpleQueue
from typing import Any

import numpy as np

ALL_ROWS = slice(None)


class _Call:
    """A call that another thread makes; a future of the standard library costs several times as much."""

    def __init__(self, work: Callable[[slice], Any], rows: slice) -> None:
        self._work, self._rows = work, rows
        self._answer: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def make(self) -> None:
        try:
            self._answer.put((self._work(self._rows), None))
        except BaseException as error:
            self._answer.put((None, error))

    def result(self) -> Any:
        """Wait for the call; return what it returned, or raise what it raised."""
        result, error = self._answer.get()
        if error is not None:
            raise error
        return result


@cache
def _helper(number: int) -> SimpleQueue[_Call]:
    """The queue of a helper thread, which makes the queued calls one after another."""
    calls: SimpleQueue[_Call] = SimpleQueue()

    def work() -> None:
        while True:
            calls.get().make()

    threading.Thread(target=work, name=f"klondike_env helper {number}", daemon=True).start()
    return calls


if hasattr(os, "register_at_fork"):  # a forked process has none of its parent's threads
    os.register_at_fork(after_in_child=_helper.cache_clear)


def rows_of(arrays: tuple[np.ndarray, ...], rows: slice) -> Any:
    """Some rows of each array. For all rows it is the array itself, as a view would slow down single games."""
    return arrays if rows is ALL_ROWS else tuple(array[rows] for array in arrays)


def run_sliced(threads: int, n: int, work: Callable[[slice], Any]) -> list[Any]:
    """Do `work` on slices of `n` rows.

    Args:
        threads: number of slices, each with a thread of its own, 1 or more.
        n: number of rows.
        work: called with each slice; the result for a row must not depend on other rows.

    Returns:
        What `work` returned for each slice.
    """
    if threads == 1:
        return [work(ALL_ROWS)]
    bounds = [n * k // threads for k in range(threads + 1)]
    first, *others = [_Call(work, slice(start, stop)) for start, stop in pairwise(bounds)]
    for number, call in enumerate(others):
        _helper(number).put(call)
    first.make()
    return [call.result() for call in (first, *others)]
