"""The agent `net`: the moves of `tuned`, scored by a network as well, which was trained for the variant."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from safetensors.numpy import save

from klondike_env.agents.network_file import metadata_of, read_network
from klondike_env.agents.tuned.agent import Scoring, TunedAgent
from klondike_env.agents.tuned.inputs import N_INPUTS
from klondike_env.agents.tuned.network import Weights
from klondike_env.agents.tuned.weights import most_like
from klondike_env.rules import DISTINCT_PRESETS, Rules

PRETRAINED = Path(__file__).parents[1] / "pretrained"
_FORMAT = "klondike_env move network 1"


def pack_network(weights: Weights, **about: Any) -> bytes:
    """A network as the bytes of a safetensors file. about: JSON-able, whatever is worth keeping."""
    return save(weights._asdict(), metadata=metadata_of(_FORMAT, about))


def load_network(path: Path) -> Weights:
    """The network in a safetensors file.

    Raises:
        ValueError: the file is no network of this format.
    """
    tensors, _ = read_network(path, _FORMAT, "np")
    if set(tensors) != set(Weights._fields):
        raise ValueError(f"{path} holds {', '.join(sorted(tensors))}; needed: {', '.join(Weights._fields)}")
    weights = Weights(**tensors)
    expected = Weights.zeros(N_INPUTS, len(weights.first_bias), len(weights.second_bias))
    for name, tensor, blank in zip(Weights._fields, weights, expected, strict=True):
        if (tensor.shape, tensor.dtype) != (blank.shape, blank.dtype):
            raise ValueError(f"{path}: {name} is {tensor.dtype}{tensor.shape}; needed: {blank.dtype}{blank.shape}")
    return weights


def pretrained_for(rules: Rules) -> Path | None:
    """The file of the network for a game: that of the variant with these rules, or of the one most like it, if any."""
    names = [variant for variant, preset in DISTINCT_PRESETS.items() if preset == rules] or [most_like(rules)]
    file = PRETRAINED / f"{names[0]}.safetensors"
    return file if file.exists() else None


_load_pretrained = cache(load_network)  # these files do not change


class NetAgent(TunedAgent):
    """Makes the move with the best score, and gives up when there is none.

    Args:
        path: the network; None for the one that comes with the package for the variant played, or for that most like
            it. Where there is none, it plays as `tuned` does.

    Raises:
        ValueError: the file is no network.
    """

    name = "net"

    def __init__(self, path: Path | None = None) -> None:
        self._weights = None if path is None else load_network(path)

    def scoring(self, rules: Rules) -> Scoring:
        """See `TunedAgent.scoring`."""
        if self._weights is not None:
            return Scoring.by_network(self._weights, rules)
        path = pretrained_for(rules)
        return Scoring.of(rules) if path is None else Scoring.by_network(_load_pretrained(path), rules)
