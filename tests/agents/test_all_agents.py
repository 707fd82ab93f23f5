"""What every agent must guarantee."""

from __future__ import annotations

import random
from math import sqrt

import numpy as np
import pytest

from klondike_env.agents import BASELINES, load
from klondike_env.agents.match import play_games, settings_of
from klondike_env.engine.actions import RESIGN
from klondike_env.engine.state import TALON, WON
from klondike_env.games import Games
from klondike_env.rules import BUILDS, GAPS, PRESETS, RUNS, Rules

everyone = pytest.mark.parametrize("name", BASELINES)
N_ROWS = 16


def random_rules(chance: random.Random) -> Rules:
    return Rules(
        build=chance.choice(BUILDS),
        gaps=chance.choice(GAPS),
        draw_count=chance.choice((1, 2, 3, chance.randint(4, 24))),
        redeals=chance.choice((0, 1, 3, None)),
        worry_back=chance.random() < 0.7,
        runs=chance.choice(RUNS),
    )


@everyone
@pytest.mark.parametrize("variant", PRESETS)
def test_never_chooses_an_illegal_action(name: str, variant: str) -> None:
    play_games(load(name), PRESETS[variant], np.arange(50))


@pytest.mark.parametrize(
    ("name", "n_rules"), [("random", 10), ("greedy", 10), ("collins", 200), ("tuned", 200), ("net", 100)]
)
def test_never_chooses_an_illegal_action_under_random_rules(name: str, n_rules: int) -> None:
    chance = random.Random(2)
    for _ in range(n_rules):
        play_games(load(name), random_rules(chance), np.arange(20), batch=10)


def permute_unseen(record: np.void, rng: np.random.Generator) -> None:
    """Let the cards that the player has not seen change places."""
    columns = [(column, row) for column in range(7) for row in range(record["face_down"][column])]
    talon = range(record["seen_size"], record["talon_size"])
    cards = rng.permutation([*(record["columns"][place] for place in columns), *(record["talon"][k] for k in talon)])
    for (column, row), card in zip(columns, cards, strict=False):
        record["columns"][column, row] = card
        record["place"][card], record["row"][card] = column, row
    for index, card in zip(talon, cards[len(columns) :], strict=True):
        record["talon"][index] = card
        record["place"][card], record["row"][card] = TALON, 0


@everyone
@pytest.mark.parametrize("variant", ["draw1", "draw3", "classic", "thumb_and_pouch"])
def test_does_not_depend_on_cards_it_has_not_seen(name: str, variant: str) -> None:
    rules, rng = PRESETS[variant], np.random.default_rng(3)
    agent, twin = load(name), load(name)
    games, other = (Games(N_ROWS, rules, talon=agent.talon_for(rules)) for _ in range(2))
    games.deal(np.arange(N_ROWS))
    for player in (agent, twin):
        player.start(N_ROWS, rules, 4)
    changed = 0
    for _ in range(60):
        other.states[:] = games.states
        for row in np.flatnonzero(~games.over):
            permute_unseen(other.states[row], rng)
        changed += np.count_nonzero(other.states != games.states)
        actions = agent.act(games.views(), games.masks)
        assert np.array_equal(actions, twin.act(other.views(), games.masks))
        games.step(actions, actions != RESIGN)
    assert changed > 100


def wins(name: str, rules: Rules, n: int, redrawn: bool) -> int:
    """How many of `n` games an agent wins. redrawn: whether the unseen cards change places before every action."""
    agent = load(name)
    settings = settings_of(agent, rules)
    games = Games(n, rules, talon=settings.talon, no_repeats=settings.no_repeats, auto_finish=True, stall_limit=250)
    games.deal(np.arange(n))
    agent.start(n, rules, 0)
    rng = np.random.default_rng(6)
    while not games.over.all():
        if redrawn:
            games.shuffle_unseen(rng, np.flatnonzero(~games.over))
        actions = agent.act(games.views(), games.masks)
        games.forfeit(np.flatnonzero(~games.over & (actions == RESIGN)))
        games.step(actions, ~games.over)
    return int(np.count_nonzero(games.outcomes == WON))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n"),
    [
        *((name, 2000) for name in BASELINES),
        pytest.param("rollout:samples=5,base=tuned", 300, marks=pytest.mark.statistical),
        pytest.param("bandit:samples=5,nodes=200", 300, marks=pytest.mark.statistical),
    ],
)
def test_wins_as_often_when_unseen_cards_are_redrawn_all_the_time(name: str, n: int) -> None:
    """An agent that knew unseen cards would gain by it only in the games without redrawing."""
    true, redrawn = (wins(name, PRESETS["draw1"], n, redrawn) for redrawn in (False, True))
    share = (true + redrawn) / (2 * n)
    assert 0.05 < share < 0.9
    assert abs(true - redrawn) < 3 * sqrt(2 * n * share * (1 - share))


@everyone
def test_plays_a_deal_the_same_way_in_any_batch_and_order(name: str) -> None:
    deals = np.arange(60)
    rules = PRESETS["draw3"]
    once = play_games(load(name), rules, deals, batch=60, seed=5)
    again = play_games(load(name), rules, deals[::-1].copy(), batch=7, seed=5)
    assert np.array_equal(once.outcome, again.outcome[::-1])
    assert np.array_equal(once.moves, again.moves[::-1])


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_another_seed_plays_otherwise(name: str) -> None:
    first, second = (play_games(load(name), PRESETS["draw1"], np.arange(30), seed=seed) for seed in (0, 1))
    assert not np.array_equal(first.moves, second.moves)


def test_auto_talon_is_reach_where_redeals_are_unlimited() -> None:
    agent = load("greedy")
    assert agent.talon_for(PRESETS["draw3"]) == "reach"
    assert agent.talon_for(PRESETS["classic"]) == agent.talon_for(Rules(redeals=3)) == "draw"
    assert load("collins").talon_for(PRESETS["draw3"]) == "draw"


def test_an_unknown_talon_mode_is_refused() -> None:
    agent = load("greedy")
    agent.talon = "peek"
    with pytest.raises(ValueError, match="talon of agent 'greedy' is 'peek'; allowed: draw, reach, auto"):
        agent.talon_for(PRESETS["draw1"])
