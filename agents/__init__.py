"""Agents: players of many games at once. `load("collins")` makes one by name."""

from klondike_env.agents.base import Agent
from klondike_env.agents.registry import BASELINES, load

__all__ = ["BASELINES", "Agent", "load"]
