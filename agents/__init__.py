"""Agents: players of many games at once. `load("collins")` makes one by name."""

from agents.base import Agent
from agents.registry import BASELINES, load

__all__ = ["BASELINES", "Agent", "load"]
