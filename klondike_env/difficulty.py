"""Grades of difficulty, measured by the nodes that the solver visits with all cards known, and sources of graded deals.

Each set of rules has three bounds on the nodes of a search. A winnable deal is "easy" up to the first bound,
"medium" up to the second, else "hard". A deal that cannot be won is "unsolvable".

The package comes with verdicts on some thousand training deals of every preset, see
`klondike_env.solver.study.labels`. These are dealt unless the user names a set of deals; for them "hard" has no upper
bound. Other deals, and deals under other rules, are solved when they are drawn. The search stops at the bound of
the grade, at the third bound at the latest, and a deal that is undecided by then is not dealt.

The solver knows all cards, so its effort does not measure how hard a deal is for a player. But a deal that it
wins at once can be won in many ways.
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
    hard: int  # applies only to deals that are solved when they are drawn


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
    """Tells whether a deal is of a grade under some rules; a grade of None stands for all winnable deals."""

    grade: str | None
    rules: Rules

    def __call__(self, deal: int) -> bool:
        """Solve a deal to find out."""
        return _solved_as(deal, self)

    def __str__(self) -> str:
        return self.grade or "winnable"

    @property
    def fewest(self) -> int:
        """A deal of the grade takes more nodes than this."""
        bounds = bounds_of(self.rules)
        return {"medium": bounds.easy, "hard": bounds.medium}.get(self.grade or "", 0)

    @property
    def nodes(self) -> int:
        """How many nodes a search needs at most to tell whether a deal is of the grade."""
        bounds = bounds_of(self.rules)
        return {"easy": bounds.easy, "medium": bounds.medium}.get(self.grade or "", bounds.hard)

    def labelled(self) -> np.ndarray | None:
        """The deals of the grade that come with the package, int64[n]; None if it has no deals for these rules.

        Raises:
            ValueError: the package has deals for these rules, but none of the grade.
        """
        # Imported only here: most environments need no solver, which takes as long to import as everything else.
        from klondike_env.solver.study.labels import labels_of
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
    from klondike_env.solver.solve import Limits, solve
    from klondike_env.solver.verdicts import SOLVED, UNSOLVABLE

    solution = solve(deal, wanted.rules, Limits(nodes=wanted.nodes, seconds=None))
    if wanted.grade == UNWINNABLE:
        return solution.verdict == UNSOLVABLE
    return solution.verdict == SOLVED and solution.nodes > wanted.fewest
