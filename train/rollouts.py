"""Rollouts: what many games showed, were played and paid in some steps, as the tensors that an update reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from klondike_env.engine.actions import N_ACTIONS
from train.distributions import list_legal

NO_LESSON = -1  # the teacher's action where there is no teacher, or none that the student could have played


class Frames(NamedTuple):
    """Some frames of a rollout, in any order; `legal` is int64[n, k], see `list_legal`, the others are `Rollout`'s."""

    observations: torch.Tensor
    legal: torch.Tensor
    actions: torch.Tensor
    log_probs: torch.Tensor
    lessons: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor

    def minibatches(self, size: int) -> Iterator[Frames]:
        """These frames in random order, `size` at a time."""
        order = torch.randperm(len(self.actions), device=self.actions.device)
        for rows in torch.split(order, size):
            yield Frames(*(column.index_select(0, rows) for column in self))


class Rollout:
    """The frames between two updates; it stands in the place of sb3-contrib's rollout buffer.

    The first two dimensions of each tensor are [n_steps, n_games].

    Args:
        n_steps: steps of each game.
        n_games: games played side by side.
        n_values: values of an observation.
        dtype: the type in which observations are kept.
        device: where the tensors are.

    Attributes:
        observations: dtype[.., n_values], what the players saw.
        masks: bool[.., 313], the legal actions.
        actions: int64[..], what was played.
        log_probs: float32[..], log-probability of the action when it was played.
        values: float32[..], the return that the network expected.
        lessons: int64[..], what the teacher would have played, or NO_LESSON.
        rewards: float32[..], of the step.
        ended: bool[..], whether the game ended with the step.
        advantages: float32[..], see `estimate_advantages`.
        returns: float32[..], the targets of the value head.
    """

    def __init__(self, n_steps: int, n_games: int, n_values: int, dtype: torch.dtype, device: torch.device) -> None:
        def empty(*size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
            return torch.empty((n_steps, n_games, *size), dtype=dtype, device=device)

        self.n_steps, self.dtype = n_steps, dtype
        self.observations = empty(n_values, dtype=dtype)
        self.masks = empty(N_ACTIONS, dtype=torch.bool)
        self.actions = empty(dtype=torch.int64)
        self.log_probs, self.values, self.rewards = empty(), empty(), empty()
        self.lessons = empty(dtype=torch.int64).fill_(NO_LESSON)
        self.ended = empty(dtype=torch.bool)
        self.advantages, self.returns = empty(), empty()

    @classmethod
    def buffer(
        cls, n_steps: int, observation_space: Any, action_space: Any, device: torch.device, **keywords: Any
    ) -> Rollout:
        """A rollout of what MaskablePPO tells its buffer, with `n_values` and `dtype` among the keywords."""
        return cls(n_steps, keywords["n_envs"], keywords["n_values"], keywords["dtype"], device)

    def estimate_advantages(self, last_values: torch.Tensor, gamma: float, gae_lambda: float) -> None:
        """Fill in advantages and returns by generalised advantage estimation (Schulman et al. 2016).

        Args:
            last_values: float32[n_games], the return expected after the last step.
            gamma: discount per step.
            gae_lambda: how much of the steps after the next counts.
        """
        advantage = torch.zeros_like(last_values)
        for step in reversed(range(self.n_steps)):
            goes_on = (~self.ended[step]).float()
            surprise = self.rewards[step] + gamma * goes_on * last_values - self.values[step]
            advantage = surprise + gamma * gae_lambda * goes_on * advantage
            self.advantages[step] = advantage
            last_values = self.values[step]
        torch.add(self.advantages, self.values, out=self.returns)

    def frames(self) -> Frames:
        """All frames."""
        return Frames(
            observations=self.observations.flatten(0, 1),
            legal=list_legal(self.masks.flatten(0, 1)),
            actions=self.actions.flatten(),
            log_probs=self.log_probs.flatten(),
            lessons=self.lessons.flatten(),
            advantages=self.advantages.flatten(),
            returns=self.returns.flatten(),
        )
