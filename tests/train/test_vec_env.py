"""The batch of games as Stable-Baselines3 sees it."""

import numpy as np
import pytest
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

from klondike_env.deals import TRAINING_DEALS
from klondike_env.engine.games import Games
from klondike_env.rules import PRESETS
from train.vec_env import GamesVecEnv

N = 16


def make_env(**options):
    return GamesVecEnv(Games(N, PRESETS["draw3"], talon="reach", no_repeats=True, **options), seed=1)


def legal_actions(env, generator):
    masks = get_action_masks(env)
    return (generator.random(masks.shape) * masks).argmax(axis=1)


def test_masks_come_through_the_calls_that_sb3_contrib_makes():
    env = make_env()
    env.reset()
    assert is_masking_supported(env)
    masks = get_action_masks(env)
    assert masks.shape == (N, 313)
    assert masks.dtype == bool
    np.testing.assert_array_equal(masks, env.games.masks == 1)
    np.testing.assert_array_equal(env.env_method("action_masks", indices=[3, 5]), masks[[3, 5]])


def test_games_end_and_start_within_a_step_with_all_that_sb3_wants_to_know():
    env = make_env(reward="progress", stall_limit=20)
    generator = np.random.default_rng(0)
    last = env.reset()
    returns, lengths, ends = np.zeros(N), np.zeros(N, dtype=int), 0
    for _ in range(150):
        observations, rewards, over, infos = env.step(legal_actions(env, generator))
        assert not np.shares_memory(observations, last)
        returns += rewards
        lengths += 1
        for row in np.flatnonzero(over):
            ends += 1
            info = infos[row]
            assert info["terminal_observation"].shape == observations[row].shape
            assert info["is_success"] == (info["outcome"] == "won")
            assert info["TimeLimit.truncated"] is False
            assert info["episode"]["r"] == pytest.approx(returns[row], abs=1e-5)
            assert info["episode"]["l"] == lengths[row]
            assert env.games.states["steps"][row] == 0
            returns[row], lengths[row] = 0.0, 0
        assert all(infos[row] == {} for row in np.flatnonzero(~over))
        last = observations
    assert ends > N


def test_a_step_limit_is_told_as_a_truncation():
    env = make_env(step_limit=1)
    env.reset()
    _, _, over, infos = env.step(legal_actions(env, np.random.default_rng(0)))
    assert over.all()
    assert all(info["TimeLimit.truncated"] for info in infos)


def test_deals_are_training_deals_and_repeat_with_the_seed():
    env, twin = make_env(), make_env()
    env.reset()
    twin.reset()
    np.testing.assert_array_equal(env.games.deals, twin.games.deals)
    assert all(int(deal) in TRAINING_DEALS for deal in env.games.deals)
    env.seed(5)
    env.reset()
    assert not np.array_equal(env.games.deals, twin.games.deals)


def test_what_games_do_not_have_is_refused_by_name():
    env = make_env()
    with pytest.raises(AttributeError, match="no such method: 'fly'"):
        env.env_method("fly")
    with pytest.raises(AttributeError, match="no such attribute: 'wings'"):
        env.get_attr("wings")
    with pytest.raises(AttributeError, match="'wings' cannot be set"):
        env.set_attr("wings", 2)
    assert env.get_attr("render_mode") == [None] * N
    assert env.env_is_wrapped(object) == [False] * N
