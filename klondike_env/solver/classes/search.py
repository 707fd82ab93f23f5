"""The search where face-up cards are free to move: alternating colours, kings in gaps, any tail, worrying back, and
redeals without limit, with any draw count.

A depth-first search over the positions of `klondike_env.solver.classes.moves`, each visited once. It is complete: it
ends with a solution or with the proof that there is none, unless time or memory end first. Memory grows with the
positions visited, about 11 bytes each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.cards import N_CARDS
from klondike_env.checks import check_whole_number
from klondike_env.engine.card_sets import lowest_bit
from klondike_env.engine.faults import check_record
from klondike_env.engine.jit import kernel
from klondike_env.engine.legal import N_MOVE_SETS
from klondike_env.engine.restore import index_records
from klondike_env.engine.state import STATE
from klondike_env.rules import Rules
from klondike_env.solver.classes.card_numbering import ALL_HOME, number_of
from klondike_env.solver.classes.line import ILLEGAL, write_line
from klondike_env.solver.classes.moves import (
    DEAL_SHAPE,
    N_KINDS,
    NO_MOVE,
    START,
    TALON_MASK,
    Moves,
    Position,
    Scene,
    card_of,
    find_moves,
    free_pairs,
    has_gap,
    kind_of,
    move_of,
    play,
    reachable,
    read_position,
)
from klondike_env.solver.classes.pruning import (
    ALL,
    NO_MARK,
    Last,
    Mode,
    Pruning,
    forced_move,
    key_of,
    late_mark_after,
    mark_after,
    prune,
)
from klondike_env.solver.classes.visited import capacity, grown, insert
from klondike_env.solver.verdicts import LOST, OPEN, SOLVED, UNDECIDED, UNSOLVABLE, WON

__all__ = ["ALL", "MAX_BYTES", "FreeSearch", "Pruning", "decide", "supports"]

MAX_BYTES = 500_000_000
_FIRST_SLOTS = 1 << 12
_FIRST_DEPTH = 512

# How a search stands after a call of the kernel.
_SOLVED, _UNSOLVABLE, _PAUSED, _TABLE_FULL, _STACK_FULL = range(5)
_VERDICTS = {_SOLVED: SOLVED, _UNSOLVABLE: UNSOLVABLE}
_ALL = int(ALL)

# `frames: int64[depth, 12]`: for each position on the way to the present one the moves not yet tried, by kind; then
# the position, the playable talon cards, and how many moves led to it.
_POSITION = N_KINDS
_PLAYABLE = _POSITION + len(Position._fields)
_N_PLAYED = _PLAYABLE + 1
_FRAME_SIZE = _N_PLAYED + 1

# `path: int64[n]`: the moves that led to the present position.
# The most moves from one frame to the next: one that is chosen, and forced ones, of which each puts up a card.
_MOST_AT_ONCE = 1 + N_CARDS

# `control: int64[4]`: what a search keeps between calls.
_DEPTH = 0  # of the present frame
_NODES = 1  # positions visited, -1 before the first
_LIMIT = 2  # nodes at which to pause
_ROOM = 3  # positions that the table may hold
_CONTROL_SIZE = 4


@kernel
def write_frame(frames: np.ndarray, depth: int, position: Position, playable: int, n_played: int) -> None:
    """Write all of a frame but its moves."""
    frames[depth, _POSITION] = position.visible
    frames[depth, _POSITION + 1] = position.open
    frames[depth, _POSITION + 2] = position.wanted
    frames[depth, _POSITION + 3] = position.code
    frames[depth, _PLAYABLE] = playable
    frames[depth, _N_PLAYED] = n_played


@kernel
def read_frame(frames: np.ndarray, depth: int) -> Position:
    """The position of a frame."""
    return Position(
        int(frames[depth, _POSITION]),
        int(frames[depth, _POSITION + 1]),
        int(frames[depth, _POSITION + 2]),
        int(frames[depth, _POSITION + 3]),
    )


@kernel
def write_moves(frames: np.ndarray, depth: int, moves: Moves) -> None:
    """Write the moves of a frame."""
    frames[depth, 0] = moves.unlocks
    frames[depth, 1] = moves.ups
    frames[depth, 2] = moves.talon_downs
    frames[depth, 3] = moves.talon_ups
    frames[depth, 4] = moves.empties
    frames[depth, 5] = moves.downs


@kernel
def begin(
    states: np.ndarray,
    i: int,
    deal: np.ndarray,
    frames: np.ndarray,
    table: np.ndarray,
    control: np.ndarray,
    draw_count: int,
) -> None:
    """Prepare the search from a record. deal, the first frame and table are overwritten."""
    control[_DEPTH] = 0
    control[_NODES] = -1
    table[:] = 0
    write_frame(frames, 0, read_position(states, i, deal, draw_count), 0, 0)


@kernel
def next_move(frames: np.ndarray, depth: int) -> int:
    """Take the next move out of a frame; NO_MOVE if none is left."""
    kind = 0
    while kind < N_KINDS and frames[depth, kind] == 0:
        kind += 1
    if kind == N_KINDS:
        return NO_MOVE
    cards = int(frames[depth, kind])
    frames[depth, kind] = cards & (cards - 1)
    return move_of(kind, number_of(lowest_bit(cards)))


@kernel
def visit(
    chosen: int, deal: np.ndarray, frames: np.ndarray, depth: int, path: np.ndarray, table: np.ndarray, mode: Mode
) -> bool:
    """Make a move, and then those that are forced; if the position is new, write the next frame. Whether it is."""
    position = read_frame(frames, depth)
    code_before = position.code
    kind, card = kind_of(chosen), card_of(chosen)
    mark = mark_after(kind, card, deal, mode)
    n = int(frames[depth, _N_PLAYED])
    n_before = n
    move, free = chosen, 0
    while move != NO_MOVE:
        position = play(position, kind_of(move), card_of(move), deal, mode.draw_count)
        path[n] = move
        n += 1
        free = free_pairs(position)
        move = forced_move(position, free, deal, mode) if mark == NO_MARK else NO_MOVE
    if n == n_before + 1 and mark == NO_MARK:
        mark = late_mark_after(kind, card, deal, mode)
    if not insert(table, key_of(position, mark)):
        return False
    playable = int(frames[depth, _PLAYABLE])
    if kind == START or (position.code ^ code_before) & TALON_MASK != 0:
        playable = reachable(position.code, deal, mode.draw_count)
    scene = Scene(position, free, playable, has_gap(position))
    write_frame(frames, depth + 1, position, playable, n)
    write_moves(frames, depth + 1, prune(find_moves(scene), scene, Last(kind, card, mark), deal, mode))
    return True


@kernel
def search(
    deal: np.ndarray, frames: np.ndarray, path: np.ndarray, table: np.ndarray, control: np.ndarray, mode: Mode
) -> int:
    """Go on with a search; how it stands then. After _SOLVED the last frame is that of a win."""
    depth, nodes = int(control[_DEPTH]), int(control[_NODES])
    until = min(int(control[_LIMIT]), int(control[_ROOM]))
    status = _UNSOLVABLE
    while depth >= 0:
        if nodes >= until:
            status = _PAUSED if nodes >= control[_LIMIT] else _TABLE_FULL
            break
        if depth + 1 == len(frames) or frames[depth, _N_PLAYED] + _MOST_AT_ONCE > len(path):
            status = _STACK_FULL
            break
        move = next_move(frames, depth) if nodes >= 0 else move_of(START, 0)
        nodes = max(nodes, 0)
        if move == NO_MOVE:
            depth -= 1
        elif visit(move, deal, frames, depth, path, table, mode):
            depth += 1
            nodes += 1
            if frames[depth, _POSITION + 2] == ALL_HOME:
                status = _SOLVED
                break
    control[_DEPTH] = depth
    control[_NODES] = nodes
    return status


@kernel
def search_rows(
    states: np.ndarray,
    fresh: bool,
    results: np.ndarray,
    deal: np.ndarray,
    frames: np.ndarray,
    path: np.ndarray,
    table: np.ndarray,
    control: np.ndarray,
    draw_count: int,
    pruning: int,
) -> None:
    """Search from each record in turn, or go on with the search from the only one.

    states: STATE[n]; fresh: whether to begin anew; results: int64[n, 2], overwritten with how each search stands and
    its nodes; the rest belongs to the search, see the top of the file.
    """
    for i in range(len(states)):
        if fresh:
            begin(states, i, deal, frames, table, control, draw_count)
        results[i, 0] = search(deal, frames, path, table, control, Mode(draw_count, pruning))
        results[i, 1] = max(int(control[_NODES]), 0)


class SmallSearch(NamedTuple):
    """The buffers of searches within a limit of nodes, for kernels."""

    deal: np.ndarray
    frames: np.ndarray
    path: np.ndarray
    table: np.ndarray
    control: np.ndarray

    @classmethod
    def of(cls, nodes: int) -> SmallSearch:
        """Buffers for searches of at most so many nodes each."""
        table = np.zeros(2 * nodes + 2, dtype=np.uint64)
        control = np.zeros(_CONTROL_SIZE, dtype=np.int64)
        control[_LIMIT], control[_ROOM] = nodes, nodes + 1
        frames = np.zeros((min(nodes + 2, _FIRST_DEPTH), _FRAME_SIZE), dtype=np.int64)
        path = np.zeros(4 * _FIRST_DEPTH, dtype=np.int64)
        return cls(np.zeros(DEAL_SHAPE, dtype=np.int64), frames, path, table, control)


@kernel
def judge(states: np.ndarray, i: int, draw_count: int, buffers: SmallSearch) -> int:
    """Search from a sound record within the limit: LOST, OPEN or WON."""
    begin(states, i, buffers.deal, buffers.frames, buffers.table, buffers.control, draw_count)
    mode = Mode(draw_count, _ALL)
    status = search(buffers.deal, buffers.frames, buffers.path, buffers.table, buffers.control, mode)
    if status == _SOLVED:
        return WON
    return LOST if status == _UNSOLVABLE else OPEN


class _Workspace:
    """The buffers of a search. They serve one after the other, because making them takes longer than most searches."""

    def __init__(self) -> None:
        self._first_table = np.zeros(_FIRST_SLOTS, dtype=np.uint64)
        self._first_frames = np.zeros((_FIRST_DEPTH, _FRAME_SIZE), dtype=np.int64)
        self._first_path = np.zeros(4 * _FIRST_DEPTH, dtype=np.int64)
        self.deal = np.zeros(DEAL_SHAPE, dtype=np.int64)
        self.control = np.zeros(_CONTROL_SIZE, dtype=np.int64)
        self.results = np.zeros((1, 2), dtype=np.int64)
        self.clear()

    def clear(self) -> None:
        """Go back to the first, small buffers."""
        self.table, self.frames, self.path = self._first_table, self._first_frames, self._first_path
        self.control[_ROOM] = capacity(self.table)

    def grow_table(self, max_bytes: int) -> bool:
        """Make room for more positions; whether memory allows it."""
        larger = grown(self.table, max_bytes - self._stack_bytes)
        if larger is None:
            return False
        self.table = larger
        self.control[_ROOM] = capacity(larger)
        return True

    def grow_stack(self, max_bytes: int) -> bool:
        """Make room for a longer way; whether memory allows it, old and new arrays together."""
        if self.table.nbytes + 3 * self._stack_bytes > max_bytes:
            return False
        self.frames = np.concatenate([self.frames, np.zeros_like(self.frames)])
        self.path = np.concatenate([self.path, np.zeros_like(self.path)])
        return True

    @property
    def _stack_bytes(self) -> int:
        return self.frames.nbytes + self.path.nbytes

    def search(
        self, states: np.ndarray, results: np.ndarray, fresh: bool, limit: int, rules: Rules, pruning: int
    ) -> None:
        """Call the kernel."""
        self.control[_LIMIT] = limit
        buffers = self.deal, self.frames, self.path, self.table, self.control
        search_rows(states, fresh, results, *buffers, rules.draw_count, pruning)

    def solution(self) -> np.ndarray:
        """The moves of the solution just found, without the first, which is none."""
        return self.path[1 : self.frames[self.control[_DEPTH], _N_PLAYED]].copy()


_idle: list[_Workspace] = []  # appending and popping are atomic, so threads may share it


def _take_workspace() -> _Workspace:
    try:
        return _idle.pop()
    except IndexError:
        return _Workspace()


def _put_back(workspace: _Workspace) -> None:
    workspace.clear()
    _idle.append(workspace)


def supports(rules: Rules) -> bool:
    """Whether this search knows the rules: those of draw 1 and draw 3, with any draw count."""
    free_moving = rules.build == "alternating_colour" and rules.gaps == "kings" and rules.runs == "any_tail"
    return free_moving and rules.worry_back and rules.redeals is None


def _check_rules(rules: Rules) -> None:
    if not supports(rules):
        raise ValueError(f"the free search knows no such rules: {rules}; only the draw count may differ from draw 1's")


class FreeSearch:
    """A search for a solution that can be interrupted. All cards are known to it.

    Args:
        record: STATE or STATE[1], a sound record, fresh or in the middle of a game.
        rules: its rules, for which `supports` is true.
        pruning: the rules by which moves are left out; for tests.
        max_bytes: memory that the positions visited and the way to the present one may take.

    Attributes:
        verdict: "solved", "unsolvable" or "undecided".
        nodes: positions visited so far.
        exhausted: whether the memory is used up, so that the search cannot go on.

    Raises:
        ValueError: the search does not know the rules, or the record is none or not possible under them.
    """

    def __init__(
        self, record: np.ndarray | np.void, rules: Rules, *, pruning: Pruning = ALL, max_bytes: int = MAX_BYTES
    ) -> None:
        _check_rules(rules)
        self.rules = rules
        self.pruning = pruning
        self.max_bytes = max_bytes
        self.verdict = UNDECIDED
        self.nodes = 0
        self.exhausted = False
        self._states = np.array(record).reshape(-1)
        if self._states.dtype != STATE or len(self._states) != 1:
            raise ValueError(f"a search starts from one record; this is of type {type(record).__name__}")
        check_record(self._states, rules)
        self._workspace: _Workspace | None = None
        self._path = np.empty(0, dtype=np.int64)

    def run(self, nodes: int) -> str:
        """Go on for at most so many more nodes, 1 or more.

        Returns:
            "solved" or "unsolvable"; "undecided" if there is more to do, or if `exhausted`.

        Raises:
            ValueError: `nodes` is no positive whole number.
        """
        nodes = check_whole_number("nodes", nodes, 1)
        if self.verdict != UNDECIDED or self.exhausted:
            return self.verdict
        fresh = self._workspace is None
        workspace = self._workspace = self._workspace or _take_workspace()
        limit, pruning = self.nodes + nodes, int(self.pruning)
        while True:
            workspace.search(self._states, workspace.results, fresh, limit, self.rules, pruning)
            status, self.nodes = workspace.results[0].tolist()
            fresh = False
            if status == _STACK_FULL:
                self.exhausted = not workspace.grow_stack(self.max_bytes)
            elif status == _TABLE_FULL:
                self.exhausted = not workspace.grow_table(self.max_bytes)
            if self.exhausted or status not in (_STACK_FULL, _TABLE_FULL):
                break
        if status == _SOLVED:
            self._path = workspace.solution()
        if status != _PAUSED:
            self.verdict = _VERDICTS.get(status, UNDECIDED)
            self._workspace = None
            _put_back(workspace)
        return self.verdict

    def actions(self) -> list[int]:
        """The solution as environment actions, stock taps included, that lead from the record to a win.

        Raises:
            ValueError: there is no solution, or none yet.
        """
        if self.verdict != SOLVED:
            raise ValueError(f"there is no solution to show: the verdict is {self.verdict!r}")
        states = self._states.copy()
        index_records(states)
        most_at_once = 2 * N_CARDS  # taps of a draw, a redeal and another draw, and one card moved out of the way
        actions = np.empty(most_at_once * len(self._path), dtype=np.int64)
        count = write_line(states, self._path, self.rules.params(), np.empty(N_MOVE_SETS, dtype=np.int64), actions)
        assert count != ILLEGAL, "a solution holds an illegal action"
        assert states["foundation"].sum() == N_CARDS, "a solution does not end in a win"
        return actions[:count].tolist()


def decide(
    records: np.ndarray, rules: Rules, nodes: int, *, pruning: Pruning = ALL, max_bytes: int = MAX_BYTES
) -> tuple[np.ndarray, np.ndarray]:
    """Decide many games, most of them in one call of compiled code.

    Args:
        records: STATE[n], sound ones.
        rules: their rules, for which `supports` is true.
        nodes: the most positions to visit for each.
        pruning: as for `FreeSearch`.
        max_bytes: as for `FreeSearch`.

    Returns:
        The verdicts as str[n], and the positions visited as int64[n].

    Raises:
        ValueError: the search does not know the rules, or `nodes` is no positive whole number.
    """
    _check_rules(rules)
    nodes = check_whole_number("nodes", nodes, 1)
    results = np.empty((len(records), 2), dtype=np.int64)
    workspace = _take_workspace()
    workspace.search(records, results, True, nodes, rules, int(pruning))
    _put_back(workspace)
    verdicts = np.array([_VERDICTS.get(status, UNDECIDED) for status in results[:, 0].tolist()], dtype="U10")
    for i in np.flatnonzero(results[:, 0] >= _TABLE_FULL).tolist():
        one = FreeSearch(records[i], rules, pruning=pruning, max_bytes=max_bytes)
        verdicts[i] = one.run(nodes)
        results[i, 1] = one.nodes
    return verdicts, results[:, 1]
