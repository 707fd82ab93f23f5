"""A study as a table for a terminal, and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gymnasium.error import DependencyNotInstalled

from klondike_env.solver.study.winnability import (
    PUBLISHED_NECESSITY,
    PUBLISHED_WINNABLE,
    Published,
    Share,
    Summary,
    name_of,
)
from klondike_env.solver.verdicts import VERDICTS
from klondike_env.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = "95 % intervals: the lower bound counts undecided deals as lost, the upper as won."

_WINNABLE, _NEEDED = "winnable %", "need worrying back %"


def table_of(summaries: Sequence[Summary]) -> Table:
    """Counts, shares with their intervals, and published figures beside them."""
    headers = ("game", "deals", *VERDICTS, _WINNABLE, "published", _NEEDED, "undecided %", "published")
    return Table(headers, tuple(_row_of(summary) for summary in summaries))


def _row_of(summary: Summary) -> tuple[str, ...]:
    rules, verdicts, needed = summary.verdicts.rules, summary.verdicts, summary.necessity
    return (
        name_of(rules),
        f"{len(verdicts.indices):,}",
        *(f"{verdicts.count(verdict):,}" for verdict in VERDICTS),
        percent(summary.winnable),
        _published(PUBLISHED_WINNABLE.get(rules)),
        percent(needed) if needed else "",
        f"{100 * needed.unknown / needed.total:.2f}" if needed else "",
        _published(PUBLISHED_NECESSITY.get(rules)),
    )


def percent(share: Share) -> str:
    """The middle of a share's interval and half its width: "81.94 ± 0.53"."""
    low, high = share.interval()
    return f"{50 * (low + high):.2f} ± {50 * (high - low):.2f}"


def _published(figure: Published | None) -> str:
    if figure is None:
        return ""
    return f"{figure.percent:.2f}" + (f" ± {figure.margin:.2f}" if figure.margin is not None else "")


def check_plot(file: Path) -> None:
    """Make sure that a picture can be drawn and written to this file.

    Raises:
        ValueError: matplotlib does not know the kind of picture, or there is no such folder.
        DependencyNotInstalled: matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise DependencyNotInstalled("plots need matplotlib; run: pip install 'klondike-env[study]'")
    from matplotlib.backend_bases import FigureCanvasBase

    kinds = FigureCanvasBase.get_supported_filetypes()
    if file.suffix.removeprefix(".") not in kinds:
        raise ValueError(f"the picture is {str(file)!r}; its name must end in one of {', '.join(sorted(kinds))}")
    if not file.parent.is_dir():
        raise ValueError(f"there is no folder {file.parent} to write {file.name} to; make it first")


def plot_of(summaries: Sequence[Summary]) -> Figure:
    """The winnable shares with their intervals, and published ones as crosses; needs matplotlib."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 1.2 + 0.3 * len(summaries)), layout="constrained")
    axes = figure.add_subplot()
    places = range(len(summaries))
    intervals = [summary.winnable.interval() for summary in summaries]
    middles = [50 * (low + high) for low, high in intervals]
    halves = [50 * (high - low) for low, high in intervals]
    axes.errorbar(middles, places, xerr=halves, fmt="o", markersize=3, capsize=3, color="#0072B2", label="here")
    published = [PUBLISHED_WINNABLE.get(summary.verdicts.rules) for summary in summaries]
    known = [(figure.percent, place) for figure, place in zip(published, places, strict=True) if figure is not None]
    axes.plot([x for x, _ in known], [y for _, y in known], "x", color="#D55E00", label="published")
    axes.set_yticks(places, [name_of(summary.verdicts.rules) for summary in summaries])
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("deals that can be won, all cards known, in percent, with 95 % intervals")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="best", frameon=False)
    return figure
