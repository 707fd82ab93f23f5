"""Endgames, played by the solver."""

from __future__ import annotations

import numpy as np
import pytest

import klondike_env.agents.planner.endgame
from klondike_env.agents import load
from klondike_env.agents.planner.endgame import line_to_win, n_unseen
from klondike_env.agents.tuned.agent import TunedAgent
from klondike_env.engine.actions import RESIGN
from klondike_env.engine.state import WON
from klondike_env.games import Games
from klondike_env.rules import PRESETS, Rules
from klondike_env.solver.verdicts import UNDECIDED, UNSOLVABLE

DRAW3 = PRESETS["draw3"]


def games_at_their_ends(rules: Rules, n: int = 60) -> Games:
    """Games that `tuned` has played until at most one card was unseen or they were over."""
    agent = TunedAgent()
    games = Games(n, rules, talon=agent.talon_for(rules), auto_finish=True)
    games.deal(np.arange(n))
    agent.start(n, rules, 0)
    while (active := ~games.over & (n_unseen(games.views()) > 1)).any():
        actions = agent.act(games.views(), games.masks)
        games.forfeit(np.flatnonzero(active & (actions == RESIGN)))
        games.step(actions, active)
    return games


@pytest.mark.parametrize("variant", ["draw1", "draw3", "thumb_and_pouch"])
def test_positions_with_one_card_unseen_are_played_to_a_win(variant: str) -> None:
    rules = PRESETS[variant]
    games = games_at_their_ends(rules)
    started = np.flatnonzero(~games.over)
    assert len(started) > 5
    for row in started.tolist():
        line = line_to_win(games.views()[row : row + 1], rules, rules.redeals is None, 100_000)
        for action in line or ():
            actions = np.full(len(games), RESIGN)
            actions[row] = action
            games.step(actions, np.arange(len(games)) == row)
            assert not games.illegal[row]
            if games.over[row]:
                break
    assert np.mean(games.outcomes[started] == WON) > 0.8


def test_unseen_cards_are_counted() -> None:
    for variant, n in (("draw3", 21), ("classic", 21 + 24)):
        games = Games(1, PRESETS[variant], talon="reach" if variant == "draw3" else "draw")
        games.deal([1])
        assert n_unseen(games.views()).tolist() == [n]


@pytest.mark.parametrize(("verdict", "given_up"), [(UNSOLVABLE, True), (UNDECIDED, False)])
def test_lost_positions_are_given_up_and_undecided_ones_played_on(
    verdict: str, given_up: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Search:
        def __init__(self, record: np.void, rules: Rules) -> None:
            pass

        def run(self, nodes: int) -> str:
            return verdict

    games = games_at_their_ends(DRAW3)
    rows = np.flatnonzero(~games.over)
    monkeypatch.setattr(klondike_env.agents.planner.endgame, "search_for", lambda rules: Search)
    agent = load("planner:samples=5")
    agent.start(len(games), DRAW3, 0)
    actions = agent.act(games.views(), games.masks)
    assert np.all((actions[rows] == RESIGN) == given_up)
