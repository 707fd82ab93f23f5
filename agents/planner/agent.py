"""The agent `planner`: successive elimination among candidates, tried in determinizations.

At each decision it lists its candidates (see `klondike_env.agents.planner.candidates`), evaluates them in the same
determinizations (see `klondike_env.agents.planner.evaluation`), drops those that fall behind
(`klondike_env.agents.planner.elimination`), and plays the best one, after the moves that lead there. It plays its
base's action unless there is clear evidence for another candidate. Once at most one card is unseen no card has to be
guessed, and it plays the solver's line.

The base never sees more than a player would, so its wins in rollouts are honest ones. Planning by such a base alone is
the "rollout algorithm" of Bertsekas, Tsitsiklis and Wu (1997), which Yan, Diaconis, Rusmevichientong and Van Roy (2005)
brought to solitaire with all cards known. Irreversible candidates and the evaluation by a solver are those of
lonelybot's blind player.

For each row it keeps a plan: its next actions, and a key of the position in which each is due. In any other position it
decides anew.
"""

from __future__ import annotations

import time
from math import inf
from queue import SimpleQueue
from typing import Literal, NamedTuple

import numpy as np

from klondike_env.agents.base import Agent
from klondike_env.agents.chance import visible_word
from klondike_env.agents.planner.bases import AgentBase, Base, CompiledBase, is_compiled
from klondike_env.agents.planner.candidates import Decision
from klondike_env.agents.planner.elimination import winner
from klondike_env.agents.planner.endgame import line_to_win, n_unseen
from klondike_env.agents.planner.evaluation import WON_BY_BASE, Contest, enter, n_determinizations
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

Generator = Literal["irreversible", "legal"]
GENERATORS = ("irreversible", "legal")
DEFAULT_SAMPLES = 100
MAX_SAMPLES = 20_000
_BETWEEN_LOOKS = 50  # determinizations between two looks at the clock
_EXACT_NODES = 100_000  # nodes that the solver may visit when no card has to be guessed


# --- what a player sees ------------------------------------------------------------------------------


@kernel
def key_of(views: np.ndarray, i: int, rules: RuleParams) -> np.uint64:
    """A key of what a player sees."""
    return mix(position_key(views, i, rules) + np.uint64(views[i]["talon_size"]))


@kernel
def write_view_keys(views: np.ndarray, rules: RuleParams, keys: np.ndarray) -> None:
    """Write the key of every game in play. keys: uint64[n]."""
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
    """Make the first view a state, one of its determinizations. cards: uint8[52], scratch."""
    determinize_view(views, 0, np.uint64(0), cards)


@kernel
def seed_for(views: np.ndarray, seed: int) -> np.uint64:
    """The seed of the determinizations for the first view."""
    return visible_word(views, 0, seed)


# --- deciding ----------------------------------------------------------------------------------------


class Plan(NamedTuple):
    """What to play next: actions, and the key of what is seen when each is due. No actions: give up."""

    actions: list[int]
    keys: list[int]


class Options(NamedTuple):
    """How decisions are made."""

    candidates: Generator
    samples: int  # the most determinizations for a decision
    seconds: float  # the most time for a decision; infinity for no limit
    nodes: int  # nodes that the solver may visit to evaluate a position
    blind: float  # the weight of the base beside the solver, 0 to 1
    z: float  # standard errors by which a candidate must lead the base's to be preferred

    @classmethod
    def checked(
        cls,
        candidates: Generator,
        samples: int | None,
        seconds_per_move: float | None,
        nodes: int,
        blind: float,
        z: float,
    ) -> Options:
        """The options that a user gives, checked; see `PlannerAgent`.

        Raises:
            ValueError: one of them is not allowed.
        """
        check_choice("candidates", candidates, GENERATORS)
        if samples is None:
            samples = DEFAULT_SAMPLES if seconds_per_move is None else MAX_SAMPLES
        samples = check_whole_number("samples", samples, 0, MAX_SAMPLES, also=" or None for the default")
        seconds = inf if seconds_per_move is None else seconds_per_move
        if not seconds > 0:
            raise ValueError(f"seconds_per_move is {seconds}; allowed: a positive number, or None for no limit")
        nodes = check_whole_number("nodes", nodes, 1)
        if not 0 <= blind <= 1:
            raise ValueError(f"blind is {blind!r}; allowed: a number from 0 to 1")
        if not z >= 0:
            raise ValueError(f"z is {z!r}; allowed: a number from 0")
        return cls(candidates, samples, seconds, nodes, blind, z)


