"""The column search: a search for a win under any rules, all cards known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from klondike_env.cards import N_CARDS
from klondike_env.checks import check_whole_number
from klondike_env.engine.faults import check_record
from klondike_env.engine.state import PLAYING, WON
from klondike_env.games import Games
from klondike_env.rules import Rules
from klondike_env.solver.columns.depth_first import (
    CONTROL,
    FRAMES_FULL,
    MOVES_FULL,
    SLOTS_FULL,
    Buffers,
    begin,
    search,
)
from klondike_env.solver.columns.earliest import enter_all
from klondike_env.solver.columns.nodes import MOVE, N_WORDS, REDEALS, Game, read_record
from klondike_env.solver.columns.pruning import ALL, ColumnPruning, make_game
from klondike_env.solver.columns.reach import settle_talon
from klondike_env.solver.columns.replay import Replay
from klondike_env.solver.verdicts import SOLVED_INDEX, UNDECIDED_INDEX, verdict_of

__all__ = ["ALL", "ColumnPruning", "ColumnSearch"]

_FIRST_FRAMES, _FIRST_MOVES, _FIRST_SLOTS = 1 << 8, 1 << 12, 1 << 12
_ARRAY_THAT_IS = {FRAMES_FULL: "frames", MOVES_FULL: "moves", SLOTS_FULL: "slots"}

# The main search pauses after _FIRST_STRETCH nodes, and each stretch after that is four times as long. In every pause
# short attempts try the moves in other orders, which find many wins after far fewer nodes.
_FIRST_STRETCH, _STRETCH_FACTOR = 4_000, 4
_ATTEMPTS, _ATTEMPT_SHARE, _SHORTEST_ATTEMPT = 8, 16, 500
_ATTEMPT_MEMORY = 8  # an attempt may use an eighth of the memory


class _DepthFirst:
    """One depth-first search, whose arrays grow as it needs."""

    def __init__(self, words: np.ndarray, cards: np.ndarray, game: Game, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self.buffers = Buffers(
            frames=np.zeros((_FIRST_FRAMES, len(words)), dtype=np.int64),
            moves=np.zeros(_FIRST_MOVES, dtype=np.int64),
            slots=np.zeros(_FIRST_SLOTS, dtype=np.uint64),
            control=np.zeros(1, dtype=CONTROL),
            cards=cards,
            game=game,
        )
        self.buffers.frames[0] = words
        begin(self.buffers.control, int(words[REDEALS]))

    @property
    def is_main(self) -> bool:
        """Whether moves are tried in the usual order."""
        return self.buffers.game.shuffle == 0

    @property
    def nodes(self) -> int:
        """Positions searched so far."""
        return int(self.buffers.control["nodes"][0])

    def run(self, nodes: int) -> int:
        """Search at most `nodes` more nodes; return the status, that of a full array only if it cannot grow."""
        self.buffers.control["limit"] = self.nodes + nodes
        while True:
            status = search(self.buffers)
            if status <= UNDECIDED_INDEX or not self._grow(_ARRAY_THAT_IS[status]):
                return status

    def _grow(self, name: str) -> bool:
        """Double the array that is full, if memory allows the old and the new one together; return whether it does."""
        buffers = self.buffers
        full: np.ndarray = getattr(buffers, name)
        in_use = buffers.frames.nbytes + buffers.moves.nbytes + buffers.slots.nbytes
        if in_use + 2 * full.nbytes > self._max_bytes:
            return False
        if name == "slots":
            larger = np.zeros(2 * len(full), dtype=np.uint64)
            enter_all(full, larger, int(buffers.control["late_bits"][0]))
        else:
            larger = np.concatenate([full, np.zeros_like(full)])
        changed: dict[str, Any] = {name: larger}
        self.buffers = buffers._replace(**changed)
        return True

    def line(self) -> list[int]:
        """The moves from the start to the current position."""
        depth = int(self.buffers.control["depth"][0])
        return self.buffers.frames[1 : depth + 1, MOVE].tolist()


class ColumnSearch:
    """A search for a win from one position; the same calls always give the same results.

    Args:
        record: one STATE record, such as a row of `Games.states`; all its cards are read, the counters of
            moves and steps are not.
        rules: the rules of its game; all are supported.
        pruning: the ways to search fewer positions.
        max_bytes: memory for the positions searched and the line being tried; the default is enough for some 25
            million positions.

    Attributes:
        nodes: positions searched so far.
        exhausted: whether the memory is used up, so that the search cannot go on.

    Raises:
        ValueError: the record is not possible under the rules, or does not show all cards.
    """

    def __init__(
        self, record: np.ndarray | np.void, rules: Rules, *, pruning: ColumnPruning = ALL, max_bytes: int = 500_000_000
    ) -> None:
        check_record(record, rules)
        self._record = np.atleast_1d(np.asarray(record)).copy()
        self._rules = rules
        self._max_bytes = check_whole_number("max_bytes", max_bytes, 1)
        self._status = UNDECIDED_INDEX
        self.nodes = 0
        self.exhausted = False
        self._read(pruning)
        self._turns = self._take_turns()
        self._search, self._left = next(self._turns)

    def _read(self, pruning: ColumnPruning) -> None:
        params = self._rules.params()
        words, self._cards = read_record(self._record[0], params)
        settle_talon(words, params.draw_count)
        self._game = make_game(params, pruning)
        self._words = words if self._game.by_columns else words[:N_WORDS]

    def _take_turns(self) -> Iterator[tuple[_DepthFirst, int]]:
        """Take turns: the search that is next, and for how many nodes; forever."""
        main = _DepthFirst(self._words, self._cards, self._game, self._max_bytes - self._max_bytes // _ATTEMPT_MEMORY)
        stretch, shuffle = _FIRST_STRETCH, 0
        while True:
            yield main, stretch
            for _ in range(_ATTEMPTS):
                shuffle += 1
                game = self._game._replace(shuffle=shuffle)
                attempt = _DepthFirst(self._words, self._cards, game, self._max_bytes // _ATTEMPT_MEMORY)
                yield attempt, max(stretch // _ATTEMPT_SHARE, _SHORTEST_ATTEMPT)
            stretch *= _STRETCH_FACTOR

    def run(self, nodes: int) -> str:
        """Search at most `nodes` more nodes.

        Returns:
            "solved" or "unsolvable"; "undecided" if there is more to do, or if `exhausted`.

        Raises:
            ValueError: `nodes` is not a positive whole number.
        """
        left = check_whole_number("nodes", nodes, 1)
        while left > 0 and self._status == UNDECIDED_INDEX and not self.exhausted:
            if self._left <= 0:
                self._search, self._left = next(self._turns)
            before = self._search.nodes
            status = self._search.run(min(left, self._left))
            done = self._search.nodes - before
            self.nodes, left, self._left = self.nodes + done, left - done, self._left - done
            self._record_end(status)
        return verdict_of(self._status)

    def _record_end(self, status: int) -> None:
        """Record how a turn of a search ended."""
        if status <= UNDECIDED_INDEX:
            self._status = status
        elif self._search.is_main:
            self.exhausted = True
        else:
            self._left = 0

    def actions(self) -> list[int]:
        """Actions of the environment from the position to a win, draws included.

        Raises:
            ValueError: no win has been found.
        """
        if self._status != SOLVED_INDEX:
            raise ValueError("there is no line to a win; call run until it returns 'solved'")
        replay = Replay(self._record[0], self._rules, bool(self._game.by_columns))
        for move in self._search.line():
            replay.play(move)
        check_line(self._record, self._rules, replay.actions)
        return replay.actions


def check_line(record: np.ndarray, rules: Rules, actions: list[int]) -> None:
    """Play a line by the engine.

    Raises:
        AssertionError: an action is not legal, or the line does not win.
    """
    if record["foundation"].sum() == N_CARDS:
        return
    games = Games(1, rules, stall_limit=None, masks=False)
    start = record.copy()
    start["outcome"] = PLAYING
    games.resume(start)
    for action in actions:
        games.step(np.array([action]))
        assert not games.illegal[0], f"a line found is not legal at action {action}"
    assert games.outcomes[0] == WON, "a line found does not win"
