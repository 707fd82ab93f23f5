"""The batch of games as a vector environment of Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

from klondike_env.deals import TRAINING_DEALS
from klondike_env.engine.actions import N_ACTIONS
from klondike_env.engine.games import Games
from klondike_env.engine.state import OUTCOME_NAMES, TRUNCATED, WON
from klondike_env.observation import Observer


class GamesVecEnv(VecEnv):
    """Games on training deals, reset within the step in which they end.

    Args:
        games: the batch; its options decide how games are offered, ended and rewarded.
        seed: of the deals.
    """

    def __init__(self, games: Games, seed: int) -> None:
        self.games = games
        self.observer = Observer("flat", games.setup)
        self.render_mode = None
        super().__init__(len(games), self.observer.space, spaces.Discrete(N_ACTIONS))
        self._generator = np.random.default_rng(seed)
        self._actions = np.zeros(len(games), dtype=np.int64)
        self._returns = np.zeros(len(games), dtype=np.float64)

    def reset(self) -> np.ndarray:
        """Start a fresh game in every row; the observations, float32[n, k]."""
        self._deal(np.arange(self.num_envs))
        return self.observer.follow(self.games).copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Note the actions: int[n]."""
        self._actions = actions.astype(np.int64)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play the actions; observations (of the next game where one has ended), rewards, ends and infos."""
        self.games.step(self._actions)
        rewards, over = self.games.rewards.copy(), self.games.over
        self._returns += rewards
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(over)
        if len(ended) > 0:
            self._tell_ends(ended, infos)
            self._deal(ended)
        return self.observer.follow(self.games).copy(), rewards, over, infos

    def action_masks(self) -> np.ndarray:
        """The legal actions: bool[n, 313]."""
        return self.games.masks.astype(bool)

    def _deal(self, rows: np.ndarray) -> None:
        self._returns[rows] = 0.0
        self.games.deal(self._generator.integers(TRAINING_DEALS.start, TRAINING_DEALS.stop, size=len(rows)), rows)

    def _tell_ends(self, ended: np.ndarray, infos: list[dict[str, Any]]) -> None:
        """Add to the infos what Stable-Baselines3 wants to know of games that have ended."""
        states = self.games.states[ended]
        observations = self.observer.flat(states)
        for k, row in enumerate(ended):
            outcome = int(states["outcome"][k])
            infos[row] = {
                "terminal_observation": observations[k],
                "TimeLimit.truncated": outcome == TRUNCATED,
                "is_success": outcome == WON,
                "outcome": OUTCOME_NAMES[outcome],
                "episode": {"r": float(self._returns[row]), "l": int(states["steps"][k])},
            }

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> Any:
        """Call a method for the rows of `indices`; only `action_masks` can be called."""
        if method_name != "action_masks":
            raise AttributeError(f"no such method: {method_name!r}; known: 'action_masks'")
        return self.action_masks()[list(self._get_indices(indices))]

    def has_attr(self, attr_name: str) -> bool:
        """Whether the games have an attribute or method of this name."""
        return attr_name in ("action_masks", "render_mode")

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The attribute of each of the rows of `indices`."""
        if attr_name != "render_mode":
            raise AttributeError(f"no such attribute: {attr_name!r}; known: 'render_mode'")
        return [None for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Refuse: games have no attributes to set."""
        raise AttributeError(f"{attr_name!r} cannot be set; make a batch of games with the options you want")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: int | Iterable[int] | None = None) -> list[bool]:
        """No row is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Start the deals of the next games from a seed."""
        self._generator = np.random.default_rng(seed)
        return [seed] * self.num_envs

    def close(self) -> None:
        """Nothing to close."""
