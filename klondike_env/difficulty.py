"""How hard deals are: grades by the positions that the solver visits, all cards known, and sources of graded deals.

A winnable deal is "easy" up to the first of its rules' bounds, "medium" up to the second, else "hard"; a deal
that cannot be won is "unsolvable". The package brings verdicts on some thousand training deals of every preset,
see `klondike_env.solver.study.labels`: without a set of deals of one's own these are dealt, hard ones without a
limit. Other deals, and those of other rules, are solved when they are drawn, with no more nodes than their grade
needs, and never more than the third bound: what is undecided then is not dealt.

The solver's effort is no measure of how hard a game is without knowing the cards, but the deals that it wins at
once are those with many ways to win.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from klondike_env.deal_sets import MOST_DRAWS, DealSource, read_deal_set
from klondike_env.rules import PRESETS, Rules

UNWINNABLE = "unsolvable"
GRADES = ("easy", "medium", "hard", UNWINNABLE)


class Bounds(NamedTuple):
    """The most nodes of each grade of winnable deals under some rules."""

    easy: int
    medium: int
    hard: int  # of deals that are solved when they are drawn


_BOUNDS = Bounds(100, 1_000, 100_000)
_BOUNDS_OF = {PRESETS["classic"]: Bounds(10_000, 100_000, 1_000_000)}


def bounds_of(rules: Rules) -> Bounds:
    """The bounds of the grades under some rules."""
    return _BOUNDS_OF.get(rules, _BOUNDS)


def graded_source(deals: Sequence[int] | None, grade: str | None, rules: Rules) -> DealSource:
    """A source of deals of one grade.

    Args:
        deals: a set of deals; None for training deals.
        grade: one of `GRADES`; None for all winnable deals.
        rules: the rules that they are played by.

    Raises:
        ValueError: no deal that comes with the package is of this grade.
    """
    wanted = Wanted(grade, rules)
    labelled = wanted.labelled() if deals is None else None
    if labelled is not None:
        return DealSource(labelled)
    nothing_fits = (
        f"none of {MOST_DRAWS:,} deals drawn is {wanted}, as far as searches of {wanted.nodes:,} positions tell; "
        "name other deals, or leave out winnable_only and difficulty"
    )
    return DealSource(read_deal_set(None) if deals is None else deals, wanted, nothing_fits)


@dataclass(frozen=True)
class Wanted:
    """Whether a deal is of a grade, None for all winnable ones, under some rules."""

    grade: str | None
    rules: Rules

    def __call__(self, deal: int) -> bool:
        """Solve a deal to find out."""
        return _solved_as(deal, self)

    def __str__(self) -> str:
        return self.grade or "winnable"

    @property
    def fewest(self) -> int:
        """The nodes that a deal of the grade takes more of."""
        bounds = bounds_of(self.rules)
        return {"medium": bounds.easy, "hard": bounds.medium}.get(self.grade or "", 0)

    @property
    def nodes(self) -> int:
        """The nodes that tell whether a deal is of the grade."""
        bounds = bounds_of(self.rules)
        return {"easy": bounds.easy, "medium": bounds.medium}.get(self.grade or "", bounds.hard)

    def labelled(self) -> np.ndarray | None:
        """The deals of the grade that come with the package, int64[n]; None if it has none of these rules.

        Raises:
            ValueError: it has deals of these rules, but none of the grade.
        """
        from klondike_env.solver.study.labels import (
            labels_of,  # the solver reads decks by the settings, which read this
        )
        from klondike_env.solver.verdicts import SOLVED, UNSOLVABLE

        labels = labels_of(self.rules)
        if labels is None:
            return None
        deals = labels.deals_with(UNSOLVABLE if self.grade == UNWINNABLE else SOLVED)
        nodes = labels.nodes[deals - labels.first]
        if self.grade in ("easy", "medium", "hard"):
            most = np.inf if self.grade == "hard" else self.nodes
            deals = deals[(nodes > self.fewest) & (nodes <= most)]
        if len(deals) == 0:
            raise ValueError(f"none of the {len(labels.deals):,} deals that were solved under these rules is {self}")
        return deals


@lru_cache(maxsize=1 << 16)
def _solved_as(deal: int, wanted: Wanted) -> bool:
    from klondike_env.solver.solve import Limits, solve  # which reads decks by the settings, which read this
    from klondike_env.solver.verdicts import SOLVED, UNSOLVABLE

    solution = solve(deal, wanted.rules, Limits(nodes=wanted.nodes, seconds=None))
    if wanted.grade == UNWINNABLE:
        return solution.verdict == UNSOLVABLE
    return solution.verdict == SOLVED and solution.nodes > wanted.fewest
