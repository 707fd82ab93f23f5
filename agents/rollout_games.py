"""Playing games to their end by any agent, for `agents.rollout`: slower than compiled code, but for all of them."""

from __future__ import annotations

import copy

import numpy as np

from agents.base import Agent
from agents.rollout_search import seed_samples
from klondike_env.cards import N_CARDS
from klondike_env.engine.actions import RESIGN
from klondike_env.engine.determinize import determinize_views
from klondike_env.engine.games import Games
from klondike_env.engine.state import WON
from klondike_env.rules import Rules


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
        for k in np.flatnonzero(~searches["over"]).tolist():
            self._sample_row(views, int(rows[k]), searches, k, until)

    def _sample_row(self, views: np.ndarray, row: int, searches: np.ndarray, k: int, until: int) -> None:
        search = searches[k]
        candidates = np.flatnonzero(search["alive"][: search["n_candidates"]])
        states = self._determinized(views, row, int(search["n_samples"]), until)
        won = np.array([self._win(states.copy(), int(search["action"][c])) for c in candidates])
        first = won[0] if candidates[0] == 0 else np.zeros(len(states), dtype=bool)
        search["n_won"] += np.count_nonzero(first)
        for c, wins in zip(candidates.tolist(), won, strict=True):
            search["gained"][c] += np.count_nonzero(wins & ~first)
            search["lost"][c] += np.count_nonzero(first & ~wins)
        search["n_samples"] = until

    def _determinized(self, views: np.ndarray, row: int, start: int, stop: int) -> np.ndarray:
        """The same determinizations that compiled playouts use: STATE[stop - start]."""
        seeds = np.zeros(stop - start, dtype=np.uint64)
        seed_samples(views, row, self._seed, start, seeds)
        states = np.repeat(views[row : row + 1], len(seeds))
        determinize_views(states, seeds, np.zeros(N_CARDS, dtype=np.uint8))
        return states

    def _win(self, states: np.ndarray, action: int) -> np.ndarray:
        """Whether each game is won after an action, bool[n]. states: STATE[n], which may be changed."""
        won = np.zeros(len(states), dtype=bool)
        if action == RESIGN:
            return won
        games = Games(len(states), self._rules, talon=self._talon, auto_finish=True, masks=False)
        games.resume(states)
        games.step(np.full(len(states), action))
        won[games.outcomes == WON] = True
        playing = np.flatnonzero(~games.over)
        if len(playing) > 0:
            won[playing] = self._play_out(games.states[playing])
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
