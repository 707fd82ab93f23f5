"""The agent `bandit`, after lonelybot's blind player: it asks a solver that sees all cards what to do in
many games that look like this one.

At each decision it finds the arms: all plays that cannot be taken back, after any moves that can be (see
`agents.arms`). They compete on determinizations judged by the thoughtful solver (see `agents.race`); the
way to the best one is then played action by action. Once at most one card is unseen the solver's own
line is played.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from agents.arms import Exploration
from agents.base import Agent
from agents.chance import roll
from agents.collins import CollinsAgent
from agents.race import FEW_UNSEEN, Field, Judge, race
from klondike_env.cards import N_CARDS
from klondike_env.engine.actions import RESIGN, STOCK_ACTION
from klondike_env.engine.apply import apply
from klondike_env.engine.determinize import determinize_view
from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import mix
from klondike_env.engine.repeats import position_key
from klondike_env.engine.state import HIDDEN_PLACE, PLAYING, STATE
from klondike_env.engine.threads import run_sliced
from klondike_env.engine.views import hide_unseen
from klondike_env.rules import RuleParams, Rules
from klondike_env.solver.columns import ColumnSearch
from klondike_env.solver.free import FreeSearch, supports
from klondike_env.solver.verdicts import SOLVED, UNSOLVABLE

_CHUNK = 100  # determinizations between two looks at the clock


@kernel
def key_of(views: np.ndarray, i: int, rules: RuleParams) -> np.uint64:
    """A key of a view."""
    return mix(position_key(views, i, rules) + np.uint64(views[i]["talon_size"]))


@kernel
def write_keys(records: np.ndarray, actions: np.ndarray, keys: np.ndarray, rules: RuleParams) -> None:
    """Play actions from the first record and write the key of the view before each. records: STATE[2], changed."""
    for k in range(len(actions)):
        records[1] = records[0]
        hide_unseen(records, 1)
        keys[k] = key_of(records, 1, rules)
        apply(records, 0, actions[k], rules)


@kernel
def write_view_keys(views: np.ndarray, keys: np.ndarray, rules: RuleParams) -> None:
    """Write the key of every view that is on."""
    for i in range(len(views)):
        if views[i]["outcome"] == PLAYING:
            keys[i] = key_of(views, i, rules)


@kernel
def lay_in_order(states: np.ndarray, cards: np.ndarray) -> None:
    """Make the first of some views a state."""
    determinize_view(states, 0, np.uint64(0), cards)


@kernel
def prepare_field(records: np.ndarray, arms: np.ndarray, n_arms: int, field: Field) -> None:
    """Enter all arms."""
    for k in range(n_arms):
        field.views[k] = records[arms[k, 0]]
        hide_unseen(field.views, k)
        field.actions[k] = arms[k, 1]
        field.alive[k] = 1


@kernel
def draw_seed(views: np.ndarray, i: int, seed: int) -> np.uint64:
    """The seed of a decision's determinizations."""
    return mix(np.uint64(roll(views, i, seed, 0xFFFFFFFF)) << np.uint64(32))


class Plan(NamedTuple):
    """What to play next in a row: actions, and the key of the view in which each is due."""

    actions: list[int]
    keys: list[int]


class Options(NamedTuple):
    samples: int
    seconds: float | None
    block: int
    z: float
    ties_after: int
    exact_visits: int


