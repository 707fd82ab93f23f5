"""What users of Gymnasium do with the environments, and the pitfalls."""

import gc
import multiprocessing

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode

from klondike_env.engine.actions import STOCK_ACTION
from klondike_env.games import Games
from klondike_env.rules import Rules
from klondike_env.settings import UnknownKeywordError
from klondike_env.vector_env import KlondikeVectorEnv
from klondike_env.wrappers import RLlibObservation, TianshouObservation

N = 4
GYM_ID = "Klondike/ThumbAndPouch-v0"
MODES = list(AutoresetMode)


def make_native(mode=AutoresetMode.NEXT_STEP, **keywords):
    envs = gym.make_vec(GYM_ID, num_envs=N, autoreset_mode=mode, **keywords)
    assert isinstance(envs.unwrapped, KlondikeVectorEnv)
    return envs


def make_of_singles(kind, mode=AutoresetMode.NEXT_STEP, **keywords):
    return gym.make_vec(GYM_ID, num_envs=N, vectorization_mode=kind, vector_kwargs={"autoreset_mode": mode}, **keywords)


def choose(infos, generator):
    masks = infos["action_mask"]
    return (generator.random(masks.shape) * masks).argmax(axis=1)


def rollout(envs, steps, seed=0):
    """The returns of reset and of steps with random legal actions; ended games are reset in mode DISABLED."""
    generator = np.random.default_rng(seed)
    observations, infos = envs.reset(seed=seed)
    yield observations, np.zeros(N), np.zeros(N, dtype=bool), np.zeros(N, dtype=bool), infos
    for _ in range(steps):
        step = envs.step(choose(infos, generator))
        yield step
        infos = step[-1]
        over = step[2] | step[3]
        if envs.metadata["autoreset_mode"] is AutoresetMode.DISABLED and over.any():
            observations, reset_infos = envs.reset(options={"reset_mask": over})
            yield observations, np.zeros(N), np.zeros(N, dtype=bool), np.zeros(N, dtype=bool), reset_infos
            infos = {"action_mask": np.where(over[:, None], reset_infos["action_mask"], infos["action_mask"])}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_the_native_batch_equals_the_vector_environments_of_gymnasium_in_every_mode(kind, mode):
    keywords = {"stall_limit": 3, "reward": "standard", "observation": "dict"}
    native, other = make_native(mode, **keywords), make_of_singles(kind, mode, **keywords)
    assert native.single_observation_space == other.single_observation_space
    assert native.observation_space == other.observation_space
    assert native.action_space == other.action_space
    assert native.metadata["autoreset_mode"] is other.metadata["autoreset_mode"] is mode
    ends = 0
    for left, right in zip(rollout(native, 70), rollout(other, 70), strict=True):
        ends += int((left[2] | left[3]).sum())
        for ours, theirs in zip(left, right, strict=True):
            assert data_equivalence(ours, theirs)
    assert ends > N
    other.close()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("make", [make_native, lambda *args, **kw: make_of_singles("sync", *args, **kw)])
def test_masks_belong_to_the_observation_they_come_with_and_are_never_empty(make, mode):
    envs = make(mode, stall_limit=3, observation="dict")
    ends = 0
    for observations, _, terminated, truncated, infos in rollout(envs, 80, seed=3):
        told = infos.get("_action_mask", np.ones(N, dtype=bool))
        np.testing.assert_array_equal(observations["action_mask"][told], infos["action_mask"][told])
        assert infos["action_mask"][told].any(axis=1).all()
        assert infos["action_mask"].dtype == np.int8
        for row in np.flatnonzero(terminated | truncated):
            ends += 1
            if mode is AutoresetMode.SAME_STEP:
                final = infos["final_info"]["action_mask"][row]
                np.testing.assert_array_equal(infos["final_obs"][row]["action_mask"], final)
                assert final.all()
                assert not infos["action_mask"][row].all()  # of the next game
            else:
                assert infos["action_mask"][row].all()
    assert ends > N


