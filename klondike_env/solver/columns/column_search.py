"""Searching for a win under any rules, all cards known."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntFlag
from typing import NamedTuple

import numpy as np

from klondike_env.checks import check_whole_number
from klondike_env.engine.faults import check_record
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import N_COLUMNS, PLAYING, WON
from klondike_env.games import Games
from klondike_env.rules import RuleParams, Rules
from klondike_env.solver import verdicts
from klondike_env.solver.columns.depth_first import (
    DEPTH,
    MORE_FRAMES,
    MORE_MOVES,
    MORE_SLOTS,
    N_COUNTERS,
    NODES,
    PAUSED,
    SOLVED,
    UNSOLVABLE,
    search,
    search_record,
)
from klondike_env.solver.columns.earliest import enter_all, latest
from klondike_env.solver.columns.nodes import MOVE, N_WORDS, REDEALS, Game, gap_cards, read_record
from klondike_env.solver.columns.reach import settle_talon
from klondike_env.solver.columns.replay import Replay

_FIRST_FRAMES, _FIRST_MOVES, _FIRST_SLOTS = 1 << 8, 1 << 12, 1 << 12
_SMALL_DEPTH, _SMALL_MOVES = 1 << 9, 1 << 14
_VERDICTS = {SOLVED: verdicts.SOLVED, UNSOLVABLE: verdicts.UNSOLVABLE}

# The main search pauses after so many nodes, and after each four times as many; in every pause there are
# short attempts that try moves in other orders. Many wins are many times nearer from there.
_FIRST_STRETCH, _STRETCH_FACTOR = 4_000, 4
_ATTEMPTS, _ATTEMPT_SHARE, _SHORTEST_ATTEMPT = 8, 16, 500
_ATTEMPT_MEMORY = 8  # an attempt may use one part in so many of the memory


class Pruning(IntFlag):
    """Ways to visit fewer positions, none of which can change a verdict; each can be switched off.

    For all of them: some shortest winning line, counted in moves other than draws and exchanges of runs,
    begins with a move that is kept, and what follows it is again such a line. So a search that visits every
    position it is led to finds a win if there is one.
    """

    # A card that can never be needed on the columns goes up at once, see klondike_env.solver.columns.safe.
    # All rules; from the talon only where that changes nothing for its other cards.
    SAFE = 1
    # Of two positions that differ only in how far the talon is used up the earlier one is enough, see
    # klondike_env.solver.columns.earliest. All rules; without effect where redeals are enough.
    EARLIEST = 2
    # A run without a card under it is moved onto a card only if there is no gap and one could be filled. Take
    # the first other move of a winning line: the moves of such runs before it have only covered hosts and
    # made more gaps, so it can come first, and they are as possible after it as before. All rules.
    LATE_GAPS = 4
    # A built card is moved to a gap only if that lets another movable card land on what it leaves, or frees
    # one that its foundation takes. Until a move needs that it can wait, for all it does is to use up a gap;
    # one such move is enough to open a rank, so if several together open it, one of them does alone. Only
    # with EXCHANGES, where the card can be moved later from wherever its run lies by then.
    LATE_PARKING = 8
    # Positions that differ only in which host carries which run count as one, see klondike_env.solver.columns.any_tail.
    # Any build rule, but only where any tail may be moved.
    EXCHANGES = 16


ALL = Pruning.SAFE | Pruning.EARLIEST | Pruning.LATE_GAPS | Pruning.LATE_PARKING | Pruning.EXCHANGES


class SmallSearch(NamedTuple):
    """The buffers of searches within a limit of nodes, for kernels."""

    frames: np.ndarray
    moves: np.ndarray
    slots: np.ndarray
    counters: np.ndarray
    cards: np.ndarray
    packed: np.ndarray
    limit: int

    @classmethod
    def of(cls, nodes: int, rules: Rules) -> SmallSearch:
        """Buffers for searches of at most so many nodes each."""
        game = make_game(rules.params(), 0, ALL)
        n_words = N_WORDS + N_COLUMNS if game.by_columns else N_WORDS
        return cls(
            frames=np.zeros((min(nodes + 2, _SMALL_DEPTH), n_words), dtype=np.int64),
            moves=np.zeros(_SMALL_MOVES, dtype=np.int64),
            slots=np.zeros(1 << (2 * nodes).bit_length(), dtype=np.uint64),
            counters=np.zeros(N_COUNTERS, dtype=np.int64),
            cards=np.zeros((4, 64), dtype=np.int64),
            packed=np.array(game, dtype=np.int64),
            limit=nodes,
        )


@kernel
def judge(states: np.ndarray, i: int, rules: RuleParams, buffers: SmallSearch) -> int:
    """Search from a sound record within the limit: LOST, OPEN or WON."""
    frames, moves, slots, counters, cards, packed, limit = buffers
    status = search_record(states, i, rules, frames, moves, slots, counters, cards, packed, limit)
    if status == SOLVED:
        return verdicts.WON
    return verdicts.LOST if status == UNSOLVABLE else verdicts.OPEN


class _Search:
    """One depth-first search: the arrays of the kernel, which grow as it needs."""

    def __init__(self, words: np.ndarray, cards: np.ndarray, game: Game, max_bytes: int) -> None:
        self._cards, self._game, self._max_bytes = cards, game, max_bytes
        self._packed = np.array(game, dtype=np.int64)
        self._frames = np.zeros((_FIRST_FRAMES, len(words)), dtype=np.int64)
        self._frames[0] = words
        self._moves = np.zeros(_FIRST_MOVES, dtype=np.int64)
        self._slots = np.zeros(_FIRST_SLOTS, dtype=np.uint64)
        self._counters = np.zeros(N_COUNTERS, dtype=np.int64)
        self._counters[DEPTH] = -1

    @property
    def is_main(self) -> bool:
        """Whether moves are tried in the usual order."""
        return self._game.shuffle == 0

    @property
    def nodes(self) -> int:
        """Positions visited so far."""
        return int(self._counters[NODES])

    def run(self, nodes: int) -> int:
        """Go on for at most so many nodes: SOLVED, UNSOLVABLE, PAUSED, or MORE_SLOTS without memory."""
        limit = self.nodes + nodes
        while True:
            arrays = self._frames, self._moves, self._slots, self._counters, self._cards, self._packed
            status = search(*arrays, limit)
            if status not in (MORE_FRAMES, MORE_MOVES, MORE_SLOTS):
                return status
            if not self._grow(status):
                return MORE_SLOTS

    def _grow(self, status: int) -> bool:
        """Double the array that is full; whether the memory allows that, old and new one together."""
        full = {MORE_FRAMES: self._frames, MORE_MOVES: self._moves, MORE_SLOTS: self._slots}[status]
        if self._frames.nbytes + self._moves.nbytes + self._slots.nbytes + 2 * full.nbytes > self._max_bytes:
            return False
        if status == MORE_FRAMES:
            self._frames = np.concatenate([full, np.zeros_like(full)])
        elif status == MORE_MOVES:
            self._moves = np.concatenate([full, np.zeros_like(full)])
        else:
            self._slots = np.zeros(2 * len(full), dtype=np.uint64)
            enter_all(full, self._slots, self._game.late_bits)
        return True

    def line(self) -> list[int]:
        """The moves from the start to the present position."""
        return self._frames[1 : int(self._counters[DEPTH]) + 1, MOVE].tolist()


class ColumnSearch:
    """A search for a win from one position; the same calls always give the same results.

    Args:
        record: one STATE record, such as a row of `Games.states`; all its cards are read, the counters of
            moves and steps are not.
        rules: the rules of its game; all are supported.
        pruning: the ways to visit fewer positions.
        max_bytes: memory for the positions visited and the line now tried; at the default some 25 million
            positions.

    Attributes:
        nodes: positions visited so far.
        exhausted: whether the memory is used up, so that going on is of no use.

    Raises:
        ValueError: the record is not possible under the rules, or does not show all cards.
    """

    def __init__(
        self, record: np.ndarray | np.void, rules: Rules, *, pruning: Pruning = ALL, max_bytes: int = 500_000_000
    ) -> None:
        check_record(record, rules)
        self._record = np.atleast_1d(np.asarray(record)).copy()
        self._rules = rules
        self._max_bytes = check_whole_number("max_bytes", max_bytes, 1)
        self._verdict = PAUSED
        self.nodes = 0
        self.exhausted = False
        self._read(pruning)
        self._turns = self._take_turns()
        self._search, self._left = next(self._turns)

    def _read(self, pruning: Pruning) -> None:
        params = self._rules.params()
        words, self._cards = read_record(self._record[0], params)
        settle_talon(words, params.draw_count)
        self._game = make_game(params, int(words[REDEALS]), pruning)
        self._words = words if self._game.by_columns else words[:N_WORDS]

    def _take_turns(self) -> Iterator[tuple[_Search, int]]:
        """The searches whose turn it is, and for how many nodes."""
        main = _Search(self._words, self._cards, self._game, self._max_bytes - self._max_bytes // _ATTEMPT_MEMORY)
        stretch, shuffle = _FIRST_STRETCH, 0
        while True:
            yield main, stretch
            for _ in range(_ATTEMPTS):
                shuffle += 1
                game = self._game._replace(shuffle=shuffle)
                attempt = _Search(self._words, self._cards, game, self._max_bytes // _ATTEMPT_MEMORY)
                yield attempt, max(stretch // _ATTEMPT_SHARE, _SHORTEST_ATTEMPT)
            stretch *= _STRETCH_FACTOR

    def run(self, nodes: int) -> str:
        """Go on for at most so many more nodes.

        Returns:
            "solved", "unsolvable", or "undecided" if more can be done, unless `exhausted`.

        Raises:
            ValueError: `nodes` is no positive whole number.
        """
        left = check_whole_number("nodes", nodes, 1)
        while left > 0 and self._verdict == PAUSED and not self.exhausted:
            if self._left <= 0:
                self._search, self._left = next(self._turns)
            before = self._search.nodes
            status = self._search.run(min(left, self._left))
            done = self._search.nodes - before
            self.nodes, left, self._left = self.nodes + done, left - done, self._left - done
            self._note(status)
        return _VERDICTS.get(self._verdict, verdicts.UNDECIDED)

    def _note(self, status: int) -> None:
        """Note how a turn of a search ended."""
        if status != MORE_SLOTS:
            self._verdict = status
        elif self._search.is_main:
            self.exhausted = True
        else:
            self._left = 0

    def actions(self) -> list[int]:
        """Environment actions from the position to a win, stock taps included.

        Raises:
            ValueError: no win has been found.
        """
        if self._verdict != SOLVED:
            raise ValueError("there is no line to a win; call run until it returns 'solved'")
        replay = Replay(self._record[0], self._rules, bool(self._game.by_columns))
        for move in self._search.line():
            replay.play(move)
        check_line(self._record, self._rules, replay.actions)
        return replay.actions


def make_game(params: RuleParams, redeals: int, pruning: Pruning) -> Game:
    """The game of these rules, of which so many redeals are left, or ENOUGH."""
    return Game(
        build=params.build,
        gap_cards=gap_cards(params),
        draw_count=params.draw_count,
        worry_back=params.worry_back,
        whole_runs=params.whole_runs,
        redeals=redeals,
        late_bits=latest(redeals).bit_length(),
        by_columns=int(bool(params.whole_runs) or Pruning.EXCHANGES not in pruning),
        safe=int(Pruning.SAFE in pruning),
        earliest=int(Pruning.EARLIEST in pruning),
        late_gaps=int(Pruning.LATE_GAPS in pruning),
        late_parking=int(Pruning.LATE_PARKING in pruning),
        shuffle=0,
    )


def check_line(record: np.ndarray, rules: Rules, actions: list[int]) -> None:
    """Play a line by the engine.

    Raises:
        AssertionError: an action is not legal, or the line does not win.
    """
    if record["foundation"].sum() == 52:
        return
    games = Games(1, rules, stall_limit=None, masks=False)
    start = record.copy()
    start["outcome"] = PLAYING
    games.resume(start)
    for action in actions:
        games.step(np.array([action]))
        assert not games.illegal[0], f"a line found is not legal at action {action}"
    assert games.outcomes[0] == WON, "a line found does not win"
