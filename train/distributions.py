"""Distributions over legal actions, of which a position has few: 3 to 6 of 313 on average."""

from __future__ import annotations

from typing import NamedTuple

import torch

_NEVER = -1e8  # logit of what fills up a list of legal actions, as sb3-contrib masks: its probability is 0


def list_legal(masks: torch.Tensor) -> torch.Tensor:
    """The legal actions of each row, filled up with -1 to the length of the longest list.

    Args:
        masks: bool[n, 313], at least one True in each row.

    Returns:
        int64[n, k].
    """
    rows, actions = masks.nonzero(as_tuple=True)
    counts = rows.bincount(minlength=len(masks))
    places = torch.arange(len(rows), device=rows.device) - (counts.cumsum(0) - counts)[rows]
    legal = torch.full((len(masks), int(counts.max())), -1, device=rows.device)
    legal[rows, places] = actions
    return legal


class Distributions(NamedTuple):
    """The softmax of the logits of legal actions, for many positions.

    Attributes:
        legal: int64[n, k], see `list_legal`.
        logits: float32[n, k], of these; where the list is filled up, those of probability 0.
        totals: float32[n], logarithms of the sums of their exponentials.
    """

    legal: torch.Tensor
    logits: torch.Tensor
    totals: torch.Tensor

    @classmethod
    def of(cls, logits: torch.Tensor, legal: torch.Tensor) -> Distributions:
        """Distributions by the logits of all actions, float32[n, 313], over the legal ones, int64[n, k]."""
        of_legal = logits.gather(1, legal.clamp(min=0)).masked_fill(legal < 0, _NEVER)
        return cls(legal, of_legal, of_legal.logsumexp(1))

    def log_probs(self, actions: torch.Tensor) -> torch.Tensor:
        """The log-probability of a legal action in each row: int64[n] -> float32[n]."""
        return self.logits.where(self.legal == actions[:, None], 0.0).sum(1) - self.totals

    def entropies(self) -> torch.Tensor:
        """float32[n]."""
        return self.totals - (self.logits.softmax(1) * self.logits).sum(1)
