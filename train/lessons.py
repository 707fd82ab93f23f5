"""Trials as learning reads them: the moves of each decision, what describes them, and what they gained.

Scores are learned by gradient ascent on the share of samples that would be won if moves were drawn from the softmax of
their scores. This is the policy gradient over all actions (Sutton, Singh and McAllester 2000, "Comparing
policy-gradient algorithms").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch

from train.trials import Trials


class Batch(NamedTuple):
    """Some decisions.

    Attributes:
        rows: int64[m], the rows of their moves.
        decisions: int64[m], which of the `n` decisions each move belongs to.
        n: how many decisions there are.
    """

    rows: torch.Tensor
    decisions: torch.Tensor
    n: int


class Lessons:
    """Decisions to learn from.

    Args:
        blocks: the trials.
        descriptions: for each block int[m, k], what describes each move.
        temperature: of the softmax, in units of a score.

    Attributes:
        sizes: int64[n], how many moves each decision has.
        starts: int64[n], where they start.
        descriptions: int[m, k], of all blocks.
        scores: float32[m], the scores of the trials, in units of the temperature.
        gains: float32[m], the share of samples that a move won, less the mean of its decision.
    """

    def __init__(self, blocks: list[Trials], descriptions: list[np.ndarray], temperature: float) -> None:
        self.sizes = np.concatenate([block.sizes for block in blocks])
        self.starts = np.cumsum(self.sizes) - self.sizes
        wins = np.concatenate([block.wins for block in blocks])
        means = np.add.reduceat(wins, self.starts) / self.sizes
        self.gains = torch.from_numpy((wins - np.repeat(means, self.sizes)).astype(np.float32))
        scores = np.concatenate([block.moves["score"] for block in blocks])
        self.scores = torch.from_numpy((scores / temperature).astype(np.float32))
        self.descriptions = torch.from_numpy(np.concatenate(descriptions))

    def __len__(self) -> int:
        return len(self.sizes)

    def n_batches(self, size: int) -> int:
        """How many batches there are of this many decisions."""
        return max(len(self) // size, 1)

    def batches(self, size: int, rng: np.random.Generator) -> Iterator[Batch]:
        """All decisions in random order, `size` at a time; those that do not fill a batch are left out."""
        size = min(size, len(self))
        order = rng.permutation(len(self))
        for chosen in order[: len(order) // size * size].reshape(-1, size):
            sizes = self.sizes[chosen]
            decisions = np.repeat(np.arange(size), sizes)
            rows = np.arange(len(decisions)) + (self.starts[chosen] - np.cumsum(sizes) + sizes)[decisions]
            yield Batch(torch.from_numpy(rows), torch.from_numpy(decisions), size)

    def loss(self, added: torch.Tensor, batch: Batch) -> torch.Tensor:
        """What is lost, against the mean over moves, with something added to their scores.

        added: float32[m], in units of the temperature.
        """
        shares = softmax(self.scores[batch.rows] + added, batch)
        return -(shares * self.gains[batch.rows]).sum() / batch.n


def softmax(scores: torch.Tensor, batch: Batch) -> torch.Tensor:
    """The softmax of scores, separately for each decision."""
    most = torch.full((batch.n,), -torch.inf).scatter_reduce(0, batch.decisions, scores.detach(), "amax")
    parts = torch.exp(scores - most[batch.decisions])
    return parts / torch.zeros(batch.n).scatter_add(0, batch.decisions, parts)[batch.decisions]
