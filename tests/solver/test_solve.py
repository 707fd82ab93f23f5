"""Solving through the public functions: arguments, results, limits, and help for games being played."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

from klondike_env.deals import deck_of, format_deck
from klondike_env.engine.actions import name
from klondike_env.engine.state import PLAYING, WON
from klondike_env.games import Games
from klondike_env.position import format_position
from klondike_env.rules import PRESETS, Rules
from klondike_env.solver import Limits, complete, hint, solve
from klondike_env.solver.play import end_of

ENDING = """
foundations: QC KD KH QS
1: KS
2: KC
"""
# Built in suit, with nothing in gaps: the queen goes onto the king, and that is all.
HOPELESS = """
foundations: KC KD -H KS
6: 7H 8H 9H TH JH | KH
7: AH 2H 3H 4H 5H 6H | QH
"""


def outcome_of(actions, deal, rules):
    games = Games(1, rules, stall_limit=None)
    games.deal([deal])
    for action in actions:
        games.step(np.array([action]))
        assert not games.illegal[0]
    return games.outcomes[0]


@pytest.mark.parametrize("variant", PRESETS)
def test_a_solution_is_a_game_that_is_won(variant):
    verdicts = set()
    for deal in range(12):
        solution = solve(deal, variant, Limits(nodes=100_000, seconds=None))
        verdicts.add(solution.verdict)
        assert (solution.verdict == "solved") == bool(solution.actions)
        if solution.actions:
            assert outcome_of(solution.actions, deal, PRESETS[variant]) == WON
    assert "solved" in verdicts


def test_every_way_to_name_a_deal_gives_the_same():
    games = Games(1, PRESETS["draw3"])
    games.deal([7])
    ways = [
        7,
        deck_of(7),
        deck_of(7).tolist(),
        format_deck(deck_of(7)),
        {"text": format_deck(deck_of(7), "columns"), "format": "columns"},
        games.states[0],
        games.states,
        format_position(games.states[0]),
    ]
    solutions = [solve(way, "draw3") for way in ways]
    assert {solution.actions for solution in solutions} == {solutions[0].actions}
    assert solve(7, Rules(draw_count=3)).actions == solutions[0].actions


def test_a_limit_of_nodes_ends_every_search_in_the_same_way():
    for variant, deal in (("draw3", 5), ("classic", 5)):
        least = solve(deal, variant).nodes
        for nodes in (1, least - 1, least + 1000):
            one, two = (solve(deal, variant, Limits(nodes=nodes, seconds=None)) for _ in range(2))
            assert (one.verdict, one.actions, one.nodes) == (two.verdict, two.actions, two.nodes)
            assert one.nodes <= nodes
            assert (one.verdict == "undecided") == (nodes < least)


def test_a_limit_of_time_means_undecided_never_unsolvable():
    hard = next(deal for deal in range(100) if solve(deal, "draw3", Limits(nodes=3000)).verdict == "undecided")
    assert solve(hard, "draw3", Limits(seconds=1e-9)).verdict == "undecided"


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"nodes": 0}, "nodes is 0; allowed: a whole number from 1 or None for no limit"),
        ({"seconds": 0}, "seconds is 0; allowed: a positive number, or None for no limit"),
        ({"seconds": "3"}, "seconds is '3'; allowed: a positive number, or None for no limit"),
        ({"megabytes": 1.5}, "megabytes is 1.5; allowed: a whole number from 1"),
    ],
)
def test_invalid_limits_are_refused(keywords, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        Limits(**keywords)


@pytest.mark.parametrize(
    ("position", "message"),
    [
        (-1, "deal is -1; allowed"),
        (None, "position is None; allowed: a deal number, a deck, a position as text or a record"),
        ([1, 2], "a deck has 52 cards"),
        (
            ENDING.replace("2: KC", "2: ?? | KC")
            .replace("KS", "QS")
            .replace("foundations: QC KD KH QS", "foundations: QC KD KH JS"),
            "cards of the position are unknown; a solver has to know all of them",
        ),
        (ENDING.replace("KC", "KS"), "KS"),
    ],
)
def test_what_is_no_position_is_refused(position, message):
    with pytest.raises(ValueError, match=message):
        solve(position, "draw1")


def test_unknown_rules_are_refused():
    with pytest.raises(ValueError, match="no such variant: 'draw9'"):
        solve(1, "draw9")


def test_hints_tell_which_actions_keep_the_game_winnable():
    assert {name(action) for action in hint(ENDING)} == {
        "KC to foundation",
        "KS to foundation",
        "KD to empty column",
        "KH to empty column",
    }
    assert set(hint(ENDING).values()) == {"solved"}
    assert set(hint(HOPELESS, Rules(gaps="none", build="same_suit", redeals=0, worry_back=False)).values()) == {
        "unsolvable"
    }
    told = hint(3, "draw3")
    games = Games(1, PRESETS["draw3"])
    games.deal([3])
    assert list(told) == np.flatnonzero(games.masks[0]).tolist()
    assert "solved" in told.values()
    assert solve(3, "draw3").verdict == "solved"


@pytest.mark.parametrize("keywords", [{}, {"talon": "reach"}, {"auto_finish": True}])
@pytest.mark.parametrize("variant", ["Draw1", "Draw3", "Classic", "ThumbAndPouch"])
def test_a_game_is_completed_where_it_can_be_won(variant, keywords):
    ended = []
    for deal in range(6):
        env = gym.make(f"Klondike/{variant}-v0", **keywords)
        _, info = env.reset(options={"deal": deal})
        for _ in range(5):
            _, _, _, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
        moves = info["moves"]
        solution = complete(env, limits=Limits(seconds=5))
        outcome = env.unwrapped.games.outcomes[0]
        ended.append(outcome == WON)
        assert (outcome == WON) == (solution.verdict == "solved")
        assert (env.unwrapped.games.moves[0] > moves) == (outcome == WON)
    assert any(ended)


@pytest.mark.parametrize("variant", PRESETS)
def test_positions_are_completed_too(variant):
    games = Games(1, PRESETS[variant])
    games.deal([3])
    for position in (3, deck_of(3), games.states[0], format_position(games.states[0])):
        solution = complete(position, variant, Limits(nodes=100_000))
        assert solution.actions == solve(3, variant, Limits(nodes=100_000)).actions
        assert end_of(position, variant, solution.actions)["outcome"] == (WON if solution.actions else PLAYING)


def test_an_environment_is_completed_by_its_own_rules():
    env = gym.make("Klondike/Draw3-v0")
    env.reset(options={"deal": 3})
    with pytest.raises(ValueError, match=r"^rules are 'draw1', but an environment has its own; leave them out$"):
        complete(env, "draw1")


def test_completing_says_what_stands_in_the_way():
    env = gym.make("Klondike/Draw1-v0", stall_limit=2)
    with pytest.raises(ValueError, match=r"^no game is being played \(the last one is playing\); call reset\(\)$"):
        complete(env)
    env.reset(options={"deal": 123456})
    with pytest.raises(ValueError, match=r"^there is a winning line, but the game is stalled on the way$"):
        complete(env)
    assert env.unwrapped.games.moves[0] == 0


def test_a_hopeless_position_is_called_so():
    env = gym.make("Klondike/Custom-v0", gaps="none", build="same_suit", redeals=0, worry_back=False)
    env.reset(options={"position": HOPELESS})
    assert complete(env).verdict == "unsolvable"
