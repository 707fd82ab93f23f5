"""How many deals can be won, all cards known, and how many of them need worrying back: the published study, repeated.

Intervals are 95 % Wilson intervals. Their lower bounds count all undecided deals as lost, their upper bounds as won.

Published figures are those of Charlie Blake and Ian P. Gent, "The Winnability of Klondike Solitaire and Many Other
Patience Games", Journal of Artificial Intelligence Research 85:21 (2026), arXiv:1906.12314v6. Its intervals are made
in the same way. Its Table 3 has a million deals for each draw count; its Table 4 has other rules for building and
for gaps at draw 3. Redeals are unlimited in all of them. We know of no published figures for the other games here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from klondike_env.deals import TRAINING_DEALS
from klondike_env.intervals import Interval, interval_with_unknown
from klondike_env.rules import PRESETS, Rules
from klondike_env.solver.classes.search import supports
from klondike_env.solver.solve import Limits
from klondike_env.solver.study.labels import Labels, kept_labels, labels_of
from klondike_env.solver.study.many import solve_many
from klondike_env.solver.verdicts import SOLVED, UNDECIDED, UNSOLVABLE, VERDICTS

FIRST_DEAL = TRAINING_DEALS.start
N_DEALS = 1000  # how many deals are solved of a game without kept labels, by default


@dataclass(frozen=True)
class Published:
    """A published figure in percent; `margin` is half its 95 % interval, None where we have none."""

    percent: float
    margin: float | None = None


# Draw count -> percent winnable with worrying back, percent winnable without, and percent of the former that need it.
_BY_DRAW = {
    1: ((90.480, 0.116), (90.204, 0.093), (0.34, 0.08)),
    2: ((88.620, 0.135), (88.289, 0.112), (0.43, 0.11)),
    3: ((81.945, 0.084), (81.524, 0.089), (0.52, 0.04)),
    4: ((69.337, 0.098), (68.723, 0.095), (0.89, 0.04)),
    5: ((53.434, 0.099), (52.638, 0.099), (1.49, 0.04)),
    6: ((35.854, 0.095), (34.982, 0.094), (2.44, 0.06)),
    7: ((23.779, 0.084), (22.952, 0.083), (3.47, 0.08)),
    8: ((12.276,), (11.703,), (4.68,)),
    9: ((7.670,), (7.214,), (5.94,)),
    10: ((4.237,), (3.939,), (7.04,)),
    11: ((2.066,), (1.904,), (7.84,)),
    12: ((0.849,), (0.779,), (8.28,)),
    13: ((0.600,), (0.545,), (9.26,)),
}
_AT_DRAW_3 = {
    ("any_suit", "any"): 99.923,
    ("alternating_colour", "any"): 94.959,
    ("same_suit", "any"): 40.762,
    ("any_suit", "kings"): 99.855,
    ("same_suit", "kings"): 6.895,
    ("alternating_colour", "none"): 2.168,
    ("same_suit", "none"): 0.178,
}

PUBLISHED_WINNABLE: dict[Rules, Published] = {
    **{Rules(draw_count=draw): Published(*figures[0]) for draw, figures in _BY_DRAW.items()},
    **{Rules(draw_count=draw, worry_back=False): Published(*figures[1]) for draw, figures in _BY_DRAW.items()},
    **{Rules(build, gaps, draw_count=3): Published(percent) for (build, gaps), percent in _AT_DRAW_3.items()},
}
PUBLISHED_NECESSITY: dict[Rules, Published] = {
    Rules(draw_count=draw): Published(*figures[2]) for draw, figures in _BY_DRAW.items()
}


@dataclass(frozen=True)
class Verdicts:
    """The verdicts under one set of rules on consecutive deals from `first`.

    Attributes:
        rules: the rules.
        first: the first deal number.
        indices: uint8[n], for each deal the index of its verdict in `VERDICTS`.
    """

    rules: Rules
    first: int
    indices: np.ndarray

    @property
    def deals(self) -> range:
        """The deal numbers."""
        return range(self.first, self.first + len(self.indices))

    def count(self, verdict: str) -> int:
        """How many deals have this verdict."""
        return int(np.count_nonzero(self.indices == VERDICTS.index(verdict)))

    def of(self, deals: range) -> np.ndarray:
        """The verdicts on some of the deals, uint8[m]."""
        return self.indices[deals.start - self.first : deals.stop - self.first]


@dataclass(frozen=True)
class Share:
    """A share of deals: of `total` deals `yes` belong to it, and `unknown` undecided ones may."""

    yes: int
    unknown: int
    total: int

    def interval(self, confidence: float = 0.95) -> Interval:
        """The interval within 0 to 1; see the top of this module."""
        return interval_with_unknown(self.yes, self.unknown, self.total, confidence)


@dataclass(frozen=True)
class Summary:
    """The result of a study for one game.

    Attributes:
        verdicts: the verdict on each deal.
        winnable: the share of deals that can be won.
        necessity: of the deals that are won with worrying back, the share that cannot be won without; None
            if either game was not studied, or no deal was won.
    """

    verdicts: Verdicts
    winnable: Share
    necessity: Share | None


def study(
    games: Iterable[Rules] | None = None,
    deals: int | None = None,
    *,
    first: int = FIRST_DEAL,
    limits: Limits | None = None,
    fresh: bool = False,
    folder: Path | str | None = None,
    workers: int = 1,
    backend: str = "processes",
    show_progress: bool = True,
    say: Callable[[str], object] = lambda text: None,
) -> list[Summary]:
    """Find out how many deals can be won.

    Args:
        games: the rules; those that come with kept labels by default.
        deals: how many; by default those of the kept labels from `first` on, or 1,000 where there are none.
        first: the first deal number.
        limits: of each search; by default those of `default_limits`.
        fresh: whether to solve deals again that have kept labels.
        folder: where results are kept as they come, one file for each game; a later call resumes from them.
        workers: how many share the work, see `klondike_env.solver.study.many.solve_many`.
        backend: where they run, see there.
        show_progress: whether to show a progress bar.
        say: called with a line that names the game that is being solved.

    Returns:
        A summary for each game, in the order given.

    Raises:
        ValueError: as for `solve_many`; or no game is named and there are no labels; or the folder is a file.
        DependencyNotInstalled: Ray is asked for and not installed.
        WorkerDied: a worker was killed; the folder keeps the results so far.
    """
    named = list(dict.fromkeys(kept_games() if games is None else games))
    if not named:
        raise ValueError("no verdicts are kept with the package; name a game")
    if folder is not None and Path(folder).is_file():
        raise ValueError(f"{folder} is a file; name a folder for results, or none that exists")
    found = {}
    for rules in named:
        wanted = _deals(labels_of(rules), deals, first)
        indices = {} if fresh else _kept_indices(rules)
        left = [deal for deal in wanted if deal not in indices]
        if left:
            say(f"solving {len(left):,} deals of {name_of(rules)}")
            rows = solve_many(
                left,
                rules,
                workers=workers,
                backend=backend,
                limits=limits or default_limits(rules),
                file=Path(folder, f"{name_of(rules)}.csv") if folder is not None else None,
                show_progress=show_progress,
            )
            indices.update((row.deal, VERDICTS.index(row.verdict)) for row in rows)
        found[rules] = Verdicts(rules, wanted.start, np.array([indices[deal] for deal in wanted], dtype=np.uint8))
    return [summary_of(verdicts, found.get(replace(rules, worry_back=False))) for rules, verdicts in found.items()]


def _kept_indices(rules: Rules) -> dict[int, int]:
    """The kept verdict on each deal that has one."""
    labels = labels_of(rules)
    return dict(zip(labels.deals, labels.verdicts.tolist(), strict=True)) if labels is not None else {}


def _deals(labels: Labels | None, deals: int | None, first: int) -> range:
    if deals is None and labels is not None and first in labels.deals:
        return range(first, labels.deals.stop)
    return range(first, first + (N_DEALS if deals is None else deals))


def default_limits(rules: Rules) -> Limits:
    """The limits of a study: no time, so that results are the same everywhere; fewer nodes where each takes longer."""
    return Limits(nodes=40_000_000 if supports(rules) else 20_000_000, seconds=None)


def kept_games() -> list[Rules]:
    """The rules of all kept labels, in the order of tables."""
    return sorted(kept_labels(), key=_place)


def _place(rules: Rules) -> tuple[bool, bool, str, int, bool, str]:
    klondike = rules.build == "alternating_colour" and rules.gaps == "kings"
    return not klondike, rules.redeals is not None, rules.build, rules.draw_count, not rules.worry_back, rules.runs


def with_twins(games: Iterable[Rules]) -> list[Rules]:
    """The games, each followed by the same game without worrying back, if that is another one."""
    pairs = ((rules, replace(rules, worry_back=False)) for rules in games)
    return list(dict.fromkeys(rules for pair in pairs for rules in pair))


def summary_of(verdicts: Verdicts, without: Verdicts | None) -> Summary:
    """Sum up the verdicts on a game, given also those on the same game without worrying back, if there are any."""
    winnable = Share(verdicts.count(SOLVED), verdicts.count(UNDECIDED), len(verdicts.indices))
    if without is None or not verdicts.rules.worry_back:
        return Summary(verdicts, winnable, None)
    return Summary(verdicts, winnable, necessity_of(verdicts, without))


def necessity_of(with_it: Verdicts, without: Verdicts) -> Share | None:
    """Of the deals that are won with worrying back, the share that cannot be won without; None if none is won."""
    both = range(max(with_it.deals.start, without.deals.start), min(with_it.deals.stop, without.deals.stop))
    won = with_it.of(both) == VERDICTS.index(SOLVED)
    otherwise = without.of(both)[won]
    needed, unknown = (np.count_nonzero(otherwise == VERDICTS.index(verdict)) for verdict in (UNSOLVABLE, UNDECIDED))
    return Share(int(needed), int(unknown), len(otherwise)) if len(otherwise) else None


def name_of(rules: Rules) -> str:
    """A short name, fit for files too, such as "draw3", "draw2-no-worrying-back" or "draw3-build-same_suit"."""
    for name, known in PRESETS.items():
        if rules == known:
            return name
    if rules == Rules(draw_count=rules.draw_count):
        return f"draw{rules.draw_count}"
    if not rules.worry_back:
        return f"{name_of(replace(rules, worry_back=True))}-no-worrying-back"
    plain = Rules(draw_count=rules.draw_count).to_dict()
    changed = [f"-{name}-{value}" for name, value in rules.to_dict().items() if value != plain[name]]
    return f"draw{rules.draw_count}{''.join(changed)}"
