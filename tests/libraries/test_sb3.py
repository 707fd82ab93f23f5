"""The games as Stable-Baselines3 and sb3-contrib see them."""

import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy as evaluate_masked
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecMonitor, VecNormalize

from klondike_env.deals import TRAINING_DEALS, deck_of
from klondike_env.sb3 import KlondikeVecEnv

N = 16


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    torch.set_num_threads(1)


def make_env(n=N, variant="draw3", seed=1, **keywords):
    return KlondikeVecEnv(n, variant, seed=seed, talon="reach", no_repeats=True, **keywords)


def legal_actions(env, generator):
    masks = get_action_masks(env)
    return (generator.random(masks.shape) * masks).argmax(axis=1)


def small_model(env, **keywords):
    return MaskablePPO(
        "MlpPolicy", env, n_steps=8, batch_size=8 * N, n_epochs=1, policy_kwargs={"net_arch": [8]}, seed=0, **keywords
    )


def assert_same(left, right):
    if isinstance(left, dict):
        assert left.keys() == right.keys()
        for name, part in left.items():
            assert_same(part, right[name])
    else:
        np.testing.assert_array_equal(left, right)


def copy_of(observations):
    return {k: v.copy() for k, v in observations.items()} if isinstance(observations, dict) else observations.copy()


@pytest.mark.parametrize("form", ["flat", "cards", "dict"])
def test_every_step_equals_that_of_single_environments_in_a_dummy_vec_env(form):
    keywords = {"observation": form, "reward": "standard", "stall_limit": 6, "auto_finish": True}
    native = KlondikeVecEnv(5, "thumb_and_pouch", **keywords)
    single = DummyVecEnv([lambda: gym.make("Klondike/ThumbAndPouch-v0", **keywords) for _ in range(5)])
    assert native.seed(3) == single.seed(3)
    assert native.observation_space == single.observation_space
    assert native.action_space == single.action_space
    assert_same(native.reset(), single.reset())
    generator, ends = np.random.default_rng(0), 0
    for _ in range(160):
        np.testing.assert_array_equal(get_action_masks(native), get_action_masks(single))
        assert [info["deal"] for info in native.reset_infos] == [info["deal"] for info in single.reset_infos]
        actions = legal_actions(native, generator)
        left, right = native.step(actions), single.step(actions)
        assert_same(left[0], right[0])
        assert left[1].dtype == right[1].dtype
        np.testing.assert_array_equal(left[1], right[1])
        np.testing.assert_array_equal(left[2], right[2])
        for row in np.flatnonzero(left[2]):
            ends += 1
            info, expected = left[3][row], right[3][row]
            assert_same(info.pop("terminal_observation"), expected.pop("terminal_observation"))
            assert info.pop("is_success") == (info["outcome"] == "won")
            info.pop("episode")
            expected.pop("action_mask")
            assert info == expected
    assert ends > 5


def test_masks_come_through_the_calls_that_sb3_contrib_makes():
    env = make_env()
    env.reset()
    assert is_masking_supported(env)
    masks = get_action_masks(env)
    assert masks.shape == (N, 313)
    assert masks.dtype == bool
    np.testing.assert_array_equal(masks, env.games.masks == 1)
    np.testing.assert_array_equal(env.env_method("action_masks", indices=[3, 5]), masks[[3, 5]])
    np.testing.assert_array_equal(env.env_method("action_masks", indices=3), masks[[3]])


def test_games_end_and_start_within_a_step_with_all_that_sb3_wants_to_know():
    env = make_env(reward="progress", stall_limit=20)
    generator = np.random.default_rng(0)
    env.reset()
    returns, lengths, ends = np.zeros(N), np.zeros(N, dtype=int), 0
    for _ in range(150):
        observations, rewards, over, infos = env.step(legal_actions(env, generator))
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
    assert ends > N


