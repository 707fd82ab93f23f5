"""The agent `tuned`."""

from __future__ import annotations

import random

import numpy as np
import pytest

from klondike_env.agents.lists.collins import CollinsAgent
from klondike_env.agents.lists.list_player import GAME, LAYOUT, NEVER, read_position
from klondike_env.agents.match import play_games
from klondike_env.agents.tuned.agent import Scoring, TunedAgent, play_out_tuned
from klondike_env.agents.tuned.pair_table import table_for
from klondike_env.agents.tuned.scores import find_reach
from klondike_env.agents.tuned.weights import WEIGHTS, weights_for
from klondike_env.engine.actions import name
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import STALLED, WON
from klondike_env.games import Games
from klondike_env.rules import PRESETS, RuleParams, Rules
from tests.agents.test_all_agents import random_rules
from tests.boards import board
from train.tune import Arena


@kernel
def play_out_all(
    states: np.ndarray,
    rules: RuleParams,
    scoring: Scoring,
    games: np.ndarray,
    layouts: np.ndarray,
    won: np.ndarray,
) -> None:
    for i in range(len(states)):
        read_position(states, i, games, layouts)
        won[i] = play_out_tuned(games, 0, layouts, rules, NEVER, scoring)


def assert_playouts_are_the_agents_games(rules: Rules, n: int) -> None:
    played = play_games(TunedAgent(), rules, np.arange(n)).outcome
    games = Games(n, rules)
    games.deal(np.arange(n))
    won = np.zeros(n, dtype=bool)
    scratch = np.zeros(1, dtype=GAME), np.zeros(1, dtype=LAYOUT)
    play_out_all(games.states, rules.params(), Scoring.of(rules), *scratch, won)
    assert np.array_equal(won, played == WON)


@pytest.mark.parametrize("variant", PRESETS)
def test_a_playout_is_the_game_that_the_agent_plays(variant: str) -> None:
    assert_playouts_are_the_agents_games(PRESETS[variant], 1000)


def test_a_playout_is_the_game_that_the_agent_plays_under_random_rules() -> None:
    chance = random.Random(9)
    for _ in range(100):
        assert_playouts_are_the_agents_games(random_rules(chance), 50)


@pytest.mark.parametrize("variant", ["draw1", "draw3", "classic", "thumb_and_pouch"])
def test_wins_more_than_collins(variant: str) -> None:
    deals = np.arange(4000)
    ours, theirs = (play_games(agent, PRESETS[variant], deals).outcome for agent in (TunedAgent(), CollinsAgent()))
    assert np.count_nonzero(ours == WON) > np.count_nonzero(theirs == WON)


@pytest.mark.parametrize("variant", ["draw1", "draw3"])
def test_pair_scores_win_more(variant: str) -> None:
    rules = PRESETS[variant]
    arena = Arena(rules)
    states = arena.deal(0, 4000)
    without = Scoring.by(weights_for(rules), table_for(rules)[:0])
    assert arena.win_rate(Scoring.of(rules), states) > arena.win_rate(without, states) + 0.02


@pytest.mark.parametrize(
    ("columns", "waste", "expected"),
    [
        (("5D 4C", "5H", "2C 3C | 4H"), "", "4C onto 5H"),  # so that 4H can go onto 5D
        (("5D 4C", "5H", "2C 3C | 4D"), "", "4D onto 5H"),  # which can go there as it is
        (("5D 4C", "5H", "JS"), "4H", "4C onto 5H"),
        (("2C | 5D 4C", "2D 2H | 4H", "JS"), "", "stock"),
    ],
)
def test_splits_a_run_to_free_a_card_that_another_can_go_onto(
    columns: tuple[str, ...], waste: str, expected: str
) -> None:
    view = np.array([board(*columns, "KS", "KH", "KD", "KC", waste=waste, stock="9C 9D")[()]])
    agent = TunedAgent()
    agent.start(1, PRESETS["thumb_and_pouch"], 0)
    action = int(agent.act(view, np.zeros((1, 313), dtype=np.int8))[0])
    assert name(action) == expected


@pytest.mark.parametrize("variant", PRESETS)
def test_does_not_run_in_circles(variant: str) -> None:
    outcome = play_games(TunedAgent(), PRESETS[variant], np.arange(1000)).outcome
    assert np.count_nonzero(outcome == STALLED) < 10


def test_every_weight_has_a_name_of_its_own() -> None:
    assert len(WEIGHTS.names) == len(set(WEIGHTS.names)) == 46


def test_unseen_talon_cards_are_in_no_ones_reach() -> None:
    games = Games(1, PRESETS["draw3"])
    games.deal(np.arange(1))
    played, layouts = np.zeros(1, dtype=GAME), np.zeros(1, dtype=LAYOUT)
    read_position(games.views(), 0, played, layouts)
    find_reach(played, 0, layouts, PRESETS["draw3"].params())
    assert played["reach"][0] == 0
