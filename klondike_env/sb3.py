"""The games as a vector environment of Stable-Baselines3 and sb3-contrib.

`pip install "klondike-env[sb3]"` brings both libraries; importing this module needs them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled
from gymnasium.vector import AutoresetMode

from klondike_env.checks import check_whole_number
from klondike_env.engine.state import OUTCOME_NAMES, TRUNCATED, WON
from klondike_env.settings import UnknownKeywordError, read_actions
from klondike_env.vector_env import KlondikeVectorEnv

try:
    from stable_baselines3.common.vec_env.base_vec_env import VecEnv
except ImportError as error:
    raise DependencyNotInstalled("stable-baselines3 is not installed; run: pip install 'klondike-env[sb3]'") from error

Indices = int | Iterable[int] | None
# Attributes that all games share, for `get_attr`.
_SHARED_ATTRIBUTES = ("action_space", "observation_space", "render_mode", "rules", "settings")


class KlondikeVecEnv(VecEnv):
    """`num_envs` games stepped together, equal to a `DummyVecEnv` of single environments with the same seed.

    When a game ends, the next one starts within the same step, as Stable-Baselines3 expects.
    `action_masks()` gives the legal actions for the observations that `step` or `reset` has just returned.

    The info of a game in play is an empty dict. The info of a game that has just ended holds
    `terminal_observation`, `TimeLimit.truncated`, `is_success` (won or not), `episode` (return "r" and
    length "l", as a `Monitor` adds them) and the info of the single environment: `deal`, `moves`,
    `foundation`, `outcome`, `illegal_action`.

    Args:
        num_envs: number of games.
        variant: as for `klondike_env.env.KlondikeEnv`.
        seed: game i starts from `seed + i` with the first reset; None for random seeds.
            A model that is given a seed of its own seeds its environment again.
        **keywords: as for `klondike_env.vector_env.KlondikeVectorEnv`.

    Raises:
        ValueError: an argument has a value that is not allowed.
    """

    def __init__(self, num_envs: int, variant: str | None = None, *, seed: int | None = None, **keywords: Any) -> None:
        if "autoreset_mode" in keywords:
            raise UnknownKeywordError("autoreset_mode cannot be chosen: Stable-Baselines3 resets within the step")
        self._envs = KlondikeVectorEnv(num_envs, variant, autoreset_mode=AutoresetMode.DISABLED, **keywords)
        self.games, self.observer = self._envs.games, self._envs.observer
        self.rules, self.settings = self._envs.rules, self._envs.settings
        self.render_mode = self._envs.render_mode
        super().__init__(num_envs, self._envs.single_observation_space, self._envs.single_action_space)
        self._everyone = np.ones(num_envs, dtype=bool)
        self._actions = np.zeros(num_envs, dtype=np.int64)
        self._returns = np.zeros(num_envs, dtype=np.float64)
        if seed is not None:
            self.seed(check_whole_number("seed", seed, 0))

    def reset(self) -> Any:
        """Start a fresh game in every row, with the seeds and options that were set; return the observations.

        Raises:
            ValueError: an option is unknown or has a value that is not allowed.
        """
        named = np.array([bool(options) for options in self._options])
        calls: list[tuple[dict[str, Any], np.ndarray]] = [] if named.all() else [({}, ~named)]
        calls += [(self._options[row], np.arange(self.num_envs) == row) for row in np.flatnonzero(named)]
        for options, rows in calls:
            observations, _ = self._envs.reset(seed=list(self._seeds), options={**options, "reset_mask": rows})
        self._returns[:] = 0.0
        self.reset_infos = self._infos(np.arange(self.num_envs))
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions for `step_wait`: int[num_envs].

        Raises:
            ValueError: the actions are not one whole number for each game.
        """
        self._actions = read_actions(actions)
        if self._actions.shape != (self.num_envs,):
            raise ValueError(f"actions have shape {self._actions.shape}; allowed: ({self.num_envs},)")

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play the actions.

        Returns:
            Observations (of the next game where one has ended), rewards float32[num_envs], ends
            bool[num_envs] and a list of infos, all of them fresh.

        Raises:
            gymnasium.error.ResetNeeded: no games are being played.
            ValueError: an action is illegal and the policy is to raise.
        """
        self.play(self._actions)
        rewards, over = self.games.rewards.copy(), self.games.over
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(over)
        if len(ended) > 0:
            for row, info in zip(ended, self._last_infos(ended), strict=True):
                infos[row] = info
            self.deal_next(ended)
            for row, info in zip(ended, self._infos(ended), strict=True):
                self.reset_infos[row] = info
        return self.observer.batch(self.games), rewards, over, infos

    def play(self, actions: np.ndarray) -> None:
        """Play an action in each game, int64[num_envs]; games that end stay as they are until `deal_next`.

        The two are a step without what it returns, for loops that read `games` and `observer` themselves.
        """
        self._envs.play(actions, self._everyone)
        self._returns += self.games.rewards

    def deal_next(self, rows: np.ndarray) -> None:
        """Start the next games of some rows: int64[m]."""
        self._envs.deal(rows, {})
        self._returns[rows] = 0.0

    def action_masks(self) -> np.ndarray:
        """The legal actions: bool[num_envs, 313], a fresh array."""
        return self._envs.action_masks()

    def _infos(self, rows: np.ndarray) -> list[dict[str, Any]]:
        """The info of the single environment for these rows, without the mask."""
        games = self.games
        columns = {
            "deal": games.deals[rows].tolist(),
            "moves": games.moves[rows].tolist(),
            "foundation": games.foundations[rows].sum(axis=1, dtype=np.int64).tolist(),
            "outcome": [OUTCOME_NAMES[outcome] for outcome in games.outcomes[rows]],
            "illegal_action": games.illegal[rows].astype(bool).tolist(),
        }
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]

    def _last_infos(self, ended: np.ndarray) -> list[dict[str, Any]]:
        """The info that Stable-Baselines3 expects for these rows, whose games have just ended."""
        games, infos = self.games, self._infos(ended)
        last_observations = self.observer.each(games, ended)
        for row, info, observation in zip(ended, infos, last_observations, strict=True):
            info["terminal_observation"] = observation
            info["TimeLimit.truncated"] = bool(games.outcomes[row] == TRUNCATED)
            info["is_success"] = bool(games.outcomes[row] == WON)
            info["episode"] = {"r": float(self._returns[row]), "l": int(games.states["steps"][row])}
        return infos

    def env_method(self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any) -> Any:
        """Call `action_masks` or `render` for the rows of `indices`.

        Raises:
            AttributeError: the method is another one.
        """
        if method_name == "render":
            boards = self._envs.render() or [None] * self.num_envs
            return [boards[row] for row in self._get_indices(indices)]
        if method_name != "action_masks":
            raise AttributeError(f"no such method: {method_name!r}; known: 'action_masks', 'render'")
        masks = self.action_masks()
        return masks if indices is None else masks[list(self._get_indices(indices))]

    def get_images(self) -> Any:
        """The board of each game as a picture, in render mode "rgb_array"."""
        return self.env_method("render")

    def has_attr(self, attr_name: str) -> bool:
        """Whether `get_attr` or `env_method` knows this name."""
        return attr_name == "action_masks" or attr_name in _SHARED_ATTRIBUTES

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """The attribute of each of the rows of `indices`, which is the same for all rows.

        Raises:
            AttributeError: games have no such attribute.
        """
        if attr_name not in _SHARED_ATTRIBUTES:
            raise AttributeError(f"no such attribute: {attr_name!r}; known: {', '.join(_SHARED_ATTRIBUTES)}")
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Raise an error: the attributes that games share are fixed when they are made.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(f"{attr_name!r} cannot be set; make a KlondikeVecEnv with the keywords you want")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """No row is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing to close."""
