"""Endgames: once the place of at most one card is unknown all are known, and a solver can play the rest."""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_CARDS, UNSEEN
from klondike_env.engine.actions import RESIGN, STOCK_ACTION
from klondike_env.engine.determinize import determinize_views
from klondike_env.rules import Rules
from klondike_env.solver.solve import search_for
from klondike_env.solver.verdicts import SOLVED, UNSOLVABLE

_NODES = 20_000  # far more than nearly all such positions need


def n_unseen(views: np.ndarray) -> np.ndarray:
    """How many places are unseen in each view: int64[n]."""
    in_columns = np.count_nonzero(views["columns"] == UNSEEN, axis=(1, 2))
    return in_columns + np.count_nonzero(views["talon"] == UNSEEN, axis=1)


def line_to_win(view: np.ndarray, rules: Rules, reach: bool, nodes: int) -> list[int] | None:
    """The actions to a win where the place of at most one card is unknown.

    Args:
        view: STATE[1].
        rules: its rules.
        reach: whether seen talon cards are played directly.
        nodes: positions that the solver may visit.

    Returns:
        The actions; none where there is no win; None where the solver does not find out.
    """
    record = view.copy()
    determinize_views(record, np.zeros(1, dtype=np.uint64), np.zeros(N_CARDS, dtype=np.uint8))
    search = search_for(rules)(record[0], rules)
    verdict = search.run(nodes)
    if verdict == SOLVED:
        return [action for action in search.actions() if action != STOCK_ACTION or not reach]
    return [] if verdict == UNSOLVABLE else None


class Endgames:
    """The endgames of a batch of games.

    Args:
        rules: the rules of all of them.
        reach: whether seen talon cards are played directly.
    """

    def __init__(self, rules: Rules, reach: bool) -> None:
        self._rules, self._reach = rules, reach
        self._lines: dict[int, list[int]] = {}  # what is left to play in a row, backwards

    def play(self, views: np.ndarray, masks: np.ndarray, rows: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Play in those of some rows that are endgames the solver can decide.

        Args:
            views: STATE[n].
            masks: int8[n, 313].
            rows: int64[m].
            actions: int64[n], overwritten in rows that are played.

        Returns:
            The other rows.
        """
        known = n_unseen(views[rows]) <= 1
        for row in self._lines.keys() - set(rows[known].tolist()):
            del self._lines[row]  # another game is played there now
        played = [self._play_row(views, masks, row, actions) for row in rows[known].tolist()]
        known[known] = played
        return rows[~known]

    def _play_row(self, views: np.ndarray, masks: np.ndarray, row: int, actions: np.ndarray) -> bool:
        line = self._lines.get(row)
        if not line or not masks[row, line[-1]]:
            line = self._lines[row] = self._solve(views[row : row + 1])
        if not line or (line[-1] != RESIGN and not masks[row, line[-1]]):
            return False
        actions[row] = line.pop()
        return True

    def _solve(self, view: np.ndarray) -> list[int]:
        """The actions to a win, backwards; RESIGN where there is none, nothing where that is not known."""
        line = line_to_win(view, self._rules, self._reach, _NODES)
        return [] if line is None else line[::-1] or [RESIGN]
