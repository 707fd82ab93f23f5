"""Teachers: agents that say what they would have played in the positions that a student meets.

The student plays and the teacher labels (DAgger: Ross, Gordon and Bagnell 2011), so that the student learns what to do
where its own mistakes lead. The teacher's weight in the loss then falls in favour of PPO's (kickstarting: Schmitt et
al. 2018).
"""

from __future__ import annotations

import numpy as np
import torch

from klondike_env.agents.registry import load
from klondike_env.games import Games
from train.config import ConfigError, PpoConfig
from train.distributions import Distributions
from train.rollouts import NO_LESSON


class Teacher:
    """The teacher that a config names.

    Raises:
        ConfigError: there is no such agent, or it meets the stock in another way than the student.
    """

    def __init__(self, config: PpoConfig) -> None:
        assert config.teacher is not None
        try:
            self._agent = load(config.teacher)
            talon = self._agent.talon_for(config.game)
        except ValueError as error:
            raise ConfigError(f"teacher is {config.teacher!r}; {error}") from error
        if talon != config.talon:
            raise ConfigError(f"teacher {config.teacher} plays with talon {talon}; set env.talon={talon}")
        self._agent.start(config.n_games, config.game, config.seed)

    def lessons(self, games: Games) -> np.ndarray:
        """What the teacher would play: int64[n]; NO_LESSON where it would resign, or its action is masked."""
        actions = np.asarray(self._agent.act(games.views(), games.masks))
        legal = games.masks[np.arange(len(games)), np.maximum(actions, 0)] == 1
        return np.where(legal & (actions >= 0), actions, NO_LESSON)


def teaching_loss(distributions: Distributions, lessons: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of a policy on the teacher's actions, averaged over all frames; those without a lesson add nothing.

    lessons: int64[n], legal actions or NO_LESSON.
    """
    return -distributions.log_probs(lessons).where(lessons != NO_LESSON, 0.0).mean()