@pytest.mark.parametrize("make", [make_native, lambda *args, **kw: make_of_singles("sync", *args, **kw)])
@pytest.mark.parametrize("form", ["flat", "dict"])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_nothing_returned_is_changed_by_later_steps(make, form, mode):
    def arrays(value):
        if isinstance(value, dict):
            return [array for part in value.values() for array in arrays(part)]
        if isinstance(value, np.ndarray) and value.dtype == object:
            return [array for part in value for array in arrays(part)]
        return [value] if isinstance(value, np.ndarray) else []

    returned, kept = [], []
    for step in rollout(make(mode, stall_limit=3, observation=form), 40):
        returned.append([array for part in step for array in arrays(part)])
        kept.append([array.copy() for array in returned[-1]])
    for now, before in zip(returned, kept, strict=True):
        for array, earlier in zip(now, before, strict=True):
            np.testing.assert_array_equal(array, earlier)


def test_rows_of_a_reset_in_next_step_mode_ignore_the_action_and_carry_no_experience():
    envs = make_native(max_episode_steps=3, reward="vegas")
    envs.reset(seed=0)
    for _ in range(2):
        envs.step(np.full(N, STOCK_ACTION))
    last, _, _, truncated, _ = envs.step(np.full(N, STOCK_ACTION))
    assert truncated.all()
    first, rewards, terminated, truncated, infos = envs.step(np.zeros(N, dtype=np.int64))  # mostly illegal
    assert not np.array_equal(last, first)
    assert (rewards == 0).all()
    assert not (terminated | truncated).any()
    assert (infos["moves"] == 0).all()
    assert not infos["illegal_action"].any()


