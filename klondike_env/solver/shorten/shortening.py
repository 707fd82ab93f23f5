"""Making lines short: the first line that a search finds wins, but many of its moves are of no use."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from klondike_env.cards import N_CARDS
from klondike_env.engine.actions import N_DESTINATIONS, STOCK_ACTION
from klondike_env.rules import Rules
from klondike_env.solver.columns.card_numbering import NUMBERS
from klondike_env.solver.columns.nodes import LINK, MOVE, TARGETS, read_record
from klondike_env.solver.columns.pruning import ColumnPruning, make_game
from klondike_env.solver.columns.replay import Replay
from klondike_env.solver.lengths import play_line
from klondike_env.solver.shorten import best_first
from klondike_env.solver.shorten.beam import MAX_LINE_COST, Beam, new_beam, try_layer
from klondike_env.solver.shorten.steps import BURIED_SHAPE, Fixed, exact_key, step, write_buried
from klondike_env.solver.solve import Limits, Solution, solve
from klondike_env.solver.verdicts import SOLVED

DEFAULT_SECONDS = 2.0

_FIRST_WIDTH, _WIDTH_FACTOR = 10, 2
# Where beams start, as parts of the line: some short endings are easy to find from there and hard from the start.
_STARTS = (0.0, 0.25, 0.5, 0.75)
_BYTES_PER_WIDTH = 20_000  # of a beam, for a line of 120 moves
# The widest beam before a proof is tried: unless the line is nearly shortest by then, a proof stores too much.
_WIDTH_BEFORE_PROOF = 640
_STRETCH = 20_000  # positions tried between two looks at the clock
_EASY_DEAL = 123456


def shorten(solution: Solution, *, minimal: bool = False, limits: Limits | None = None) -> Solution:
    """Shorten a winning line, in most cases to within a few per cent of the fewest moves.

    Args:
        solution: what `solve` found, with the verdict "solved".
        minimal: whether to go on until it is proved that no line has fewer moves, or a limit is reached.
        limits: when to stop; after two seconds by default, or after a minute if `minimal`. Without a limit of seconds
            the line is always the same.

    Returns:
        The solution with a line that has no more moves than before (`Solution.moves`: card moves and draws). Its
        `minimal` says whether it is proved that none has fewer; `nodes` and `seconds` are those of this search.

    Raises:
        ValueError: there is no line, its start or its rules are not known, or it does not win.
    """
    record, rules = _check_solution(solution)
    limits = limits or (Limits() if minimal else Limits(seconds=DEFAULT_SECONDS))
    if solution.minimal:
        return solution
    _compile()
    start = time.perf_counter()
    search = Shortening(record, rules, solution.actions, limits)
    search.widen(_WIDTH_BEFORE_PROOF if minimal else None)
    if minimal and not search.proved:
        search.prove()
        search.widen()  # if memory ran out before a limit was reached
    actions = search.actions()
    end, moves = play_line(record, rules, actions)
    assert end["foundation"].sum() == N_CARDS, "a short line does not win"
    if (moves, len(actions)) >= (solution.moves, len(solution.actions)):
        actions = solution.actions
    seconds = time.perf_counter() - start
    return replace(solution, actions=actions, nodes=search.nodes, seconds=seconds, minimal=search.proved)


def _check_solution(solution: Solution) -> tuple[np.void, Rules]:
    """The start and the rules of a line that wins.

    Raises:
        ValueError: as for `shorten`.
    """
    if solution.verdict != SOLVED:
        raise ValueError(
            f"the solution is {solution.verdict!r}; only the line of one that is 'solved' can be shortened"
        )
    if solution.start is None or solution.rules is None:
        raise ValueError("the solution does not tell its start and rules; give one that solve returned")
    end, _ = play_line(solution.start, solution.rules, solution.actions)
    if end["foundation"].sum() < N_CARDS:
        raise ValueError("the actions of the solution do not lead to a win; give one that solve returned")
    return solution.start, solution.rules


@cache
def _compile() -> None:
    """Shorten an easy line, so that kernels are compiled or loaded before any clock runs."""
    easy = solve(_EASY_DEAL)
    record, rules = _check_solution(easy)
    for run in (Shortening.widen, Shortening.prove):
        run(Shortening(record, rules, easy.actions, Limits(nodes=100, seconds=None)))


class Shortening:
    """The best line so far, and the searches for a better one.

    Attributes:
        nodes: positions tried so far.
        proved: whether no line has fewer moves.
    """

    def __init__(self, record: np.void, rules: Rules, actions: Sequence[int], limits: Limits) -> None:
        params = rules.params()
        self._record, self._rules, self._limits = record, rules, limits
        self._words, cards = read_record(record, params)
        game = make_game(params, ColumnPruning.SAFE | ColumnPruning.LATE_GAPS)
        self._fixed = Fixed(cards, np.zeros(BURIED_SHAPE, dtype=np.int64), game)
        write_buried(self._words, cards, self._fixed.buried)
        self._words[LINK] = self._words[MOVE] = -1
        self._end = time.perf_counter() + limits.seconds if limits.seconds is not None else None
        self._line = self._without_cycles(_moves_of(actions))
        self._cost = self._cost_of(self._line)
        self._width = _FIRST_WIDTH
        self.nodes = 0
        self.proved = self._cost == 0

    @property
    def _ended(self) -> bool:
        """Whether a limit is reached."""
        return self.nodes >= self._most_nodes or self._late

    @property
    def _late(self) -> bool:
        return self._end is not None and time.perf_counter() >= self._end

    @property
    def _max_bytes(self) -> int:
        return self._limits.megabytes * 1_000_000

    @property
    def _most_nodes(self) -> int:
        return self._limits.nodes or np.iinfo(np.int64).max

    def _without_cycles(self, line: list[int]) -> list[int]:
        """The line without the moves that lead back to a position it has visited."""
        words, kept = self._words.copy(), list[int]()
        lengths = {exact_key(words, self._fixed.game): 0}
        keys = list(lengths)
        for move in line:
            step(words, move, self._fixed)
            key = exact_key(words, self._fixed.game)
            if key in lengths:
                length = lengths[key]
                for left in keys[length + 1 :]:
                    del lengths[left]
                del keys[length + 1 :], kept[length:]
            else:
                kept.append(move)
                keys.append(key)
                lengths[key] = len(kept)
        return kept

    def _cost_of(self, line: Sequence[int]) -> int:
        words = self._words.copy()
        return int(sum(step(words, move, self._fixed) for move in line))

    def actions(self) -> tuple[int, ...]:
        """The best line as actions of the game."""
        replay = Replay(self._record, self._rules, by_columns=True)
        for move in self._line:
            replay.play(move)
        return tuple(replay.actions)

    def widen(self, last_width: int | None = None) -> None:
        """Search with wider and wider beams, up to a width, within the limits; a later call resumes there."""
        while (last_width is None or self._width <= last_width) and self._width * _BYTES_PER_WIDTH <= self._max_bytes:
            better = False
            for part in _STARTS:
                if self.proved or self._ended:
                    return
                better |= self._search_beam(self._width, int(part * len(self._line)))
            if not better:
                self._width *= _WIDTH_FACTOR

    def _search_beam(self, width: int, played: int) -> bool:
        """Search with one beam for a shorter way to end the line after `played` moves; return whether there is one."""
        known = self._words.copy()
        before = int(sum(step(known, move, self._fixed) for move in self._line[:played]))
        bound = min(self._cost - before, MAX_LINE_COST)
        known[LINK] = known[MOVE] = -1
        beam = new_beam(width, bound)
        control, limit = beam.control[0], self._most_nodes - self.nodes
        cost, known_cost, rest = 0, 0, iter(self._line[played:])
        while cost < control["best"] and control["nodes"] < limit and not self._late:
            node, on_line = int(control["nodes"]), cost == known_cost
            try_layer(beam, known[None][: int(on_line)], cost, limit, self._fixed)
            if on_line and (move := next(rest, None)) is not None:
                known_cost += step(known, move, self._fixed)
                known[LINK], known[MOVE] = node, move
            cost += 1
        self.nodes += int(control["nodes"])
        complete = cost >= control["best"] and control["dropped"] == 0
        found = bool(control["best_node"] >= 0)
        if found:
            self._line[played:] = _line_of(beam)
            self._cost = before + int(control["best"])
        self.proved = played == 0 and bool(complete) and (found or bound == self._cost)
        return found

    def prove(self) -> None:
        """Search until no line can be shorter than the best, or a limit is reached."""
        bound = min(self._cost, MAX_LINE_COST)
        arrays = best_first.new_open(self._words, self._fixed, bound, self._max_bytes)
        control, before, status = arrays.control[0], self.nodes, best_first.PAUSED
        while status == best_first.PAUSED and not self._ended:
            limit = min(int(control["nodes"]) + _STRETCH, self._most_nodes - before)
            status = best_first.search_best(arrays, limit, self._fixed)
            self.nodes = before + int(control["nodes"])
        if control["best"] < bound:
            self._line, self._cost = best_first.line_of(arrays), int(control["best"])
        self.proved = status == best_first.DONE and self._cost <= bound


def _line_of(beam: Beam) -> list[int]:
    """The moves of the best line that a beam found."""
    line, node = [int(beam.control["best_move"][0])], int(beam.control["best_node"][0])
    while beam.origins["node"][node] >= 0:
        line.append(int(beam.origins["move"][node]))
        node = int(beam.origins["node"][node])
    return line[::-1]


def _moves_of(actions: Sequence[int]) -> list[int]:
    """The moves of a line; draws are implied."""
    moves = []
    for action in actions:
        if action != STOCK_ACTION:
            card, destination = divmod(action, N_DESTINATIONS)
            moves.append(NUMBERS[card] * TARGETS + destination)
    return moves
