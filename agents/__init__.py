"""Agents: players of many games at once. `load("collins")` makes one by name.

    base.py        what an agent is
    chance.py      reproducible chance
    match.py       an agent plays a list of deals
    lists/         `random`, `greedy`, `collins`, and the list player, fast games of `collins`
    tuned/         `tuned`: a list whose moves have scores, by weights and by a table over pairs of features
    planner/       `planner`, also called `bandit` and `rollout`: successive elimination among candidates
    network/       trained networks
    registry.py    agents by name
    advice.py      what each legal action is worth

Each of these imports from those above it; a planner is handed its base, any agent, by the registry. `planner` and
`network` do not know each other. Only `network` needs torch, and only once a network is loaded.
"""

from klondike_env.agents.base import Agent
from klondike_env.agents.registry import BASELINES, load

__all__ = ["BASELINES", "Agent", "load"]
