"""Speed of random play, ours and that of peers that are installed, in steps per second of processor time.

One process, one core, an observation and a mask at every step. Processor time is what a machine shared
with other work measures best; still, compare figures of one run only.
"""

from __future__ import annotations

import platform
import random
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import gymnasium
import numpy as np

import klondike_env
from klondike_env.engine.actions import STOCK_ACTION
from klondike_env.engine.games import Games
from klondike_env.machine import cores, processor
from klondike_env.observation import Observer
from klondike_env.rules import PRESETS

# Large enough that the cost of calls from Python is small beside that of the games.
BATCH = 256
_CHUNK = 100  # steps between two looks at the clock
_PACKAGES = ("numba", "numpy", "gymnasium", "open_spiel")

Chunk = Callable[[], int]


def run_bench(seconds: float) -> dict[str, Any]:
    """Measure everything.

    Args:
        seconds: processor time spent on each figure.

    Returns:
        A JSON-able dict: `machine`; `klondike.batched.<variant>.steps_per_second` (flat observation and
        mask, random legal actions, ended games dealt again); `klondike.single.<variant>` (one game through
        `gymnasium.make`, always its last legal action); `peers.<name>.steps_per_second`.
    """
    ours = {
        "batched": {variant: _rate(batched_play(variant), seconds) for variant in PRESETS},
        "single": {variant: _rate(single_play(variant), seconds) for variant in PRESETS},
    }
    peers = {name: _rate(play(), seconds) for name, play in PEERS.items() if find_spec(name) is not None}
    return {"machine": describe_machine(), "klondike": ours, "peers": peers}


def describe_machine() -> dict[str, Any]:
    """Processor, cores open to this process, and the versions that matter."""
    versions = {"python": platform.python_version(), "klondike_env": klondike_env.__version__}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {"processor": processor(), "cores": cores(), "versions": versions}


def batched_play(variant: str) -> Chunk:
    """Random play of a batch through `Games`, as fast as it goes."""
    games = Games(BATCH, PRESETS[variant])
    observer = Observer("flat", games.setup)
    generator = np.random.default_rng(0)
    games.deal(np.arange(BATCH))

    def play() -> int:
        for _ in range(_CHUNK):
            if games.step(games.random_actions(generator)):
                ended = np.flatnonzero(games.over)
                games.deal(generator.integers(0, 1_000_000, len(ended)), ended)
            observer.follow(games)
        return _CHUNK * BATCH

    return play


def single_play(variant: str) -> Chunk:
    """Play of one game through `gymnasium.make`: the last legal action, which draws a lot and always ends."""
    env = gymnasium.make(klondike_env.GYM_IDS[variant])
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


def open_spiel_play() -> Chunk:
    """Random play of OpenSpiel's solitaire on its fastest path: observations written into one array, a mask filled."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game("solitaire")
    observation = make_observation(game)
    mask = np.zeros(game.num_distinct_actions(), dtype=bool)
    chance = random.Random(0)
    state = game.new_initial_state()

    def play() -> int:
        nonlocal state
        decisions = 0
        while decisions < _CHUNK:
            if state.is_terminal():
                state = game.new_initial_state()
            legal = state.legal_actions()
            if not state.is_chance_node():
                observation.set_from(state, 0)
                mask[:] = False
                mask[legal] = True
                decisions += 1
            state.apply_action(legal[chance.randrange(len(legal))])
        return decisions

    return play


PEERS: dict[str, Callable[[], Chunk]] = {"pyspiel": open_spiel_play}


def _rate(play: Chunk, seconds: float) -> dict[str, float]:
    """Steps per second of processor time; the first chunk, which may compile, is not counted."""
    play()
    steps, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        steps += play()
    return {"steps_per_second": steps / (time.process_time() - start)}
