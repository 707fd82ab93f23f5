"""TorchRL; run in .venv-others by `make test-libraries`."""

import re

import torch
from torchrl.envs import check_env_specs

from tests.libraries.examples import load_example


def test_actions_are_legal_at_random_and_by_policy(capsys):
    load_example("torchrl_action_mask").main(frames=400)
    random_play, policy = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"random: 0 of [1-9]\d+ actions were illegal", random_play)
    assert policy == "policy: 0 of 400 actions were illegal"


def test_specs_agree_with_what_the_environment_returns():
    check_env_specs(load_example("torchrl_action_mask").make_env())


def test_masks_stay_with_their_observation_across_ends_of_games():
    torch.manual_seed(0)
    env = load_example("torchrl_action_mask").make_env()
    env.set_seed(0)
    frames = env.rollout(800, break_when_any_done=False)
    assert frames["next", "done"].any()
    assert frames["action_mask"].gather(-1, frames["action"].unsqueeze(-1)).all()
    assert frames["action_mask"].any(-1).all()
    going_on = ~frames["next", "done"][:-1, 0]
    assert torch.equal(frames["next", "action_mask"][:-1][going_on], frames["action_mask"][1:][going_on])
    assert frames["next", "action_mask"][frames["next", "done"][:, 0]].all()  # after the end
