"""RLlib, and the release of Gymnasium that it pins; run in .venv-rllib by `make test-rllib`."""

import warnings

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env

from klondike_env import GYM_IDS
from tests.libraries.examples import load_example


def test_ppo_trains_with_masks_on_legal_actions_alone(capsys, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    load_example("rllib_masked_ppo").main(iterations=2, frames=800)  # its environments raise an error otherwise
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines if line.startswith("iteration")] == ["iteration 0", "iteration 1"]


@pytest.mark.parametrize("gym_id", GYM_IDS.values())
def test_the_oldest_gymnasium_that_is_supported_finds_nothing_wrong(gym_id):
    assert gym.__version__.startswith("1.2.")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make(gym_id).unwrapped, skip_render_check=True)
