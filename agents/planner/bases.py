"""The base of a planner: the agent that plays the rollouts, and whose own action is the default.

`collins`, `tuned` and `net` are compiled into the planner. Any other agent plays its rollouts side by side in a
batch of `klondike_env.games`, which is hundreds of times slower.
"""

from __future__ import annotations

import copy
from typing import Protocol

import numpy as np

from klondike_env.agents.base import Agent
from klondike_env.agents.lists.collins import CollinsAgent
from klondike_env.agents.planner.candidates import MAX_BASE_MOVES, NONE, Decision, ListBase, first_action, follow_base
from klondike_env.agents.planner.elimination import ROUND, drop_behind, eliminate
from klondike_env.agents.planner.evaluation import (
    WON_BY_BASE,
    Contest,
    Evaluator,
    ask_solver_of_all,
    evaluate,
    write_determinizations,
)
from klondike_env.agents.tuned.agent import TunedAgent
from klondike_env.engine.actions import RESIGN
from klondike_env.engine.state import WON
from klondike_env.games import Games
from klondike_env.rules import Rules
from klondike_env.solver.verdicts import UNSOLVABLE_INDEX


class Base(Protocol):
    """What a planner asks of its base. Every planner has one of its own."""

    evaluator: Evaluator

    def action(self, decision: Decision, view: np.ndarray, mask: np.ndarray) -> int:
        """What the base plays in the player's position, or RESIGN. view: STATE[1]; mask: int8[313]."""

    def enter(self, decision: Decision) -> int:
        """Make the base's first irreversible action a candidate; return its index, NONE if the base gives up."""

    def eliminate(self, contest: Contest, start: int, stop: int) -> int:
        """Evaluate and eliminate candidates, see `klondike_env.agents.planner.elimination.eliminate`."""

    def evaluate(self, contest: Contest, start: int, stop: int) -> None:
        """Try all candidates that are alive, see `klondike_env.agents.planner.evaluation.evaluate`."""


def is_compiled(agent: Agent) -> bool:
    """Whether an agent is one of those that are compiled into the planner."""
    return isinstance(agent, CollinsAgent | TunedAgent)


class CompiledBase:
    """An agent in compiled code.

    Args:
        agent: `collins`, `tuned` or `net`.
        rules: the rules of all games.
        nodes: nodes that the solver may visit to evaluate a position.
        blind: the weight of the base beside the solver, 0 to 1.
    """

    def __init__(self, agent: Agent, rules: Rules, nodes: int, blind: float) -> None:
        self._base = ListBase.of(agent, rules)
        self.evaluator = Evaluator.of(rules, self._base, nodes, blind)

    def action(self, decision: Decision, view: np.ndarray, mask: np.ndarray) -> int:
        """See `Base.action`."""
        return first_action(decision.positions.records, self._base, self.evaluator.rules)

    def enter(self, decision: Decision) -> int:
        """See `Base.enter`."""
        rules = self.evaluator.rules
        action = follow_base(decision.positions, decision.candidates, self._base, rules)
        return NONE if action == RESIGN else decision.enter_base(action, rules)

    def eliminate(self, contest: Contest, start: int, stop: int) -> int:
        """See `Base.eliminate`."""
        return eliminate(contest, start, stop, self.evaluator)

    def evaluate(self, contest: Contest, start: int, stop: int) -> None:
        """See `Base.evaluate`."""
        evaluate(contest, start, stop, self.evaluator)


