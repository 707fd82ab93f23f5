"""The example files run; tests in other virtual environments run those for other libraries."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.libraries.examples import EXAMPLES, load_example

TESTS = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


def test_every_example_is_run_by_a_test():
    tests = "\n".join(path.read_text() for path in TESTS.rglob("test_*.py"))
    for example in EXAMPLES.glob("*.py"):
        assert f'"{example.stem}"' in tests or f'"{example.name}"' in tests


def test_the_single_environment_plays_games_to_their_end(capsys):
    load_example("gymnasium_single").main(games=3)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all(re.fullmatch(r"deal \d+: (won|lost|stalled) after \d+ steps", line) for line in lines)


def test_the_vector_environment_plays_games_to_their_end(capsys):
    load_example("gymnasium_vector").main(games=16, steps=250)
    won, length = capsys.readouterr().out.splitlines()
    assert int(re.fullmatch(r"\d+ of (\d+) games won", won).group(1)) > 0
    assert re.fullmatch(r"mean length of the last \d+: \d+ steps", length)


def test_maskable_ppo_trains_and_evaluates(capsys):
    load_example("sb3_maskable_ppo").main(frames=4096, games=16, evaluation_games=16)
    assert re.search(r"^\d+% of 16 games won$", capsys.readouterr().out, re.MULTILINE)


def test_masked_ppo_in_one_file_trains(capsys):
    cleanrl = load_example("cleanrl_ppo")
    win_rate = cleanrl.train(cleanrl.Args(total_frames=16 * 64 * 4, num_envs=16))
    assert "rollout 3: " in capsys.readouterr().out
    assert 0 <= win_rate <= 1


def test_masked_ppo_in_one_file_trains_on_no_step_that_only_resets_a_game(monkeypatch):
    cleanrl = load_example("cleanrl_ppo")
    rewards, seen = [], []

    class Watched(cleanrl.Agent):
        def forward(self, observations, masks):
            if len(observations) > 4:  # a minibatch of the update
                seen.append(observations.clone())
            return super().forward(observations, masks)

    make_vec = cleanrl.gym.make_vec

    def make(*args, **keywords):
        envs = make_vec(*args, **keywords | {"stall_limit": 2})
        step = envs.step

        def watched_step(actions):
            returned = step(actions)
            rewards.append(returned[2] | returned[3])
            return returned

        envs.step = watched_step
        return envs

    monkeypatch.setattr(cleanrl.gym, "make_vec", make)
    monkeypatch.setattr(cleanrl, "Agent", Watched)
    cleanrl.train(cleanrl.Args(total_frames=4 * 64, num_envs=4, epochs=1))
    ends = np.array(rewards)
    assert ends[:-1].any()
    assert sum(len(batch) for batch in seen) == ends.size - ends[:-1].sum()
