"""The agent `random`: every legal action is equally likely."""

from __future__ import annotations

import numpy as np

from klondike_env.agents.base import KernelAgent
from klondike_env.agents.chance import roll
from klondike_env.engine.actions import N_ACTIONS, RESIGN
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import PLAYING


@kernel
def choose(views: np.ndarray, i: int, masks: np.ndarray, seed: int) -> int:
    """A legal action of record `i`, all equally likely; RESIGN when there is none."""
    n_legal = 0
    for action in range(N_ACTIONS):
        n_legal += int(masks[i, action])
    if n_legal == 0:
        return RESIGN
    skip = roll(views, i, seed, n_legal)
    for action in range(N_ACTIONS):
        if masks[i, action]:
            if skip == 0:
                return action
            skip -= 1
    return RESIGN


@kernel
def choose_all(views: np.ndarray, masks: np.ndarray, seed: int, actions: np.ndarray) -> None:
    """`choose` for every game in play; actions: int64[n], overwritten there."""
    for i in range(views.shape[0]):
        if views[i]["outcome"] == PLAYING:
            actions[i] = choose(views, i, masks, seed)


class RandomAgent(KernelAgent):
    """Plays any legal action, uniformly; visited positions are masked so that it does not run in circles."""

    name = "random"
    choose_all = staticmethod(choose_all)
