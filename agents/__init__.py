"""Agents: players of many games at once. `load("collins")` makes one by name.

    base.py        what an agent is
    chance.py      reproducible random numbers
    network_file.py  files of networks
    match.py       an agent plays a list of deals
    lists/         `random`, and the rule lists `greedy` and `collins`; the list player plays `collins` fast, to the end
    tuned/         `tuned`: a list whose moves have scores, from weights and from a table over pairs of features; and
                   `net`, in which a network adds to these scores
    planner/       `planner`, also called `bandit` and `rollout`: successive elimination among candidates
    network/       networks over observations, which choose among all actions
    pretrained/    the networks of `net`
    registry.py    agents by name
    advice.py      what each legal action is worth

Each of these imports only from those above it. The registry gives a planner its base, which may be any agent, so
`planner` and `network` do not import each other. Only `network` needs torch, and only once such a network is loaded.
"""

from klondike_env.agents.base import Agent
from klondike_env.agents.registry import BASELINES, load

__all__ = ["BASELINES", "Agent", "load"]
