"""The fast list player against the engine, and against the list that it plays."""

from __future__ import annotations

import random

import numpy as np
import pytest

from klondike_env.agents.lists import list_player
from klondike_env.agents.lists.collins import CollinsAgent
from klondike_env.agents.lists.list_player import GAME, LAYOUT, NEVER, comes_up_at, play_out, read_position, stock_of
from klondike_env.agents.match import play_games
from klondike_env.agents.tuned.agent import TunedAgent
from klondike_env.agents.tuned.scores import find_reach, playable
from klondike_env.engine import queries, talon
from klondike_env.engine.actions import RESIGN
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import WON
from klondike_env.games import Games
from klondike_env.rules import PRESETS, RuleParams, Rules
from tests.agents.test_all_agents import random_rules

VARIANTS = ["draw1", "draw3", "classic", "thumb_and_pouch"]


@kernel
def play_out_all(
    states: np.ndarray, rules: RuleParams, games: np.ndarray, layouts: np.ndarray, won: np.ndarray
) -> None:
    for i in range(len(states)):
        read_position(states, i, games, layouts)
        won[i] = play_out(games, 0, layouts, rules, NEVER)


def fast_wins(states: np.ndarray, rules: Rules) -> np.ndarray:
    won = np.zeros(len(states), dtype=bool)
    play_out_all(states, rules.params(), np.zeros(1, dtype=GAME), np.zeros(1, dtype=LAYOUT), won)
    return won


# --- playouts ----------------------------------------------------------------------------------------


def assert_fast_equals_plain(rules: Rules, n: int) -> None:
    deals = np.arange(n)
    games = Games(n, rules)
    games.deal(deals)
    plain = play_games(CollinsAgent(), rules, deals).outcome == WON
    assert np.array_equal(fast_wins(games.states, rules), plain)


@pytest.mark.parametrize("variant", PRESETS)
def test_a_playout_is_the_game_that_collins_plays(variant: str) -> None:
    assert_fast_equals_plain(PRESETS[variant], 3000)


def test_a_playout_is_the_game_that_collins_plays_under_random_rules() -> None:
    chance = random.Random(5)
    for _ in range(100):
        assert_fast_equals_plain(random_rules(chance), 100)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_playout_from_the_middle_of_a_game_too(variant: str) -> None:
    rules = PRESETS[variant]
    games = Games(500, rules, auto_finish=True)
    games.deal(np.arange(len(games)))
    generator = np.random.default_rng(6)
    for _ in range(20):
        games.step(games.random_actions(generator))
    states = games.states[~games.over]
    assert len(states) > 400
    fast = fast_wins(states, rules)
    plain = Games(len(states), rules, auto_finish=True)
    plain.resume(states)
    agent = CollinsAgent()
    agent.start(len(states), rules, 0)
    agent._moved[:] = 1
    while not plain.over.all():
        actions = agent.act(plain.views(), plain.masks)
        plain.forfeit(np.flatnonzero(~plain.over & (actions == RESIGN)))
        plain.step(actions)
    assert np.array_equal(fast, plain.outcomes == WON)


# --- the engine is the authority ---------------------------------------------------------------------


def random_positions(n_rules: int) -> list[tuple[np.ndarray, Rules]]:
    """Positions, STATE[1] each, and their random rules, from games that `tuned` plays with some random actions."""
    chance, generator, positions = random.Random(8), np.random.default_rng(8), []
    for _ in range(n_rules):
        rules, agent = random_rules(chance), TunedAgent()
        games = Games(4, rules, talon=agent.talon_for(rules))
        games.deal(generator.integers(0, 10_000, 4))
        agent.start(4, rules, 0)
        for _ in range(120):
            k = chance.randrange(4)
            positions.append((games.states[k : k + 1].copy(), rules))
            actions, others = agent.act(games.views(), games.masks), games.random_actions(generator)
            games.step(np.where((actions == RESIGN) | (generator.random(4) < 0.05), others, actions))
    return positions


def test_the_list_player_has_the_rules_of_the_engine() -> None:
    games, layouts, decided = np.zeros(1, dtype=GAME), np.zeros(1, dtype=LAYOUT), 0
    for state, rules in random_positions(40):
        params = rules.params()
        read_position(state, 0, games, layouts)
        find_reach(games, 0, layouts, params)
        assert list_player.gap_takes(games, 0, params) == queries.gap_takes(state, 0, params)
        assert list_player.may_redeal(games, 0, params) == queries.may_redeal(state, 0, params)
        assert list_player.is_decided(games, 0, params, NEVER) == queries.is_decided(state, 0, params)
        assert playable(games, 0, layouts, params) == queries.playable_talon(state, 0, params, rules.redeals is None)
        decided += queries.is_decided(state, 0, params)
    assert decided > 10


def test_the_list_player_draws_as_the_engine_does() -> None:
    games, layouts, drawn = np.zeros(1, dtype=GAME), np.zeros(1, dtype=LAYOUT), 0
    for state, rules in random_positions(20):
        params, size, waste = rules.params(), int(state["talon_size"][0]), int(state["waste_size"][0])
        read_position(state, 0, games, layouts)
        stock = stock_of(int(games["left"][0]), int(games["waste"][0]))
        ups = sum(1 << place for place in range(waste, size) if comes_up_at(stock, place, rules.draw_count))
        assert ups == talon.draw_stops(size, waste, rules.draw_count)
        for _ in range(30):
            if not queries.stock_is_live(state, 0, params):
                break
            talon.draw_or_redeal(state, 0, params)
            list_player.draw_or_redeal(games, 0, params)
            assert games["waste"][0] == int(state["waste_size"][0]) - 1
            assert list_player.may_redeal(games, 0, params) == queries.may_redeal(state, 0, params)
            drawn += 1
    assert drawn > 1000
