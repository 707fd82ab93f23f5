"""How good a candidate is: verdicts on the position after it, in determinizations that are the same for all candidates.

A determinization shuffles the cards that the player has not seen over the places that are hidden. Two evaluators judge
the position there: the base, an agent that plays on without looking at hidden cards, and a solver that sees all cards.
The position is worth

    1                 if the base wins
    1 - blind         if not, but the solver does
    (1 - blind) / 2   if the solver gives up
    0                 if there is no win

The solver overrates positions that need luck, because it sees which column hides the right card. The base, a poor
player, underrates those that need skill. All candidates meet the same cards, so the difference between two of them
shows with far fewer samples than if each met cards of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.agents.lists.list_player import NEVER, play_out, read_position
from klondike_env.agents.planner.candidates import MAX_CANDIDATES, Candidates, ListBase
from klondike_env.agents.tuned.agent import play_out_tuned
from klondike_env.cards import N_CARDS
from klondike_env.engine.actions import RESIGN
from klondike_env.engine.apply import apply
from klondike_env.engine.determinize import fill_unseen, gather_unplaced
from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import mix, shuffle
from klondike_env.engine.state import STATE
from klondike_env.engine.views import hide_unseen
from klondike_env.rules import RuleParams, Rules
from klondike_env.solver.classes import search as classes
from klondike_env.solver.columns import depth_first as columns
from klondike_env.solver.verdicts import SOLVED_INDEX, UNDECIDED_INDEX, UNSOLVABLE_INDEX, VERDICTS

# With at most this many unseen cards all their orders are tried, once each, instead of random ones.
_FEW_UNSEEN = 6
_N_ORDERS = np.array([1, 1, 2, 6, 24, 120, 720], dtype=np.int64)
_STRIDE = 5003  # a prime above all of these, so that its multiples visit all orders, well mixed

WON_BY_BASE = len(VERDICTS)  # beside the indices of the solver's verdicts


class Evaluator(NamedTuple):
    """What is needed to evaluate positions whose cards are all known."""

    rules: RuleParams
    base: ListBase
    by_classes: bool  # whether the solver is the class search, else the column search
    classes: classes.Buffers
    columns: columns.Buffers
    enough: int  # at most this many face-down cards count as a win of the base, because the solver plays from there
    values: np.ndarray  # float64[4], what each verdict is worth
    plays_out: bool  # whether a win of the base counts
    asks_solver: bool  # whether a win of the solver counts

    @classmethod
    def of(cls, rules: Rules, base: ListBase, nodes: int, blind: float) -> Evaluator:
        """An evaluator whose solver visits at most `nodes` nodes."""
        by_classes = classes.supports(rules)
        values = np.zeros(WON_BY_BASE + 1)
        values[UNSOLVABLE_INDEX], values[UNDECIDED_INDEX], values[SOLVED_INDEX] = 0, (1 - blind) / 2, 1 - blind
        values[WON_BY_BASE] = 1
        return cls(
            rules.params(),
            base,
            by_classes,
            classes.Buffers.of(nodes if by_classes else 1),
            columns.Buffers.of(1 if by_classes else nodes, rules),
            1 if by_classes else NEVER,
            values,
            blind > 0,
            blind < 1,
        )


class Contest(NamedTuple):
    """The candidates of a decision, and the verdict on each in every determinization.

    Attributes:
        views: STATE[MAX_CANDIDATES], what the player knows before a candidate's action.
        actions: int64[MAX_CANDIDATES]; RESIGN for giving up.
        alive: bool[MAX_CANDIDATES], whether it has not been eliminated.
        verdicts: uint8[MAX_CANDIDATES, samples], the index of the solver's verdict, or WON_BY_BASE.
        n_candidates: int64[1], how many there are.
        base: int64[1], the index of the base's candidate, or NONE.
        seed: uint64[1], of the determinizations.
        trial: STATE[1], scratch.
        cards: uint8[52], scratch.
    """

    views: np.ndarray
    actions: np.ndarray
    alive: np.ndarray
    verdicts: np.ndarray
    n_candidates: np.ndarray
    base: np.ndarray
    seed: np.ndarray
    trial: np.ndarray
    cards: np.ndarray

    @classmethod
    def of(cls, samples: int) -> Contest:
        """Room for this many determinizations."""
        return cls(
            np.zeros(MAX_CANDIDATES, dtype=STATE),
            np.zeros(MAX_CANDIDATES, dtype=np.int64),
            np.zeros(MAX_CANDIDATES, dtype=np.bool_),
            np.zeros((MAX_CANDIDATES, samples), dtype=np.uint8),
            np.zeros(1, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
            np.zeros(1, dtype=np.uint64),
            np.zeros(1, dtype=STATE),
            np.zeros(N_CARDS, dtype=np.uint8),
        )


def n_determinizations(n_unseen: int) -> float:
    """How many determinizations there are, or infinity where they are drawn at random."""
    return int(_N_ORDERS[n_unseen]) if n_unseen <= _FEW_UNSEEN else float("inf")


@kernel
def enter(records: np.ndarray, candidates: Candidates, base: int, seed: np.uint64, contest: Contest) -> None:
    """Begin a contest of all candidates. records: STATE[n], in which they act; base: index of the base's, or NONE."""
    contest.n_candidates[0], contest.base[0], contest.seed[0] = candidates.n_found[0], base, seed
    for k in range(contest.n_candidates[0]):
        contest.views[k] = records[candidates.positions[k]]
        hide_unseen(contest.views, k)
        contest.actions[k] = candidates.actions[k]
        contest.alive[k] = True


