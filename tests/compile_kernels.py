"""Compile what most tests use: `python -m tests.compile_kernels`.

Tests run in two processes, and some tests start others. If one process compiles beforehand, all of them find the
kernels in the cache; otherwise processes that run side by side compile the same kernels at the same time.
"""

from __future__ import annotations

import gymnasium as gym
import numpy as np

import klondike_env
from klondike_env.agents import BASELINES, load
from klondike_env.agents.advice import advise
from klondike_env.agents.match import play_games
from klondike_env.rules import Rules, preset
from klondike_env.solver import Limits, shorten, solve

PLANNERS = ("planner:samples=4", "planner:candidates=legal,samples=4")
RULES = (preset("draw1"), preset("draw3"), preset("thumb_and_pouch_whole"), Rules(worry_back=False))
LIMITS = Limits(nodes=1000, seconds=None)


def step_environments() -> None:
    """A step of one game and of several, with each kind of observation and reward that has kernels of its own."""
    for keywords in ({}, {"observation": "cards", "reward": "progress", "talon": "reach", "no_repeats": True}):
        env = gym.make(klondike_env.CUSTOM_ID, **keywords)
        env.reset(seed=0)
        env.step(312)
        envs = gym.make_vec(klondike_env.CUSTOM_ID, num_envs=2, **keywords)
        envs.reset(seed=0)
        envs.step(np.array([312, 312]))


def play_and_solve() -> None:
    """A game of every agent, and a deal solved, under each kind of rules."""
    for rules in RULES:
        for name in (*BASELINES, *PLANNERS):
            play_games(load(name), rules, np.arange(2))
        solution = solve(123456, rules, LIMITS)
        if solution.actions:
            shorten(solution, minimal=True, limits=LIMITS)
    advise(5, samples=4)


if __name__ == "__main__":
    step_environments()
    play_and_solve()
