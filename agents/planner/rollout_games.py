"""Playing games to their end by any agent, for `klondike_env.agents.planner.rollout`: slower than compiled code, but
for all of them.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from klondike_env.agents.base import Agent
from klondike_env.agents.planner.rollout_search import seed_samples
from klondike_env.cards import N_CARDS
from klondike_env.engine.actions import RESIGN
from klondike_env.engine.determinize import determinize_views
from klondike_env.engine.state import WON
from klondike_env.games import Games
from klondike_env.rules import Rules

_ENOUGH_AT_ONCE = 2048  # games that are played side by side, or a little more


@dataclass
class _Playouts:
    """The games of one search: its candidates that are alive, each in the same determinizations.

    Attributes:
        search: SEARCH, counted up.
        candidates: int64[c].
        states: STATE[c, n].
        actions: int64[c, n], what each game goes on with.
    """

    search: np.void
    candidates: np.ndarray
    states: np.ndarray
    actions: np.ndarray

    def count(self, won: np.ndarray) -> None:
        """Count how the games went: bool[c, n]."""
        first = won[0] if self.candidates[0] == 0 else np.zeros(won.shape[1], dtype=bool)
        self.search["n_won"] += np.count_nonzero(first)
        self.search["gained"][self.candidates] += np.count_nonzero(won & ~first, axis=1)
        self.search["lost"][self.candidates] += np.count_nonzero(first & ~won, axis=1)
        self.search["n_samples"] += won.shape[1]


class GamesPlayouts:
    """Games that any agent plays to the end."""

    def __init__(self, base: Agent, rules: Rules, reach: bool, seed: int) -> None:
        self._base, self._rules, self._seed = base, rules, seed
        self._player = copy.deepcopy(base)  # so that the base keeps its memory of the games that are really played
        self._talon = "reach" if reach else "draw"

    def first_plays(self, views: np.ndarray, masks: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """What the agent plays, int64[n]."""
        return np.asarray(self._base.act(views, masks), dtype=np.int64)

    def sample(self, views: np.ndarray, rows: np.ndarray, searches: np.ndarray, until: int) -> None:
        """Sample in each row until there are `until` samples."""
        waiting: list[_Playouts] = []
        for k in np.flatnonzero(~searches["over"]).tolist():
            waiting.append(self._playouts(views, int(rows[k]), searches[k], until))
            if sum(playouts.actions.size for playouts in waiting) >= _ENOUGH_AT_ONCE:
                self._play(waiting)
                waiting.clear()
        self._play(waiting)

    def _playouts(self, views: np.ndarray, row: int, search: np.void, until: int) -> _Playouts:
        """What is to be played in a row."""
        candidates = np.flatnonzero(search["alive"][: search["n_candidates"]])
        states = self._determinized(views, row, int(search["n_samples"]), until)
        actions = np.repeat(search["action"][candidates, None], len(states), axis=1)
        return _Playouts(search, candidates, np.tile(states, (len(candidates), 1)), actions.astype(np.int64))

    def _play(self, waiting: list[_Playouts]) -> None:
        """Play all games of some rows side by side, and count how they went."""
        if not waiting:
            return
        states = np.concatenate([playouts.states.ravel() for playouts in waiting])
        actions = np.concatenate([playouts.actions.ravel() for playouts in waiting])
        won, start = self._win(states, actions), 0
        for playouts in waiting:
            playouts.count(won[start : start + playouts.actions.size].reshape(playouts.actions.shape))
            start += playouts.actions.size

    def _determinized(self, views: np.ndarray, row: int, start: int, stop: int) -> np.ndarray:
        """The same determinizations that compiled playouts use: STATE[stop - start]."""
        seeds = np.zeros(stop - start, dtype=np.uint64)
        seed_samples(views, row, self._seed, start, seeds)
        states = np.repeat(views[row : row + 1], len(seeds))
        determinize_views(states, seeds, np.zeros(N_CARDS, dtype=np.uint8))
        return states

    def _win(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Whether each game is won that goes on with its action, bool[n]; RESIGN loses. states: STATE[n]."""
        won = np.zeros(len(states), dtype=bool)
        played = np.flatnonzero(actions != RESIGN)
        if len(played) == 0:
            return won
        games = Games(len(played), self._rules, talon=self._talon, auto_finish=True, masks=False)
        games.resume(states[played])
        games.step(actions[played])
        won[played] = games.outcomes == WON
        playing = np.flatnonzero(~games.over)
        if len(playing) > 0:
            won[played[playing]] = self._play_out(games.states[playing])
        return won

    def _play_out(self, states: np.ndarray) -> np.ndarray:
        """Whether the agent wins each game, bool[n]. states: STATE[n]."""
        player = self._player
        games = Games(
            len(states),
            self._rules,
            talon=player.talon_for(self._rules),
            no_repeats=player.no_repeats,
            auto_finish=True,
            masks=player.needs_masks,
        )
        games.resume(states)
        player.start(len(games), self._rules, self._seed)
        while not games.over.all():
            actions = np.asarray(player.act(games.views(), games.masks))
            games.forfeit(np.flatnonzero(~games.over & (actions == RESIGN)))
            games.step(actions)
        return games.outcomes == WON
