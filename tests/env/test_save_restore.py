"""Saving, restoring, cloning and looking ahead, through the environments."""

from __future__ import annotations

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest

from klondike_env import GYM_IDS
from klondike_env.engine.actions import STOCK_ACTION
from klondike_env.vector_env import KlondikeVectorEnv

OPTIONS = {"no_repeats": True, "reward": "standard", "stall_limit": 80}
everywhere = pytest.mark.parametrize("gym_id", GYM_IDS.values())


def choose(mask, generator):
    """A random legal action; now and then an illegal one."""
    return int(np.argmax((mask == (generator.random() > 0.05)) * generator.random(mask.shape)))


def play_on(env, steps, seed=0):
    """Everything that some random steps return; a game that ends is followed by another."""
    generator = np.random.default_rng(seed)
    trace = []
    for _ in range(steps):
        observation, reward, terminated, truncated, info = env.step(choose(env.action_masks(), generator))
        trace.append((observation.tobytes(), reward, terminated, truncated, *map(str, info.values())))
        if terminated or truncated:
            trace.append(env.reset()[0].tobytes())
    return trace


def started(gym_id, steps=40, **options):
    env = gym.make(gym_id, **OPTIONS | options).unwrapped
    env.reset(seed=8)
    play_on(env, steps, seed=1)
    return env


@everywhere
@pytest.mark.parametrize("talon", ["draw", "reach"])
def test_a_restored_game_plays_on_as_the_saved_one_did(gym_id, talon):
    env, twin = started(gym_id, talon=talon), gym.make(gym_id, **OPTIONS, talon=talon).unwrapped
    for seed in range(5):
        state = env.get_state()
        before = play_on(env, 1, seed)
        env.set_state(state)
        twin.set_state(state)
        assert twin.get_state() == env.get_state() == state
        assert play_on(env, 1, seed) == play_on(twin, 1, seed) == before
        play_on(env, 12, seed)


def test_a_restored_game_remembers_the_positions_visited_before():
    env = started("Klondike/ThumbAndPouch-v0", steps=0, stall_limit=None)
    generator = np.random.default_rng(3)
    for _ in range(300):
        _, _, over, _, _ = env.step(choose(env.action_masks(), generator))
        if over:
            env.reset()
        fresh = gym.make("Klondike/ThumbAndPouch-v0", **OPTIONS | {"stall_limit": None}).unwrapped
        fresh.set_state(env.get_state())
        np.testing.assert_array_equal(fresh.action_masks(), env.action_masks())


def test_a_restored_game_shows_what_it_showed_when_it_was_saved():
    env = started("Klondike/Draw3-v0")
    env.step(int(env.action_masks().argmin()))  # an illegal action
    observation, info = env.observe()
    state = env.get_state()
    env.reset(seed=1)
    env.set_state(state)
    again, restored = env.observe()
    np.testing.assert_array_equal(again, observation)
    assert restored["illegal_action"] is True
    assert {name: str(value) for name, value in restored.items()} == {name: str(value) for name, value in info.items()}


def test_the_end_of_a_game_can_be_saved():
    env = gym.make("Klondike/Draw1-v0", step_limit=1).unwrapped
    env.reset(seed=0)
    env.step(STOCK_ACTION)
    twin = gym.make("Klondike/Draw1-v0", step_limit=1).unwrapped
    twin.set_state(env.get_state())
    assert twin.observe()[1]["outcome"] == "truncated"
    assert twin.action_masks().all()
    with pytest.raises(gym.error.ResetNeeded):
        twin.step(STOCK_ACTION)


def test_the_random_generator_is_cloned_but_is_no_part_of_a_saved_state():
    env = started("Klondike/Draw1-v0")
    state, clone = env.get_state(), env.clone()
    following = env.reset()[1]["deal"]
    env.set_state(state)
    assert env.reset()[1]["deal"] != following
    assert clone.reset()[1]["deal"] == following


