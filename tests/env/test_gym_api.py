"""The single environment: conformance, seeds, options, information, illegal actions."""

import copy
import json
import pickle
import subprocess
import sys
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_env_of_sb3

import klondike_env
from klondike_env.deals import TRAINING_DEALS, deck_of
from klondike_env.engine.actions import N_ACTIONS, STOCK_ACTION
from klondike_env.observation import FORMS

IDS = [*klondike_env.GYM_IDS.values(), klondike_env.CUSTOM_ID]


def first_legal(info):
    return int(info["action_mask"].argmax())


def last_legal(info):
    return int(np.flatnonzero(info["action_mask"])[-1])


def play_out(env, choose, **reset):
    observation, info = env.reset(**reset)
    trace = [(observation, info)]
    over = False
    while not over:
        observation, reward, terminated, truncated, info = env.step(choose(info))
        trace.append((observation, reward, terminated, truncated, info))
        over = terminated or truncated
    return trace


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("gym_id", IDS)
def test_gymnasium_check_env_passes_without_a_warning(gym_id, form):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make(gym_id, observation=form, render_mode="ansi").unwrapped)


@pytest.mark.parametrize("gym_id", IDS)
def test_sb3_check_env_passes_without_a_warning_on_the_default_form(gym_id):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env_of_sb3(gym.make(gym_id).unwrapped)


@pytest.mark.parametrize("form", ["cards", "dict"])
def test_sb3_check_env_remarks_on_nothing_but_unusual_shapes_on_the_other_forms(form):
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always")
        check_env_of_sb3(gym.make("Klondike/Draw3-v0", observation=form).unwrapped)
    assert remarks
    assert all("unconventional shape" in str(remark.message) for remark in remarks)


