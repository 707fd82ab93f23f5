"""A batch of games: its arrays, and a thin layer over the kernels.

The Gymnasium environments, evaluation and training all play through `Games`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from klondike_env.cards import N_CARDS
from klondike_env.checks import check_choice, check_flag, check_whole_number
from klondike_env.deals import CUSTOM_DEAL, check_deck, decks_of
from klondike_env.engine.actions import N_ACTIONS
from klondike_env.engine.actions import name as action_name
from klondike_env.engine.batch import FRESH_START, NO_ACTION, TURN, deal_games, open_games, step_games
from klondike_env.engine.determinize import determinize_games, draw_seeds
from klondike_env.engine.faults import check_record
from klondike_env.engine.legal import N_MOVE_SETS
from klondike_env.engine.restore import index_records, settle_records
from klondike_env.engine.sampling import sample_actions
from klondike_env.engine.saving import SavedGame, read_game, write_game, write_header
from klondike_env.engine.setup import NO_LIMIT, Options, Setup, pack
from klondike_env.engine.state import LOST, OUTCOME_NAMES, PLAYING, STALLED, STATE, TRUNCATED, WON, new_states
from klondike_env.engine.threads import ALL_ROWS, rows_of, run_sliced
from klondike_env.engine.views import write_views
from klondike_env.reward import SCHEMES, scheme
from klondike_env.rules import Rules

DEFAULT_STALL_LIMIT = 250
TALON_MODES = ("draw", "reach")
_FIRST_CAPACITY = 64
_WHY_OVER = {
    WON: "all cards are on the foundations",
    LOST: "no card can be moved, now or with any card that drawing can reach",
    STALLED: "its steps without progress have reached the stall limit",
    TRUNCATED: "its steps have reached the step limit",
}


class Games:
    """A batch of `n` games under the same rules, stepped together.

    Args:
        n: number of games, 1 or more.
        rules: the rules of all of them.
        talon: "draw" (play the waste's top card only) or "reach" (also every seen talon card that
            drawing can reach; the draws this implies are made and counted).
        no_repeats: mask actions that lead back to a position visited since the last progress.
        auto_finish: end a game as won once nothing is face down and the talon is free.
        stall_limit: steps in a row without progress that end a game as stalled; None for no limit.
        step_limit: steps that end a game as truncated; None for no limit.
        reward: a scheme of `klondike_env.reward`.
        masks: whether to keep action masks; without them `masks` has no rows and steps are faster.
        threads: threads that share the work of a step, worth their cost from a few thousand games on.

    Attributes:
        states: STATE[n], the games; see `klondike_env.engine.state`.
        turns: TURN[n], legal moves and results of the last steps; see `klondike_env.engine.batch`.
        outcomes: uint8[n], PLAYING, WON and so on of `klondike_env.engine.state`; a view into the states.
        moves: int32[n], the move counters; a view into the states.
        foundations: uint8[n, 4], cards on each foundation; a view into the states.
        masks: int8[n, 313], 1 where an action is legal; all ones once a game has ended.
        rewards: float32[n], of the last step.
        illegal: bool[n], whether the last step's action was refused.
        deals: int64[n], the deal numbers, -1 for custom decks and positions. They determine the hidden cards.

    Raises:
        ValueError: an argument has a value that is not allowed.
    """

    def __init__(
        self,
        n: int,
        rules: Rules,
        *,
        talon: str = "draw",
        no_repeats: bool = False,
        auto_finish: bool = False,
        stall_limit: int | None = DEFAULT_STALL_LIMIT,
        step_limit: int | None = None,
        reward: str = "win",
        masks: bool = True,
        threads: int = 1,
    ) -> None:
        n = check_whole_number("the number of games", n, 1)
        self.rules = rules
        options = {
            "talon": check_choice("talon", talon, TALON_MODES),
            "no_repeats": check_flag("no_repeats", no_repeats),
            "auto_finish": check_flag("auto_finish", auto_finish),
            "stall_limit": check_limit("stall_limit", stall_limit),
            "step_limit": check_limit("step_limit", step_limit),
            "reward": check_choice("reward", reward, tuple(SCHEMES)),
        }
        self._header = write_header({**rules.to_dict(), **options})
        self.setup = Setup(
            rules=rules.params(),
            options=Options(
                reach=int(talon == "reach"),
                no_repeats=int(no_repeats),
                auto_finish=int(auto_finish),
                stall_limit=_as_option(stall_limit),
                step_limit=_as_option(step_limit),
            ),
            scheme=scheme(reward),
        )
        self.threads = check_whole_number("threads", threads, 1)
        self._packed = pack(self.setup)
        self.states = new_states(n)
        self.deals = np.full(n, CUSTOM_DEAL, dtype=np.int64)
        self.masks = np.ones((n if masks else 0, N_ACTIONS), dtype=np.int8)
        self.turns = np.zeros(n, dtype=TURN)
        self._visited = np.zeros((n, _FIRST_CAPACITY if no_repeats else 0), dtype=np.uint64)
        self._views = new_states(n)
        self._name_fields()

    def _name_fields(self) -> None:
        """Set attributes that are views into fields of the records."""
        self.outcomes = self.states["outcome"]
        self.moves = self.states["moves"]
        self.foundations = self.states["foundation"]
        self.rewards = self.turns["reward"]
        self.illegal = self.turns["illegal"]
        self._visited_counts = self.turns["visited_count"]

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        """Restore a pickled or copied batch. Its attributes that were views are separate arrays and are made again."""
        self.__dict__.update(attributes)
        self._name_fields()

    def __len__(self) -> int:
        return len(self.states)

    @property
    def over(self) -> np.ndarray:
        """Which games have ended: bool[n]."""
        return self.outcomes != PLAYING

    def deal(self, deals: Any, rows: Any = None) -> None:
        """Start games with the given deal numbers. deals: int[m]; rows: int[m], all rows by default.

        Raises:
            ValueError: a deal number is not 0 to 2**53 - 1.
        """
        self._start(decks_of(deals), deals, rows)

    def deal_decks(self, decks: Any, rows: Any = None) -> None:
        """Start games with custom decks. decks: int[m, 52] in dealing order; rows: int[m], all by default.

        Raises:
            ValueError: a deck does not hold every card once.
        """
        self._start(np.stack([check_deck(deck) for deck in decks]), np.full(len(decks), CUSTOM_DEAL), rows)

    def _start(self, decks: np.ndarray, deals: Any, rows: Any) -> None:
        rows = self._rows(rows)
        if len(decks) != len(rows):
            raise ValueError(f"{len(decks)} deals are given for {len(rows)} games")
        deal_games(self.states, self.turns, rows, decks, self._packed)
        self._open(rows)
        self.deals[rows] = deals

    def _open(self, rows: np.ndarray) -> None:
        """Find the legal moves of games that were dealt or go on from a record."""
        open_games(self.states, self.turns, self._visited, self.masks, rows, self._packed)

    def step(
        self, actions: np.ndarray, active: np.ndarray | None = None, then: Callable[[slice], Any] | None = None
    ) -> int:
        """Play one action in each game. Games that have ended are left alone.

        Args:
            actions: int64[n], each 0 to 312; other numbers are refused like illegal actions.
            active: bool[n]; where it is False the game is left alone. All are active by default.
            then: a function such as `Observer.follower` returns. Each thread calls it with the slice of rows that
                it has stepped.

        Returns:
            How many games ended with this step.

        Raises:
            ValueError: `actions` is not one whole number for each game, or `active` is not one bool for each.
        """
        actions = self._one_each("actions", actions, np.dtype(np.int64))
        if active is not None:
            actions = np.where(self._one_each("active", active, np.dtype(np.bool_)), actions, NO_ACTION)
        self._make_room()

        def play(rows: slice) -> int:
            arrays = (self.states, self.turns, self._visited, self.masks, actions)
            states, turns, visited, masks, chosen = rows_of(arrays, rows)
            ended = step_games(states, turns, visited, masks, chosen, self._packed)
            if then is not None:
                then(rows)
            return ended

        return sum(run_sliced(self.threads, len(self), play)) if self.threads > 1 else play(ALL_ROWS)

    def _one_each(self, name: str, values: Any, dtype: np.dtype[Any]) -> np.ndarray:
        """Return the values as an array of this dtype, one for each game; kernels do not check their arguments.

        Raises:
            ValueError: the values are of another kind, or not one for each game.
        """
        array = np.asarray(values)
        if array.dtype == dtype and array.shape == (len(self),):
            return array
        if array.dtype.kind not in ("iu" if dtype.kind == "i" else dtype.kind) or array.shape != (len(self),):
            shown = f"{array.dtype} of shape {array.shape}"
            raise ValueError(f"{name} are {shown}; allowed: {dtype} of shape ({len(self)},), one for each game")
        return array.astype(dtype)

    def random_actions(self, generator: np.random.Generator) -> np.ndarray:
        """A uniformly random legal action for each game: int64[n]; meaningless where a game has ended."""
        actions = np.empty(len(self), dtype=np.int64)
        uniforms = generator.random(len(self))
        run_sliced(
            self.threads, len(self), lambda rows: sample_actions(self.turns[rows], uniforms[rows], actions[rows])
        )
        return actions

    def forfeit(self, rows: np.ndarray) -> None:
        """End the games of some rows as lost. rows: int[m]."""
        self.outcomes[rows] = LOST
        if len(self.masks):
            self.masks[rows] = 1

    def _make_room(self, count: int = 0) -> None:
        """Double the room for visited positions until `count` fit, and one more than any game has visited."""
        n, capacity = self._visited.shape
        while capacity and max(count, int(self._visited_counts.max()) + 1) > capacity:
            self._visited = np.concatenate([self._visited, np.zeros((n, capacity), dtype=np.uint64)], axis=1)
            capacity *= 2

    def views(self) -> np.ndarray:
        """What a player knows of each game: STATE[n] with unseen cards overwritten. The next call reuses the array."""
        run_sliced(self.threads, len(self), lambda rows: write_views(self.states[rows], self._views[rows]))
        return self._views

    def resume(self, records: Any, rows: Any = None) -> None:
        """Play games on from records; no earlier position counts as visited.

        Args:
            records: STATE[m], or one record for all rows. They must be possible under these rules and not
                over, like the records of `states` during a game; this is not checked, but `start_positions`
                does. Views may be resumed too, but not stepped before `shuffle_unseen` has filled them in.
            rows: int[m]; all rows by default.

        Raises:
            ValueError: the number of records is not that of the rows, or they are not records.
        """
        rows = self._rows(rows)
        self.states[rows] = _records(records, len(rows))
        self.deals[rows] = CUSTOM_DEAL
        versions = self.turns["version"][rows]
        self.turns[rows] = np.zeros((), dtype=TURN)
        self.turns["version"][rows] = versions
        self._open(rows)

    def start_positions(self, records: Any, rows: Any = None) -> None:
        """Play games on from positions of any origin; nothing changes unless all positions can be played.

        Args:
            records: STATE[m], or one record for all rows, such as `klondike_env.position.parse_position`
                gives. `place`, `row`, `face_up` and `outcome` are computed from the rest.
            rows: int[m]; all rows by default.

        Raises:
            ValueError: a position is impossible under the rules, or over; the message says why.
        """
        rows = self._rows(rows)
        states = _records(records, len(rows)).copy()
        for record in states:
            check_record(record, self.rules)
        index_records(states)
        settle_records(states, self._packed, np.empty(N_MOVE_SETS, dtype=np.int64))
        for outcome in states["outcome"].tolist():
            if outcome != PLAYING:
                raise ValueError(f"the position is over ({OUTCOME_NAMES[outcome]}): {_WHY_OVER[outcome]}")
        self.resume(states, rows)

    def get_state(self, row: int = 0) -> bytes:
        """One game as bytes for `set_state`: all of its record, the positions visited, the last reward.

        The bytes hold the hidden cards. They are safe to load from any source, and fit only games with the
        same rules and options.
        """
        row = check_whole_number("row", row, 0, len(self) - 1)
        turn = self.turns[row]
        visited = self._visited[row, : int(turn["visited_count"])]
        game = SavedGame(self.states[row : row + 1], visited, self.deals[row], turn["reward"], turn["illegal"])
        return write_game(game, self._header)

    def set_state(self, state: bytes, row: int = 0) -> None:
        """Restore a game from the bytes of `get_state`.

        Raises:
            ValueError: the bytes are damaged, or the game was saved under other rules or options.
        """
        row = check_whole_number("row", row, 0, len(self) - 1)
        game = read_game(state, self._header)
        check_record(game.record, self.rules)
        index_records(game.record)
        self._make_room(len(game.visited) + 1)
        self.states[row] = game.record[0]
        self.deals[row] = game.deal
        self.turns[row]["reward"] = game.reward
        self.turns[row]["illegal"] = game.illegal
        self.turns[row]["visited_count"] = len(game.visited)
        self._visited[row, : len(game.visited)] = game.visited
        self._open(np.array([row]))

    def take(self, rows: Any) -> Games:
        """A new batch with copies of some games; a row may be named more than once. rows: int[m]."""
        rows = self._rows(rows)
        taken = copy.copy(self)
        taken.states, taken.turns = _pick(self.states, rows), _pick(self.turns, rows)
        taken.deals, taken._visited = self.deals[rows], self._visited[rows]
        taken.masks = self.masks[rows] if len(self.masks) else self.masks
        taken._views = new_states(len(rows))
        taken._name_fields()
        return taken

    def copy_rows(self, sources: Any, targets: Any, origin: Games | None = None) -> None:
        """Overwrite games with copies of other games, from this batch or one with the same rules and options.

        Args:
            sources: int[m], or one row for all targets.
            targets: int[m], rows of this batch.
            origin: the batch of the sources; this one by default.

        Raises:
            ValueError: a row is out of range, the numbers of sources and targets differ, or the other batch has
                other rules or options.
        """
        origin = self if origin is None else origin
        sources, targets = origin._rows(sources), self._rows(targets)
        if len(sources) not in (1, len(targets)):
            raise ValueError(f"there are {len(sources)} sources for {len(targets)} targets")
        if origin.setup != self.setup or bool(len(origin.masks)) != bool(len(self.masks)):
            raise ValueError("the other games have other rules or options; copy rows of games that are alike")
        self._make_room(origin._visited.shape[1])
        _as_bytes(self.states)[targets] = _as_bytes(origin.states)[sources]
        versions = self.turns["version"][targets]
        _as_bytes(self.turns)[targets] = _as_bytes(origin.turns)[sources]
        self.turns["version"][targets] = versions + FRESH_START
        self.deals[targets] = origin.deals[sources]
        self._visited[targets, : origin._visited.shape[1]] = origin._visited[sources]
        if len(self.masks):
            self.masks[targets] = origin.masks[sources]

    def shuffle_unseen(self, rng: Any, rows: Any = None) -> None:
        """Determinize games in place: their unseen cards are shuffled uniformly over the unseen places.

        What the player knows, the legal moves and the positions visited stay as they are; the deal
        number becomes -1.

        Args:
            rng: a numpy Generator, or a whole number as a seed.
            rows: int[m]; all rows by default.

        Raises:
            ValueError: a row is out of range, or `rng` is neither a Generator nor a seed.
        """
        rows = self._rows(rows)
        seeds, cards = draw_seeds(rng, len(rows)), np.zeros(N_CARDS, dtype=np.uint8)
        determinize_games(self.states, self.turns, self._visited, rows, seeds, cards)
        self.deals[rows] = CUSTOM_DEAL

    def _rows(self, rows: Any) -> np.ndarray:
        """Rows as int64[m]: all rows for None, one row for a whole number.

        Raises:
            ValueError: a row is not a whole number from 0 to n - 1.
        """
        if rows is None:
            return np.arange(len(self))
        array = np.atleast_1d(rows)
        if array.ndim != 1 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
            raise ValueError(f"rows are {rows!r}; allowed: whole numbers from 0 to {len(self) - 1}")
        for row in array[(array < 0) | (array >= len(self))][:1].tolist():
            check_whole_number("row", row, 0, len(self) - 1)
        return array.astype(np.int64)


def _as_bytes(records: np.ndarray) -> np.ndarray:
    """Records as rows of bytes, which numpy copies many times faster: uint8[n, k], the same memory."""
    return records.view(np.uint8).reshape(len(records), -1)


def _pick(records: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Copies of some records."""
    return _as_bytes(records).take(rows, axis=0).view(records.dtype)[:, 0]


