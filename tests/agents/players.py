"""Asking an agent what it would play in a position."""

from __future__ import annotations

import numpy as np

from klondike_env.agents import Agent
from klondike_env.engine import actions
from klondike_env.engine.actions import RESIGN
from klondike_env.games import Games
from klondike_env.rules import PRESETS, Rules

DRAW1 = PRESETS["draw1"]
CLASSIC = PRESETS["classic"]
THUMB_AND_POUCH = PRESETS["thumb_and_pouch"]
GIVE_UP = "give up"


def decide(agent: Agent, record: np.void, rules: Rules = DRAW1, seed: int = 0) -> str:
    """The name of the first action that an agent chooses in a position."""
    return decisions(agent, record, rules, seed=seed, limit=1)[0]


def decisions(agent: Agent, record: np.void, rules: Rules = DRAW1, *, seed: int = 0, limit: int = 100) -> list[str]:
    """The names of the actions that an agent plays from a position on, until it gives up or the game ends."""
    games = Games(1, rules, talon=agent.talon_for(rules))
    games.resume(record)
    agent.start(1, rules, seed)
    names: list[str] = []
    while not games.over[0] and len(names) < limit:
        action = agent.act(games.views(), games.masks).copy()
        if action[0] == RESIGN:
            return [*names, GIVE_UP]
        names.append(actions.name(int(action[0])))
        games.step(action)
        assert not games.illegal[0], f"{names[-1]} is illegal"
    return names