# --- determinizations --------------------------------------------------------------------------------


@kernel
def arrange(cards: np.ndarray, count: int, number: int) -> None:
    """Bring the first `count` cards into the order with a number, 0 to count! - 1."""
    for k in range(count - 1, 0, -1):
        j = number % (k + 1)
        number //= k + 1
        cards[k], cards[j] = cards[j], cards[k]


@kernel
def determinize(states: np.ndarray, i: int, seed: np.uint64, sample: int, cards: np.ndarray) -> None:
    """Make a view a state: its determinization number `sample`. cards: uint8[52], scratch."""
    count = gather_unplaced(states, i, cards)
    if count <= _FEW_UNSEEN:
        arrange(cards, count, (sample * _STRIDE) % int(_N_ORDERS[count]))
    else:
        shuffle(cards, count, mix(seed + np.uint64(sample)))
    fill_unseen(states, i, cards)


@kernel
def write_determinizations(contest: Contest, k: int, start: int, states: np.ndarray) -> None:
    """Write determinizations of the view in which a candidate acts, from sample `start` on. states: STATE[n]."""
    for i in range(len(states)):
        states[i] = contest.views[k]
        determinize(states, i, contest.seed[0], start + i, contest.cards)


# --- verdicts ----------------------------------------------------------------------------------------


@kernel
def base_wins(states: np.ndarray, i: int, evaluator: Evaluator) -> bool:
    """Whether the base wins from a record. The record shows all cards, but the base does not look at hidden ones."""
    base, rules = evaluator.base, evaluator.rules
    games, layouts = base.memory.games, base.memory.layouts
    read_position(states, i, games, layouts)
    if base.is_tuned:
        return play_out_tuned(games, 0, layouts, rules, evaluator.enough, base.scoring)
    return play_out(games, 0, layouts, rules, evaluator.enough)


@kernel
def ask_solver(states: np.ndarray, i: int, evaluator: Evaluator) -> int:
    """The solver's verdict on a record; "unsolvable" if the solver does not count."""
    if not evaluator.asks_solver:
        return UNSOLVABLE_INDEX
    if evaluator.by_classes:
        return classes.quick_verdict(states, i, evaluator.rules, evaluator.classes)
    return columns.quick_verdict(states, i, evaluator.rules, evaluator.columns)


@kernel
def ask_solver_of_all(states: np.ndarray, evaluator: Evaluator, verdicts: np.ndarray) -> None:
    """Write the solver's verdicts on records. verdicts: uint8[n], overwritten."""
    for i in range(len(states)):
        verdicts[i] = ask_solver(states, i, evaluator)


@kernel
def verdict_on(contest: Contest, k: int, sample: int, evaluator: Evaluator) -> int:
    """The verdict on a candidate in one determinization."""
    if contest.actions[k] == RESIGN:
        return UNSOLVABLE_INDEX
    trial = contest.trial
    trial[0] = contest.views[k]
    determinize(trial, 0, contest.seed[0], sample, contest.cards)
    apply(trial, 0, contest.actions[k], evaluator.rules)
    if evaluator.plays_out and base_wins(trial, 0, evaluator):
        return WON_BY_BASE
    return ask_solver(trial, 0, evaluator)


@kernel
def evaluate(contest: Contest, start: int, stop: int, evaluator: Evaluator) -> None:
    """Try all candidates that are alive in the determinizations `start` to `stop` - 1."""
    for sample in range(start, stop):
        for k in range(contest.n_candidates[0]):
            if contest.alive[k]:
                contest.verdicts[k, sample] = verdict_on(contest, k, sample, evaluator)
