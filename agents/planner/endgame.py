"""Endgames: once at most one card is unseen, all cards can be inferred, and the solver plays the rest."""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_CARDS, UNSEEN
from klondike_env.engine.actions import STOCK_ACTION
from klondike_env.engine.determinize import determinize_views
from klondike_env.rules import Rules
from klondike_env.solver.solve import search_for
from klondike_env.solver.verdicts import SOLVED, UNSOLVABLE


def n_unseen(views: np.ndarray) -> np.ndarray:
    """How many places are unseen in each view: int64[n]."""
    in_columns = np.count_nonzero(views["columns"] == UNSEEN, axis=(1, 2))
    return in_columns + np.count_nonzero(views["talon"] == UNSEEN, axis=1)


def line_to_win(view: np.ndarray, rules: Rules, reach: bool, nodes: int) -> list[int] | None:
    """The actions to a win where at most one card is unseen.

    Args:
        view: STATE[1].
        rules: its rules.
        reach: whether seen talon cards are played directly.
        nodes: nodes that the solver may visit.

    Returns:
        The actions; an empty list if there is no win; None if the solver does not find out.
    """
    record = view.copy()
    determinize_views(record, np.zeros(1, dtype=np.uint64), np.zeros(N_CARDS, dtype=np.uint8))
    search = search_for(rules)(record[0], rules)
    verdict = search.run(nodes)
    if verdict == SOLVED:
        return [action for action in search.actions() if action != STOCK_ACTION or not reach]
    return [] if verdict == UNSOLVABLE else None