def _records(records: Any, n: int) -> np.ndarray:
    """Records as STATE[n].

    Raises:
        ValueError: they are not records, or their number is neither one nor `n`.
    """
    array = np.asarray(records)
    if array.dtype != STATE:
        raise ValueError(f"records are of type {array.dtype}; allowed: the STATE of klondike_env.engine.state")
    if array.shape not in ((), (1,), (n,)):
        raise ValueError(f"records have shape {array.shape}; allowed: one, or ({n},)")
    return np.broadcast_to(array, (n,))


def _as_option(limit: int | None) -> int:
    """A limit for the kernels; a limit that the counters cannot reach is NO_LIMIT."""
    return NO_LIMIT if limit is None or limit > np.iinfo(np.int32).max else limit


def check_limit(name: str, value: Any) -> int | None:
    """Return a limit as a Python int, or None.

    Raises:
        ValueError: the limit is neither None nor a positive whole number.
    """
    return None if value is None else check_whole_number(name, value, 1, also=", or None for no limit")


def check_legal(games: Games, chosen: np.ndarray, rows: np.ndarray) -> None:
    """Make sure that the chosen actions of some rows are legal.

    Raises:
        ValueError: one is not; the message names it and the legal ones.
    """
    for row in rows:
        action = int(chosen[row])
        if not (0 <= action < N_ACTIONS and games.masks[row, action]):
            named = f"{action} ({action_name(action)})" if 0 <= action < N_ACTIONS else str(action)
            legal = ", ".join(f"{a} ({action_name(a)})" for a in np.flatnonzero(games.masks[row]).tolist())
            raise ValueError(f"illegal action {named}; legal: {legal}")
