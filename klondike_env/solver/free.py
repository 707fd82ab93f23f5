"""The search where face-up cards are free to move: alternating colours, kings in gaps, any tail, worrying back, and
redeals without limit, with any draw count.

A depth-first search over the positions of `klondike_env.solver.free_moves`, each visited once. It is complete: it ends
with a solution or with the proof that there is none, unless time or memory end first. What makes it small are
arguments that some moves can wait and others cannot hurt; see `Pruning`.
"""

from __future__ import annotations

import threading
from enum import IntFlag
from typing import Any

import numpy as np

from klondike_env.cards import N_CARDS, suit_of
from klondike_env.engine.jit import kernel
from klondike_env.engine.lanes import count_cards
from klondike_env.engine.state import N_COLUMNS
from klondike_env.rules import Rules
from klondike_env.solver.free_moves import (
    _CARD_BITS,
    _TALON_MASK,
    DEAL_SHAPE,
    DOWN,
    EMPTY,
    LAST_LOCKED,
    MARK_SHIFT,
    N_KINDS,
    START,
    STOCK_DOWN,
    STOCK_UP,
    TALON_BIT,
    TALON_SHIFT,
    UNLOCK,
    UP,
    WASTE_SHIFT,
    Position,
    play,
    read_position,
)
from klondike_env.solver.line import write_line
from klondike_env.solver.pairs import (
    ALL_HOME,
    CARDS,
    KINGS,
    RANK_BITS,
    number_of,
    one_rank_lower,
    pair_of,
    safe_cards,
    uncovered,
)
from klondike_env.solver.visited import capacity, grown, insert


class Pruning(IntFlag):
    """Moves that need not be tried."""

    SAFE_CARDS = 1
    SAFE_TALON = 2
    UPS_FIRST = 4
    DOWNS_LATE = 8
    TALON_LATE = 16
    GAPS_FOR_KINGS = 32


ALL = Pruning(63)

# Bits of the above for kernels.
_SAFE_CARDS, _SAFE_TALON, _UPS_FIRST, _DOWNS_LATE, _TALON_LATE, _GAPS_FOR_KINGS = (int(rule) for rule in Pruning)

# How a search stands.
SOLVED, UNSOLVABLE, PAUSED, TABLE_FULL, STACK_FULL = range(5)

# `frames: int64[depth, 12]`: for each position of the path the moves not yet tried, by kind, then the position.
_PLACE = N_KINDS
_PATH_LENGTH = _PLACE + len(Position._fields)
FRAME_SIZE = _PATH_LENGTH + 1
# Moves made without a choice after one that was chosen, at most: each puts up or unlocks a card.
_MOST_FORCED = 2 * N_CARDS

# `control: int64[6]`.
DEPTH, VISITS, LIMIT, ROOM, MOVES = range(5)

# Marks: what was last put on a column and has to be used next. 0 for nothing, 1 + suit for a card from a foundation.
_FOR_KING = 5
_FROM_TALON = 6  # plus the index in the talon
_ROOT = START << _CARD_BITS


@kernel
def has_room_for_king(position: Position) -> bool:
    """Whether a column is empty."""
    placed_kings = position.visible & ~position.open & KINGS
    return count_cards(position.open) + count_cards(placed_kings) < N_COLUMNS


@kernel
def safe_now(position: Position, draw_count: int, pruning: int) -> int:
    """The cards that may go up without a choice; all of them where the game is won anyway."""
    if pruning & _SAFE_TALON and draw_count == 1 and position.open == 0:
        return -1
    return safe_cards(position.wanted) if pruning & (_SAFE_CARDS | _SAFE_TALON) else 0


@kernel
def is_last_in_talon(code: int, place: int) -> bool:
    """Whether no talon card comes after the one whose bit is `place`."""
    return (code & _TALON_MASK) < 2 * place


