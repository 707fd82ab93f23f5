"""The native vector environment equals single environments, step for step."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from klondike_env import GYM_IDS
from klondike_env.deals import deck_of
from klondike_env.engine.actions import STOCK_ACTION
from klondike_env.vector_env import KlondikeVectorEnv

N = 5


def make_pair(gym_id, mode, **keywords):
    native = gym.make_vec(gym_id, num_envs=N, autoreset_mode=mode, **keywords)
    single = SyncVectorEnv([lambda: gym.make(gym_id, **keywords) for _ in range(N)], autoreset_mode=mode)
    assert isinstance(native.unwrapped, KlondikeVectorEnv)
    return native, single


def choose(info, generator):
    mask = info["action_mask"]
    actions = (generator.random(mask.shape) * mask).argmax(axis=1)
    return np.where(generator.random(N) < 0.05, generator.integers(0, 313, N), actions)  # some of them illegal


def assert_equal_step(native, single):
    for left, right in zip(native, single, strict=True):
        assert data_equivalence(left, right)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("form", ["flat", "dict"])
@pytest.mark.parametrize("gym_id", GYM_IDS.values())
def test_every_step_equals_that_of_single_environments(gym_id, form, mode):
    keywords = {
        "observation": form,
        "reward": "standard",
        "stall_limit": 8,
        "talon": "reach" if form == "dict" else "draw",
        "no_repeats": form == "dict",
        "auto_finish": True,
    }
    native, single = make_pair(gym_id, mode, **keywords)
    left, right = native.reset(seed=11), single.reset(seed=11)
    assert_equal_step(left, right)
    generator = np.random.default_rng(0)
    ends = 0
    for _ in range(100):
        actions = choose(left[-1], generator)
        left, right = native.step(actions), single.step(actions)
        assert_equal_step(left, right)
        ends += np.count_nonzero(left[2] | left[3])
    assert ends > 0  # games ended and were reset


@pytest.mark.parametrize("seed", [7, [3, None, 5, None, 9]])
def test_seeds_reach_the_games_one_by_one(seed):
    native = gym.make_vec("Klondike/Draw1-v0", num_envs=N)
    deals = native.reset(seed=seed)[1]["deal"]
    for i, own in enumerate([7 + i for i in range(N)] if seed == 7 else seed):
        if own is not None:
            assert deals[i] == gym.make("Klondike/Draw1-v0").reset(seed=own)[1]["deal"]
    assert len(set(deals.tolist())) == N


def test_disabled_autoreset_waits_for_a_reset_mask():
    native = gym.make_vec("Klondike/Draw1-v0", num_envs=N, autoreset_mode=AutoresetMode.DISABLED, stall_limit=1)
    native.reset(seed=1)
    ended = np.zeros(N, dtype=bool)
    while not ended.any():
        _, _, terminated, truncated, info = native.step(np.full(N, STOCK_ACTION))
        ended = terminated | truncated
    assert info["outcome"][ended.argmax()] == "stalled"
    with pytest.raises(gym.error.ResetNeeded, match="reset_mask"):
        native.step(np.full(N, STOCK_ACTION))
    moves = info["moves"]
    _, info = native.reset(options={"reset_mask": ended})
    np.testing.assert_array_equal(info["_moves"], ended)
    assert (info["moves"][ended] == 0).all()
    *_, info = native.step(np.full(N, STOCK_ACTION))
    np.testing.assert_array_equal(info["moves"], np.where(ended, 1, moves + 1))


def test_deals_can_be_asked_for_one_by_one_or_all_the_same():
    native = gym.make_vec("Klondike/Draw3-v0", num_envs=N)
    numbers = np.arange(N) * 10
    np.testing.assert_array_equal(native.reset(options={"deal": numbers})[1]["deal"], numbers)
    np.testing.assert_array_equal(native.reset(options={"deal": 8})[1]["deal"], np.full(N, 8))


def test_one_deck_is_for_all_games_and_several_are_one_for_each():
    native, twin = gym.make_vec("Klondike/Draw3-v0", num_envs=2), gym.make_vec("Klondike/Draw3-v0", num_envs=2)
    same, _ = native.reset(options={"deck": deck_of(4)})
    np.testing.assert_array_equal(same, twin.reset(options={"deal": 4})[0])
    each, _ = native.reset(options={"deck": [deck_of(4).tolist(), deck_of(9).tolist()]})
    np.testing.assert_array_equal(each, twin.reset(options={"deal": [4, 9]})[0])


def test_a_seed_of_numpy_is_a_seed():
    native = gym.make_vec("Klondike/Draw3-v0", num_envs=2)
    deals = native.reset(seed=np.int64(5))[1]["deal"]
    np.testing.assert_array_equal(deals, native.reset(seed=5)[1]["deal"])


def test_a_first_reset_of_some_games_leaves_the_others_to_be_started():
    native = gym.make_vec("Klondike/Draw3-v0", num_envs=2)
    native.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(gym.error.ResetNeeded, match="a game was not started"):
        native.step(np.full(2, STOCK_ACTION))
    native.reset(options={"reset_mask": np.array([False, True])})
    native.step(np.full(2, STOCK_ACTION))


def test_max_episode_steps_truncates_every_game():
    native = gym.make_vec("Klondike/Draw1-v0", num_envs=N, max_episode_steps=2)
    native.reset(seed=0)
    native.step(np.full(N, STOCK_ACTION))
    _, _, terminated, truncated, info = native.step(np.full(N, STOCK_ACTION))
    assert truncated.all()
    assert not terminated.any()
    assert set(info["outcome"]) == {"truncated"}


def test_next_step_reset_rows_ignore_the_action_and_give_no_reward():
    native = gym.make_vec("Klondike/Draw1-v0", num_envs=N, max_episode_steps=1, reward="vegas")
    native.reset(seed=0)
    _, rewards, *_ = native.step(np.full(N, STOCK_ACTION))
    assert (rewards == -52).all()
    _, rewards, terminated, truncated, info = native.step(np.full(N, STOCK_ACTION))
    assert (rewards == 0).all()
    assert not (terminated | truncated).any()
    assert (info["moves"] == 0).all()


def test_same_step_masks_belong_to_the_new_game_and_the_final_mask_is_all_ones():
    native = gym.make_vec("Klondike/Draw1-v0", num_envs=N, max_episode_steps=1, autoreset_mode="SameStep")
    native.reset(seed=0)
    observations, _, _, truncated, info = native.step(np.full(N, STOCK_ACTION))
    assert truncated.all()
    assert info["final_info"]["action_mask"].all()
    assert not info["action_mask"].all()
    for row in range(N):
        assert info["final_obs"][row].shape == observations[row].shape
        assert not np.array_equal(info["final_obs"][row], observations[row])


def test_arrays_returned_are_not_written_again():
    native = gym.make_vec("Klondike/Draw1-v0", num_envs=N)
    observations, info = native.reset(seed=0)
    kept, mask = observations.copy(), info["action_mask"].copy()
    native.step(np.full(N, STOCK_ACTION))
    np.testing.assert_array_equal(observations, kept)
    np.testing.assert_array_equal(info["action_mask"], mask)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"num_envs": 0}, "num_envs is 0; allowed: a whole number from 1"),
        ({"num_envs": 2, "render_mode": "svg"}, "render_mode is 'svg'; allowed: None, 'ansi', 'rgb_array'"),
        ({"num_envs": 1.5}, "num_envs is 1.5; allowed: a whole number from 1"),
        ({"num_envs": "3"}, "num_envs is '3'; allowed: a whole number from 1"),
        ({"num_envs": True}, "num_envs is True; allowed: a whole number from 1"),
        ({"num_envs": 2, "max_episode_steps": 1.5}, "step_limit is 1.5; allowed: a whole number from 1"),
        ({"num_envs": 2, "autoreset_mode": "x"}, "autoreset_mode is 'x'; allowed: NextStep, SameStep, Disabled"),
    ],
)
def test_bad_arguments_are_refused(keywords, message):
    with pytest.raises(ValueError, match=message):
        KlondikeVectorEnv(variant="draw1", **keywords)


def test_bad_calls_are_refused():
    native = gym.make_vec("Klondike/Draw1-v0", num_envs=2)
    with pytest.raises(ValueError, match="seed has length 3; allowed: 2"):
        native.reset(seed=[1, 2, 3])
    with pytest.raises(ValueError, match=r"seed is 1.5; allowed: a whole number, or one for each of 2 games"):
        native.reset(seed=1.5)
    with pytest.raises(ValueError, match=r"reset_mask must be bool\[2\] with a True in it"):
        native.reset(options={"reset_mask": np.zeros(2, dtype=bool)})
    for options, message in [
        ({"deal": [1, 2, 3]}, "reset option 'deal' has length 3; allowed: one for all, or 2"),
        ({"deal": ["x", 2]}, "deal is 'x'; allowed: a whole number from 0"),
        ({"deal": None}, "deal is None; allowed: a whole number from 0"),
        ({"deal": [1, True]}, "deal is True; allowed: a whole number from 0"),
        ({"deck": [range(52)] * 3}, "reset option 'deck' has length 3; allowed: one for all, or 2"),
        ({"deck": None}, "deck is None; allowed: a list of 52 card ids"),
        ({"deck": range(51)}, r"a deck has 52 cards; this one has shape \(51,\)"),
        ({"position": 3}, "reset option 'position' is 3; allowed: one for all, or 2"),
        ([], r"options is \[\]; allowed: a dict with any of deal, deck, position, reset_mask"),
    ]:
        with pytest.raises(ValueError, match=f"^{message}"):
            native.reset(options=options)
    native.reset(seed=0)
    with pytest.raises(ValueError, match=r"actions have shape \(3,\); allowed: \(2,\)"):
        native.step(np.zeros(3, dtype=np.int64))


def test_illegal_actions_raise_or_terminate_on_request():
    raising = gym.make_vec("Klondike/Draw1-v0", num_envs=2, illegal_action="raise")
    raising.reset(options={"deal": 0})
    with pytest.raises(ValueError, match=r"illegal action 6 \(2C to foundation\)"):
        raising.step(np.array([STOCK_ACTION, 6]))
    ending = gym.make_vec("Klondike/Draw1-v0", num_envs=2, illegal_action="terminate")
    ending.reset(options={"deal": 0})
    _, _, terminated, _, info = ending.step(np.array([STOCK_ACTION, 6]))
    np.testing.assert_array_equal(terminated, [False, True])
    assert list(info["outcome"]) == ["playing", "lost"]
