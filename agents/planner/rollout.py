"""The agent `rollout`: tries every play out in games that may be the true one, and trusts a base agent otherwise.

In each decision it lays the unseen cards at random many times and plays each legal action, and then the
base agent, to the end. The base never sees more than a player would, so what is averaged are honest games:
nothing is gained by knowing cards that a player cannot know. It leaves the play of the base only on strong
evidence, for of many plays that are worth the same the best-looking one is no better, and whoever follows
it wanders about. Such a player is the "rollout algorithm" of Bertsekas, Tsitsiklis and Wu (1997), which
Yan, Diaconis, Rusmevichientong and Van Roy (2005) brought to solitaire with all cards known.
"""

from __future__ import annotations

import time

import numpy as np

from klondike_env.agents.base import Agent
from klondike_env.agents.lists.collins import CollinsAgent
from klondike_env.agents.lists.list_player import GAME, LAYOUT, NEVER
from klondike_env.agents.planner.budget import check_budget, check_z
from klondike_env.agents.planner.endgame import Endgames
from klondike_env.agents.planner.rollout_games import GamesPlayouts
from klondike_env.agents.planner.rollout_search import (
    SEARCH,
    Confidence,
    begin_searches,
    decide_all,
    first_plays,
    judge_all,
    sample_all,
)
from klondike_env.agents.tuned.agent import Marking, TunedAgent
from klondike_env.cards import N_CARDS
from klondike_env.checks import check_whole_number
from klondike_env.engine.state import PLAYING, new_states
from klondike_env.engine.threads import run_sliced
from klondike_env.rules import Rules
from klondike_env.solver.classes.search import supports

DEFAULT_SAMPLES = 200
_FIRST_ROUND = 16
_NO_LIMIT = 1 << 30
# With so few cards face down and the talon known 98 of 100 positions can be won, and will be: by the solver.
_ENOUGH = 1


class RolloutAgent(Agent):
    """Plays what wins most of the games that a base agent plays to the end from here, cards unseen laid at random.

    Args:
        samples: determinizations for each decision at most; with 0 the base plays. 200 by default, without
            limit where `seconds_per_move` is given.
        seconds_per_move: time for each decision at most. What is chosen then depends on the machine.
        base: an agent or its name. `collins` is many times faster than any other.
        z: standard deviations of evidence that it takes to leave the base's play.
        threads: threads that share the games of a batch.

    Raises:
        ValueError: an argument has a value that is not allowed.
    """

    def __init__(
        self,
        samples: int | None = None,
        seconds_per_move: float | None = None,
        *,
        base: str | Agent = "collins",
        z: float = 1.5,
        threads: int = 1,
    ) -> None:
        self.name = "rollout"
        self.base = _agent(base)
        self.samples = check_budget(samples, seconds_per_move, DEFAULT_SAMPLES, _NO_LIMIT, with_limit=False)
        self.seconds_per_move = seconds_per_move
        self.threads = check_whole_number("threads", threads, 1)
        self._confidence = Confidence(leave=check_z(z))
        self._follow_base()

    def _follow_base(self) -> None:
        """Meet the game as the base does, where only it decides."""
        if self.samples == 0:
            self.talon, self.no_repeats, self.play = self.base.talon, self.base.no_repeats, self.base.play
            self.needs_masks = self.base.needs_masks
        elif not isinstance(self.base, CollinsAgent):  # which taps the stock, but may as well reach into it
            self.talon = self.base.talon

    def start(self, n_games: int, rules: Rules, seed: int) -> None:
        """See `Agent.start`."""
        self.base.start(n_games, rules, seed)
        reach = self.talon_for(rules) == "reach"
        self._endgames = Endgames(rules, reach)
        self._playouts = _playouts(self.base, rules, reach, seed)
        self._actions = np.zeros(n_games, dtype=np.int64)

    def act(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See `Agent.act`."""
        if self.samples == 0:
            return self.base.act(views, masks)
        rows = np.flatnonzero(views["outcome"] == PLAYING)
        rows = self._endgames.play(views, masks, rows, self._actions)
        searches = np.zeros(len(rows), dtype=SEARCH)
        begin_searches(masks, rows, self._playouts.first_plays(views, masks, rows), searches)
        self._search(views, rows, searches)
        decide_all(views, rows, searches, self._confidence, self._actions)
        return self._actions

    def _search(self, views: np.ndarray, rows: np.ndarray, searches: np.ndarray) -> None:
        """Sample in rounds, each half as long as all before it, until all searches are over or time is up."""
        seconds = np.inf if self.seconds_per_move is None else self.seconds_per_move * len(rows) / self.threads
        start, n_samples = time.perf_counter(), 0
        while n_samples < self.samples and not searches["over"].all() and time.perf_counter() - start < seconds:
            n_samples = min(max(n_samples * 3 // 2, _FIRST_ROUND), self.samples)
            self._sample(views, rows, searches, n_samples)
            judge_all(searches, self.samples, self._confidence)

    def _sample(self, views: np.ndarray, rows: np.ndarray, searches: np.ndarray, until: int) -> None:
        run_sliced(
            self.threads, len(rows), lambda part: self._playouts.sample(views, rows[part], searches[part], until)
        )


class ListPlayouts:
    """Games that the list of `collins` or `tuned` plays to the end, in compiled code."""

    def __init__(self, base: CollinsAgent | TunedAgent, rules: Rules, reach: bool, seed: int) -> None:
        self._base, self._rules, self._reach, self._seed = base, rules.params(), int(reach), seed
        self._enough = _ENOUGH if supports(rules) else NEVER
        self._marking = Marking.of(rules) if isinstance(base, TunedAgent) else Marking.none()

    def first_plays(self, views: np.ndarray, masks: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """What the list plays, int64[n], in some rows."""
        if isinstance(self._base, TunedAgent):
            return self._base.act(views, masks)
        firsts = np.zeros(len(views), dtype=np.int64)
        scratch = new_states(1), np.zeros(1, dtype=np.uint8)
        first_plays(views, rows, self._rules, self._reach, firsts, *scratch)
        return firsts

    def sample(self, views: np.ndarray, rows: np.ndarray, searches: np.ndarray, until: int) -> None:
        """Sample in each row until there are `until` samples."""
        marking = Marking.by(self._marking.weights, self._marking.table)  # with scratch of its own for each thread
        scratch = np.zeros(2, dtype=GAME), np.zeros(1, dtype=LAYOUT), np.zeros((2, N_CARDS), dtype=np.uint8)
        sample_all(views, rows, self._rules, marking, self._enough, self._seed, until, searches, *scratch)


def _playouts(base: Agent, rules: Rules, reach: bool, seed: int) -> ListPlayouts | GamesPlayouts:
    """The fastest way to play games of the base to the end."""
    if isinstance(base, CollinsAgent | TunedAgent):
        return ListPlayouts(base, rules, reach, seed)
    return GamesPlayouts(base, rules, reach, seed)


def _agent(base: str | Agent) -> Agent:
    if isinstance(base, Agent):
        return base
    from klondike_env.agents.registry import load  # which imports this module

    return load(base)