@kernel
def forced_move(position: Position, free: int, deal: np.ndarray, draw_count: int, pruning: int) -> int:
    """A move to make without a choice, or -1."""
    safe = safe_now(position, draw_count, pruning)
    ups = free & position.visible & position.wanted
    forced = ups & safe if pruning & _SAFE_CARDS else 0
    if pruning & _UPS_FIRST:
        forced |= ups & ~position.open
    if forced:
        return (UP << _CARD_BITS) | number_of(forced & -forced)
    if pruning & _SAFE_TALON:
        forced = position.playable & position.wanted & safe
        if draw_count > 1 and position.code >> WASTE_SHIFT != 0:
            forced = 0
        while forced:
            card = number_of(forced & -forced)
            if draw_count == 1 or is_last_in_talon(position.code, int(deal[TALON_BIT, card])):
                return (STOCK_UP << _CARD_BITS) | card
            forced &= forced - 1
    return -1


@kernel
def mark_after(kind: int, card: int, deal: np.ndarray, draw_count: int, pruning: int) -> int:
    """What has to be used next after a move."""
    if kind == DOWN and pruning & (_UPS_FIRST | _DOWNS_LATE):
        return 1 + int(suit_of(CARDS[card]))
    if kind == STOCK_DOWN and draw_count == 1 and pruning & _TALON_LATE:
        return _FROM_TALON + number_of(int(deal[TALON_BIT, card]) >> TALON_SHIFT)
    if kind == EMPTY:
        return _FOR_KING
    return 0


@kernel
def write_moves(
    frame: np.ndarray, position: Position, free: int, move: int, mark: int, last_locked: int, draw_count: int, pruning: int
) -> None:
    """Write the moves to try in a position, as sets of cards by kind. frame: int64[12]."""
    kind, card = move >> _CARD_BITS, move & 63
    has_room = has_room_for_king(position)
    safe = safe_now(position, draw_count, pruning)
    landing = (free >> RANK_BITS) | (KINGS if has_room else 0)
    tops = one_rank_lower(position.wanted)
    unlocks = position.open & landing
    ups = free & position.visible & position.wanted
    stock_downs = position.playable & landing
    stock_ups = position.playable & position.wanted
    downs = tops & landing
    empties = 0
    if pruning & _SAFE_CARDS:
        downs &= ~safe
        stock_downs &= ~(position.wanted & safe)
    if pruning & _GAPS_FOR_KINGS:
        if not has_room and (position.open | position.playable | tops) & KINGS:
            empties = unlocks & last_locked
        unlocks &= ~last_locked
    if mark == _FOR_KING:
        unlocks &= KINGS
        stock_downs &= KINGS
        downs &= KINGS
        ups, stock_ups, empties = 0, 0, 0
    elif mark != 0 and pruning & (_DOWNS_LATE if kind == DOWN else _TALON_LATE):
        pair = pair_of(card)
        placed = position.visible & ~position.open
        is_needed = free & pair and not ((position.visible & pair) == pair and (placed << RANK_BITS) & pair == 0)
        users = pair >> RANK_BITS if is_needed else 0
        late_talon = position.playable if draw_count == 1 and pruning & _TALON_LATE else 0
        suit_lower = one_rank_lower(1 << card) if kind == DOWN else 0
        lower = others_between(position, card, pair >> RANK_BITS, suit_lower, late_talon, tops & ~safe, ~safe)
        unlocks &= users
        ups &= pair ^ (1 << card) if is_needed else 0
        stock_downs &= users | (lower if late_talon else 0)
        stock_ups = 0
        downs &= users | (lower | suit_lower if pruning & _DOWNS_LATE else -1)
        empties &= users | (-1 if (1 << card) & KINGS else 0)
    frame[UNLOCK] = unlocks
    frame[UP] = ups
    frame[STOCK_DOWN] = stock_downs
    frame[STOCK_UP] = stock_ups
    frame[EMPTY] = empties
    frame[DOWN] = downs


@kernel
def others_between(
    position: Position, card: int, users: int, suit_lower: int, late_talon: int, unsafe: int, may_fall: int
) -> int:
    """The cards that may be put on a column after `card` and before what uses it."""
    below = (1 << card) - 1
    same_rank = 15 << (card & ~3)
    fallen = position.wanted & position.visible & ~position.open & same_rank
    merging = (one_rank_lower(fallen) & unsafe) | (one_rank_lower(unsafe & below) & may_fall)
    if not merging:
        return 0
    next_users = late_talon | unsafe | (one_rank_lower(unsafe & below & same_rank) & may_fall)
    if not ((next_users & users) | (suit_lower & unsafe)):
        return 0
    return below & (same_rank | (same_rank >> RANK_BITS))


