"""Recording decisions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from klondike_env.agents import load as load_agent
from klondike_env.agents.match import play_games
from klondike_env.engine.actions import RESIGN
from klondike_env.env import KlondikeEnv
from klondike_env.games import Games
from klondike_env.observation.fields import HIGHS
from klondike_env.rules import PRESETS
from tests.agents.test_all_agents import permute_unseen
from train.record import BLOCK, Decisions, Recorder, app, load, record

DEALS = np.arange(3_000_000, 3_000_020)


def equal(left: Decisions, right: Decisions) -> bool:
    return all(np.array_equal(vars(left)[name], vars(right)[name], equal_nan=name == "values") for name in vars(left))


def command(*arguments: str) -> str:
    outcome = CliRunner().invoke(app, arguments)
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


@pytest.mark.parametrize(("variant", "agent"), [("draw1", "tuned"), ("classic", "collins"), ("draw3", "random")])
def test_decisions_are_what_the_environment_shows(variant: str, agent: str) -> None:
    player = load_agent(agent)
    deals = DEALS[:3]
    decisions = record(player, PRESETS[variant], deals)
    played = play_games(load_agent(agent), PRESETS[variant], deals)
    for deal, won in zip(deals.tolist(), played.won.tolist(), strict=True):
        env = KlondikeEnv(
            variant=variant,
            talon=player.talon_for(PRESETS[variant]),
            no_repeats=player.no_repeats,
            auto_finish=True,
        )
        observation, info = env.reset(options={"deal": deal})
        rows = np.flatnonzero(decisions.deals == deal)
        assert np.array_equal(decisions.won[rows], np.full(len(rows), won))
        for row in rows:
            assert decisions.observations[row] / HIGHS == pytest.approx(observation)
            assert np.array_equal(decisions.masks[row], info["action_mask"].astype(bool))
            if decisions.actions[row] >= 0:
                assert decisions.masks[row, decisions.actions[row]]
                observation, _, _, _, info = env.step(decisions.actions[row])
        assert (info["outcome"] == "won") == won


def test_hidden_cards_are_not_recorded() -> None:
    rules, rng, deals = PRESETS["draw1"], np.random.default_rng(1), np.arange(10)
    recorders = [Recorder(load_agent("tuned"), 0) for _ in range(2)]
    games, others = (Games(10, rules, talon="reach") for _ in range(2))
    games.deal(deals)
    for recorder in recorders:
        recorder.start(10, rules, 0)
    for _ in range(20):
        others.states[:] = games.states
        for row in np.flatnonzero(~games.over):
            permute_unseen(others.states[row], rng)
        actions = recorders[0].act(games.views(), games.masks)
        recorders[1].act(others.views(), games.masks)
        games.step(actions, actions != RESIGN)
    assert equal(*(recorder.decisions(deals, games.over) for recorder in recorders))


def test_values_of_all_legal_actions() -> None:
    decisions = record(load_agent("bandit:samples=5"), PRESETS["draw1"], DEALS[:3], samples=8)
    assert decisions.values.shape == (len(decisions.actions), 313)
    assert np.array_equal(~np.isnan(decisions.values), decisions.masks)
    shares = decisions.values[decisions.masks]
    assert 0 <= shares.min() < shares.max() <= 1
    assert record(load_agent("tuned"), PRESETS["draw1"], DEALS[:1]).values.shape[1] == 0


def test_an_interrupted_recording_goes_on(tmp_path: Path) -> None:
    arguments = ("--variant", "classic", "--agent", "tuned", "--games", str(2 * BLOCK + 10))
    command(*arguments, "--out", str(tmp_path / "whole"))
    command(*arguments, "--out", str(tmp_path / "again"))
    files = sorted((tmp_path / "again").glob("*.npz"))
    assert len(files) == 3
    files[1].unlink()
    first = files[0].read_bytes()
    command(*arguments, "--out", str(tmp_path / "again"))
    assert files[0].read_bytes() == first
    whole, again = load(tmp_path / "whole"), load(str(tmp_path / "again"))
    assert equal(whole, again)
    assert len(np.unique(whole.deals)) == 2 * BLOCK + 10


def test_other_decisions_are_not_mixed_or_overwritten(tmp_path: Path) -> None:
    arguments = ("--variant", "classic", "--games", "5", "--out", str(tmp_path / "out"))
    command(*arguments, "--agent", "tuned")
    before = {file: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    outcome = CliRunner().invoke(app, (*arguments, "--agent", "collins"))
    assert outcome.exit_code == 2
    assert "holds other decisions" in outcome.output.replace("\n", " ")
    assert {file: file.read_bytes() for file in (tmp_path / "out").iterdir()} == before
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "thesis.txt").write_text("precious")
    outcome = CliRunner().invoke(app, ("--variant", "draw1", "--agent", "tuned", "--out", str(tmp_path / "file")))
    assert outcome.exit_code == 2
    assert "holds other files" in outcome.output.replace("\n", " ")


def test_a_directory_without_decisions_is_explained(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="holds no recorded decisions; record some with"):
        load(tmp_path)
