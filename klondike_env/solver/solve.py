"""Deciding a position when all cards are known ("thoughtful solitaire"): can it be won, and how."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Protocol

import numpy as np

from klondike_env.cards import UNSEEN
from klondike_env.checks import check_whole_number, whole_number
from klondike_env.deals import decks_of
from klondike_env.engine.dealing import lay_out
from klondike_env.engine.faults import check_record
from klondike_env.engine.state import STATE, new_states
from klondike_env.formats import read_deck
from klondike_env.position import is_position, parse_position
from klondike_env.rules import Rules, preset, rules_of
from klondike_env.solver.classes.search import ClassSearch, supports
from klondike_env.solver.columns.column_search import ColumnSearch
from klondike_env.solver.lengths import play_line
from klondike_env.solver.verdicts import SOLVED, UNDECIDED

DEFAULT_SECONDS = 60.0

# Nodes searched between two looks at the clock: few at first, because most deals need only a few hundred.
_FIRST_STRETCH, _LONGEST_STRETCH = 1_000, 256_000
# A deal that every search wins within a few thousand positions.
_EASY_DEAL, _EASY_RULES = 123456, preset("draw1")


@dataclass(frozen=True)
class Limits:
    """When a search gives up; the verdict is then "undecided".

    Attributes:
        nodes: the most positions to search, None for no limit.
        seconds: the most time to take, None for no limit. Without this limit a search always ends in the same way.
        megabytes: the most memory to take.

    Raises:
        ValueError: a limit is not positive.
    """

    nodes: int | None = None
    seconds: float | None = DEFAULT_SECONDS
    megabytes: int = 500

    def __post_init__(self) -> None:
        if self.nodes is not None:
            check_whole_number("nodes", self.nodes, 1, also=" or None for no limit")
        check_whole_number("megabytes", self.megabytes, 1)
        if self.seconds is not None and not (isinstance(self.seconds, int | float) and self.seconds > 0):
            raise ValueError(f"seconds is {self.seconds!r}; allowed: a positive number, or None for no limit")


@dataclass(frozen=True)
class Solution:
    """What a search found.

    Attributes:
        verdict: "solved", "unsolvable" or "undecided".
        actions: for "solved" the actions that lead from the given position to a win, draws and redeals included;
            see `klondike_env.engine.actions`. Else empty.
        nodes: positions searched.
        seconds: time taken.
        start: the given position as a STATE record; None if it is not known.
        rules: the rules; None if they are not known.
        minimal: whether it is proved that no line has fewer `moves`.
    """

    verdict: str
    actions: tuple[int, ...]
    nodes: int
    seconds: float
    start: np.void | None = field(default=None, repr=False, compare=False)
    rules: Rules | None = field(default=None, repr=False, compare=False)
    minimal: bool = False

    @cached_property
    def moves(self) -> int:
        """The length of the line: moves of cards and draws are counted, redeals are not.

        Raises:
            ValueError: the start or the rules are not known, or an action is not legal there.
        """
        if self.start is None or self.rules is None:
            raise ValueError("the start of the line or its rules are not known; count the moves of what solve returns")
        return play_line(self.start, self.rules, self.actions)[1]


class Search(Protocol):
    """A search that can be interrupted and resumed."""

    nodes: int
    exhausted: bool

    def run(self, nodes: int) -> str:
        """Search at most that many more positions; return the verdict so far."""

    def actions(self) -> list[int]:
        """The actions of the winning line, once the verdict is "solved"."""


def solve(position: Any, rules: Rules | str = "draw1", limits: Limits | None = None) -> Solution:
    """Decide whether a position can be won by a player who knows all cards.

    Args:
        position: a deal number; a deck as `reset(options={"deck": ...})` takes it; a position as text, see
            `klondike_env.position`; or one STATE record.
        rules: the rules, or a preset's name.
        limits: when to give up; after a minute by default.

    Raises:
        ValueError: the position is not possible under the rules, some of its cards are unknown, or the argument is
            not a position.
    """
    rules = rules_of(rules)
    limits = limits or Limits()
    record = record_of(position, rules)
    kind = search_for(rules)
    _compile(kind)
    start = time.perf_counter()
    search = kind(record[0], rules, max_bytes=limits.megabytes * 1_000_000)
    verdict = _run(search, limits, start)
    actions = tuple(search.actions()) if verdict == SOLVED else ()
    return Solution(verdict, actions, search.nodes, time.perf_counter() - start, record[0], rules)


def search_for(rules: Rules) -> Callable[..., Search]:
    """The search that decides games of these rules faster."""
    return ClassSearch if supports(rules) else ColumnSearch


@cache
def _compile(kind: Callable[..., Search]) -> None:
    """Solve an easy deal, so that kernels are compiled or loaded before any clock runs."""
    states = new_states(1)
    lay_out(states, 0, decks_of([_EASY_DEAL])[0])
    search = kind(states[0], _EASY_RULES)
    while search.run(_LONGEST_STRETCH) == UNDECIDED:
        pass
    search.actions()


def _run(search: Search, limits: Limits, start: float) -> str:
    """Search until there is a verdict or a limit is reached."""
    stretch = _FIRST_STRETCH
    while True:
        left = stretch if limits.nodes is None else min(stretch, limits.nodes - search.nodes)
        verdict = search.run(left) if left > 0 else UNDECIDED
        late = limits.seconds is not None and time.perf_counter() - start >= limits.seconds
        if verdict != UNDECIDED or search.exhausted or left <= 0 or late:
            return verdict
        stretch = min(2 * stretch, _LONGEST_STRETCH)


def record_of(position: Any, rules: Rules) -> np.ndarray:
    """The position of any argument that `solve` takes, as STATE[1] with every card known.

    Raises:
        ValueError: as for `solve`.
    """
    record = given_record(position)
    if record is not None:
        return _checked(record, rules)
    states = new_states(1)
    lay_out(states, 0, given_deck(position))
    return states


def given_record(position: Any) -> np.ndarray | None:
    """The position of a text or a record, unchecked, as STATE[n]; None for a deal number or a deck.

    Raises:
        ValueError: the text cannot be read.
    """
    if isinstance(position, str) and is_position(position):
        return np.array([parse_position(position)])
    if isinstance(position, np.void | np.ndarray) and position.dtype == STATE:
        return np.array([position]).reshape(-1)
    return None


def given_deck(position: Any) -> np.ndarray:
    """The deck of a deal number, or of any other argument that names a deck: uint8[52].

    Raises:
        ValueError: it is neither a deal number nor a deck.
    """
    if whole_number(position) is not None:
        return decks_of([position])[0]
    if isinstance(position, str | Mapping) or np.iterable(position):
        return read_deck(position)
    raise ValueError(f"position is {position!r}; allowed: a deal number, a deck, a position as text or a record")


def _checked(states: np.ndarray, rules: Rules) -> np.ndarray:
    if len(states) != 1:
        raise ValueError(f"there are {len(states)} records; give one position")
    if (states["columns"] == UNSEEN).any() or (states["talon"] == UNSEEN).any():
        raise ValueError("cards of the position are unknown; a solver has to know all of them")
    check_record(states[0], rules)
    return states
