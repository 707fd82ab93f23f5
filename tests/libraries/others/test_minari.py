"""Minari; run in .venv-others by `make test-libraries`."""

import minari
import numpy as np
import pytest

from klondike_env.engine.actions import N_ACTIONS
from tests.libraries.examples import load_example


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))


@pytest.mark.filterwarnings("ignore:.*is set to None")
def test_games_are_recorded_and_read_back(capsys):
    example = load_example("minari_dataset")
    example.main(games=3)
    shown = capsys.readouterr().out
    assert "of 3 games won" in shown
    assert "made for Klondike/Draw1-v0" in shown
    dataset = minari.load_dataset(example.DATASET)
    env = dataset.recover_environment()
    for seed, episode in enumerate(dataset.iterate_episodes()):
        masks = episode.infos["action_mask"]
        assert masks.shape == (len(episode.actions) + 1, N_ACTIONS)
        assert masks[np.arange(len(episode.actions)), episode.actions].all()
        observation, _ = env.reset(seed=seed)  # the same game, played again
        for step, action in enumerate(episode.actions):
            np.testing.assert_array_equal(observation, episode.observations[step])
            observation, reward, terminated, _, _ = env.step(action)
            assert reward == episode.rewards[step]
            assert terminated == episode.terminations[step]
