"""Endgames, played by the solver."""

from __future__ import annotations

import numpy as np
import pytest

import klondike_env.agents.planner.endgame
from klondike_env.agents.planner.endgame import Endgames, n_unseen
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
    endgames, actions = Endgames(rules, rules.redeals is None), np.full(len(games), RESIGN)
    while not games.over.all():
        rows = np.flatnonzero(~games.over)
        assert len(endgames.play(games.views(), games.masks, rows, actions)) == 0
        games.forfeit(rows[actions[rows] == RESIGN])
        games.step(actions)
        assert not games.illegal[rows].any()
    assert np.mean(games.outcomes[started] == WON) > 0.8


def test_positions_with_more_cards_unseen_are_left_to_others() -> None:
    games = Games(3, DRAW3, talon="reach")
    games.deal([1, 2, 3])
    rows = Endgames(DRAW3, True).play(games.views(), games.masks, np.arange(3), np.zeros(3, dtype=np.int64))
    assert rows.tolist() == [0, 1, 2]


@pytest.mark.parametrize(("verdict", "left"), [(UNSOLVABLE, False), (UNDECIDED, True)])
def test_lost_positions_are_given_up_and_undecided_ones_left(
    verdict: str, left: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Search:
        def __init__(self, record: np.void, rules: Rules) -> None:
            pass

        def run(self, nodes: int) -> str:
            return verdict

    games = games_at_their_ends(DRAW3)
    rows, actions = np.flatnonzero(~games.over), np.zeros(len(games), dtype=np.int64)
    monkeypatch.setattr(klondike_env.agents.planner.endgame, "search_for", lambda rules: Search)
    others = Endgames(DRAW3, True).play(games.views(), games.masks, rows, actions)
    assert len(others) == (len(rows) if left else 0)
    assert np.all(actions[rows] == (0 if left else RESIGN))
