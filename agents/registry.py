"""Agents by name.

random, greedy, collins, tuned the baselines
policy:PATH                    a trained network, played as its training config says
policy:PATH@argmax             the same, always its favourite action
policy:PATH@sampled            the same, actions drawn from its probabilities
rollout                        plays tried out from each position, see `klondike_env.agents.planner.rollout`
rollout:samples=500            the same with options, after a comma each: samples, seconds_per_move, z,
                               threads, base; base comes last and is any of these names
bandit                         plays towards the best of all plays that cannot be taken back, see
                               `klondike_env.agents.planner.bandit`
bandit:samples=1000            the same with options: samples, seconds_per_move, nodes, blind, z, base, threads
package.module:factory         your own: `factory()` returns an `Agent` (an `Agent` class will do)
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from klondike_env.agents.base import Agent, PlayMode
from klondike_env.agents.lists.collins import CollinsAgent
from klondike_env.agents.lists.greedy import GreedyAgent
from klondike_env.agents.lists.random_agent import RandomAgent
from klondike_env.agents.planner.bandit import BanditAgent
from klondike_env.agents.planner.rollout import RolloutAgent
from klondike_env.agents.tuned.agent import TunedAgent

BASELINES: dict[str, Callable[[], Agent]] = {
    "random": RandomAgent,
    "greedy": GreedyAgent,
    "collins": CollinsAgent,
    "tuned": TunedAgent,
}

POLICY_PREFIX = "policy:"
ROLLOUT = "rollout"
_ROLLOUT_OPTIONS: dict[str, Callable[[str], Any]] = {
    "samples": int,
    "seconds_per_move": float,
    "z": float,
    "threads": int,
}
BANDIT = "bandit"
_BANDIT_OPTIONS: dict[str, Callable[[str], Any]] = {
    "samples": int,
    "seconds_per_move": float,
    "nodes": int,
    "blind": float,
    "z": float,
    "base": str,
    "threads": int,
}


def load(spec: str) -> Agent:
    """The agent that a name stands for; the forms are listed at the top of this module.

    Raises:
        ValueError: no agent can be made of the name; the message says why.
    """
    if spec in BASELINES:
        return BASELINES[spec]()
    if spec.startswith(POLICY_PREFIX):
        return _load_policy(spec)
    if spec.partition(":")[0] == ROLLOUT:
        return _load_rollout(spec)
    if spec.partition(":")[0] == BANDIT:
        return _load_bandit(spec)
    module, colon, factory = spec.partition(":")
    if colon and module and factory:
        return _load_custom(spec, module, factory)
    raise ValueError(
        f"no such agent: {spec!r}; known: {', '.join(BASELINES)}, policy:PATH, policy:PATH@argmax, "
        "policy:PATH@sampled, rollout, rollout:samples=N, bandit, bandit:samples=N, "
        "or package.module:factory for your own"
    )


def _load_policy(spec: str) -> Agent:
    path, play = _split_play_mode(spec.removeprefix(POLICY_PREFIX))
    if not path or not Path(path).exists():
        raise ValueError(f"agent {spec!r}: there is no file {path!r}; name the safetensors file of a training run")
    from klondike_env.agents.network.agent import load_policy  # torch is slow to import, and only networks need it

    agent = load_policy(Path(path), play)
    agent.name = spec  # two networks, or two ways to play one, stay apart in tables
    return agent


def _load_rollout(spec: str) -> Agent:
    options, separator, base = spec.removeprefix(ROLLOUT).removeprefix(":").partition("base=")
    arguments = _read_options(spec, options, _ROLLOUT_OPTIONS, ", base")
    return _make(spec, RolloutAgent, {**arguments, "base": load(base)} if separator else arguments)


def _load_bandit(spec: str) -> Agent:
    options = spec.removeprefix(BANDIT).removeprefix(":")
    return _make(spec, BanditAgent, _read_options(spec, options, _BANDIT_OPTIONS))


def _read_options(spec: str, text: str, known: dict[str, Callable[[str], Any]], also: str = "") -> dict[str, Any]:
    arguments = {}
    for option in filter(None, text.split(",")):
        key, _, value = option.partition("=")
        if key not in known:
            raise ValueError(f"agent {spec!r}: no such option: {key!r}; known: {', '.join(known)}{also}")
        try:
            arguments[key] = known[key](value)
        except ValueError:
            raise ValueError(f"agent {spec!r}: {key} is {value!r}; write a number, as in {key}=2") from None
    return arguments


def _make(spec: str, kind: Callable[..., Agent], arguments: dict[str, Any]) -> Agent:
    try:
        agent = kind(**arguments)
    except ValueError as error:
        raise ValueError(f"agent {spec!r}: {error}") from error
    agent.name = spec
    return agent


def _split_play_mode(text: str) -> tuple[str, PlayMode | None]:
    path, at, play = text.rpartition("@")
    if at and play == "argmax":
        return path, "argmax"
    if at and play == "sampled":
        return path, "sampled"
    return text, None


def _load_custom(spec: str, module_name: str, factory_name: str) -> Agent:
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise ValueError(f"agent {spec!r}: cannot import {module_name!r}: {error}") from error
    factory = getattr(module, factory_name, None)
    if not callable(factory):
        raise ValueError(f"agent {spec!r}: module {module_name!r} has nothing callable named {factory_name!r}")
    try:
        agent = factory()
    except TypeError as error:
        raise ValueError(f"agent {spec!r}: {factory_name}() does not work without arguments: {error}") from error
    if not isinstance(agent, Agent):
        raise ValueError(f"agent {spec!r}: {factory_name} returned {agent!r}; it must return an agents.Agent")
    return agent
