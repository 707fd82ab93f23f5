"""How far a training has come, and how much of its budget is spent."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from pydantic import BaseModel

from train.config import PpoConfig
from train.results import CurvePoint, best_of


class Trained(BaseModel):
    """How far a training has come."""

    frames: int = 0
    seconds: float = 0.0
    games: int = 0
    curve: list[CurvePoint] = []

    @property
    def best(self) -> CurvePoint:
        """The best validation so far, the last of equals."""
        return best_of(self.curve)


@dataclass
class Budget:
    """Frames and wall time of a run, and how much of them is spent; earlier parts of a resumed run count."""

    config: PpoConfig
    trained: Trained
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        self._earlier = self.trained.seconds

    @property
    def seconds(self) -> float:
        """Wall time spent."""
        return self._earlier + time.perf_counter() - self.started

    @property
    def spent(self) -> float:
        """The share of the budget that is spent, 0 to 1: of the frames or of the time, whichever is more."""
        of_time = self.seconds / (60 * self.config.minutes) if self.config.minutes else 0.0
        return min(max(self.trained.frames / self.config.frames, of_time), 1.0)

    def scaled(self, start: float, end: float) -> float:
        """The value between `start` and `end` that belongs to the share spent."""
        return start + (end - start) * self.spent

    @property
    def teaching_weight(self) -> float:
        """The weight of the teacher's loss now, 0 to 1: 0 without a teacher."""
        return self.config.teaching.weight(self.spent) if self.config.teacher else 0.0
