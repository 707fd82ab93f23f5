"""Which arm is best: all arms are tried on the same determinizations, and those that fall behind drop out.

A determinization lays the cards that the player has not seen on the unseen places at random. In each of
them the position after an arm has two judges. One is the base, a rule list that looks at no hidden card
and plays on; the other a solver that sees all cards. The position is worth

    1                 if the base wins
    1 - blind         if not, but the solver does
    (1 - blind) / 2   if the solver gives up
    0                 if there is no way to win

The solver thinks too well of what needs luck, for it picks the right column whatever is hidden there; the
base, a poor player, too badly of what needs skill. As all arms meet the same cards, what differs between
two of them is seen much sooner than with cards of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.agents.lists.list_player import NEVER, index_talon, play_out, read_game, read_layout
from klondike_env.agents.planner.candidates import MAX_ARMS, Base
from klondike_env.agents.tuned.agent import play_out_tuned
from klondike_env.cards import N_CARDS
from klondike_env.engine.apply import apply
from klondike_env.engine.determinize import fill_unseen, gather_unplaced
from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import mix, shuffle
from klondike_env.engine.state import STATE
from klondike_env.engine.views import hide_unseen
from klondike_env.rules import RuleParams, Rules
from klondike_env.solver.classes import search as classes
from klondike_env.solver.columns import depth_first as columns
from klondike_env.solver.verdicts import SOLVED_INDEX, UNDECIDED_INDEX, UNSOLVABLE_INDEX

# Of so few unseen cards or fewer all orders are tried, once each, instead of random ones.
_FEW_UNSEEN = 6
_N_ORDERS = np.array([1, 1, 2, 6, 24, 120, 720], dtype=np.int64)
_STRIDE = 5003  # a prime above all of these, so that its multiples visit all orders, well mixed

_WON_BLIND = 3  # beside the verdicts of the solver

_ROUND = 10  # determinizations between two looks at who has fallen behind
_BEHIND = 3.0  # standard errors by which an arm drops out
_ALIKE_AFTER = 20  # wins after which arms that fared the same in all determinizations count as one


class Judge(NamedTuple):
    """What is needed to judge positions whose cards are all known."""

    by_classes: bool  # which solver knows the rules
    classes: classes.Buffers
    columns: columns.Buffers
    base: Base
    enough: int  # so few face-down cards count as a win of the base, because the solver plays from there
    values: np.ndarray  # float64[4], by verdict
    plays_out: bool  # whether it matters if the base wins
    asks_solver: bool  # whether it matters if the solver wins

    @classmethod
    def of(cls, rules: Rules, base: Base, nodes: int, blind: float) -> Judge:
        """A judge whose solver visits so many positions at most."""
        by_classes = classes.supports(rules)
        values = np.zeros(_WON_BLIND + 1)
        values[UNSOLVABLE_INDEX], values[UNDECIDED_INDEX], values[SOLVED_INDEX] = 0, (1 - blind) / 2, 1 - blind
        values[_WON_BLIND] = 1
        return cls(
            by_classes,
            classes.Buffers.of(nodes if by_classes else 1),
            columns.Buffers.of(1 if by_classes else nodes, rules),
            base,
            1 if by_classes else NEVER,
            values,
            blind > 0,
            blind < 1,
        )


class Field(NamedTuple):
    """The arms in a race."""

    views: np.ndarray  # STATE[MAX_ARMS], what the player knows before an arm's action
    actions: np.ndarray  # int64[MAX_ARMS]
    alive: np.ndarray  # bool[MAX_ARMS], whether it is still in the race
    verdicts: np.ndarray  # uint8[MAX_ARMS, samples]
    trial: np.ndarray  # STATE[1], scratch
    cards: np.ndarray  # uint8[52], scratch

    @classmethod
    def of(cls, samples: int) -> Field:
        """Room for so many determinizations."""
        return cls(
            np.zeros(MAX_ARMS, dtype=STATE),
            np.zeros(MAX_ARMS, dtype=np.int64),
            np.zeros(MAX_ARMS, dtype=np.bool_),
            np.zeros((MAX_ARMS, samples), dtype=np.uint8),
            np.zeros(1, dtype=STATE),
            np.zeros(N_CARDS, dtype=np.uint8),
        )


def n_determinizations(n_unseen: int) -> float:
    """How many there are, or infinity where they are drawn at random."""
    return int(_N_ORDERS[n_unseen]) if n_unseen <= _FEW_UNSEEN else float("inf")


@kernel
def line_up(records: np.ndarray, arms: np.ndarray, n_arms: int, field: Field) -> None:
    """Start with all arms. records: STATE[n]; arms: int64[n_arms, 2], the record and the action of each."""
    for k in range(n_arms):
        field.views[k] = records[arms[k, 0]]
        hide_unseen(field.views, k)
        field.actions[k] = arms[k, 1]
        field.alive[k] = True


@kernel
def arrange(cards: np.ndarray, count: int, number: int) -> None:
    """Bring the first `count` cards into the order of a number 0 to count! - 1."""
    for k in range(count - 1, 0, -1):
        j = number % (k + 1)
        number //= k + 1
        cards[k], cards[j] = cards[j], cards[k]


@kernel
def lay_unseen(states: np.ndarray, i: int, seed: np.uint64, sample: int, cards: np.ndarray) -> None:
    """Make a view a state, in the determinization of a number. cards: uint8[52], scratch."""
    count = gather_unplaced(states, i, cards)
    if count <= _FEW_UNSEEN:
        arrange(cards, count, (sample * _STRIDE) % int(_N_ORDERS[count]))
    else:
        shuffle(cards, count, mix(seed + np.uint64(sample)))
    fill_unseen(states, i, cards)


@kernel
def wins_blind(states: np.ndarray, i: int, rules: RuleParams, judge: Judge) -> bool:
    """Whether the base wins from a record whose cards are all known here, but not to the base."""
    games, layouts = judge.base.games, judge.base.layouts
    read_game(states, i, games, 0)
    read_layout(states, i, layouts)
    index_talon(states, i, layouts, games, 0)
    if judge.base.is_tuned:
        return play_out_tuned(games, 0, layouts, rules, judge.enough, judge.base.marking)
    return play_out(games, 0, layouts, rules, judge.enough)


@kernel
def try_arm(k: int, seed: np.uint64, sample: int, field: Field, judge: Judge, rules: RuleParams) -> int:
    """The verdict on an arm in one determinization."""
    trial = field.trial
    trial[0] = field.views[k]
    lay_unseen(trial, 0, seed, sample, field.cards)
    apply(trial, 0, field.actions[k], rules)
    if judge.plays_out and wins_blind(trial, 0, rules, judge):
        return _WON_BLIND
    if not judge.asks_solver:
        return UNSOLVABLE_INDEX
    if judge.by_classes:
        return classes.quick_verdict(trial, 0, rules, judge.classes)
    return columns.quick_verdict(trial, 0, rules, judge.columns)


@kernel
def points_of(field: Field, k: int, n: int, values: np.ndarray) -> float:
    """What the verdicts on an arm in `n` determinizations add up to."""
    points = 0.0
    for sample in range(n):
        points += values[field.verdicts[k, sample]]
    return points


@kernel
def leader(field: Field, n_arms: int, n: int, values: np.ndarray) -> int:
    """The arm with the best verdicts in `n` determinizations, the first of equals."""
    best, most = 0, -1.0
    for k in range(n_arms):
        if field.alive[k]:
            points = points_of(field, k, n, values)
            if points > most:
                best, most = k, points
    return best


@kernel
def gap(field: Field, k: int, best: int, n: int, values: np.ndarray) -> tuple[float, float]:
    """How far an arm is behind the best one after `n` determinizations, and the squares of its parts added up."""
    behind, squares = 0.0, 0.0
    for sample in range(n):
        difference = values[field.verdicts[best, sample]] - values[field.verdicts[k, sample]]
        behind += difference
        squares += difference * difference
    return behind, squares


@kernel
def lead(field: Field, k: int, best: int, n: int, values: np.ndarray) -> float:
    """By how many standard errors an arm is behind the best one after `n` determinizations."""
    behind, squares = gap(field, k, best, n, values)
    return behind / np.sqrt(squares) if squares > 0 else 0.0


@kernel
def leads(field: Field, k: int, base: int, n: int, z: float, values: np.ndarray) -> bool:
    """Whether an arm is ahead of another by `z` standard errors after `n` determinizations."""
    ahead = lead(field, base, k, n, values)
    return ahead > 0 and ahead >= z


@kernel
def is_out(field: Field, k: int, best: int, n: int, values: np.ndarray) -> bool:
    """Whether an arm can be given up after `n` determinizations, in favour of the best one."""
    behind, squares = gap(field, k, best, n, values)
    if squares == 0:
        return points_of(field, best, n, values) >= _ALIKE_AFTER
    return behind >= _BEHIND * np.sqrt(squares + 1)


@kernel
def drop_out(field: Field, n_arms: int, base: int, n: int, values: np.ndarray) -> int:
    """Take arms out of the race after `n` determinizations; how many are left."""
    best, left = leader(field, n_arms, n, values), 0
    if base >= 0 and field.alive[base] and lead(field, base, best, n, values) == 0:
        best = base
    for k in range(n_arms):
        if field.alive[k] and k != best and is_out(field, k, best, n, values):
            field.alive[k] = False
        left += field.alive[k]
    return left


@kernel
def race(
    field: Field,
    n_arms: int,
    base: int,
    start: int,
    stop: int,
    seed: np.uint64,
    judge: Judge,
    rules: RuleParams,
) -> int:
    """Try the arms on the determinizations `start` to `stop` - 1, or until one is left; how many there were then."""
    left, sample = n_arms, start
    while sample < stop and left > 1:
        for k in range(n_arms):
            if field.alive[k]:
                field.verdicts[k, sample] = try_arm(k, seed, sample, field, judge, rules)
        sample += 1
        if sample % _ROUND == 0:
            left = drop_out(field, n_arms, base, sample, judge.values)
    return sample


@kernel
def winner(field: Field, n_arms: int, base: int, n: int, z: float, values: np.ndarray) -> int:
    """The best arm after `n` determinizations, but the base's unless it leads that by `z` standard errors."""
    if base >= 0 and field.alive[base]:
        for k in range(n_arms):
            field.alive[k] = field.alive[k] and (k == base or leads(field, k, base, n, z, values))
    return leader(field, n_arms, n, values)
