"""The class search, for alternating colours, kings in gaps, any tail, worrying back and unlimited redeals.

Any draw count will do.

It is a depth-first search over the positions of `klondike_env.solver.classes.moves`, each searched once. It is
complete: unless time or memory runs out, it ends with a solution or with the proof that there is none. Memory grows
with the nodes searched, by about 11 bytes each.
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
from klondike_env.rules import RuleParams, Rules
from klondike_env.solver.classes.card_numbering import ALL_ON_FOUNDATIONS, number_of
from klondike_env.solver.classes.line import ILLEGAL, write_line
from klondike_env.solver.classes.moves import (
    COLUMN_TO_FOUNDATION,
    DEAL_SHAPE,
    EMPTY_COLUMN,
    N_KINDS,
    NO_MOVE,
    START,
    TALON_MASK,
    TALON_TO_COLUMN,
    TALON_TO_FOUNDATION,
    UNLOCK,
    WORRY_BACK,
    MoveSets,
    Node,
    Situation,
    card_of,
    find_moves,
    free_pairs,
    has_gap,
    kind_of,
    move_of,
    play,
    reachable,
    read_node,
)
from klondike_env.solver.classes.pruning import (
    ALL,
    NOTHING_PENDING,
    ClassPruning,
    Last,
    Mode,
    forced_move,
    key_of,
    late_pending_after,
    pending_after,
    prune,
)
from klondike_env.solver.classes.visited import capacity, grown, insert
from klondike_env.solver.verdicts import (
    SOLVED,
    SOLVED_INDEX,
    UNDECIDED,
    UNDECIDED_INDEX,
    UNSOLVABLE_INDEX,
    verdict_of,
)

__all__ = ["ALL", "MAX_BYTES", "Buffers", "ClassPruning", "ClassSearch", "decide", "quick_verdict", "supports"]

MAX_BYTES = 500_000_000
_FIRST_SLOTS = 1 << 12
_FIRST_DEPTH = 512
_MOVES_PER_FRAME = 4  # moves of the line for which there is room at first

# How the kernel ends: with the index of a verdict (undecided: the limit is reached), or because an array is full.
_TABLE_FULL, _STACK_FULL = UNDECIDED_INDEX + 1, UNDECIDED_INDEX + 2
_ALL = int(ALL)

# The most moves from one frame to the next: a chosen one, and forced ones, each of which sends a card up.
_MOST_AT_ONCE = 1 + N_CARDS

# A position of the line that is being tried.
FRAME = np.dtype(
    [
        ("moves", np.int64, (N_KINDS,)),  # those not yet tried, by kind
        *((field, np.int64) for field in Node._fields),
        ("playable", np.int64),  # see Situation
        ("n_played", np.int64),  # how many moves led to it
    ]
)

# How far a search has come.
CONTROL = np.dtype(
    [
        ("depth", np.int64),  # of the current frame
        ("nodes", np.int64),  # positions searched, -1 before the first
        ("limit", np.int64),  # nodes at which to pause
        ("room", np.int64),  # positions that the table may hold
    ]
)

RESULT = np.dtype([("status", np.int64), ("nodes", np.int64)])


class Buffers(NamedTuple):
    """The arrays of a search, for kernels."""

    deal: np.ndarray  # int64 of DEAL_SHAPE, see klondike_env.solver.classes.moves
    frames: np.ndarray  # FRAME[n], the positions of the line that is being tried, the start first
    line: np.ndarray  # int64[m], the moves that led to the current position
    table: np.ndarray  # uint64[slots], the positions searched
    control: np.ndarray  # CONTROL[1]

    @classmethod
    def of(cls, nodes: int) -> Buffers:
        """Buffers for searches of at most `nodes` nodes each."""
        buffers = cls._sized(2 * nodes + 2, min(nodes + 2, _FIRST_DEPTH))
        buffers.control["limit"], buffers.control["room"] = nodes, nodes + 1
        return buffers

    @classmethod
    def first(cls) -> Buffers:
        """Small buffers, for a search that replaces them as it needs more."""
        buffers = cls._sized(_FIRST_SLOTS, _FIRST_DEPTH)
        buffers.control["room"] = capacity(buffers.table)
        return buffers

    @classmethod
    def _sized(cls, slots: int, depth: int) -> Buffers:
        return cls(
            deal=np.zeros(DEAL_SHAPE, dtype=np.int64),
            frames=np.zeros(depth, dtype=FRAME),
            line=np.zeros(_MOVES_PER_FRAME * _FIRST_DEPTH, dtype=np.int64),
            table=np.zeros(slots, dtype=np.uint64),
            control=np.zeros(1, dtype=CONTROL),
        )


@kernel
def write_frame(frames: np.ndarray, depth: int, node: Node, playable: int, n_played: int) -> None:
    """Write all of a frame but its moves."""
    frames[depth]["visible"] = node.visible
    frames[depth]["open"] = node.open
    frames[depth]["wanted"] = node.wanted
    frames[depth]["code"] = node.code
    frames[depth]["playable"] = playable
    frames[depth]["n_played"] = n_played


@kernel
def read_frame(frames: np.ndarray, depth: int) -> Node:
    """The position of a frame."""
    return Node(
        visible=int(frames[depth]["visible"]),
        open=int(frames[depth]["open"]),
        wanted=int(frames[depth]["wanted"]),
        code=int(frames[depth]["code"]),
    )


@kernel
def write_moves(frames: np.ndarray, depth: int, moves: MoveSets) -> None:
    """Write the moves of a frame."""
    frames[depth]["moves"][UNLOCK] = moves.unlock
    frames[depth]["moves"][COLUMN_TO_FOUNDATION] = moves.column_to_foundation
    frames[depth]["moves"][TALON_TO_COLUMN] = moves.talon_to_column
    frames[depth]["moves"][TALON_TO_FOUNDATION] = moves.talon_to_foundation
    frames[depth]["moves"][EMPTY_COLUMN] = moves.empty_column
    frames[depth]["moves"][WORRY_BACK] = moves.worry_back


@kernel
def begin(states: np.ndarray, i: int, buffers: Buffers, draw_count: int) -> None:
    """Prepare the search from a record. The deal, the first frame and the table are overwritten."""
    buffers.control[0]["depth"] = 0
    buffers.control[0]["nodes"] = -1
    buffers.table[:] = 0
    write_frame(buffers.frames, 0, read_node(states, i, buffers.deal, draw_count), 0, 0)


@kernel
def next_move(frames: np.ndarray, depth: int) -> int:
    """Take the next move out of a frame; NO_MOVE if none is left."""
    kind = 0
    while kind < N_KINDS and frames[depth]["moves"][kind] == 0:
        kind += 1
    if kind == N_KINDS:
        return NO_MOVE
    cards = int(frames[depth]["moves"][kind])
    frames[depth]["moves"][kind] = cards & (cards - 1)
    return move_of(kind, number_of(lowest_bit(cards)))


@kernel
def visit(chosen: int, depth: int, buffers: Buffers, mode: Mode) -> bool:
    """Make a move and the forced ones after it; if the position is new, write the next frame. Return whether it is."""
    deal, frames = buffers.deal, buffers.frames
    node = read_frame(frames, depth)
    code_before = node.code
    kind, card = kind_of(chosen), card_of(chosen)
    pending = pending_after(kind, card, deal, mode)
    n_before = int(frames[depth]["n_played"])
    n = n_before
    move, free = chosen, 0
    while move != NO_MOVE:
        node = play(node, kind_of(move), card_of(move), deal, mode.draw_count)
        buffers.line[n] = move
        n += 1
        free = free_pairs(node)
        move = forced_move(node, free, deal, mode) if pending == NOTHING_PENDING else NO_MOVE
    if n == n_before + 1 and pending == NOTHING_PENDING:
        pending = late_pending_after(kind, card, deal, mode)
    if not insert(buffers.table, key_of(node, pending)):
        return False
    playable = int(frames[depth]["playable"])
    if kind == START or (node.code ^ code_before) & TALON_MASK != 0:
        playable = reachable(node.code, deal, mode.draw_count)
    situation = Situation(node, free, playable, has_gap(node))
    write_frame(frames, depth + 1, node, playable, n)
    write_moves(frames, depth + 1, prune(find_moves(situation), situation, Last(kind, card, pending), deal, mode))
    return True


@kernel
def search(buffers: Buffers, mode: Mode) -> int:
    """Continue a search; return how it ended. If it found a solution, the last frame is that of the win."""
    frames, line, control = buffers.frames, buffers.line, buffers.control
    depth, nodes, limit = int(control[0]["depth"]), int(control[0]["nodes"]), int(control[0]["limit"])
    until = min(limit, int(control[0]["room"]))
    status = UNSOLVABLE_INDEX
    while depth >= 0:
        if nodes >= until:
            status = UNDECIDED_INDEX if nodes >= limit else _TABLE_FULL
            break
        if depth + 1 == len(frames) or frames[depth]["n_played"] + _MOST_AT_ONCE > len(line):
            status = _STACK_FULL
            break
        move = next_move(frames, depth) if nodes >= 0 else move_of(START, 0)
        nodes = max(nodes, 0)
        if move == NO_MOVE:
            depth -= 1
        elif visit(move, depth, buffers, mode):
            depth += 1
            nodes += 1
            if frames[depth]["wanted"] == ALL_ON_FOUNDATIONS:
                status = SOLVED_INDEX
                break
    control[0]["depth"] = depth
    control[0]["nodes"] = nodes
    return status


@kernel
def search_rows(states: np.ndarray, fresh: bool, results: np.ndarray, buffers: Buffers, mode: Mode) -> None:
    """Search from each record in turn, or continue the search from the only one.

    states: STATE[n]; fresh: whether to begin a new search; results: RESULT[n], overwritten with how each search ended
    and its nodes.
    """
    for i in range(len(states)):
        if fresh:
            begin(states, i, buffers, mode.draw_count)
        results[i]["status"] = search(buffers, mode)
        results[i]["nodes"] = max(int(buffers.control[0]["nodes"]), 0)


@kernel
def quick_verdict(states: np.ndarray, i: int, rules: RuleParams, buffers: Buffers) -> int:
    """Search from a valid record within the limit of `Buffers.of`; return the index of the verdict."""
    begin(states, i, buffers, rules.draw_count)
    return min(search(buffers, Mode(rules.draw_count, _ALL)), UNDECIDED_INDEX)


class _Workspace:
    """The buffers of a search. Later searches use them again, because making them takes longer than most searches."""

    def __init__(self) -> None:
        self._first = Buffers.first()
        self.result = np.zeros(1, dtype=RESULT)
        self.clear()

    def clear(self) -> None:
        """Go back to the first, small buffers."""
        self.buffers = self._first
        self.buffers.control["room"] = capacity(self.buffers.table)

    def grow_table(self, max_bytes: int) -> bool:
        """Make room for more positions; return whether memory allows it."""
        larger = grown(self.buffers.table, max_bytes - self._stack_bytes)
        if larger is None:
            return False
        self.buffers = self.buffers._replace(table=larger)
        self.buffers.control["room"] = capacity(larger)
        return True

    def grow_stack(self, max_bytes: int) -> bool:
        """Make room for a longer line; return whether memory allows it, old and new arrays together."""
        frames, line = self.buffers.frames, self.buffers.line
        if self.buffers.table.nbytes + 3 * self._stack_bytes > max_bytes:
            return False
        self.buffers = self.buffers._replace(
            frames=np.concatenate([frames, np.zeros_like(frames)]), line=np.concatenate([line, np.zeros_like(line)])
        )
        return True

    @property
    def _stack_bytes(self) -> int:
        return self.buffers.frames.nbytes + self.buffers.line.nbytes

    def search(self, states: np.ndarray, fresh: bool, results: np.ndarray, limit: int, mode: Mode) -> None:
        """Call the kernel."""
        self.buffers.control["limit"] = limit
        search_rows(states, fresh, results, self.buffers, mode)

    def solution(self) -> np.ndarray:
        """The moves of the solution just found, without START, which is the first."""
        last = self.buffers.frames[self.buffers.control["depth"][0]]
        return self.buffers.line[1 : last["n_played"]].copy()


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
    """Whether this search knows the rules: those of draw 1, with any draw count."""
    free_moving = rules.build == "alternating_colour" and rules.gaps == "kings" and rules.runs == "any_tail"
    return free_moving and rules.worry_back and rules.redeals is None


def _check_rules(rules: Rules) -> None:
    if not supports(rules):
        raise ValueError(f"the class search knows no such rules: {rules}; only the draw count may differ from draw 1's")


class ClassSearch:
    """A search for a solution that can be interrupted. All cards are known to it.

    Args:
        record: STATE or STATE[1], a valid record, fresh or in the middle of a game.
        rules: its rules, for which `supports` is true.
        pruning: the rules by which moves are left out; for tests.
        max_bytes: memory that the positions searched and the line to the current one may take.

    Attributes:
        verdict: "solved", "unsolvable" or "undecided".
        nodes: positions searched so far.
        exhausted: whether the memory is used up, so that the search cannot go on.

    Raises:
        ValueError: the search does not know the rules, or `record` is not one record, or not possible under them.
    """

    def __init__(
        self, record: np.ndarray | np.void, rules: Rules, *, pruning: ClassPruning = ALL, max_bytes: int = MAX_BYTES
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
        self._line = np.empty(0, dtype=np.int64)

    def run(self, nodes: int) -> str:
        """Search at most `nodes` more nodes, 1 or more.

        Returns:
            "solved" or "unsolvable"; "undecided" if there is more to do, or if `exhausted`.

        Raises:
            ValueError: `nodes` is not a positive whole number.
        """
        nodes = check_whole_number("nodes", nodes, 1)
        if self.verdict != UNDECIDED or self.exhausted:
            return self.verdict
        fresh = self._workspace is None
        workspace = self._workspace = self._workspace or _take_workspace()
        limit, mode = self.nodes + nodes, Mode(self.rules.draw_count, int(self.pruning))
        while True:
            workspace.search(self._states, fresh, workspace.result, limit, mode)
            status, self.nodes = int(workspace.result["status"][0]), int(workspace.result["nodes"][0])
            fresh = False
            if status == _STACK_FULL:
                self.exhausted = not workspace.grow_stack(self.max_bytes)
            elif status == _TABLE_FULL:
                self.exhausted = not workspace.grow_table(self.max_bytes)
            if self.exhausted or status not in (_STACK_FULL, _TABLE_FULL):
                break
        if status == SOLVED_INDEX:
            self._line = workspace.solution()
        if status != UNDECIDED_INDEX:
            self.verdict = verdict_of(status)
            self._workspace = None
            _put_back(workspace)
        return self.verdict

    def actions(self) -> list[int]:
        """The solution as actions of the environment, draws included, that lead from the record to a win.

        Raises:
            ValueError: there is no solution, or none yet.
        """
        if self.verdict != SOLVED:
            raise ValueError(f"there is no solution to show: the verdict is {self.verdict!r}")
        states = self._states.copy()
        index_records(states)
        most_at_once = 2 * N_CARDS  # more than the draws of two passes, a redeal and a run moved out of the way
        actions = np.empty(most_at_once * len(self._line), dtype=np.int64)
        count = write_line(states, self._line, self.rules.params(), np.empty(N_MOVE_SETS, dtype=np.int64), actions)
        assert count != ILLEGAL, "a solution holds an illegal action"
        assert states["foundation"].sum() == N_CARDS, "a solution does not end in a win"
        return actions[:count].tolist()


def decide(
    records: np.ndarray, rules: Rules, nodes: int, *, pruning: ClassPruning = ALL, max_bytes: int = MAX_BYTES
) -> tuple[np.ndarray, np.ndarray]:
    """Decide many games, most of them in one call of compiled code.

    Args:
        records: STATE[n], valid ones.
        rules: their rules, for which `supports` is true.
        nodes: the most positions to search for each.
        pruning: as for `ClassSearch`.
        max_bytes: as for `ClassSearch`.

    Returns:
        The verdicts as str[n], and the nodes searched as int64[n].

    Raises:
        ValueError: the search does not know the rules, or `nodes` is not a positive whole number.
    """
    _check_rules(rules)
    nodes = check_whole_number("nodes", nodes, 1)
    results = np.empty(len(records), dtype=RESULT)
    workspace = _take_workspace()
    workspace.search(records, True, results, nodes, Mode(rules.draw_count, int(pruning)))
    _put_back(workspace)
    verdicts = np.array([verdict_of(status) for status in results["status"].tolist()], dtype="U10")
    for i in np.flatnonzero(results["status"] > UNDECIDED_INDEX).tolist():
        one = ClassSearch(records[i], rules, pruning=pruning, max_bytes=max_bytes)
        verdicts[i] = one.run(nodes)
        results["nodes"][i] = one.nodes
    return verdicts, results["nodes"]