class Planner:
    """Makes decisions, one after the other; threads need one each.

    Args:
        options: how decisions are made.
        base: the agent that plays the rollouts, and whose own action is the default.
        rules: the rules of all games.
        reach: whether seen talon cards are played directly.
        seed: of the random numbers.
    """

    def __init__(self, options: Options, base: Agent, rules: Rules, reach: bool, seed: int) -> None:
        self._options, self._rules, self._params = options, rules, rules.params()
        self._reach, self._seed = reach, seed
        self._base: Base
        if is_compiled(base):
            self._base = CompiledBase(base, rules, options.nodes, options.blind)
        else:
            self._base = AgentBase(base, rules, options.nodes, options.blind, seed)
        self._decision, self._contest = Decision(), Contest.of(options.samples)
        self._records = np.zeros(2, dtype=STATE)
        self._cards = np.zeros(N_CARDS, dtype=np.uint8)

    def plan(self, view: np.ndarray, mask: np.ndarray) -> Plan:
        """What to play on a view, STATE[1], with the mask of its legal actions, int8[313]."""
        unseen = int(n_unseen(view)[0])
        line = line_to_win(view, self._rules, self._reach, _EXACT_NODES) if unseen <= 1 else None
        actions = self._line_to_best(view, mask, unseen) if line is None else line
        keys = np.zeros(len(actions), dtype=np.uint64)
        self._fill_in(view)
        write_line_keys(self._records, np.array(actions, dtype=np.int64), self._params, keys)
        return Plan(actions, keys.tolist())

    def _fill_in(self, view: np.ndarray) -> np.ndarray:
        """A determinization of the view, STATE, in a buffer."""
        self._records[0] = view[0]
        fill_in(self._records, self._cards)
        return self._records[0]

    def wins(self, view: np.ndarray, mask: np.ndarray) -> tuple[dict[int, int], int]:
        """Try all candidates in all determinizations, with none eliminated.

        Returns:
            How many determinizations the base won after each candidate, by its action; and how many there were.
        """
        self._enter(view, mask)
        n = int(min(self._options.samples, n_determinizations(int(n_unseen(view)[0]))))
        self._base.evaluate(self._contest, 0, n)
        count = self._decision.n_candidates
        won = np.count_nonzero(self._contest.verdicts[:count, :n] == WON_BY_BASE, axis=1)
        return dict(zip(self._contest.actions[:count].tolist(), won.tolist(), strict=True)), n

    def _line_to_best(self, view: np.ndarray, mask: np.ndarray, unseen: int) -> list[int]:
        """The actions up to and including the best candidate's; none if it is better to give up."""
        self._enter(view, mask)
        if self._decision.n_candidates == 0:
            return []
        return self._decision.line_to(self._best(n_determinizations(unseen)))

    def _enter(self, view: np.ndarray, mask: np.ndarray) -> None:
        """Find the candidates, and begin their contest."""
        decision, seed = self._decision, np.uint64(seed_for(view, self._seed))
        decision.begin(self._fill_in(view))
        base = self._find_candidates(view, mask)
        enter(decision.positions.records, decision.candidates, base, seed, self._contest)

    def _find_candidates(self, view: np.ndarray, mask: np.ndarray) -> int:
        """Find the candidates; return the index of the base's, or NONE."""
        decision = self._decision
        if self._options.candidates == "legal":
            return decision.list_legal(mask, self._base.action(decision, view, mask))
        decision.find_irreversible(self._params, int(self._reach))
        return self._base.enter(decision)

    def _best(self, n_all: float) -> int:
        """The best candidate. n_all: how many determinizations there are."""
        options, values = self._options, self._base.evaluator.values
        samples = int(min(options.samples, n_all))
        stride = samples if options.seconds == inf else _BETWEEN_LOOKS
        done, start = 0, time.perf_counter()
        while done < samples and time.perf_counter() - start < options.seconds:
            stop = min(done + stride, samples)
            done = self._base.eliminate(self._contest, done, stop)
            if done < stop:
                break
        z = options.z if done < n_all else 0.0  # once all have been tried the best is known for certain
        return winner(self._contest, done, z, values)