def test_saving_works_through_wrappers():
    env = gym.make("Klondike/Draw1-v0")
    env.reset(seed=2)
    state = env.get_wrapper_attr("get_state")()
    env.step(STOCK_ACTION)
    env.get_wrapper_attr("set_state")(state)
    assert env.unwrapped.observe()[1]["moves"] == 0


@everywhere
@pytest.mark.parametrize(
    "duplicate",
    [lambda env: env.clone(), copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))],
    ids=["clone", "deepcopy", "pickle"],
)
def test_a_copy_plays_on_by_itself_and_equally(gym_id, duplicate):
    env = started(gym_id)
    twin = duplicate(env)
    state = env.get_state()
    expected = play_on(twin, 120)
    assert env.get_state() == state
    assert play_on(env, 120) == expected


@everywhere
def test_a_determinized_copy_looks_the_same_and_hides_something_else(gym_id):
    env = started(gym_id, steps=15)
    observation, info = env.observe()
    state = env.get_state()
    worlds = [env.determinize(seed) for seed in range(4)]
    for world in worlds:
        seen, told = world.observe()
        np.testing.assert_array_equal(seen, observation)
        np.testing.assert_array_equal(told["action_mask"], info["action_mask"])
        assert told["deal"] == -1
    assert len({world.get_state() for world in [env, *worlds]}) == 5
    assert env.get_state() == state
    assert env.determinize(3).get_state() == worlds[3].get_state()
    assert env.determinize(np.random.default_rng(3)).get_state() == worlds[3].get_state()


@pytest.mark.parametrize("rng", [None, -1, 1.5, True, "seed"])
def test_what_shuffles_must_be_a_generator_or_a_seed(rng):
    with pytest.raises(ValueError, match=r"^rng is .*; allowed: a numpy Generator, or a whole number from 0 as a"):
        started("Klondike/Draw1-v0", steps=0).determinize(rng)


@pytest.mark.parametrize(
    "call", ["get_state", "clone_then_step", "determinize", "observe", "action_masks", "render", "step"]
)
@pytest.mark.parametrize("closed", [False, True])
def test_nothing_works_before_a_reset_or_after_a_close(call, closed):
    env = gym.make("Klondike/Draw1-v0", render_mode="ansi").unwrapped
    if closed:
        env.reset(seed=0)
        env.close()
    calls = {
        "clone_then_step": lambda: env.clone().step(STOCK_ACTION),
        "determinize": lambda: env.determinize(0),
        "step": lambda: env.step(STOCK_ACTION),
    }
    with pytest.raises(gym.error.ResetNeeded, match="call reset"):
        calls.get(call, getattr(env, call, None))()
    env.reset(seed=0)
    assert env.render() is not None


@pytest.mark.parametrize("closed", [False, True])
def test_nothing_works_on_a_batch_before_a_reset_or_after_a_close(closed):
    envs = KlondikeVectorEnv(2, "draw1")
    if closed:
        envs.reset(seed=0)
        envs.close()
    calls = [
        lambda: envs.get_state(0),
        lambda: envs.copy_rows(0, 1),
        lambda: envs.determinize(0),
        envs.observe,
        envs.action_masks,
        lambda: envs.step(np.full(2, STOCK_ACTION)),
    ]
    for call in calls:
        with pytest.raises(gym.error.ResetNeeded, match="call reset"):
            call()


def batch(mode="NextStep", **options):
    envs = KlondikeVectorEnv(4, "thumb_and_pouch", autoreset_mode=mode, **OPTIONS | options)
    envs.reset(seed=20)
    return envs, np.random.default_rng(5)


def steps_of(envs, generator, n):
    trace = []
    for _ in range(n):
        chosen = np.array([choose(mask, generator) for mask in envs.action_masks()])
        observations, rewards, terminated, truncated, info = envs.step(chosen)
        trace.append((observations.tobytes(), rewards.tolist(), terminated.tolist(), truncated.tolist(), str(info)))
    return trace