@pytest.mark.parametrize("form", ["flat", "dict"])
def test_nothing_returned_is_changed_by_later_steps(form):
    env = make_env(stall_limit=3, observation=form)
    generator = np.random.default_rng(0)
    returned = [(env.reset(), np.zeros(N), np.zeros(N, dtype=bool), [{}] * N, env.action_masks())]
    kept = [(copy_of(returned[0][0]), *(part.copy() for part in returned[0][1:3]), returned[0][4].copy())]
    last = {}
    for _ in range(30):
        step = env.step(legal_actions(env, generator))
        returned.append((*step, env.action_masks()))
        kept.append((copy_of(step[0]), step[1].copy(), step[2].copy(), returned[-1][4].copy()))
        for row in np.flatnonzero(step[2]):
            observation = step[3][row]["terminal_observation"]
            last[len(returned) - 1, row] = copy_of(observation)
    for (observations, rewards, over, _, masks), before in zip(returned, kept, strict=True):
        assert_same(observations, before[0])
        for part, earlier in zip((rewards, over, masks), before[1:], strict=True):
            np.testing.assert_array_equal(part, earlier)
    assert last
    for (step, row), observation in last.items():
        assert_same(returned[step][3][row]["terminal_observation"], observation)
    assert len({id(info) for info in returned[-1][3]}) == N  # wrappers write into infos


def test_a_step_limit_is_told_as_a_truncation():
    for keywords in ({"step_limit": 1}, {"max_episode_steps": 1}):
        env = make_env(**keywords)
        env.reset()
        _, _, over, infos = env.step(legal_actions(env, np.random.default_rng(0)))
        assert over.all()
        assert all(info["TimeLimit.truncated"] and not info["is_success"] for info in infos)


def test_deals_are_training_deals_and_follow_the_seed():
    env, twin = make_env(), make_env()
    env.reset()
    twin.reset()
    np.testing.assert_array_equal(env.games.deals, twin.games.deals)
    assert all(int(deal) in TRAINING_DEALS for deal in env.games.deals)
    for row in (0, 7):
        assert env.games.deals[row] == gym.make("Klondike/Draw3-v0").reset(seed=1 + row)[1]["deal"]
    first = env.games.deals.copy()
    env.reset()
    assert not np.isin(env.games.deals, first).any()  # without a new seed the deals go on
    env.seed(1)
    env.reset()
    np.testing.assert_array_equal(env.games.deals, first)


def test_options_name_the_games_of_the_next_reset():
    env = make_env()
    env.set_options({"deal": 7})
    first = env.reset()
    assert env.games.deals.tolist() == [7] * N
    env.set_options([{"deck": deck_of(7)}, {"deal": 9}, *[{}] * (N - 2)])
    second = env.reset()
    np.testing.assert_array_equal(second[0], first[0])
    assert env.games.deals.tolist()[:2] == [-1, 9]
    assert all(int(deal) in TRAINING_DEALS for deal in env.games.deals[2:])
    env.reset()
    assert all(int(deal) in TRAINING_DEALS for deal in env.games.deals)
    env.set_options({"dael": 7})
    with pytest.raises(ValueError, match="no such reset option: 'dael'"):
        env.reset()


def test_what_games_do_not_have_is_refused_by_name():
    env = make_env()
    with pytest.raises(gym.error.ResetNeeded, match="call reset"):
        env.step(np.zeros(N, dtype=np.int64))
    with pytest.raises(AttributeError, match="no such method: 'fly'"):
        env.env_method("fly")
    with pytest.raises(AttributeError, match="no such attribute: 'wings'"):
        env.get_attr("wings")
    with pytest.raises(AttributeError, match="'wings' cannot be set"):
        env.set_attr("wings", 2)
    with pytest.raises(ValueError, match=r"actions have shape \(3,\); allowed: \(16,\)"):
        env.step(np.zeros(3, dtype=np.int64))
    with pytest.raises(ValueError, match="unexpected keyword argument 'drow_count'"):
        KlondikeVecEnv(2, drow_count=3)
    with pytest.raises(ValueError, match="autoreset_mode cannot be chosen"):
        KlondikeVecEnv(2, autoreset_mode="NextStep")
    assert not env.has_attr("wings")
    assert env.has_attr("rules")
    assert env.get_attr("rules", indices=[0, 1]) == [env.rules] * 2
    assert env.get_attr("render_mode") == [None] * N
    assert env.env_is_wrapped(Monitor) == [False] * N


@pytest.mark.parametrize("wrap", [VecMonitor, VecNormalize, lambda env: VecFrameStack(env, 2)])
def test_maskable_ppo_learns_through_the_wrappers_of_sb3_and_plays_no_illegal_action(wrap):
    class Watched(KlondikeVecEnv):
        def step_wait(self):
            nonlocal illegal, steps
            returned = super().step_wait()
            running = ~returned[2]
            illegal, steps = illegal + int(self.games.illegal[running].sum()), steps + 1
            return returned

    illegal, steps = 0, 0
    model = small_model(wrap(Watched(N, "draw1", step_limit=5)))
    model.learn(16 * N)
    assert (illegal, steps) == (0, 16)
    masks = model.rollout_buffer.action_masks.reshape(-1, 313)
    actions = model.rollout_buffer.actions.reshape(-1).astype(int)
    assert masks[np.arange(len(actions)), actions].all()
    assert masks.any(axis=1).all()
    assert len(model.ep_info_buffer) > 0


