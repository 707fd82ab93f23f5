"""Render modes of the environments, and what Gymnasium makes of them."""

import copy
import pickle
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordVideo
from gymnasium.wrappers.vector import RecordVideo as RecordVectorVideo
from PIL import Image

import klondike_env
from klondike_env.engine.actions import STOCK_ACTION

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
PICTURE = Path(__file__).parents[2] / "docs" / "images" / "board.png"
IDS = [*klondike_env.GYM_IDS.values(), klondike_env.CUSTOM_ID]


@pytest.mark.parametrize("mode", [None, "ansi", "rgb_array"])
@pytest.mark.parametrize("gym_id", IDS)
def test_check_env_passes_without_a_warning_in_every_mode(gym_id, mode):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make(gym_id, render_mode=mode).unwrapped)


@pytest.mark.parametrize("make", [gym.make, lambda *args, **keywords: gym.make_vec(*args, num_envs=2, **keywords)])
def test_an_unknown_mode_is_refused(make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium's own remark
        with pytest.raises(ValueError, match=r"^render_mode is 'svg'; allowed: None, 'ansi', 'rgb_array'$"):
            make("Klondike/Draw1-v0", render_mode="svg")


def test_without_a_mode_there_is_no_board_but_a_warning():
    for env in (gym.make("Klondike/Draw1-v0").unwrapped, gym.make_vec("Klondike/Draw1-v0", num_envs=2)):
        env.reset(seed=0)
        with pytest.warns(UserWarning, match="render.. was called without a render mode"):
            assert env.render() is None


def test_pictures_are_those_of_the_state_and_fresh():
    env, twin = (gym.make("Klondike/Draw3-v0", render_mode="rgb_array") for _ in range(2))
    env.reset(options={"deal": 5})
    twin.reset(options={"deal": 5})
    first = env.render()
    assert (first.shape, first.dtype) == ((600, 800, 3), np.uint8)
    np.testing.assert_array_equal(first, twin.render())
    kept = first.copy()
    env.step(STOCK_ACTION)
    assert (env.render() != kept).any()
    np.testing.assert_array_equal(first, kept)
    twin.step(STOCK_ACTION)
    np.testing.assert_array_equal(env.render(), twin.render())


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_hidden_cards_are_shown_in_thoughtful_mode_only(mode):
    boards = []
    for thoughtful in (False, True):
        env = gym.make("Klondike/Draw1-v0", render_mode=mode, thoughtful=thoughtful)
        env.reset(options={"deal": 5})
        boards.append(np.asarray(env.render()))
    assert (boards[0] != boards[1]).any()


def test_the_thoughtful_board_has_face_down_cards_in_small_letters():
    env = gym.make("Klondike/Draw3-v0", render_mode="ansi", thoughtful=True)
    env.reset(options={"deal": 7})
    env.step(STOCK_ACTION)
    assert env.render() == (
        "-C -D -H -S    stock 21, waste 3: 3H JH JD\n"
        "\n"
        " 1   2   3   4   5   6   7\n"
        "8D  6s  7d  ad  qc  2c  4s\n"
        "    QD  qs  9d  kc  8c  8s\n"
        "        2D  3c  7s  5c  ts\n"
        "            JS  7h  6c  5h\n"
        "                9C  jc  2s\n"
        "                    8H  kd\n"
        "                        3S\n"
        "\n"
        "stock: 5d ac qh 9h ah 4h tc td as 7c kh 4c th ks 6d 4d 6h 5s 9s 3d 2h\n"
        "moves 1, foundations 0 of 52, playing"
    )


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_the_vector_environment_renders_each_game_as_the_single_one_does(mode):
    envs = gym.make_vec("Klondike/Draw3-v0", num_envs=3, render_mode=mode)
    envs.reset(options={"deal": [4, 5, 6]})
    envs.step(np.full(3, STOCK_ACTION))
    boards = envs.render()
    assert isinstance(boards, tuple)
    for deal, board in zip([4, 5, 6], boards, strict=True):
        env = gym.make("Klondike/Draw3-v0", render_mode=mode)
        env.reset(options={"deal": deal})
        env.step(STOCK_ACTION)
        np.testing.assert_array_equal(board, env.render())


def test_gymnasium_collects_pictures_in_a_list():
    env = gym.make("Klondike/Draw1-v0", render_mode="rgb_array_list")
    env.reset(seed=0)
    env.step(STOCK_ACTION)
    pictures = env.render()
    assert [picture.shape for picture in pictures] == [(600, 800, 3)] * 2
    assert (pictures[0] != pictures[1]).any()


def test_gymnasium_opens_a_window(monkeypatch):
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium says that the wrapper, not the environment, does it
        env = gym.make("Klondike/Draw1-v0", render_mode="human")
    env.reset(seed=0)
    env.step(STOCK_ACTION)
    assert env.get_wrapper_attr("window").get_size() == (800, 600)
    env.close()


def test_a_video_is_recorded(tmp_path):
    env = gym.make("Klondike/Draw3-v0", render_mode="rgb_array")
    env = RecordVideo(env, str(tmp_path / "videos"), episode_trigger=lambda episode: True)
    env.reset(seed=0)
    for _ in range(5):
        env.step(STOCK_ACTION)
    env.close()
    (video,) = (tmp_path / "videos").glob("*.mp4")
    assert video.stat().st_size > 1000


def test_a_video_of_several_games_is_recorded(tmp_path):
    envs = gym.make_vec("Klondike/Draw3-v0", num_envs=2, render_mode="rgb_array")
    envs = RecordVectorVideo(envs, str(tmp_path / "videos"), episode_trigger=lambda episode: True)
    envs.reset(seed=0)
    for _ in range(3):
        envs.step(np.full(2, STOCK_ACTION))
    envs.close()
    (video,) = (tmp_path / "videos").glob("*.mp4")
    assert video.stat().st_size > 1000


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copied_environment_draws_the_same(duplicate):
    env = gym.make("Klondike/Draw1-v0", render_mode="rgb_array").unwrapped
    env.reset(seed=0)
    np.testing.assert_array_equal(duplicate(env).render(), env.render())


def test_without_pillow_the_error_says_what_to_install_and_text_still_works():
    program = (
        "import sys; sys.modules['PIL'] = None\n"
        "import gymnasium, klondike_env\n"
        "env = gymnasium.make('Klondike/Draw1-v0', render_mode='ansi'); env.reset(seed=0); assert env.render()\n"
        "try: gymnasium.make('Klondike/Draw1-v0', render_mode='rgb_array')\n"
        "except gymnasium.error.DependencyNotInstalled as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == 'pictures need Pillow; run `pip install "klondike-env[render]"`'


def test_text_and_no_mode_do_not_load_pillow():
    program = (
        "import sys, gymnasium, klondike_env\n"
        "gymnasium.make('Klondike/Draw1-v0', render_mode='ansi').reset(seed=0)\n"
        "sys.exit('PIL' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_example_records_a_video(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["record_video.py", str(tmp_path / "videos")])
    runpy.run_path(str(EXAMPLES / "record_video.py"))
    assert (tmp_path / "videos" / "klondike-episode-0.mp4").stat().st_size > 1000


def test_the_picture_of_the_readme_is_what_its_example_makes(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["save_picture.py", str(tmp_path / "board.png")])
    runpy.run_path(str(EXAMPLES / "save_picture.py"))
    made, kept = (np.asarray(Image.open(file).convert("RGB"), dtype=int) for file in (tmp_path / "board.png", PICTURE))
    assert made.shape == kept.shape
    assert np.abs(made - kept).mean() < 1  # versions of Pillow differ by shades
    assert PICTURE.stat().st_size < 60_000
