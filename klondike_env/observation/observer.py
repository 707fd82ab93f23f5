"""Observation spaces, and the observer that fills them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces

from klondike_env.cards import N_CARDS
from klondike_env.engine.actions import N_ACTIONS
from klondike_env.engine.setup import Setup, pack
from klondike_env.engine.threads import ALL_ROWS, rows_of, run_sliced
from klondike_env.games import Games
from klondike_env.observation.encoding import ObserverSetup, encode_games, follow_games
from klondike_env.observation.fields import (
    CARD_HIGHS,
    HIGHS,
    N_CARD_FIELDS,
    N_CARD_VALUES,
    N_TABLE_VALUES,
    N_VALUES,
    TABLE_HIGHS,
)

FORMS = ("flat", "cards", "dict")
# What each value is multiplied by: 1 in the forms "cards" and "dict", 1 / highest value in the flat form.
_UNIT_SCALES = np.ones(N_VALUES, dtype=np.uint8)
_FLAT_SCALES = (1.0 / HIGHS).astype(np.float32)
_NOT_SEEN = -2  # no version is one step away from it


def single_space(form: str) -> spaces.Space[Any]:
    """The observation space of one game.

    Raises:
        ValueError: there is no such form.
    """
    if form not in FORMS:
        raise ValueError(f"observation is {form!r}; allowed: {', '.join(FORMS)}")
    if form == "flat":
        return spaces.Box(0.0, 1.0, (N_VALUES,), np.float32)
    fields: dict[str, spaces.Space[Any]] = {
        "cards": spaces.Box(0, np.tile(CARD_HIGHS, (N_CARDS, 1)), (N_CARDS, N_CARD_FIELDS), np.uint8),
        "table": spaces.Box(0, TABLE_HIGHS, (N_TABLE_VALUES,), np.uint8),
    }
    if form == "dict":
        fields["action_mask"] = spaces.MultiBinary(N_ACTIONS)
    return spaces.Dict(fields)


class Observer:
    """Writes the observations of a batch in one form.

    Args:
        form: "flat", "cards" or "dict".
        setup: the setup of the games; the score is shown if it never falls below 0, as under the standard reward.
        thoughtful: whether hidden cards are shown.

    Raises:
        ValueError: there is no such form.
    """

    def __init__(self, form: str, setup: Setup, *, thoughtful: bool = False) -> None:
        self.form = form
        self.space = single_space(form)
        self._packed = pack(ObserverSetup(setup, int(thoughtful)))
        self._scales = _FLAT_SCALES if form == "flat" else _UNIT_SCALES
        self._games: Games | None = None

    def flat(self, states: np.ndarray) -> np.ndarray:
        """The flat form of a batch: float32[n, N_VALUES], a fresh array."""
        return self._encode(states, _FLAT_SCALES)

    def values(self, states: np.ndarray) -> np.ndarray:
        """The unscaled values of a batch: uint8[n, N_VALUES], a fresh array."""
        return self._encode(states, _UNIT_SCALES)

    def _encode(self, states: np.ndarray, scales: np.ndarray) -> np.ndarray:
        out = np.empty((len(states), N_VALUES), dtype=scales.dtype)
        encode_games(states, self._packed, scales, out)
        return out

    def follow(self, games: Games) -> np.ndarray:
        """The observations of games that are observed after every step, in one array that the next call changes.

        After one step only what it changed is written, otherwise everything.

        Returns:
            float32[n, N_VALUES] for the flat form, unscaled values as uint8[n, N_VALUES] for the others.
        """
        run_sliced(games.threads, len(games), self.follower(games))
        return self._followed

    def follower(self, games: Games) -> Callable[[slice], None]:
        """A function that updates the array of `follow` for some rows; `Games.step` calls it in its threads."""
        if games is not self._games:
            self._games = games
            self._versions = np.full(len(games), _NOT_SEEN, dtype=np.int64)
            self._followed = np.empty((len(games), N_VALUES), dtype=self._scales.dtype)
        return self._follow

    def _follow(self, rows: slice) -> None:
        assert self._games is not None  # follower() came first
        arrays = (self._games.states, self._games.turns, self._versions, self._followed)
        states, turns, versions, followed = rows_of(arrays, rows)
        follow_games(states, turns, versions, self._packed, self._scales, followed)

    def batch(self, games: Games) -> Any:
        """The observations of games in this observer's form, in fresh arrays."""
        return self._in_form(self._copy(self.follow(games), games.threads), games.masks)

    def each(self, games: Games, rows: np.ndarray) -> list[Any]:
        """The observations of some games, each in fresh arrays, written from scratch. rows: int64[m]."""
        observations = self._in_form(self._encode(games.states[rows], self._scales), games.masks[rows])
        if self.form == "flat":
            return [row.copy() for row in observations]
        return [{name: part[i].copy() for name, part in observations.items()} for i in range(len(rows))]

    def _in_form(self, values: np.ndarray, masks: np.ndarray) -> Any:
        if self.form == "flat":
            return values
        observation = {
            "cards": values[:, :N_CARD_VALUES].reshape(-1, N_CARDS, N_CARD_FIELDS),
            "table": values[:, N_CARD_VALUES:],
        }
        if self.form == "dict":
            observation["action_mask"] = masks.copy()
        return observation

    def _copy(self, followed: np.ndarray, threads: int) -> np.ndarray:
        """A copy, made by several threads because copying takes as long as everything else."""
        copied = np.empty_like(followed)
        run_sliced(threads, len(followed), lambda rows: np.copyto(copied[rows], followed[rows]))
        return copied

    def single(self, games: Games) -> Any:
        """The observation of the one game of a batch of one, in fresh arrays."""
        if self.form == "flat":
            self.follower(games)(ALL_ROWS)
            return self._followed[0].copy()
        return {name: part[0] for name, part in self.batch(games).items()}