class PlannerAgent(Agent):
    """Plays the candidate with the best verdicts in determinizations, after the moves that lead there.

    Args:
        samples: the most determinizations for each decision; with 0 the base plays. 100 by default, 20,000 where
            `seconds_per_move` is given.
        seconds_per_move: the most time for each decision. What is chosen then depends on the machine.
        candidates: "irreversible" for irreversible actions, with the reversible moves that lead there, or "legal" for
            the legal actions.
        nodes: nodes that the solver may visit to evaluate a position.
        blind: the weight of the base, which looks at no hidden card, beside the solver, which sees all; 0 to 1.
        z: standard errors by which another candidate must lead the base's action to replace it.
        base: the agent that plays the rollouts, and whose own action is the default; `tuned` if none is given. `tuned`
            and `collins` are compiled and hundreds of times faster than any other.
        threads: threads that share the games of a batch.

    Raises:
        ValueError: an argument has a value that is not allowed.
    """

    def __init__(
        self,
        samples: int | None = None,
        seconds_per_move: float | None = None,
        *,
        candidates: Generator = "irreversible",
        nodes: int = 200,
        blind: float = 0.75,
        z: float = 1.5,
        base: Agent | None = None,
        threads: int = 1,
    ) -> None:
        self.name = "planner"
        self.base = TunedAgent() if base is None else base
        self.threads = check_whole_number("threads", threads, 1)
        self.options = Options.checked(candidates, samples, seconds_per_move, nodes, blind, z)
        self._adopt_modes_of_base()

    def _adopt_modes_of_base(self) -> None:
        """Take over the base's modes where it alone decides; otherwise its talon mode, unless it is compiled.

        The compiled bases play in either talon mode.
        """
        if self.options.samples == 0:
            self.talon, self.no_repeats, self.play = self.base.talon, self.base.no_repeats, self.base.play
            self.needs_masks = self.base.needs_masks
        elif not is_compiled(self.base):
            self.talon = self.base.talon

    def start(self, n_games: int, rules: Rules, seed: int) -> None:
        """See `Agent.start`."""
        self.base.start(n_games, rules, seed)
        self._params = rules.params()
        self._plans = [Plan([], [])] * n_games
        self._keys = np.zeros(n_games, dtype=np.uint64)
        self._actions = np.zeros(n_games, dtype=np.int64)
        self._planners: SimpleQueue[Planner] = SimpleQueue()
        for _ in range(self.threads):
            self._planners.put(Planner(self.options, self.base, rules, self.talon_for(rules) == "reach", seed))

    def act(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See `Agent.act`."""
        if self.options.samples == 0:
            return self.base.act(views, masks)
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
            plan = planner.plan(views[row : row + 1], masks[row])
        self._plans[row] = Plan(plan.actions[1:], plan.keys[1:])
        if not plan.actions:
            return RESIGN
        # Illegal only if moves that were not ours lead to a repeat, which is masked.
        return plan.actions[0] if masks[row, plan.actions[0]] else int(masks[row].argmax())
