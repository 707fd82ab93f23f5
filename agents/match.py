"""Playing: one agent plays a list of deals, many games at once; a row whose game ends is dealt the next one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from klondike_env.agents.base import Agent, PlayMode, Talon
from klondike_env.engine.actions import N_ACTIONS, RESIGN, name
from klondike_env.engine.state import WON
from klondike_env.games import DEFAULT_STALL_LIMIT, Games
from klondike_env.rules import Rules

DEFAULT_BATCH = 1024

Watch = Callable[[np.ndarray], None]


class AgentError(ValueError):
    """An agent broke the protocol; the message names the agent, what it did and where."""


@dataclass(frozen=True)
class Settings:
    """How an agent met the game: environment options, and how a network chose its actions.

    Attributes:
        talon: "draw" (the stock is drawn card by card) or "reach" (seen talon cards played directly).
        no_repeats: whether actions that lead back to a visited position were masked.
        auto_finish: whether games ended as won once the win was certain.
        stall_limit: steps in a row without progress that ended a game as stalled; None for no limit.
        play: "argmax" or "sampled" for a network; None for any other agent.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}  # where results are read from a file

    talon: Talon = "draw"
    no_repeats: bool = False
    auto_finish: bool = True
    stall_limit: int | None = DEFAULT_STALL_LIMIT
    play: PlayMode | None = None


@dataclass(frozen=True)
class PlayedGames:
    """The games of one agent, one entry per deal.

    Attributes:
        outcome: uint8[n], values of `klondike_env.engine.state`; a resigned game counts as lost.
        moves: int[n], the move counter at the end.
        foundation_cards: int[n], 0 to 52, cards on the foundations at the end.
        seconds: wall time of all games together, summed over workers.
    """

    outcome: np.ndarray
    moves: np.ndarray
    foundation_cards: np.ndarray
    seconds: float

    def __post_init__(self) -> None:
        n = len(self.outcome)
        if n == 0:
            raise ValueError("no games were played; a result needs at least one")
        for field in ("moves", "foundation_cards"):
            if len(getattr(self, field)) != n:
                raise ValueError(f"{field} has {len(getattr(self, field))} entries; outcome has {n}")

    def __len__(self) -> int:
        return len(self.outcome)

    @property
    def won(self) -> np.ndarray:
        """bool[n], whether each game was won."""
        return np.asarray(self.outcome == WON)


def settings_of(agent: Agent, rules: Rules) -> Settings:
    """How an agent meets the game under these rules."""
    return Settings(
        talon=agent.talon_for(rules),
        no_repeats=agent.no_repeats,
        auto_finish=True,
        stall_limit=DEFAULT_STALL_LIMIT,
        play=agent.play,
    )


def play_games(
    agent: Agent,
    rules: Rules,
    deals: np.ndarray,
    *,
    batch: int = DEFAULT_BATCH,
    seed: int = 0,
    watch: Watch | None = None,
) -> PlayedGames:
    """Play each deal once, with `auto_finish`, the agent's own talon mode and `no_repeats`.

    Args:
        agent: the player; it is started afresh.
        rules: the rules of all games.
        deals: int64[n], deal numbers, n at least 1.
        batch: how many games are played side by side.
        seed: of the agent's chance.
        watch: called with the outcomes, uint8[m], of games as they end.

    Returns:
        One entry per deal, in the order of `deals`. A resigned game counts as lost.

    Raises:
        AgentError: the agent returned something other than legal actions.
    """
    match = _Match(agent, rules, deals, min(batch, len(deals)))
    agent.start(match.n_rows, rules, seed)
    start = time.perf_counter()
    while match.playing.any():
        ended = match.play_turn()
        if watch is not None and len(ended) > 0:
            watch(match.outcome[ended])
    return PlayedGames(match.outcome, match.moves, match.foundation_cards, time.perf_counter() - start)


class _Match:
    """An agent's games on `deals`: those in play, one a row, and the results of those that have ended."""

    def __init__(self, agent: Agent, rules: Rules, deals: np.ndarray, n_rows: int) -> None:
        settings = settings_of(agent, rules)
        self.agent, self.deals, self.n_rows = agent, deals, n_rows
        self.games = Games(
            n_rows,
            rules,
            talon=settings.talon,
            no_repeats=settings.no_repeats,
            auto_finish=settings.auto_finish,
            stall_limit=settings.stall_limit,
            masks=agent.needs_masks,
        )
        self.playing = np.ones(n_rows, dtype=bool)  # whether each row has a game in play
        self.entry = np.zeros(n_rows, dtype=np.int64)  # the index in `deals` of what each row plays
        self.n_dealt = 0
        self.outcome = np.zeros(len(deals), dtype=np.uint8)
        self.moves = np.zeros(len(deals), dtype=np.int64)
        self.foundation_cards = np.zeros(len(deals), dtype=np.int64)
        self._deal_next(np.arange(n_rows))

    def play_turn(self) -> np.ndarray:
        """Let the agent act once in every row; return the entries of the games that ended, int64[m]."""
        actions = self._ask()
        self.games.forfeit(np.flatnonzero(self.playing & (actions == RESIGN)))
        self.games.step(actions)
        self._check_legal(actions)
        rows = np.flatnonzero(self.playing & self.games.over)
        if len(rows) == 0:
            return rows
        entries = self.entry[rows]
        self._record(rows, entries)
        self._deal_next(rows)
        return entries

    def _ask(self) -> np.ndarray:
        actions = np.asarray(self.agent.act(self.games.views(), self.games.masks))
        if actions.shape != (self.n_rows,) or not np.issubdtype(actions.dtype, np.integer):
            raise AgentError(
                f"agent {self.agent.name!r} returned {actions.dtype}{list(actions.shape)}; "
                f"it must return one integer action for each of {self.n_rows} rows"
            )
        return actions

    def _check_legal(self, actions: np.ndarray) -> None:
        if not self.games.illegal.any():
            return
        row = int(np.flatnonzero(self.games.illegal)[0])
        action = int(actions[row])
        meaning = f" ({name(action)})" if 0 <= action < N_ACTIONS else ""
        raise AgentError(
            f"agent {self.agent.name!r} chose illegal action {action}{meaning} in deal {self.games.deals[row]}, "
            f"step {self.games.states['steps'][row]}; legal actions are 1 in masks, RESIGN (-1) gives up"
        )

    def _record(self, rows: np.ndarray, entries: np.ndarray) -> None:
        self.outcome[entries] = self.games.outcomes[rows]
        self.moves[entries] = self.games.moves[rows]
        self.foundation_cards[entries] = self.games.foundations[rows].sum(axis=1)

    def _deal_next(self, rows: np.ndarray) -> None:
        n_fresh = min(len(rows), len(self.deals) - self.n_dealt)
        fresh = rows[:n_fresh]
        self.playing[rows[n_fresh:]] = False
        self.entry[fresh] = np.arange(self.n_dealt, self.n_dealt + n_fresh)
        self.games.deal(self.deals[self.entry[fresh]], fresh)
        self.n_dealt += n_fresh
