"""The agent `bandit`, after lonelybot's blind player: a bandit over the plays that cannot be taken back.

At each decision it finds these plays, the arms (see `klondike_env.agents.planner.candidates`), lets them compete on
determinizations (see `klondike_env.agents.planner.elimination`), and plays the best one, after the moves that lead
there. A rule list, its base, is trusted as long as nothing speaks clearly for another arm. Once at most one card is
unseen there is nothing to guess, and it plays the solver's line.

What it does next in a row is kept there together with the positions it expects; in any other position
it decides anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from klondike_env.agents.base import Agent
from klondike_env.agents.chance import visible_word
from klondike_env.agents.lists.collins import CollinsAgent
from klondike_env.agents.planner.budget import check_budget, check_z
from klondike_env.agents.planner.candidates import Base, Exploration
from klondike_env.agents.planner.elimination import Field, Judge, line_up, n_determinizations, race, winner
from klondike_env.agents.planner.endgame import line_to_win, n_unseen
from klondike_env.agents.tuned.agent import TunedAgent
from klondike_env.cards import N_CARDS
from klondike_env.checks import check_choice, check_whole_number
from klondike_env.engine.actions import RESIGN
from klondike_env.engine.apply import apply
from klondike_env.engine.determinize import determinize_view
from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import mix
from klondike_env.engine.repeats import position_key
from klondike_env.engine.state import PLAYING, STATE
from klondike_env.engine.threads import run_sliced
from klondike_env.engine.views import hide_unseen
from klondike_env.rules import RuleParams, Rules

DEFAULT_SAMPLES = 100
DEFAULT_NODES = 200
DEFAULT_BLIND = 0.75
DEFAULT_Z = 1.5
MAX_SAMPLES = 20_000
_BASES: dict[str, Callable[[], Agent]] = {"tuned": TunedAgent, "collins": CollinsAgent}
_BETWEEN_LOOKS = 50  # determinizations between two looks at the clock
_EXACT_NODES = 100_000  # positions that the solver may visit when nothing is left to guess


@kernel
def key_of(views: np.ndarray, i: int, rules: RuleParams) -> np.uint64:
    """A key of what a player sees."""
    return mix(position_key(views, i, rules) + np.uint64(views[i]["talon_size"]))


@kernel
def write_view_keys(views: np.ndarray, rules: RuleParams, keys: np.ndarray) -> None:
    """Write the key of every game that is on. keys: uint64[n]."""
    for i in range(len(views)):
        if views[i]["outcome"] == PLAYING:
            keys[i] = key_of(views, i, rules)


@kernel
def write_line_keys(records: np.ndarray, actions: np.ndarray, rules: RuleParams, keys: np.ndarray) -> None:
    """Play from the first record and write the key of what the player sees before each action.

    records: STATE[2], changed; keys: uint64[n].
    """
    for k in range(len(actions)):
        records[1] = records[0]
        hide_unseen(records, 1)
        keys[k] = key_of(records, 1, rules)
        apply(records, 0, actions[k], rules)


@kernel
def fill_in(views: np.ndarray, cards: np.ndarray) -> None:
    """Make the first view a state, one of many that it may be. cards: uint8[52], scratch."""
    determinize_view(views, 0, np.uint64(0), cards)


@kernel
def seed_for(views: np.ndarray, seed: int) -> np.uint64:
    """The seed of the determinizations for the first view."""
    return visible_word(views, 0, seed)


class Plan(NamedTuple):
    """What to play next: actions, and the key of what is seen when each is due. Without actions all is lost."""

    actions: list[int]
    keys: list[int]


class Budget(NamedTuple):
    """How long to think about a decision."""

    samples: int  # determinizations at most
    seconds: float  # at most; infinity for no limit
    z: float  # standard errors by which an arm must lead the base's to be preferred


class Planner:
    """Makes decisions, one after the other; threads need one each."""

    def __init__(self, rules: Rules, seed: int, budget: Budget, base: Base, judge: Judge) -> None:
        self._rules, self._params, self._seed = rules, rules.params(), seed
        self._budget, self._base, self._judge = budget, base, judge
        self._exploration, self._field = Exploration(), Field.of(budget.samples)
        self._records = np.zeros(2, dtype=STATE)
        self._cards = np.zeros(N_CARDS, dtype=np.uint8)

    def plan(self, view: np.ndarray) -> Plan:
        """What to play on a view, STATE[1]."""
        unseen, reach = int(n_unseen(view)[0]), self._rules.redeals is None
        line = line_to_win(view, self._rules, reach, _EXACT_NODES) if unseen <= 1 else None
        actions = self._way_to_best(view, unseen) if line is None else line
        keys = np.zeros(len(actions), dtype=np.uint64)
        self._fill_in(view)
        write_line_keys(self._records, np.array(actions, dtype=np.int64), self._params, keys)
        return Plan(actions, keys.tolist())

    def _fill_in(self, view: np.ndarray) -> np.ndarray:
        """A state that the view may be of, STATE[1], in a buffer."""
        self._records[0] = view[0]
        fill_in(self._records, self._cards)
        return self._records[:1]

    def _way_to_best(self, view: np.ndarray, unseen: int) -> list[int]:
        """The moves that lead to the best arm, and its action."""
        exploration, field = self._exploration, self._field
        exploration.records[0] = self._fill_in(view)[0]
        exploration.run(self._params)
        base = exploration.base_arm(self._base, self._params)
        n_arms = int(exploration.counts[1])
        if n_arms == 0:
            return []
        line_up(exploration.records, exploration.arms, n_arms, field)
        return exploration.way_to(self._best_arm(n_arms, base, unseen, np.uint64(seed_for(view, self._seed))))

    def _best_arm(self, n_arms: int, base: int, unseen: int, seed: np.uint64) -> int:
        n_all = n_determinizations(unseen)
        samples = int(min(self._budget.samples, n_all))
        stride = samples if self._budget.seconds == inf else _BETWEEN_LOOKS
        done, start = 0, time.perf_counter()
        while done < samples and time.perf_counter() - start < self._budget.seconds:
            stop = min(done + stride, samples)
            done = race(self._field, n_arms, base, done, stop, seed, self._judge, self._params)
            if done < stop:
                break
        z = self._budget.z if done < n_all else 0.0  # what holds in all of them needs no more evidence
        return winner(self._field, n_arms, base, done, z, self._judge.values)


class BanditAgent(Agent):
    """Plays towards the play that wins most in games that look like this one, by the judgement of two.

    Args:
        samples: determinizations for each decision at most; with 0 the base plays. 100 by default, 20,000 where
            `seconds_per_move` is given.
        seconds_per_move: time for each decision at most. What is chosen then depends on the machine.
        nodes: positions that the solver may visit to judge one.
        blind: which judge counts more, 0 to 1: the solver, which sees all cards (0), or the base, which plays on as
            a player must (1).
        z: standard errors of evidence that it takes to leave the base's play.
        base: the list that is trusted without evidence, "tuned" or "collins".
        threads: threads that share the games of a batch.

    Raises:
        ValueError: an argument has a value that is not allowed.
    """

    def __init__(
        self,
        samples: int | None = None,
        seconds_per_move: float | None = None,
        *,
        nodes: int = DEFAULT_NODES,
        blind: float = DEFAULT_BLIND,
        z: float = DEFAULT_Z,
        base: str = "tuned",
        threads: int = 1,
    ) -> None:
        self.name = "bandit"
        self.samples = check_budget(samples, seconds_per_move, DEFAULT_SAMPLES, MAX_SAMPLES)
        self.seconds_per_move = seconds_per_move
        self.nodes = check_whole_number("nodes", nodes, 1)
        if not 0 <= blind <= 1:
            raise ValueError(f"blind is {blind!r}; allowed: a number from 0 to 1")
        self.blind = blind
        self.z = check_z(z)
        self.threads = check_whole_number("threads", threads, 1)
        self.base = check_choice("base", base, tuple(_BASES))
        self._base = _BASES[base]()
        if self.samples == 0:
            self.talon, self.no_repeats = self._base.talon, self._base.no_repeats
            self.needs_masks = self._base.needs_masks

    def start(self, n_games: int, rules: Rules, seed: int) -> None:
        """See `Agent.start`."""
        self._base.start(n_games, rules, seed)
        self._params = rules.params()
        self._plans = [Plan([], [])] * n_games
        self._keys = np.zeros(n_games, dtype=np.uint64)
        self._actions = np.zeros(n_games, dtype=np.int64)
        self._planners: SimpleQueue[Planner] = SimpleQueue()
        budget = Budget(self.samples, inf if self.seconds_per_move is None else self.seconds_per_move, self.z)
        for _ in range(self.threads):
            base = Base.of(self.base, rules)
            judge = Judge.of(rules, base, self.nodes, self.blind)
            self._planners.put(Planner(rules, seed, budget, base, judge))

    def act(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See `Agent.act`."""
        if self.samples == 0:
            return self._base.act(views, masks)
        write_view_keys(views, self._params, self._keys)
        rows = np.flatnonzero(views["outcome"] == PLAYING)

        def choose(part: slice) -> None:
            planner = self._planners.get()
            for row in rows[part].tolist():
                self._actions[row] = self._choose(planner, views, masks, row)
            self._planners.put(planner)

        run_sliced(self.threads, len(rows), choose)
        return self._actions

    def _choose(self, planner: Planner, views: np.ndarray, masks: np.ndarray, row: int) -> int:
        plan = self._plans[row]
        if plan.keys[:1] != [int(self._keys[row])] or not masks[row, plan.actions[0]]:
            plan = planner.plan(views[row : row + 1])
        self._plans[row] = Plan(plan.actions[1:], plan.keys[1:])
        if not plan.actions:
            return RESIGN
        # Only where moves that were not ours have barred the way, for what is repeated is masked.
        return plan.actions[0] if masks[row, plan.actions[0]] else int(masks[row].argmax())
