"""Random play of our own games, through every interface of the package."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import gymnasium
import numpy as np

from benchmarks.clock import Play, rates, steps_per_second
from klondike_env.engine.actions import STOCK_ACTION
from klondike_env.games import Games
from klondike_env.machine import cores
from klondike_env.observation import Observer
from klondike_env.rules import GYM_IDS, PRESETS

# Large enough that the cost of calls from Python is small beside that of the games.
BATCH = 256
# Large enough that each thread still has a lot to do within one step.
THREADED_BATCH = 4096
VECTOR_BATCH = 512
DEFAULT_VARIANT = "draw1"  # for figures that are measured for one variant only
_CHUNK = 100  # steps between two looks at the clock


def batched_play(variant: str, batch: int = BATCH, threads: int = 1) -> Play:
    """Random play of a batch through `Games`, with the flat observation and a mask at every step."""
    games = Games(batch, PRESETS[variant], threads=threads)
    observer = Observer("flat", games.setup)
    generator = np.random.default_rng(0)
    games.deal(np.arange(batch))

    def play() -> int:
        for _ in range(_CHUNK):
            if games.step(games.random_actions(generator), then=observer.follower(games)):
                ended = np.flatnonzero(games.over)
                games.deal(generator.integers(0, 1_000_000, len(ended)), ended)
                observer.follow(games)
        return _CHUNK * batch

    return play


def single_play(variant: str) -> Play:
    """Play of one game through `gymnasium.make`: always the last legal action, so it draws often and always ends."""
    env = gymnasium.make(GYM_IDS[variant])
    _, first = env.reset(seed=0)
    mask = first["action_mask"]

    def play() -> int:
        nonlocal mask
        for _ in range(_CHUNK):
            action = STOCK_ACTION - int(mask[::-1].argmax())
            _, _, terminated, truncated, info = env.step(action)
            mask = info["action_mask"]
            if terminated or truncated:
                mask = env.reset()[1]["action_mask"]
        return _CHUNK

    return play


def vector_play(variant: str) -> Play:
    """Random play through `gymnasium.make_vec`, with fresh observations, infos and masks at every step."""
    envs: Any = gymnasium.make_vec(GYM_IDS[variant], num_envs=VECTOR_BATCH)
    generator = np.random.default_rng(0)
    envs.reset(seed=0)

    def play() -> int:
        for _ in range(_CHUNK):
            envs.step(envs.games.random_actions(generator))
        return _CHUNK * VECTOR_BATCH

    return play


def sb3_play(variant: str) -> Play:
    """Random play through our Stable-Baselines3 environment, with fresh observations, infos and masks."""
    from klondike_env.sb3 import KlondikeVecEnv  # needs the extra `sb3`

    envs = KlondikeVecEnv(VECTOR_BATCH, variant, seed=0)
    generator = np.random.default_rng(0)
    envs.reset()
    ended = False
    while not ended:  # so that the code for the end of a game is compiled before the clock starts
        ended = bool(envs.step(envs.games.random_actions(generator))[2].any())

    def play() -> int:
        for _ in range(_CHUNK):
            envs.step(envs.games.random_actions(generator))
            envs.action_masks()
        return _CHUNK * VECTOR_BATCH

    return play


def batched(variant: str, seconds: float) -> dict[str, Any]:
    """Games on one thread, `batch` at a time: steps per second of processor time."""
    return {"steps_per_second": steps_per_second(batched_play(variant), seconds), "batch": BATCH}


def threaded(variant: str, seconds: float) -> dict[str, Any]:
    """Games on one thread and on as many as there are cores, in turn: steps per second of wall time."""
    threads = cores()
    plays = [batched_play(variant, THREADED_BATCH, count) for count in (1, threads)]
    one, many = rates(plays, seconds, time.perf_counter)
    return {
        "steps_per_second_one_thread": one,
        "steps_per_second_all_threads": many,
        "ratio": many / one,
        "threads": threads,
        "batch": THREADED_BATCH,
    }


def single(variant: str, seconds: float) -> dict[str, Any]:
    """One game through `gymnasium.make`: steps per second of processor time."""
    return {"steps_per_second": steps_per_second(single_play(variant), seconds)}


def vector(variant: str, seconds: float) -> dict[str, Any]:
    """Games through `gymnasium.make_vec`: microseconds of processor time for each step of each game."""
    return {"microseconds_per_frame": 1e6 / steps_per_second(vector_play(variant), seconds), "batch": VECTOR_BATCH}


def sb3(variant: str, seconds: float) -> dict[str, Any]:
    """Games through Stable-Baselines3's interface: microseconds of processor time for each step of each game."""
    return {
        "microseconds_per_frame": 1e6 / steps_per_second(sb3_play(variant), seconds),
        "batch": VECTOR_BATCH,
        "variant": variant,
    }


def has_sb3() -> bool:
    """Whether Stable-Baselines3 is installed."""
    return find_spec("stable_baselines3") is not None


Measure = Callable[[str, float], dict[str, Any]]
# The interfaces of the package, each with the variants that it is measured for.
MEASURES: dict[str, tuple[Measure, tuple[str, ...]]] = {
    "batched": (batched, tuple(PRESETS)),
    "threaded": (threaded, (DEFAULT_VARIANT,)),
    "single": (single, tuple(PRESETS)),
    "vector": (vector, tuple(PRESETS)),
}
