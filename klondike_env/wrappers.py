"""Wrappers that put the mask into the observation, under the keys that other libraries look for."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from klondike_env.engine.actions import N_ACTIONS


class MaskedObservation(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """The observation and its mask in one dict. Subclasses name the keys.

    Args:
        env: an environment of this package whose observation has any form but "dict", which contains the mask already.
    """

    observation_key: ClassVar[str]
    mask_key: ClassVar[str]

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        mask_space = spaces.MultiBinary(N_ACTIONS)
        self.observation_space = spaces.Dict({self.observation_key: env.observation_space, self.mask_key: mask_space})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """As the environment, with the mask in the observation."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._with_mask(observation, info), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """As the environment, with the mask in the observation."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._with_mask(observation, info), reward, terminated, truncated, info

    def _with_mask(self, observation: Any, info: dict[str, Any]) -> dict[str, Any]:
        return {self.observation_key: observation, self.mask_key: info["action_mask"].copy()}


class RLlibObservation(MaskedObservation):
    """`{"observations", "action_mask"}`, the keys of RLlib's action masking module."""

    observation_key = "observations"
    mask_key = "action_mask"


class TianshouObservation(MaskedObservation):
    """`{"obs", "mask"}`, the keys of Tianshou's algorithms of the DQN family; others ignore the mask."""

    observation_key = "obs"
    mask_key = "mask"