@kernel
def next_kind(frame: np.ndarray) -> int:
    """The kind of the move to try next, N_KINDS for none. frame: int64[12]."""
    kind = 0
    while kind < N_KINDS and frame[kind] == 0:
        kind += 1
    return kind


@kernel
def begin(
    states: np.ndarray, i: int, frames: np.ndarray, deal: np.ndarray, table: np.ndarray, control: np.ndarray, draw_count: int
) -> None:
    """Prepare the search from a record. frames, deal, table and control are overwritten."""
    position = read_position(states, i, deal, draw_count)
    table[:] = 0
    frames[0, :] = 0
    frames[0, _PLACE] = position.visible
    frames[0, _PLACE + 1] = position.open
    frames[0, _PLACE + 2] = position.wanted
    frames[0, _PLACE + 3] = position.playable
    frames[0, _PLACE + 4] = position.code
    frames[0, _PATH_LENGTH] = 0
    control[DEPTH] = 0
    control[VISITS] = -1


@kernel
def search(
    frames: np.ndarray,
    path: np.ndarray,
    deal: np.ndarray,
    table: np.ndarray,
    control: np.ndarray,
    draw_count: int,
    pruning: int,
) -> int:
    """Go on with a search; how it stands then."""
    depth, visits, limit, room = control[DEPTH], control[VISITS], control[LIMIT], control[ROOM]
    last_locked = int(deal[LAST_LOCKED])
    status = UNSOLVABLE
    while depth >= 0:
        if visits >= limit:
            status = PAUSED
            break
        if visits >= room:
            status = TABLE_FULL
            break
        n = frames[depth, _PATH_LENGTH]
        if depth + 1 == len(frames) or n + _MOST_FORCED > len(path):
            status = STACK_FULL
            break
        if visits < 0:
            visits, kind, card = 0, START, 0
        else:
            kind = next_kind(frames[depth])
            if kind == N_KINDS:
                depth -= 1
                continue
            cards = frames[depth, kind]
            frames[depth, kind] = cards & (cards - 1)
            card = number_of(cards & -cards)
        position = Position(
            frames[depth, _PLACE],
            frames[depth, _PLACE + 1],
            frames[depth, _PLACE + 2],
            frames[depth, _PLACE + 3],
            frames[depth, _PLACE + 4],
        )
        first = (kind << _CARD_BITS) | card
        mark = mark_after(kind, card, deal, draw_count, pruning)
        move, free = first, 0
        while move >= 0:
            position = play(position, move >> _CARD_BITS, move & 63, deal, draw_count)
            path[n] = move
            n += 1
            free = uncovered(position.visible, position.visible & ~position.open)
            move = forced_move(position, free, deal, draw_count, pruning) if mark == 0 else -1
        if position.wanted == ALL_HOME:
            control[MOVES] = n
            status = SOLVED
            break
        if insert(table, np.uint64(position.code | (mark << MARK_SHIFT))):
            visits += 1
            depth += 1
            frames[depth, _PLACE] = position.visible
            frames[depth, _PLACE + 1] = position.open
            frames[depth, _PLACE + 2] = position.wanted
            frames[depth, _PLACE + 3] = position.playable
            frames[depth, _PLACE + 4] = position.code
            frames[depth, _PATH_LENGTH] = n
            write_moves(frames[depth], position, free, first, mark, last_locked, draw_count, pruning)
    control[DEPTH] = depth
    control[VISITS] = visits
    return status


