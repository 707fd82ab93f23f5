"""Advice: the chances of a win do not depend on hidden cards, and are exact where no card is hidden."""

import gymnasium as gym
import numpy as np
import pytest
from typer.testing import CliRunner

import klondike_env.cli
from klondike_env.agents.advice import advise
from klondike_env.games import Games
from klondike_env.rules import Rules, preset

MIDDLE = """
foundations: 2C 3D AH -S
1: 9C 8H
2: ?? | QS
3: ?? ?? | JS
4: ?? ?? ?? | 6C 5H
5: ?? ?? ?? ?? | 6D
6: ?? ?? ?? ?? ?? | 3H
7: ?? ?? ?? ?? ?? ?? | KS
waste: 7C 4C 5S
stock: ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ??
"""


@pytest.mark.parametrize(("variant", "talon"), [("draw3", "draw"), ("draw3", "reach"), ("classic", "draw")])
def test_hidden_cards_change_nothing(variant, talon):
    games = Games(1, preset(variant), talon=talon)
    games.deal([77])
    told = advise(games.states[0], variant, samples=50, talon=talon, seed=3)
    assert {advice.action for advice in told} == set(np.flatnonzero(games.masks[0]).tolist())
    games.shuffle_unseen(5)
    assert advise(games.states[0], variant, samples=50, talon=talon, seed=3) == told


def test_the_best_comes_first_with_an_interval_that_holds_it():
    told = advise(MIDDLE, "draw3", samples=300)
    assert [advice.chance for advice in told] == sorted((advice.chance for advice in told), reverse=True)
    for advice in told:
        assert 0 <= advice.interval.low <= advice.chance <= advice.interval.high <= 1
        assert 0 < advice.interval.high - advice.interval.low < 0.12


def test_an_environment_is_advised_as_it_offers_the_stock():
    env = gym.make("Klondike/Draw3-v0", talon="reach")
    _, info = env.reset(seed=4)
    told = advise(env, samples=20)
    assert {advice.action for advice in told} == set(np.flatnonzero(info["action_mask"]).tolist())


def test_where_all_cards_are_known_the_solver_tells():
    end = "foundations: KC QD KH TS\n2: ?? | KS\n3: KD\n4: QS"  # the card that has not been seen must be the jack
    for rules, chance in ((Rules(), 1.0), (Rules(gaps="none"), 0.0)):
        told = advise(end, rules)
        assert len(told) > 1
        assert all((advice.chance, advice.interval) == (chance, (chance, chance)) for advice in told)


def test_the_command_prints_a_line_for_each_action(tmp_path):
    (tmp_path / "position.txt").write_text(MIDDLE)
    command = ["advise", "--from", str(tmp_path / "position.txt"), "--variant", "draw3", "--samples", "40"]
    result = CliRunner().invoke(klondike_env.cli.app, command)
    assert result.exit_code == 0
    for name in ("5S onto 6D", "stock", "2C onto 3H"):
        assert name in result.stdout
    assert result.stdout.count("% to ") == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["advise"], "name a deal by its number"),
        (["advise", "5", "--variant", "x"], "no such variant: 'x'"),
        (["advise", "--from", MIDDLE.replace("7C", "7D").replace("6D", "7D")], "7D"),
    ],
)
def test_what_cannot_be_advised_is_told_in_one_line(arguments, message):
    result = CliRunner().invoke(klondike_env.cli.app, arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_game_that_is_over_is_refused():
    env = gym.make("Klondike/Draw1-v0", stall_limit=1)
    env.reset(seed=0)
    env.step(0)
    with pytest.raises(ValueError, match=r"the game is over \(stalled\); call reset"):
        advise(env)