def test_importing_the_package_registers_the_ids_without_importing_what_compiles():
    program = (
        "import sys, klondike_env, gymnasium; assert 'Klondike/Draw1-v0' in gymnasium.registry; "
        "sys.exit(any(name in sys.modules for name in ('numba', 'torch', 'matplotlib', 'PIL')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_spec_survives_json_with_custom_rules():
    env = gym.make("Klondike/Custom-v0", draw_count=2, redeals=3, build="same_suit", gaps="any", runs="whole_or_last")
    spec = gym.envs.registration.EnvSpec.from_json(env.spec.to_json())
    again = gym.make(spec)
    assert again.unwrapped.rules == env.unwrapped.rules
    assert again.unwrapped.rules.draw_count == 2
    json.dumps(env.spec.kwargs)


@pytest.mark.parametrize("gym_id", IDS)
def test_equal_seeds_play_equal_games_and_other_seeds_others(gym_id):
    env, twin = gym.make(gym_id), gym.make(gym_id)
    one, two = play_out(env, last_legal, seed=5), play_out(twin, last_legal, seed=5)
    assert len(one) == len(two)
    for left, right in zip(one[1:], two[1:], strict=True):
        np.testing.assert_array_equal(left[0], right[0])
        assert left[1:4] == right[1:4]
        np.testing.assert_array_equal(left[4]["action_mask"], right[4]["action_mask"])
    _, info = env.reset(seed=6)
    assert info["deal"] != one[0][1]["deal"]


def test_seeded_deals_are_training_deals_and_go_on_from_reset_to_reset():
    env = gym.make("Klondike/Draw1-v0")
    deals = [env.reset(seed=3)[1]["deal"]] + [env.reset()[1]["deal"] for _ in range(20)]
    assert len(set(deals)) == 21
    assert all(deal in TRAINING_DEALS for deal in deals)
    assert env.reset(seed=3)[1]["deal"] == deals[0]


def test_a_deal_and_a_deck_can_be_asked_for():
    env = gym.make("Klondike/Draw1-v0")
    observation, info = env.reset(options={"deal": 123456})
    assert info["deal"] == 123456
    same, custom = env.reset(options={"deck": deck_of(123456)})
    assert custom["deal"] == -1
    np.testing.assert_array_equal(observation, same)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deel": 1}, "no such reset option: 'deel'; known: deal, deck, position"),
        ({"deal": -1}, "deal is -1; allowed: a whole number from 0 to 9007199254740991"),
        ({"deal": 2**53}, "deal is 9007199254740992; allowed: a whole number from 0 to 9007199254740991"),
        ({"deal": 1.5}, "deal is 1.5; allowed: a whole number from 0 to 9007199254740991"),
        ({"deal": "x"}, "deal is 'x'; allowed: a whole number from 0 to 9007199254740991"),
        ({"deal": None}, "deal is None; allowed: a whole number from 0 to 9007199254740991"),
        ({"deal": True}, "deal is True; allowed: a whole number from 0 to 9007199254740991"),
        ({"deck": None}, "deck is None; allowed: a list of 52 card ids"),
        ({"deck": [float(card) for card in range(52)]}, r"card 0 of the deck is 0.0; allowed: 0 to 51"),
        ({"deal": 1, "position": ""}, "reset options name a deal and a position; give one of them"),
        ([("deal", 1)], r"options is \[\('deal', 1\)\]; allowed: a dict with any of deal, deck, position"),
        (7, "options is 7; allowed: a dict with any of deal, deck, position"),
        ({"deal": 1, "deck": deck_of(1)}, "reset options name a deal and a deck; give one of them"),
        ({"deck": [0] * 52}, "card 1 of the deck is 0, which is there already"),
        ({"deck": [*range(51), 52]}, "card 51 of the deck is 52; allowed: 0 to 51"),
        ({"deck": [1, 2]}, r"a deck has 52 cards; this one has shape \(2,\)"),
    ],
)
def test_bad_reset_options_are_refused(options, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        gym.make("Klondike/Draw1-v0").reset(options=options)


@pytest.mark.parametrize(
    ("gym_id", "keywords", "message"),
    [
        ("Klondike/Draw1-v0", {"talon": "fan"}, "talon is 'fan'; allowed: draw, reach"),
        ("Klondike/Draw1-v0", {"reward": "gold"}, "reward is 'gold'; allowed: win, progress, standard, vegas"),
        ("Klondike/Draw1-v0", {"reward": ["win"]}, r"reward is \['win'\]; allowed: win, progress, standard, vegas"),
        ("Klondike/Draw1-v0", {"talon": None}, "talon is None; allowed: draw, reach"),
        ("Klondike/Draw1-v0", {"step_limit": "9"}, "step_limit is '9'; allowed: a whole number from 1, or None"),
        ("Klondike/Draw1-v0", {"stall_limit": True}, "stall_limit is True; allowed: a whole number from 1, or None"),
        ("Klondike/Custom-v0", {"build": ["same_suit"]}, r"build is \['same_suit'\]; allowed: alternating_colour"),
        ("Klondike/Custom-v0", {"redeals": 1.0}, "redeals is 1.0; allowed: a whole number from 0 to 99 or None"),
        ("Klondike/Custom-v0", {"worry_back": 1}, "worry_back is 1; allowed: True or False"),
        ("Klondike/Custom-v0", {"variant": ["draw1"]}, r"no such variant: \['draw1'\]; known: draw1, draw3"),
        ("Klondike/Draw1-v0", {"observation": "x"}, "observation is 'x'; allowed: flat, cards, dict"),
        ("Klondike/Draw1-v0", {"stall_limit": 0}, "stall_limit is 0; allowed: a whole number from 1, or None"),
        ("Klondike/Draw1-v0", {"thoughtful": 1}, "thoughtful is 1; allowed: True or False"),
        ("Klondike/Draw1-v0", {"illegal_action": "x"}, "illegal_action is 'x'; allowed: refuse, raise, terminate"),
        ("Klondike/Draw1-v0", {"draw_count": 2}, "draw_count is a rule, and the rules of 'draw1' are fixed"),
        ("Klondike/Custom-v0", {"draw_count": 25}, "draw_count is 25; allowed: a whole number from 1 to 24"),
        (
            "Klondike/Custom-v0",
            {"drow_count": 2},
            "unexpected keyword argument 'drow_count'; did you mean 'draw_count'",
        ),
        ("Klondike/Draw1-v0", {"wings": 2}, "unexpected keyword argument 'wings'; known: render_mode, talon"),
        ("Klondike/Custom-v0", {"variant": "klondike"}, "no such variant: 'klondike'; known: draw1, draw3"),
    ],
)
def test_bad_keywords_are_refused(gym_id, keywords, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        gym.make(gym_id, **keywords)


def test_numbers_of_numpy_are_numbers():
    env = gym.make(
        "Klondike/Custom-v0",
        draw_count=np.int64(2),
        redeals=np.uint8(3),
        worry_back=np.bool_(False),
        stall_limit=np.int32(40),
        no_repeats=np.bool_(True),
    ).unwrapped
    plain = gym.make(
        "Klondike/Custom-v0", draw_count=2, redeals=3, worry_back=False, stall_limit=40, no_repeats=True
    ).unwrapped
    assert env.rules == plain.rules
    assert env.settings == plain.settings
    json.dumps([env.rules.to_dict(), env.settings.__dict__])
    assert env.reset(options={"deal": np.uint16(7)})[1]["deal"] == 7


def test_the_information_names_what_is_promised():
    env = gym.make("Klondike/Draw1-v0", auto_finish=True)
    trace = play_out(env, first_legal, options={"deal": 4})
    for step in trace:
        info = step[-1]
        assert info["action_mask"].dtype == np.int8
        assert info["action_mask"].shape == (N_ACTIONS,)
        assert info["deal"] == 4
        assert 0 <= info["foundation"] <= 52
    assert [step[-1]["outcome"] for step in trace[:-1]] == ["playing"] * (len(trace) - 1)
    assert trace[-1][-1]["outcome"] in ("won", "lost", "stalled")
    assert trace[-1][-1]["action_mask"].all()
    moves = [step[-1]["moves"] for step in trace]
    assert moves == sorted(moves)


def test_action_masks_for_sb3_are_the_mask_as_bool():
    env = gym.make("Klondike/Draw3-v0")
    _, info = env.reset(seed=1)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == bool
    np.testing.assert_array_equal(masks, info["action_mask"].astype(bool))


def test_a_refused_action_changes_nothing_but_the_steps_without_progress():
    env = gym.make("Klondike/Draw1-v0", reward="standard", stall_limit=3)
    before, info = env.reset(seed=1)
    illegal = int(info["action_mask"].argmin())
    for step in range(3):
        after, reward, terminated, truncated, info = env.step(illegal)
        assert info["illegal_action"] is True
        assert (reward, info["moves"], truncated) == (0.0, 0, False)
        assert terminated is (step == 2)
    assert info["outcome"] == "stalled"
    assert np.count_nonzero(after != before) == 1  # the steps without progress
    env.reset(seed=1)
    assert env.step(STOCK_ACTION)[-1]["illegal_action"] is False


def test_an_illegal_action_raises_on_request():
    env = gym.make("Klondike/Draw1-v0", illegal_action="raise")
    env.reset(options={"deal": 0})
    with pytest.raises(ValueError, match=r"^illegal action 6 \(2C to foundation\); legal: .*312 \(stock\)$"):
        env.step(6)
    env.step(STOCK_ACTION)


def test_an_illegal_action_terminates_on_request():
    env = gym.make("Klondike/Draw1-v0", illegal_action="terminate", reward="progress")
    env.reset(options={"deal": 0})
    _, reward, terminated, truncated, info = env.step(6)
    assert (reward, terminated, truncated) == (0.0, True, False)
    assert (info["outcome"], info["illegal_action"]) == ("lost", True)
    assert info["action_mask"].all()


def test_a_step_limit_truncates():
    env = gym.make("Klondike/Draw1-v0", step_limit=2)
    env.reset(seed=0)
    assert env.step(STOCK_ACTION)[2:4] == (False, False)
    _, _, terminated, truncated, info = env.step(STOCK_ACTION)
    assert (terminated, truncated, info["outcome"]) == (False, True, "truncated")


def test_steps_need_a_game_that_is_being_played():
    env = gym.make("Klondike/Draw1-v0", step_limit=1).unwrapped
    with pytest.raises(gym.error.ResetNeeded, match="call reset"):
        env.step(STOCK_ACTION)
    env.reset(seed=0)
    env.step(STOCK_ACTION)
    with pytest.raises(gym.error.ResetNeeded, match="call reset"):
        env.step(STOCK_ACTION)


def test_nothing_returned_is_changed_by_later_steps():
    env = gym.make("Klondike/Draw1-v0", observation="dict")
    observation, info = env.reset(seed=2)
    kept = {name: part.copy() for name, part in observation.items()}
    mask = info["action_mask"].copy()
    for _ in range(10):
        _, _, _, _, later = env.step(STOCK_ACTION)
    for name, part in observation.items():
        np.testing.assert_array_equal(part, kept[name])
    np.testing.assert_array_equal(info["action_mask"], mask)
    assert not np.shares_memory(info["action_mask"], later["action_mask"])


BOARD = """\
-C -D -H -S    stock 22, waste 2: TC 4S

 1   2   3   4   5   6   7
KC  ##  ##  ##  ##  ##  ##
    QC  ##  ##  ##  ##  ##
        3S  ##  ##  ##  ##
            JH  ##  ##  ##
                KH  ##  ##
                    5S  ##
                        QD

moves 1, foundations 0 of 52, playing"""


def test_the_board_is_drawn_as_text_with_hidden_cards_hidden():
    env = gym.make("Klondike/Custom-v0", draw_count=2, render_mode="ansi")
    env.reset(options={"deal": 0})
    env.step(STOCK_ACTION)
    assert env.render() == BOARD


@pytest.mark.parametrize("action", [1.5, None, "stock", np.array([1, 2]), True, np.bool_(True)])
def test_actions_that_are_no_whole_number_are_refused_by_value(action):
    env = gym.make("Klondike/Draw1-v0").unwrapped
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"action is .*; allowed: a whole number from 0 to 312"):
        env.step(action)
    several = gym.make_vec("Klondike/Draw1-v0", num_envs=2)
    several.reset(seed=0)
    with pytest.raises(ValueError, match="actions are of type float64; allowed: whole numbers 0 to 312"):
        several.step(np.array([0.5, 1.0]))
    for actions in ([True, False], [None, 1], [[1], [1, 2]], "ab"):
        with pytest.raises(ValueError, match=r"actions are of type .*; allowed: whole numbers 0 to 312"):
            several.step(actions)


@pytest.mark.parametrize("action", [np.int32(312), np.array(312), 312])
def test_whole_numbers_of_any_type_are_actions(action):
    env = gym.make("Klondike/Draw1-v0").unwrapped
    env.reset(seed=0)
    assert env.step(action)[-1]["illegal_action"] is False


@pytest.mark.parametrize("policy", ["refuse", "raise", "terminate"])
@pytest.mark.parametrize("action", [-2, -1, 313, 400, 2**40])
def test_numbers_beyond_the_actions_are_mistakes_whatever_the_policy(action, policy):
    env = gym.make("Klondike/Draw1-v0", illegal_action=policy).unwrapped
    several = gym.make_vec("Klondike/Draw1-v0", num_envs=2, illegal_action=policy)
    env.reset(seed=0)
    several.reset(seed=0)
    before = env.get_state(), several.get_state(0)
    with pytest.raises(ValueError, match=rf"^action is {action}; allowed: a whole number from 0 to 312$"):
        env.step(action)
    with pytest.raises(ValueError, match=rf"^actions hold {action}; allowed: whole numbers 0 to 312$"):
        several.step([312, action])
    assert (env.get_state(), several.get_state(0)) == before


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copied_environment_plays_on_by_itself_and_equally(duplicate):
    env = gym.make("Klondike/Draw1-v0", no_repeats=True, reward="standard").unwrapped
    _, info = env.reset(seed=4)
    for _ in range(20):
        _, _, _, _, info = env.step(last_legal(info))
    twin = duplicate(env)
    for _ in range(60):
        action = last_legal(info)
        left, right = env.step(action), twin.step(action)
        np.testing.assert_array_equal(left[0], right[0])
        assert left[1:4] == right[1:4]
        assert left[4]["moves"] == right[4]["moves"]
        np.testing.assert_array_equal(left[4]["action_mask"], right[4]["action_mask"])
        info = left[4]
    assert env.reset()[1]["deal"] == twin.reset()[1]["deal"]