@pytest.mark.parametrize("make", [make_native, lambda **kw: make_of_singles("sync", **kw)])
def test_games_go_on_with_their_own_seed_after_every_end(make):
    envs = make(max_episode_steps=1)
    _, infos = envs.reset(seed=[11, 22, 33, 44])
    deals = [infos["deal"]]
    for _ in range(6):
        *_, infos = envs.step(np.full(N, STOCK_ACTION))
        deals.append(infos["deal"])
    for row, seed in enumerate((11, 22, 33, 44)):
        single = gym.make(GYM_ID)
        expected = [single.reset(seed=seed)[1]["deal"]] + [single.reset()[1]["deal"] for _ in range(3)]
        assert [int(deal[row]) for deal in deals] == [expected[i // 2] for i in range(7)]
    assert len({int(deal[0]) for deal in deals}) == 4


def test_action_spaces_are_seeded_by_hand_and_sample_with_the_mask_as_it_comes():
    env, twin = gym.make(GYM_ID), gym.make(GYM_ID)
    _, info = env.reset(seed=0)
    env.action_space.seed(5)
    twin.action_space.seed(5)
    actions = [env.action_space.sample(info["action_mask"]) for _ in range(50)]
    assert actions == [twin.action_space.sample(info["action_mask"]) for _ in range(50)]
    assert info["action_mask"][actions].all()
    assert len(set(actions)) > 1
    envs = make_native()
    _, infos = envs.reset(seed=0)
    envs.action_space.seed(5)
    sampled = envs.action_space.sample(tuple(infos["action_mask"]))
    assert infos["action_mask"][np.arange(N), sampled].all()


def test_a_time_limit_truncates_single_and_vector_environments_alike():
    single = gym.make(GYM_ID, max_episode_steps=2)
    single.reset(seed=0)
    vectors = [make_native(max_episode_steps=2), make_of_singles("sync", max_episode_steps=2)]
    for envs in vectors:
        envs.reset(seed=0)
    for expected in (False, True):
        assert single.step(STOCK_ACTION)[2:4] == (False, expected)
        for envs in vectors:
            _, _, terminated, truncated, _ = envs.step(np.full(N, STOCK_ACTION))
            assert not terminated.any()
            assert (truncated == expected).all()


def test_specs_survive_json_and_make_the_same_environments():
    env = gym.make(GYM_ID, talon="draw", stall_limit=9, observation="cards")
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.unwrapped.settings == env.unwrapped.settings
    envs = gym.make_vec("Klondike/Custom-v0", num_envs=N, draw_count=2, redeals=1, reward="vegas")
    twin = gym.make_vec(EnvSpec.from_json(envs.spec.to_json()), num_envs=N)
    assert (twin.unwrapped.rules, twin.unwrapped.settings) == (envs.unwrapped.rules, envs.unwrapped.settings)
    wrapped = RLlibObservation(gym.make(GYM_ID))
    again = gym.make(EnvSpec.from_json(wrapped.spec.to_json()))
    assert again.observation_space == wrapped.observation_space


def test_statistics_of_episodes_count_steps_and_rewards():
    env = wrappers.RecordEpisodeStatistics(gym.make(GYM_ID, max_episode_steps=5, reward="vegas"))
    env.reset(seed=0)
    for _ in range(5):
        *_, info = env.step(STOCK_ACTION)
    assert (info["episode"]["l"], info["episode"]["r"]) == (5, -52)
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        native, other = (
            wrappers.vector.RecordEpisodeStatistics(make(mode, max_episode_steps=5, reward="vegas"))
            for make in (make_native, lambda *args, **kw: make_of_singles("sync", *args, **kw))
        )
        for envs in (native, other):
            envs.reset(seed=0)
            for _ in range(18):
                envs.step(np.full(N, STOCK_ACTION))
        assert list(native.length_queue) == list(other.length_queue)
        assert list(native.return_queue) == list(other.return_queue)
        if mode is AutoresetMode.NEXT_STEP:  # in the other mode Gymnasium 1.2 loses a step of each episode
            assert list(native.length_queue) == [5] * 3 * N
            assert list(native.return_queue) == [-52] * 3 * N


def test_wrappers_of_observations_fit_single_and_vector_environments():
    frames = wrappers.FrameStackObservation(gym.make(GYM_ID), 3)
    observation, info = frames.reset(seed=0)
    assert observation.shape == (3, 1019)
    observation, *_, info = frames.step(int(info["action_mask"].argmax()))
    assert info["action_mask"].any()
    assert not np.array_equal(observation[1], observation[2])
    flat = wrappers.FlattenObservation(gym.make(GYM_ID, observation="dict"))
    assert flat.reset(seed=0)[0].shape == (1019 + 313,)
    normal = wrappers.NormalizeObservation(gym.make(GYM_ID))
    assert np.isfinite(normal.reset(seed=0)[0]).all()
    for envs, shape in (
        (wrappers.vector.FlattenObservation(make_native(observation="cards")), (N, 1019)),
        (wrappers.vector.NormalizeObservation(make_native()), (N, 1019)),
    ):
        observations, infos = envs.reset(seed=0)
        observations, *_, infos = envs.step(choose(infos, np.random.default_rng(0)))
        assert observations.shape == shape
        assert np.isfinite(observations).all()
        assert infos["action_mask"].any(axis=1).all()


@pytest.mark.parametrize(
    ("wrapper", "keys"),
    [(RLlibObservation, ("observations", "action_mask")), (TianshouObservation, ("obs", "mask"))],
)
def test_the_wrappers_rename_keys_and_pair_mask_and_observation(wrapper, keys):
    env = wrapper(gym.make(GYM_ID, stall_limit=3))
    plain = gym.make(GYM_ID, stall_limit=3)
    observation, info = env.reset(seed=4)
    expected, _ = plain.reset(seed=4)
    over = False
    while not over:
        assert env.observation_space.contains(observation)
        np.testing.assert_array_equal(observation[keys[0]], expected)
        np.testing.assert_array_equal(observation[keys[1]], info["action_mask"])
        assert not np.shares_memory(observation[keys[1]], info["action_mask"])
        action = int(info["action_mask"].argmax())
        observation, _, terminated, truncated, info = env.step(action)
        expected = plain.step(action)[0]
        over = terminated or truncated
    assert observation[keys[1]].all()


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
def test_processes_forked_after_kernels_ran_play_on():
    games = Games(64, Rules(), threads=2)
    games.deal(np.arange(64))
    games.step(games.random_actions(np.random.default_rng(0)))
    envs = gym.make_vec(GYM_ID, num_envs=N, vectorization_mode="async", vector_kwargs={"context": "fork"})
    for *_, infos in rollout(envs, 5):
        assert infos["action_mask"].any(axis=1).all()
    assert (infos["moves"] == 5).all()
    envs.close()
    child = multiprocessing.get_context("fork").Process(target=_play_in_threads)
    child.start()
    child.join(timeout=60)
    assert child.exitcode == 0


def _play_in_threads():
    envs = make_native(threads=2)
    for _ in rollout(envs, 5):
        pass


@pytest.mark.filterwarnings("error")
def test_an_environment_that_could_not_be_made_is_forgotten_without_a_warning():
    with pytest.raises(ValueError, match="num_envs is 0"):
        KlondikeVectorEnv(0)
    gc.collect()


def test_an_unknown_keyword_raises_what_libraries_that_try_keywords_out_expect():
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'") as caught:
        gym.make(GYM_ID, frameskip=4)
    assert isinstance(caught.value, UnknownKeywordError)
    assert isinstance(caught.value, ValueError)