def test_a_row_is_restored_in_another_row_and_in_a_single_environment():
    envs, generator = batch()
    steps_of(envs, generator, 30)
    state = envs.get_state(1)
    envs.set_state(3, state)
    assert envs.get_state(3) == state
    env = gym.make("Klondike/ThumbAndPouch-v0", **OPTIONS).unwrapped
    env.set_state(state)
    np.testing.assert_array_equal(envs.observe()[0][3], env.observe()[0])
    actions = envs.action_masks().argmax(axis=1)
    assert actions[1] == actions[3]
    observations, rewards, *_ = envs.step(actions)
    observation, reward, *_ = env.step(actions[3])
    np.testing.assert_array_equal(observations[1], observations[3])
    np.testing.assert_array_equal(observations[3], observation)
    assert rewards[1] == rewards[3] == reward


def test_a_batch_can_be_restored_without_a_reset():
    envs, generator = batch()
    steps_of(envs, generator, 10)
    fresh = KlondikeVectorEnv(4, "thumb_and_pouch", **OPTIONS)
    for row in range(4):
        with pytest.raises(gym.error.ResetNeeded):
            fresh.observe()
        fresh.set_state(row, envs.get_state(row))
    assert [fresh.get_state(row) for row in range(4)] == [envs.get_state(row) for row in range(4)]
    steps_of(fresh, generator, 200)  # rows that end are dealt from generators of their own


@pytest.mark.parametrize("duplicate", [lambda envs: envs.clone(), lambda envs: pickle.loads(pickle.dumps(envs))])
def test_a_copied_batch_plays_on_by_itself_and_equally(duplicate):
    envs, generator = batch()
    steps_of(envs, generator, 30)
    twin = duplicate(envs)
    expected = steps_of(twin, np.random.default_rng(6), 150)
    assert any(any(step[2]) for step in expected)  # games ended and others were dealt
    assert steps_of(envs, np.random.default_rng(6), 150) == expected


def test_a_row_is_copied_onto_others_which_keep_their_own_generators():
    envs, generator = batch(mode="Disabled")
    steps_of(envs, generator, 20)
    envs.copy_rows(2, [0, 1])
    assert envs.get_state(0) == envs.get_state(1) == envs.get_state(2) != envs.get_state(3)
    envs.copy_rows([3, 2], [2, 3])
    assert envs.get_state(3) == envs.get_state(0) != envs.get_state(2)
    assert len(set(envs.reset()[1]["deal"].tolist())) == 4


def test_a_game_that_is_over_is_dealt_anew_after_it_was_restored():
    envs, _ = batch(step_limit=1)
    envs.step(np.full(4, STOCK_ACTION))
    state = envs.get_state(0)
    envs.reset()
    envs.set_state(2, state)
    *_, info = envs.step(np.full(4, STOCK_ACTION))
    assert info["outcome"].tolist() == ["truncated", "truncated", "playing", "truncated"]
    assert info["moves"].tolist() == [1, 1, 0, 1]


def test_rows_of_a_batch_are_determinized_each_by_itself():
    envs, generator = batch()
    steps_of(envs, generator, 5)
    envs.copy_rows(0, [1, 2, 3])
    before = [envs.get_state(row) for row in range(4)]
    worlds = envs.determinize(9, [1, 2, 3])
    assert [envs.get_state(row) for row in range(4)] == before
    assert worlds.get_state(0) == before[0]
    assert len({worlds.get_state(row) for row in range(4)}) == 4
    np.testing.assert_array_equal(worlds.observe()[0], envs.observe()[0])
    np.testing.assert_array_equal(worlds.action_masks(), envs.action_masks())
    assert len({envs.determinize(9).get_state(row) for row in range(4)}) == 4


@pytest.mark.parametrize("row", [-1, 4, 1.5, "0", None])
def test_rows_that_are_not_there_are_refused(row):
    envs, _ = batch()
    state = envs.get_state(0)
    for call in (lambda: envs.get_state(row), lambda: envs.set_state(row, state), lambda: envs.copy_rows([row], 0)):
        with pytest.raises(ValueError, match=r"^rows? (is|are) .*; allowed: (a )?whole numbers? from 0 to 3$"):
            call()