class Planner:
    """The decisions of one thread."""

    def __init__(self, rules: Rules, seed: int, options: Options, visits: int, open_value: float, weight: float) -> None:
        self.rules, self._seed, self._options = rules, seed, options
        self._params = rules.params()
        self._exploration = Exploration()
        self._judge = Judge.of(rules, visits, open_value, weight)
        self._field = Field.of(options.samples)
        self._records = np.zeros(2, dtype=STATE)
        self._cards = np.zeros(N_CARDS, dtype=np.uint8)

    def plan(self, view: np.ndarray) -> Plan:
        """What to play on a view, STATE[1]; a plan of no actions where all is lost."""
        n_unseen = int(np.count_nonzero(view["place"] == HIDDEN_PLACE))
        actions = self._win(view) if n_unseen <= 1 else None
        if actions is None:
            actions = self._best(view, n_unseen)
        return self._with_keys(view, actions)

    def _determinized(self, view: np.ndarray) -> np.ndarray:
        self._records[0] = view[0]
        lay_in_order(self._records, self._cards)
        return self._records[:1]

    def _with_keys(self, view: np.ndarray, actions: list[int]) -> Plan:
        self._determinized(view)
        keys = np.zeros(len(actions), dtype=np.uint64)
        write_keys(self._records, np.array(actions, dtype=np.int64), keys, self._params)
        return Plan(actions, keys.tolist())

    def _win(self, view: np.ndarray) -> list[int] | None:
        """A winning line, no line where there is none, None where that is not known."""
        state = self._determinized(view).copy()
        search = FreeSearch(state, self.rules) if supports(self.rules) else ColumnSearch(state, self.rules)
        verdict = search.run(self._options.exact_visits)
        if verdict == SOLVED:
            actions = search.actions()
            return [action for action in actions if action != STOCK_ACTION or self.rules.redeals is not None]
        return [] if verdict == UNSOLVABLE else None

    def _best(self, view: np.ndarray, n_unseen: int) -> list[int]:
        exploration, options, field = self._exploration, self._options, self._field
        exploration.records[0] = self._determinized(view)[0]
        n_arms = exploration.run(self._params)
        if n_arms == 0:
            return []
        prepare_field(exploration.records, exploration.arms, n_arms, field)
        seed = np.uint64(draw_seed(view, 0, self._seed))
        samples = options.samples
        if n_unseen <= FEW_UNSEEN:
            samples = min(samples, [1, 1, 2, 6, 24, 120, 720][n_unseen])
        done, left = 0, n_arms
        deadline = None if options.seconds is None else time.perf_counter() + options.seconds
        while done < samples and left > 1 and (deadline is None or done == 0 or time.perf_counter() < deadline):
            stop = min(done + _CHUNK, samples) if deadline is not None else samples
            left = race(
                field, n_arms, done, stop, seed, options.block, options.z, options.ties_after, self._judge, self._params
            )
            done = stop
        if left > 1:
            from agents.race import drop_losers

            drop_losers(field, n_arms, done, self._judge.values, 0.0, 0)
        best = int(np.flatnonzero(field.alive[:n_arms])[0])
        return exploration.way_to(best)


class BanditAgent(Agent):
    """Plays the arm that wins most often in the thoughtful solver's judgement.

    Args:
        samples: determinizations for each decision; with 0 it plays as `collins`.
        seconds_per_move: time for each decision; results then depend on the machine. None for no limit.
        visits: positions that the solver may visit to judge one.
        threads: threads that share the rows.
    """

    name = "bandit"

    def __init__(
        self,
        samples: int = 500,
        *,
        seconds_per_move: float | None = None,
        visits: int = 1000,
        threads: int = 1,
        open_value: float = 0.0,
        weight: float = 0.0,
        block: int = 10,
        z: float = 3.0,
        ties_after: int = 60,
        exact_visits: int = 100_000,
    ) -> None:
        self._options = Options(samples, seconds_per_move, block, z, ties_after, exact_visits)
        self._visits, self._open_value, self._threads, self._weight = visits, open_value, threads, weight
        if samples == 0:
            self.talon, self.no_repeats = "draw", False

    def start(self, n_games: int, rules: Rules, seed: int) -> None:
        """See `Agent.start`."""
        self._rules = rules
        self._params = rules.params()
        self._base = CollinsAgent()
        self._base.start(n_games, rules, seed)
        self._plans: list[Plan | None] = [None] * n_games
        self._keys = np.zeros(n_games, dtype=np.uint64)
        self._actions = np.zeros(n_games, dtype=np.int64)
        self._planners = [
            Planner(rules, seed, self._options, self._visits, self._open_value, self._weight) for _ in range(self._threads)
        ]

    def act(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See `Agent.act`."""
        if self._options.samples == 0:
            return self._base.act(views, masks)
        write_view_keys(views, self._keys, self._params)
        rows = np.flatnonzero(views["outcome"] == PLAYING)
        idle = list(self._planners)

        def work(part: slice) -> None:
            planner = idle.pop()
            for row in rows[part].tolist():
                self._actions[row] = self._choose(planner, views, masks, row)

        run_sliced(self._threads, len(rows), work)
        return self._actions

    def _choose(self, planner: Planner, views: np.ndarray, masks: np.ndarray, row: int) -> int:
        plan, key = self._plans[row], int(self._keys[row])
        if plan is None or not plan.keys or plan.keys[0] != key or not masks[row, plan.actions[0]]:
            plan = planner.plan(views[row : row + 1])
        if not plan.actions:
            return RESIGN
        action, *rest = plan.actions
        self._plans[row] = Plan(rest, plan.keys[1:])
        if not masks[row, action]:
            return int(masks[row].argmax())
        return action