@kernel
def search_rows(
    states: np.ndarray,
    fresh: bool,
    statuses: np.ndarray,
    frames: np.ndarray,
    path: np.ndarray,
    deal: np.ndarray,
    table: np.ndarray,
    control: np.ndarray,
    draw_count: int,
    pruning: int,
) -> None:
    """Search from each record in turn, or go on with the search from the only one.

    states: STATE[n]; fresh: whether to begin anew; statuses: int64[n, 2], overwritten with how each search
    stands and its visits; the rest is the search's own.
    """
    for i in range(len(states)):
        if fresh:
            begin(states, i, frames, deal, table, control, draw_count)
        statuses[i, 0] = search(frames, path, deal, table, control, draw_count, pruning)
        statuses[i, 1] = control[VISITS]


_FIRST_SLOTS = 1 << 12
_FIRST_DEPTH = 512
MAX_BYTES = 500_000_000


class _Workspace:
    """The buffers of one search, used again by later searches."""

    def __init__(self) -> None:
        self.small_table = np.zeros(_FIRST_SLOTS, dtype=np.uint64)
        self.table = self.small_table
        self.frames = np.zeros((_FIRST_DEPTH, FRAME_SIZE), dtype=np.int64)
        self.path = np.zeros(4 * _FIRST_DEPTH, dtype=np.int64)
        self.deal = np.zeros(DEAL_SHAPE, dtype=np.int64)
        self.control = np.zeros(6, dtype=np.int64)
        self.statuses = np.zeros((1, 2), dtype=np.int64)
        self.control[ROOM] = capacity(self.table)

    def deepen(self) -> None:
        self.frames = np.concatenate([self.frames, np.zeros_like(self.frames)])
        self.path = np.concatenate([self.path, np.zeros_like(self.path)])

    def widen(self, max_bytes: int) -> bool:
        larger = grown(self.table, max_bytes)
        if larger is None:
            return False
        self.table = larger
        self.control[ROOM] = capacity(larger)
        return True

    def shrink(self) -> None:
        self.table = self.small_table
        self.control[ROOM] = capacity(self.table)


_idle: list[_Workspace] = []


def supports(rules: Rules) -> bool:
    """Whether this search can play by the rules; the draw count may be any."""
    return rules == Rules(draw_count=rules.draw_count)


class FreeSearch:
    def __init__(self, record: Any, rules: Rules, *, pruning: Pruning = ALL, max_bytes: int = MAX_BYTES) -> None:
        if not supports(rules):
            raise ValueError("unsupported")
        self.rules = rules
        self.pruning = int(pruning)
        self.max_bytes = max_bytes
        self.visits = 0
        self.exhausted = False
        self.verdict = "undecided"
        self._record = np.array(record).reshape(1)
        self._workspace = None
        self._path = None

    def run(self, visits: int) -> str:
        if self.verdict != "undecided" or self.exhausted:
            return self.verdict
        fresh = self._workspace is None
        if fresh:
            self._workspace = _idle.pop() if _idle else _Workspace()
        workspace = self._workspace
        limit = self.visits + visits
        workspace.control[LIMIT] = limit
        while True:
            search_rows(
                self._record,
                fresh,
                workspace.statuses,
                workspace.frames,
                workspace.path,
                workspace.deal,
                workspace.table,
                workspace.control,
                self.rules.draw_count,
                self.pruning,
            )
            fresh = False
            status = int(workspace.statuses[0, 0])
            if status == TABLE_FULL:
                if not workspace.widen(self.max_bytes):
                    self.exhausted = True
                    break
            elif status == STACK_FULL:
                workspace.deepen()
            else:
                break
        self.visits = max(0, int(workspace.statuses[0, 1]))
        if status == SOLVED:
            self.verdict = "solved"
            self._path = workspace.path[1 : workspace.control[MOVES]].copy()
        elif status == UNSOLVABLE:
            self.verdict = "unsolvable"
        if status != PAUSED:
            self._workspace = None
            workspace.shrink()
            _idle.append(workspace)
        return self.verdict

    def actions(self) -> list[int]:
        states = self._record.copy()
        out = np.zeros(64 * (len(self._path) + 1), dtype=np.int64)
        moves = np.zeros(7, dtype=np.int64)
        count = write_line(states, self._path, self.rules.params(), moves, out)
        assert count >= 0, "illegal"
        assert states[0]["foundation"].sum() == 52
        return out[:count].tolist()
