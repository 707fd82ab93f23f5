"""Observation spaces, and the observer that fills them."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from klondike_env.cards import N_CARDS
from klondike_env.engine.actions import N_ACTIONS
from klondike_env.engine.outcome import Setup
from klondike_env.engine.state import new_states
from klondike_env.observation.encoding import encode_games, update_games
from klondike_env.observation.fields import (
    CARD_HIGHS,
    HIGHS,
    N_CARD_CODES,
    N_CARD_FIELDS,
    N_CODES,
    N_TABLE_CODES,
    TABLE_HIGHS,
)

FORMS = ("flat", "cards", "dict")
# What a code is multiplied with: nothing changes in the forms of codes, and the flat form is 0 to 1.
_CODE_SCALES = np.ones(N_CODES, dtype=np.uint8)
_FLAT_SCALES = (1.0 / HIGHS).astype(np.float32)


def single_space(form: str) -> spaces.Space[Any]:
    """The observation space of one game.

    Raises:
        ValueError: there is no such form.
    """
    if form not in FORMS:
        raise ValueError(f"observation is {form!r}; allowed: {', '.join(FORMS)}")
    if form == "flat":
        return spaces.Box(0.0, 1.0, (N_CODES,), np.float32)
    fields: dict[str, spaces.Space[Any]] = {
        "cards": spaces.Box(0, np.tile(CARD_HIGHS, (N_CARDS, 1)), (N_CARDS, N_CARD_FIELDS), np.uint8),
        "table": spaces.Box(0, TABLE_HIGHS, (N_TABLE_CODES,), np.uint8),
    }
    if form == "dict":
        fields["action_mask"] = spaces.MultiBinary(N_ACTIONS)
    return spaces.Dict(fields)


class Observer:
    """Writes the observations of a batch in one form.

    Args:
        form: "flat", "cards" or "dict".
        setup: that of the games; the running score is shown where the reward scheme needs it.
        thoughtful: whether hidden cards are shown.

    Raises:
        ValueError: there is no such form.
    """

    def __init__(self, form: str, setup: Setup, *, thoughtful: bool = False) -> None:
        self.form = form
        self.space = single_space(form)
        self._packed = setup.packed()
        self._thoughtful = int(thoughtful)
        self._states = self._known = new_states(0)

    def flat(self, states: np.ndarray) -> np.ndarray:
        """The flat form of a batch: float32[n, N_CODES], a fresh array."""
        out = np.empty((len(states), N_CODES), dtype=np.float32)
        encode_games(states, self._packed, self._thoughtful, _FLAT_SCALES, out)
        return out

    def follow(self, states: np.ndarray) -> np.ndarray:
        """The flat form of a batch that is observed again and again, such as the same games after each step.

        Only what differs from the last call is written, into an array that the next call changes.
        """
        if self._thoughtful:
            return self.flat(states)
        if states is not self._states:
            self._start_following(states)
        update_games(states, self._known, self._words, self._known_words, self._packed, _FLAT_SCALES, self._followed)
        return self._followed

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle or copy holds: it starts to follow games afresh."""
        return self.__dict__ | {"_states": new_states(0), "_known": new_states(0)}

    def _start_following(self, states: np.ndarray) -> None:
        """Get ready for an array that was not followed in the last call; what is known stays so if its size fits."""
        self._states = states
        self._words = states.view(np.uint64).reshape(len(states), -1)
        if len(self._known) != len(states):
            self._known = states.copy()
            self._known_words = self._known.view(np.uint64).reshape(self._words.shape)
            self._followed = self.flat(states)

    def codes(self, states: np.ndarray) -> np.ndarray:
        """The codes of a batch: uint8[n, N_CODES], a fresh array."""
        codes = np.empty((len(states), N_CODES), dtype=np.uint8)
        encode_games(states, self._packed, self._thoughtful, _CODE_SCALES, codes)
        return codes

    def batch(self, states: np.ndarray, masks: np.ndarray) -> Any:
        """The observations of a batch in this observer's form, in fresh arrays; `masks`: int8[n, 313]."""
        if self.form == "flat":
            return self.follow(states).copy()
        codes = self.codes(states)
        observation = {
            "cards": codes[:, :N_CARD_CODES].reshape(-1, N_CARDS, N_CARD_FIELDS),
            "table": codes[:, N_CARD_CODES:],
        }
        if self.form == "dict":
            observation["action_mask"] = masks.copy()
        return observation

    def each(self, states: np.ndarray, masks: np.ndarray) -> list[Any]:
        """The observations of a batch that is not followed, one by one in fresh arrays."""
        if self.form == "flat":
            return [row.copy() for row in self.flat(states)]
        parts = self.batch(states, masks)
        return [{name: part[i].copy() for name, part in parts.items()} for i in range(len(states))]

    def single(self, states: np.ndarray, masks: np.ndarray) -> Any:
        """The observation of the one game of a batch of one, in fresh arrays."""
        if self.form == "flat":
            return self.follow(states)[0].copy()
        return {name: part[0] for name, part in self.batch(states, masks).items()}
