"""The rollout agent, and the fast playouts it rests on."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from agents import load
from agents.collins import CollinsAgent
from agents.greedy import GreedyAgent
from agents.playout import GAME, LAYOUT, NEVER, index_talon, play_out, read_game, read_layout
from agents.rollout import ListPlayouts, RolloutAgent
from agents.rollout_games import GamesPlayouts
from agents.rollout_search import SEARCH, begin_searches
from klondike_env.engine.actions import RESIGN
from klondike_env.engine.games import Games
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import WON
from klondike_env.rules import PRESETS, RuleParams, Rules
from tests.agents.players import DRAW1, GIVE_UP, decide
from tests.agents.test_all_agents import permute_unseen, random_rules
from tests.boards import board
from train.play import play_games

VARIANTS = ["draw1", "draw3", "classic", "thumb_and_pouch"]
VALIDATION = 1_000_000


@kernel
def play_out_all(
    states: np.ndarray, rules: RuleParams, games: np.ndarray, layouts: np.ndarray, won: np.ndarray
) -> None:
    for i in range(len(states)):
        read_layout(states, i, layouts)
        read_game(states, i, games, 0)
        index_talon(states, i, layouts, games, 0)
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


# --- the agent ---------------------------------------------------------------------------------------


class SlowCollins(CollinsAgent):
    """The list, begun in the middle of a game, for playouts by the general way."""

    name = "slow collins"

    def start(self, n_games: int, rules: Rules, seed: int) -> None:
        super().start(n_games, rules, seed)
        self._moved[:] = 1


@pytest.mark.parametrize("base", ["collins", "tuned"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_never_chooses_an_illegal_action(base: str, variant: str) -> None:
    play_games(RolloutAgent(samples=8, base=base), PRESETS[variant], np.arange(30))


def test_never_chooses_an_illegal_action_under_random_rules() -> None:
    chance = random.Random(7)
    for number in range(200):
        base = ("collins", "tuned")[number % 2]
        play_games(RolloutAgent(samples=4, base=base), random_rules(chance), np.arange(4))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_budget_of_zero_is_the_base(variant: str) -> None:
    deals = np.arange(100)
    for base in ("collins", "tuned", "greedy"):
        ours = play_games(RolloutAgent(samples=0, base=base), PRESETS[variant], deals)
        theirs = play_games(load(base), PRESETS[variant], deals)
        assert np.array_equal(ours.outcome, theirs.outcome)
        assert np.array_equal(ours.moves, theirs.moves)


@pytest.mark.parametrize("variant", VARIANTS)
def test_without_strong_evidence_the_base_plays(variant: str) -> None:
    rules, deals = PRESETS[variant], np.arange(60)
    ours = play_games(RolloutAgent(samples=1, z=1e9), rules, deals).outcome == WON
    theirs = play_games(CollinsAgent(), rules, deals).outcome == WON
    assert np.all(ours >= theirs)  # where the list gives up the rollouts go on
    assert np.count_nonzero(ours) <= np.count_nonzero(theirs) + 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "n", "least"), [("draw1", 150, 10), ("draw3", 150, 20), ("thumb_and_pouch", 100, 3)]
)
def test_wins_more_than_its_base(variant: str, n: int, least: int) -> None:
    deals = VALIDATION + np.arange(n)
    ours = play_games(RolloutAgent(samples=24), PRESETS[variant], deals).outcome == WON
    theirs = play_games(CollinsAgent(), PRESETS[variant], deals).outcome == WON
    assert np.count_nonzero(ours & ~theirs) - np.count_nonzero(theirs & ~ours) >= least


def test_any_agent_can_be_the_base() -> None:
    deals = VALIDATION + np.arange(6)
    ours = play_games(RolloutAgent(samples=6, base=GreedyAgent()), PRESETS["classic"], deals)
    assert not np.array_equal(ours.moves, play_games(GreedyAgent(), PRESETS["classic"], deals).moves)


# Redeals are limited, so that both meet the stock the same way.
@pytest.mark.parametrize(
    "rules", [Rules(redeals=2), PRESETS["thumb_and_pouch"]], ids=["two redeals", "thumb and pouch"]
)
def test_compiled_playouts_and_those_of_any_agent_find_the_same(rules: Rules) -> None:
    generator, gained = np.random.default_rng(8), 0
    games = Games(30, rules, no_repeats=True)
    games.deal(np.arange(len(games)))
    base = SlowCollins()
    base.start(len(games), rules, 3)
    playouts = ListPlayouts(base, rules, False, 3), GamesPlayouts(base, rules, False, 3)
    for _ in range(5):
        rows, views = np.flatnonzero(~games.over), games.views()
        fast, slow = (np.zeros(len(rows), dtype=SEARCH) for _ in range(2))
        for searches, kind in zip((fast, slow), playouts, strict=True):
            begin_searches(games.masks, rows, kind.first_plays(views, games.masks, rows), searches)
            kind.sample(views, rows, searches, 20)
        assert np.array_equal(fast, slow)
        gained += fast["gained"].sum()
        for _ in range(4):
            games.step(games.random_actions(generator))
    assert gained > 0


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("base", ["collins", "tuned", "greedy"])
def test_does_not_depend_on_cards_it_has_not_seen(base: str, variant: str) -> None:
    rules, rng = PRESETS[variant], np.random.default_rng(3)
    n_rows, n_steps, samples = (12, 40, 20) if base != "greedy" else (3, 6, 4)
    agent, twin = (RolloutAgent(samples=samples, base=base) for _ in range(2))
    games, other = (Games(n_rows, rules, talon=agent.talon_for(rules), no_repeats=True) for _ in range(2))
    games.deal(np.arange(n_rows))
    for player in (agent, twin):
        player.start(n_rows, rules, 4)
    changed = 0
    for _ in range(n_steps):
        other.states[:] = games.states
        for row in np.flatnonzero(~games.over):
            permute_unseen(other.states[row], rng)
        changed += np.count_nonzero(other.states != games.states)
        actions = agent.act(games.views(), games.masks).copy()
        assert np.array_equal(actions, twin.act(other.views(), games.masks))
        games.step(actions, actions != RESIGN)
    assert changed > 15


def test_plays_a_deal_the_same_way_in_any_batch_order_and_number_of_threads() -> None:
    deals = np.arange(40)
    rules = PRESETS["draw3"]
    once = play_games(RolloutAgent(samples=20), rules, deals, batch=40, seed=5)
    again = play_games(RolloutAgent(samples=20, threads=2), rules, deals[::-1].copy(), batch=7, seed=5)
    assert np.array_equal(once.outcome, again.outcome[::-1])
    assert np.array_equal(once.moves, again.moves[::-1])


def test_another_seed_plays_otherwise() -> None:
    first, second = (play_games(RolloutAgent(samples=10), DRAW1, np.arange(20), seed=seed) for seed in (0, 1))
    assert not np.array_equal(first.moves, second.moves)


def test_a_time_limit_is_kept() -> None:
    agent = RolloutAgent(seconds_per_move=0.05)
    games = Games(1, DRAW1, talon="reach")
    games.deal([VALIDATION])
    agent.start(1, DRAW1, 0)
    agent.act(games.views(), games.masks)  # compiles
    start = time.perf_counter()
    agent.act(games.views(), games.masks)
    assert 0.02 < time.perf_counter() - start < 0.5


def test_a_position_that_no_play_wins_is_given_up() -> None:
    lost = board("QH JS", "QD", "2C 3C | 9H", since_progress=100)
    assert decide(RolloutAgent(samples=8), lost) == GIVE_UP


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"samples": -1}, "samples is -1; allowed: a whole number from 0 or None for the default"),
        ({"samples": 2.5}, "samples is 2.5; allowed"),
        ({"seconds_per_move": 0}, "seconds_per_move is 0; allowed: a positive number"),
        ({"z": -1.0}, "z is -1.0; allowed: a number from 0"),
        ({"z": float("nan")}, "z is nan"),
        ({"threads": 0}, "threads is 0; allowed: a whole number from 1"),
        ({"base": "colins"}, "no such agent: 'colins'"),
    ],
)
def test_arguments_are_checked(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared below
        RolloutAgent(**arguments)
    assert message in str(caught.value)


# --- by name -----------------------------------------------------------------------------------------


def test_by_name_with_options() -> None:
    agent = load("rollout:samples=100,z=2,threads=2,base=greedy")
    assert isinstance(agent, RolloutAgent)
    assert (agent.samples, agent.threads, agent.base.name) == (100, 2, "greedy")
    assert agent.name == "rollout:samples=100,z=2,threads=2,base=greedy"
    assert load("rollout").base.name == "collins"
    assert load("rollout:seconds_per_move=0.1").seconds_per_move == 0.1
    assert load("rollout:samples=2,base=rollout:samples=3,base=greedy").base.base.name == "greedy"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rollout:sample=5", "agent 'rollout:sample=5': no such option: 'sample'; known: samples, seconds_per_move, z"),
        ("rollout:samples=many", "samples is 'many'; write a number, as in samples=2"),
        ("rollout:samples", "samples is ''; write a number"),
        ("rollout:samples=-3", "agent 'rollout:samples=-3': samples is -3; allowed: a whole number from 0"),
        ("rollout:base=nobody", "no such agent: 'nobody'"),
    ],
)
def test_what_cannot_be_loaded(spec: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared below
        load(spec)
    assert message in str(caught.value)
