"""Batches that several threads step."""

from __future__ import annotations

import multiprocessing

import gymnasium as gym
import numpy as np
import pytest

from klondike_env.engine.threads import run_sliced
from klondike_env.games import Games
from klondike_env.observation import Observer
from klondike_env.rules import PRESETS


def play(threads: int, n: int = 50, steps: int = 150) -> tuple[Games, np.ndarray, int]:
    """Games, their last observations, and how many ended."""
    games = Games(n, PRESETS["draw3"], no_repeats=True, stall_limit=20, threads=threads)
    observer, generator = Observer("flat", games.setup), np.random.default_rng(0)
    games.deal(np.arange(n))
    ended = 0
    for _ in range(steps):
        ended += games.step(games.random_actions(generator), then=observer.follower(games))
        observed = observer.follow(games)
    return games, observed, ended


@pytest.mark.parametrize("threads", [2, 3, 64])
def test_threads_change_nothing(threads: int) -> None:
    alone, together = play(1), play(threads)
    np.testing.assert_array_equal(alone[0].states, together[0].states)
    np.testing.assert_array_equal(alone[0].masks, together[0].masks)
    np.testing.assert_array_equal(alone[0].views(), together[0].views())
    np.testing.assert_array_equal(alone[1], together[1])
    assert alone[2] == together[2] > 0


def test_every_row_is_in_one_slice() -> None:
    counts = np.zeros(11, dtype=int)

    def count(rows: slice) -> int:
        counts[rows] += 1
        return len(counts[rows])

    assert run_sliced(4, 11, count) == [2, 3, 3, 3]
    assert counts.tolist() == [1] * 11


def test_what_fails_in_a_thread_is_raised_here_and_the_thread_lives_on() -> None:
    def fail_at_the_end(rows: slice) -> None:
        if rows.stop == 11:
            raise ValueError("the last slice fails")

    for _ in range(2):
        with pytest.raises(ValueError, match="the last slice fails"):
            run_sliced(2, 11, fail_at_the_end)
    assert run_sliced(2, 11, lambda rows: rows.start) == [0, 5]


def _count_ended(answers: multiprocessing.Queue[int]) -> None:
    answers.put(play(2)[2])


def test_a_forked_process_steps_with_threads_of_its_own() -> None:
    ended = play(2)[2]
    fork = multiprocessing.get_context("fork")
    answers: multiprocessing.Queue[int] = fork.Queue()
    child = fork.Process(target=_count_ended, args=(answers,))
    child.start()
    assert answers.get(timeout=60) == ended
    child.join(timeout=60)
    assert child.exitcode == 0


def test_the_vector_environment_takes_threads() -> None:
    one, two = (gym.make_vec("Klondike/Draw1-v0", num_envs=9, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.reset(seed=3)[0], two.reset(seed=3)[0])
    for _ in range(20):
        left, right = one.step(np.full(9, 312)), two.step(np.full(9, 312))
        np.testing.assert_array_equal(left[0], right[0])
    with pytest.raises(ValueError, match=r"^threads is 0; allowed: a whole number from 1$"):
        gym.make_vec("Klondike/Draw1-v0", num_envs=2, threads=0)
