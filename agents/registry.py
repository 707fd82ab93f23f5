"""Agents by name.

random, greedy, collins, tuned, net
                               the baselines; `net` plays the network that comes with the package for the variant
net:PATH                       the same moves, scored by a network of your own, see `train.net`
policy:PATH                    a trained network, played as its training config says
policy:PATH@argmax             the same, always its likeliest action
policy:PATH@sampled            the same, actions drawn from its probabilities
planner                        tries candidates in determinizations, see `klondike_env.agents.planner.agent`
planner:samples=1000           the same with options, separated by commas: candidates, samples, seconds_per_move, nodes,
                               blind, z, threads, base; base is any of these names, and comes last if that has options
bandit                         the planner with its default settings
rollout                        the planner over legal actions, each by 200 games of `collins`, without the solver
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
from klondike_env.agents.planner.agent import PlannerAgent
from klondike_env.agents.tuned.agent import TunedAgent
from klondike_env.agents.tuned.net import NetAgent

BASELINES: dict[str, Callable[[], Agent]] = {
    "random": RandomAgent,
    "greedy": GreedyAgent,
    "collins": CollinsAgent,
    "tuned": TunedAgent,
    "net": NetAgent,
}

NET_PREFIX = "net:"

POLICY_PREFIX = "policy:"
# The names of the planner, each with the options that it sets.
PLANNERS: dict[str, dict[str, Any]] = {
    "planner": {},
    "bandit": {
        "candidates": "irreversible",
        "base": "tuned",
        "nodes": 200,
        "blind": 0.75,
        "z": 1.5,
    },
    "rollout": {"candidates": "legal", "base": "collins", "samples": 200, "blind": 1.0, "z": 1.5},
}
_OPTIONS: dict[str, Callable[[str], Any]] = {
    "candidates": str,
    "samples": int,
    "seconds_per_move": float,
    "nodes": int,
    "blind": float,
    "z": float,
    "threads": int,
    "base": str,
}


def load(spec: str) -> Agent:
    """The agent with a name; the forms of names are listed at the top of this module.

    Raises:
        ValueError: the name does not stand for an agent; the message says why.
    """
    if spec in BASELINES:
        return BASELINES[spec]()
    if spec.startswith(NET_PREFIX):
        return _load_net(spec)
    if spec.startswith(POLICY_PREFIX):
        return _load_policy(spec)
    if spec.partition(":")[0] in PLANNERS:
        return _load_planner(spec)
    module, colon, factory = spec.partition(":")
    if colon and module and factory:
        return _load_custom(spec, module, factory)
    raise ValueError(
        f"no such agent: {spec!r}; known: {', '.join(BASELINES)}, net:PATH, policy:PATH, policy:PATH@argmax, "
        "policy:PATH@sampled, planner, planner:samples=N, bandit, rollout, "
        "or package.module:factory for your own"
    )


def _load_net(spec: str) -> Agent:
    agent = NetAgent(_file_of(spec, spec.removeprefix(NET_PREFIX)))
    agent.name = spec
    return agent


def _file_of(spec: str, path: str) -> Path:
    if not path or not Path(path).exists():
        raise ValueError(f"agent {spec!r}: there is no file {path!r}; name the safetensors file of a training run")
    return Path(path)


def _load_policy(spec: str) -> Agent:
    path, play = _split_play_mode(spec.removeprefix(POLICY_PREFIX))
    file = _file_of(spec, path)
    from klondike_env.agents.network.agent import load_policy  # torch is slow to import, and only networks need it

    agent = load_policy(file, play)
    agent.name = spec  # so that tables tell two networks, or two ways to play one, apart
    return agent


def _load_planner(spec: str) -> Agent:
    name, _, text = spec.partition(":")
    given = _read_options(spec, text)
    filled_in = PLANNERS[name]
    if "seconds_per_move" in given:  # time is the limit then, not the number of samples
        filled_in = {option: value for option, value in filled_in.items() if option != "samples"}
    options = {**filled_in, **given}
    if "base" in options:
        options["base"] = load(options["base"])
    try:
        agent = PlannerAgent(**options)
    except ValueError as error:
        raise ValueError(f"agent {spec!r}: {error}") from error
    agent.name = spec
    return agent


def _read_options(spec: str, text: str) -> dict[str, Any]:
    """The options of a planner. If its base has options too, all that follows the name of the base is its own."""
    text, named, base = text.partition("base=")
    if named and ":" not in base.partition(",")[0]:
        base, _, rest = base.partition(",")
        text = f"{text},{rest}"
    options: dict[str, Any] = {"base": base} if named else {}
    for option in filter(None, text.split(",")):
        key, _, value = option.partition("=")
        if key not in _OPTIONS:
            raise ValueError(f"agent {spec!r}: no such option: {key!r}; known: {', '.join(_OPTIONS)}")
        try:
            options[key] = _OPTIONS[key](value)
        except ValueError:
            raise ValueError(f"agent {spec!r}: {key} is {value!r}; write a number, as in {key}=2") from None
    return options


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
