from __future__ import annotations

import numpy as np
import pytest

from klondike_env.agents.lists.random_agent import RandomAgent
from klondike_env.games import Games
from tests.agents.players import DRAW1
from tests.boards import board

N = 6000


def test_every_legal_action_is_equally_likely() -> None:
    games = Games(1, DRAW1)
    games.resume(board("9D", "TS", "TC", "AH", stock="4C 3C"))
    views, masks = np.repeat(games.views(), N), np.repeat(games.masks, N, axis=0)
    views["steps"] = np.arange(N)
    agent = RandomAgent()
    agent.start(N, DRAW1, seed=0)
    actions, counts = np.unique(agent.act(views, masks), return_counts=True)
    assert set(actions) == set(np.flatnonzero(masks[0]))
    expected = N / len(actions)
    assert counts == pytest.approx(expected, abs=4 * np.sqrt(expected))