def test_rollouts_hold_a_dict_observation_beside_the_mask_that_belongs_to_it():
    env = KlondikeVecEnv(N, "draw1", observation="dict", stall_limit=4)
    model = MaskablePPO("MultiInputPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=0)
    model.learn(32 * N)
    buffer = model.rollout_buffer
    observed = buffer.observations["action_mask"].reshape(-1, 313)
    np.testing.assert_array_equal(observed, buffer.action_masks.reshape(-1, 313))
    assert buffer.episode_starts[1:].any()  # the pairs hold across the ends of games, too


def test_a_truncated_game_is_bootstrapped_from_its_own_last_observation():
    env = KlondikeVecEnv(2, "draw1", step_limit=4, seed=0)
    twin = KlondikeVecEnv(2, "draw1", seed=0)
    env.reset()
    twin.reset()
    for _ in range(4):
        actions = env.games.masks.argmax(axis=1)
        _, _, over, infos = env.step(actions)
        expected, *_ = twin.step(actions)
    assert over.all()
    for row in range(2):
        np.testing.assert_array_equal(infos[row]["terminal_observation"], expected[row])


def count_illegal(evaluate, model, env, **keywords):
    counts = []

    def count(scope, _):
        if scope["i"] == 0:
            counts.append(int(env.unwrapped.games.illegal[~scope["dones"]].sum()))

    evaluate(model, env, n_eval_episodes=2 * N, callback=count, **keywords)
    return sum(counts), len(counts)


def test_evaluation_must_be_masked_and_is_with_the_functions_of_sb3_contrib(tmp_path):
    model = small_model(KlondikeVecEnv(N, "draw1"))
    eval_env = VecMonitor(KlondikeVecEnv(N, "draw1", seed=5, stall_limit=10))
    assert count_illegal(evaluate_masked, model, eval_env)[0] == 0
    illegal, steps = count_illegal(evaluate_policy, model, eval_env)
    assert illegal > 0.5 * steps * N  # the trap: without masks most actions are illegal
    callback = MaskableEvalCallback(
        eval_env, n_eval_episodes=N, eval_freq=8, log_path=str(tmp_path), best_model_save_path=str(tmp_path)
    )
    model.learn(8 * N, callback=callback)
    assert callback.n_calls >= 8
    figures = np.load(tmp_path / "evaluations.npz")
    assert figures["successes"].shape == figures["results"].shape
    assert (tmp_path / "best_model.zip").exists()


def test_a_single_environment_is_masked_through_the_wrappers_of_gymnasium():
    model = MaskablePPO("MlpPolicy", gym.make("Klondike/Draw1-v0", stall_limit=5), n_steps=64, batch_size=64, seed=0)
    model.learn(64)
    masks = model.rollout_buffer.action_masks.reshape(-1, 313)
    actions = model.rollout_buffer.actions.reshape(-1).astype(int)
    assert masks[np.arange(64), actions].all()


def test_a_missing_library_is_named_with_the_command_that_installs_it():
    program = "import sys; sys.modules['stable_baselines3'] = None; import klondike_env.sb3"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "DependencyNotInstalled: stable-baselines3 is not installed; run: pip install" in shown.stderr


def test_boards_are_shown_as_one_picture():
    env = KlondikeVecEnv(4, "draw1", render_mode="rgb_array")
    env.set_options({"deal": 0})
    env.reset()
    single = gym.make("Klondike/Draw1-v0", render_mode="rgb_array")
    single.reset(options={"deal": 0})
    board = single.render()
    np.testing.assert_array_equal(env.get_images()[3], board)
    assert env.render().shape == (2 * board.shape[0], 2 * board.shape[1], 3)
    assert env.get_attr("render_mode") == ["rgb_array"] * 4


@pytest.mark.parametrize("seed", ["a", -1, 1.5])
def test_a_seed_that_is_none_is_refused_at_once(seed):
    with pytest.raises(ValueError, match=r"^seed is .*; allowed: a whole number from 0$"):
        KlondikeVecEnv(2, "draw1", seed=seed)