class AgentBase:
    """Any agent; it is started afresh for each decision and for each batch of rollouts.

    Args:
        agent: the agent; a copy of it plays.
        rules: the rules of all games.
        nodes: nodes that the solver may visit to evaluate a position.
        blind: the weight of the base beside the solver, 0 to 1.
        seed: of the agent's random numbers.
    """

    def __init__(self, agent: Agent, rules: Rules, nodes: int, blind: float, seed: int) -> None:
        self._player, self._rules, self._seed = copy.deepcopy(agent), rules, seed
        self.evaluator = Evaluator.of(rules, ListBase.of(CollinsAgent(), rules), nodes, blind)

    def action(self, decision: Decision, view: np.ndarray, mask: np.ndarray) -> int:
        """See `Base.action`."""
        self._player.start(1, self._rules, self._seed)
        return int(self._player.act(view, mask[np.newaxis])[0])

    def enter(self, decision: Decision) -> int:
        """See `Base.enter`."""
        games = self._resume(decision.positions.records[:1])
        for k in range(MAX_BASE_MOVES):
            action = int(self._player.act(games.views(), games.masks)[0])
            if action == RESIGN:
                return NONE
            if not decision.follow(k, action, self.evaluator.rules):
                return decision.enter_base(action, self.evaluator.rules)
            games.step(np.array([action]))
            if games.over[0]:
                return NONE
        return NONE

    def eliminate(self, contest: Contest, start: int, stop: int) -> int:
        """See `Base.eliminate`."""
        left, sample = int(contest.n_candidates[0]), start
        while sample < stop and left > 1:
            end = min(sample + ROUND - sample % ROUND, stop)
            self.evaluate(contest, sample, end)
            sample = end
            if sample % ROUND == 0:
                left = drop_behind(contest, sample, self.evaluator.values)
        return sample

    def evaluate(self, contest: Contest, start: int, stop: int) -> None:
        """See `Base.evaluate`."""
        alive = np.flatnonzero(contest.alive[: contest.n_candidates[0]])
        contest.verdicts[alive, start:stop] = UNSOLVABLE_INDEX
        acting = alive[contest.actions[alive] != RESIGN]
        states = np.zeros((len(acting), stop - start), dtype=contest.views.dtype)
        for k, candidate in enumerate(acting.tolist()):
            write_determinizations(contest, candidate, start, states[k])
        actions = np.repeat(contest.actions[acting], stop - start)
        contest.verdicts[acting, start:stop] = self._verdicts(states.ravel(), actions).reshape(states.shape)

    def _verdicts(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """The verdict on each action, int64[n], in its own state, STATE[n]: uint8[n]."""
        talon = self._player.talon_for(self._rules)
        games = Games(len(states), self._rules, talon=talon, auto_finish=True, masks=False)
        games.resume(states)
        games.step(actions)
        verdicts = np.where(games.outcomes == WON, WON_BY_BASE, UNSOLVABLE_INDEX).astype(np.uint8)
        if self.evaluator.plays_out:
            playing = np.flatnonzero(~games.over)
            verdicts[playing[self._wins(games.states[playing])]] = WON_BY_BASE
        if self.evaluator.asks_solver:
            others = np.flatnonzero((verdicts != WON_BY_BASE) & ~games.over)
            found = np.zeros(len(others), dtype=np.uint8)
            ask_solver_of_all(games.states[others], self.evaluator, found)
            verdicts[others] = found
        return verdicts

    def _wins(self, states: np.ndarray) -> np.ndarray:
        """Whether the agent wins from each state, bool[n]. states: STATE[n]."""
        if len(states) == 0:
            return np.zeros(0, dtype=bool)
        games = self._resume(states)
        while not games.over.all():
            actions = np.asarray(self._player.act(games.views(), games.masks))
            games.forfeit(np.flatnonzero(~games.over & (actions == RESIGN)))
            games.step(actions)
        return np.asarray(games.outcomes == WON)

    def _resume(self, states: np.ndarray) -> Games:
        """Games that go on from states, STATE[n], with the agent's talon mode and `no_repeats`."""
        player = self._player
        games = Games(
            len(states),
            self._rules,
            talon=player.talon_for(self._rules),
            no_repeats=player.no_repeats,
            auto_finish=True,
            masks=player.needs_masks,
        )
        games.resume(states)
        player.start(len(games), self._rules, self._seed)
        return games
