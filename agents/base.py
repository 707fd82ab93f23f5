"""What an agent is: a player of many games at once who sees views, never the hidden cards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np

from klondike_env.rules import Rules

Talon = Literal["draw", "reach"]
PlayMode = Literal["argmax", "sampled"]
PLAY_MODES: tuple[PlayMode, ...] = ("argmax", "sampled")
TALON_CHOICES = ("draw", "reach", "auto")


class Agent(ABC):
    """A player of a batch of games, one game in each row.

    A subclass needs only `act`:

        class FirstLegal(Agent):
            name = "first legal"

            def act(self, views, masks):
                return masks.argmax(axis=1)

    Attributes:
        name: how the agent is called in tables and results.
        talon: the talon mode it plays in: "draw" (draws are actions), "reach" (seen talon cards are played
            directly) or "auto" (reach where redeals are unlimited, else draw).
        no_repeats: whether actions that lead back to a visited position are to be masked.
        needs_masks: whether it reads `masks`; without them games run faster.
        play: "argmax" or "sampled" for a network, None for any other agent; stated in results.
    """

    name: str = "agent"
    talon: str = "auto"
    no_repeats: bool = True
    needs_masks: bool = True
    play: PlayMode | None = None

    def start(self, n_games: int, rules: Rules, seed: int) -> None:  # noqa: B027 - optional for subclasses
        """Get ready to play `n_games` rows under `rules`; all randomness must come from `seed`.

        If random numbers depend on the seed and the view alone, as in `klondike_env.agents.chance`, results are the
        same for any number of workers and rows. An agent is started more than once, for some of the deals each time.

        Keep what you remember of games in arrays of length `n_games`. Each row is used for one game after another:
        a row whose `views["steps"]` is 0 holds a fresh game.
        """

    @abstractmethod
    def act(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Choose an action in every row.

        Args:
            views: STATE[n_games], the games as the players see them: unseen cards are UNSEEN.
            masks: int8[n_games, 313], 1 where an action is legal; int8[0, 313] when `needs_masks` is False.

        Returns:
            int[n_games], action ids, or RESIGN to give a game up. Rows whose `views["outcome"]` is not
            PLAYING have no game in play; what is returned for them is ignored.
        """

    def talon_for(self, rules: Rules) -> Talon:
        """The talon mode under these rules, "auto" resolved.

        Raises:
            ValueError: `talon` is none of the three words.
        """
        if self.talon == "draw":
            return "draw"
        if self.talon == "reach":
            return "reach"
        if self.talon == "auto":
            return rules.auto_talon
        raise ValueError(f"talon of agent {self.name!r} is {self.talon!r}; allowed: {', '.join(TALON_CHOICES)}")


class KernelAgent(Agent):
    """An agent that remembers nothing, and whose kernel decides for all rows at once."""

    @staticmethod
    @abstractmethod
    def choose_all(views: np.ndarray, masks: np.ndarray, seed: int, actions: np.ndarray) -> None:
        """Choose an action in every game in play; actions: int64[n_games], overwritten there."""

    def start(self, n_games: int, rules: Rules, seed: int) -> None:
        """See `Agent.start`."""
        self._seed = seed
        self._actions = np.zeros(n_games, dtype=np.int64)

    def act(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See `Agent.act`."""
        self.choose_all(views, masks, self._seed, self._actions)
        return self._actions
