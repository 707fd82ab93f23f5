"""Playing a trained network, see `klondike_env.agents.network_file` for how it is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save

from klondike_env.agents.base import Agent, PlayMode, Talon
from klondike_env.agents.chance import write_uniforms
from klondike_env.agents.network.network import PolicyNetwork, draw_actions
from klondike_env.agents.network_file import metadata_of, read_network
from klondike_env.engine.actions import RESIGN
from klondike_env.engine.state import PLAYING
from klondike_env.games import Games
from klondike_env.observation import Observer
from klondike_env.rules import Rules

_FORMAT = "klondike_env policy 1"


class PolicyAgent(Agent):
    """A network over observations; plays its likeliest legal action, or one drawn from its distribution.

    Args:
        network: the network.
        play: "argmax" or "sampled".
        talon: the talon mode it was trained in.
        no_repeats: whether it was trained with repeats masked.
    """

    def __init__(self, network: PolicyNetwork, *, play: PlayMode, talon: Talon, no_repeats: bool) -> None:
        self.name = "policy"
        self.network = network
        self.play: PlayMode = play
        self.talon = talon
        self.no_repeats = no_repeats
        self._device = next(network.parameters()).device

    def start(self, n_games: int, rules: Rules, seed: int) -> None:
        """Get ready for `n_games` games under these rules; `seed` drives sampled play."""
        self._observer = Observer("flat", Games(1, rules).setup)
        self._seed = seed

    @torch.no_grad()
    def act(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Choose a legal action in every row whose game is in play."""
        actions = np.full(len(views), RESIGN, dtype=np.int64)
        rows = np.flatnonzero(views["outcome"] == PLAYING)
        views, masks = views[rows], masks[rows]
        logits = self.network(torch.from_numpy(self._observer.flat(views)).to(self._device))
        legal = torch.from_numpy(masks).to(self._device).bool()
        logits = logits.masked_fill(~legal, -torch.inf)
        actions[rows] = (self._sampled(logits, views) if self.play == "sampled" else logits.argmax(dim=1)).cpu().numpy()
        return actions

    def _sampled(self, logits: torch.Tensor, views: np.ndarray) -> torch.Tensor:
        """An action for each view, drawn from the softmax of its logits."""
        numbers = np.empty(len(views))
        write_uniforms(views, self._seed, numbers)
        return draw_actions(logits.double().softmax(dim=1), torch.from_numpy(numbers).to(self._device))


def pack_policy(network: PolicyNetwork, **about: Any) -> bytes:
    """A network as the bytes of a safetensors file.

    Args:
        network: the network.
        about: JSON-able: `hidden_sizes`, `talon`, `no_repeats`, `play`, and whatever else is worth keeping.
    """
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    return save(tensors, metadata=metadata_of(_FORMAT, about))


def load_policy(path: Path, play: PlayMode | None = None) -> PolicyAgent:
    """The agent of a safetensors file.

    Args:
        path: the file.
        play: "argmax" or "sampled"; None for the mode that its training set.

    Raises:
        ValueError: the file is not a policy of this format.
    """
    tensors, about = read_network(path, _FORMAT, "pt")
    network = PolicyNetwork(tensors["trunk.useful"].tolist(), about["hidden_sizes"])
    network.load_state_dict(tensors)
    network.to("cuda" if torch.cuda.is_available() else "cpu")
    return PolicyAgent(network, play=play or about["play"], talon=about["talon"], no_repeats=about["no_repeats"])
