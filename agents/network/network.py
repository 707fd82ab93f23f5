"""The policy network: a shared trunk over the flat observation, a head for actions and one for the value.

The observation has the same layout for all variants, so under given rules many of its values never change or do not
matter. The trunk first selects the others, which halves the work of its widest layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import nn

from klondike_env.cards import KING, N_CARDS, SUIT_NAMES, card_at, rank_of
from klondike_env.engine.actions import N_ACTIONS
from klondike_env.engine.card_sets import may_lie_on
from klondike_env.observation import CARD_FIELDS, N_CARD_FIELDS, N_CARD_VALUES, TABLE_FIELDS, table_start
from klondike_env.rules import Rules

# Values of a card that give the order of the talon.
_ORDER = ("waste_top", "draws", "after_redeal", "talon_index", "phase", "before_redeal")
_RULE_FIELDS = ("draw_count", "unlimited_redeals", "worry_back", "whole_runs", "build", "gaps")


def useful_values(rules: Rules, talon: str) -> list[int]:
    """Indices of the observation's values that can differ and matter under these rules.

    These are left out: the rules themselves; what only thoughtful mode shows; parents that a card cannot have; `under`,
    because a card's number means nothing to a dense layer, and places and parents say the same; and the talon's order
    where every card of it can be played at any time.
    """
    order_matters = not (talon == "reach" and rules.redeals is None and rules.draw_count == 1)
    build = rules.params().build
    values = []
    for card in range(N_CARDS):
        for k, field in enumerate(CARD_FIELDS):
            if field.name in ("face_down", "under") or (field.name in _ORDER and not order_matters):
                continue
            if field.name.removeprefix("on_") in SUIT_NAMES:
                suit = SUIT_NAMES.index(field.name.removeprefix("on_"))
                if rank_of(card) == KING or not may_lie_on(card, card_at(rank_of(card) + 1, suit), build):
                    continue
            values.append(card * N_CARD_FIELDS + k)
    for field in TABLE_FIELDS:
        if field.name not in _RULE_FIELDS:
            start = N_CARD_VALUES + table_start(field.name)
            values.extend(range(start, start + field.size))
    return values


class Trunk(nn.Module):
    """Dense layers with ReLU over the useful values.

    Args:
        useful: indices into the flat observation, see `useful_values`.
        hidden_sizes: units of each layer.
    """

    def __init__(self, useful: Sequence[int], hidden_sizes: Sequence[int]) -> None:
        super().__init__()
        self.useful: torch.Tensor
        self.register_buffer("useful", torch.tensor(list(useful), dtype=torch.long))
        sizes = [len(useful), *hidden_sizes]
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise(sizes):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """float32[n, N_VALUES] -> float32[n, hidden_sizes[-1]]."""
        return self.layers(observations.index_select(1, self.useful))


class PolicyNetwork(nn.Module):
    """The trunk with its action head, which is all that a trained player needs."""

    def __init__(self, useful: Sequence[int], hidden_sizes: Sequence[int]) -> None:
        super().__init__()
        self.trunk = Trunk(useful, hidden_sizes)
        self.action_head = nn.Linear(hidden_sizes[-1], N_ACTIONS)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Logits of all actions, legal or not: float32[n, N_VALUES] -> float32[n, 313]."""
        return self.action_head(self.trunk(observations))


def draw_actions(probabilities: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """An action for each row, drawn from its distribution.

    Args:
        probabilities: float[n, 313], 0 for illegal actions.
        numbers: float[n], chance: uniform in [0, 1).

    Returns:
        int64[n].
    """
    sums = probabilities.double().cumsum(1)
    return (sums <= numbers[:, None] * sums[:, -1:]).sum(1)
