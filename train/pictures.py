"""Pictures of results: win rates, learning curves, and strength against time."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from math import ceil

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from klondike_env.intervals import wilson_interval
from train.config import PPO, TAUGHT
from train.results import AgentResult, Evaluation, VariantResult
from train.words import baselines_of, main_agents, percent, title_of

# Told apart by colour-blind readers too (Okabe and Ito).
_COLOURS = {"random": "#999999", "greedy": "#E69F00", "collins": "#0072B2", PPO: "#D55E00", TAUGHT: "#009E73"}
_MORE_COLOURS = ("#CC79A7", "#56B4E9", "#F0E442")
_LINE_STYLES = ("--", ":", "-.")
_PANELS_PER_ROW = 3


def win_rates_figure(variants: Sequence[VariantResult]) -> Figure:
    """Bars with 95 % intervals, one panel per variant, each with its own scale."""
    figure, panels = _panels(len(variants), height=2.3)
    figure.suptitle("Win rates in percent, with 95 % intervals (each panel has its own scale)")
    for panel, result in zip(panels, variants, strict=True):
        _draw_bars(panel, result.evaluation)
        panel.set_title(title_of(result.variant), fontsize=11)
    return figure


def learning_curves_figure(variants: Sequence[VariantResult]) -> Figure:
    """Win rates on validation deals over the time of training with 95 % bands, one panel per variant."""
    figure, panels = _panels(len(variants), height=2.9)
    figure.suptitle("Win rates of networks on validation deals while they learn, in percent, with 95 % band")
    for panel, result in zip(panels, variants, strict=True):
        _draw_curves(panel, result)
    return figure


def strength_figure(variants: Mapping[str, Mapping[str, AgentResult]]) -> Figure:
    """Win rate over time for a game, one panel per variant; settings of one agent are joined by a line.

    Args:
        variants: variant -> name -> result; what comes before the colon of a name is the agent, the rest its settings.
    """
    figure, panels = _panels(len(variants), height=2.9)
    figure.suptitle("Win rate over time per game, in percent, with 95 % intervals")
    kinds = dict.fromkeys(_kind_of(name) for agents in variants.values() for name in agents)
    colours = _colours(list(kinds))
    for panel, (variant, agents) in zip(panels, variants.items(), strict=True):
        _draw_strength(panel, agents, colours)
        panel.set_title(title_of(variant), fontsize=11)
    lines = {line.get_label(): line for panel in panels for line in panel.containers}
    figure.legend(handles=list(lines.values()), loc="outside lower center", ncols=4, frameon=False)
    return figure


def _panels(count: int, height: float) -> tuple[Figure, list[Axes]]:
    columns = min(count, _PANELS_PER_ROW)
    rows = ceil(count / columns)
    # A single panel is drawn as wide as two, so that the title fits above it.
    figure = Figure(figsize=(4.0 * max(columns, 2), height * rows + 0.6), layout="constrained")
    panels = [figure.add_subplot(rows, columns, index + 1) for index in range(count)]
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
    return figure, panels


def _draw_bars(panel: Axes, evaluation: Evaluation) -> None:
    names = main_agents(evaluation)
    colours = _colours(names)
    longest = max(evaluation.agents[name].interval.high for name in names)
    for place, name in enumerate(reversed(names)):
        result = evaluation.agents[name]
        rate, high = 100 * result.win_rate, 100 * result.interval.high
        panel.barh(place, rate, color=colours[name], height=0.7)
        panel.errorbar(rate, place, xerr=_margins([result]), color="black", capsize=3, lw=1)
        panel.annotate(percent(result.win_rate), (high, place), xytext=(5, 0), textcoords="offset points", va="center")
    panel.set_yticks(range(len(names)), list(reversed(names)))
    panel.tick_params(axis="y", length=0)
    panel.set_xlim(0, 100 * longest * 1.22)


def _draw_curves(panel: Axes, result: VariantResult) -> None:
    agents = result.evaluation.agents
    baselines = baselines_of(result.evaluation)
    colours = _colours([*baselines, *result.runs])
    for index, name in enumerate(baselines):
        style = _LINE_STYLES[index % len(_LINE_STYLES)]
        panel.axhline(100 * agents[name].win_rate, color=colours[name], linestyle=style, label=name)
    highest = [0.1, *(100 * agents[name].win_rate for name in baselines)]
    for network, run in result.runs.items():
        times = [point.seconds / 60 for point in run.curve]
        bands = [wilson_interval(round(point.win_rate * point.deals), point.deals) for point in run.curve]
        lows, highs = [100 * band.low for band in bands], [100 * band.high for band in bands]
        rates = [100 * point.win_rate for point in run.curve]
        panel.fill_between(times, lows, highs, color=colours[network], alpha=0.2, linewidth=0)
        panel.plot(times, rates, color=colours[network], marker=".", label=network)
        highest += highs
    panel.set_title(title_of(result.variant), fontsize=11)
    panel.set_xlabel("minutes of training")
    panel.set_xlim(left=0)
    panel.locator_params(axis="x", nbins=5)
    panel.set_ylim(0, max(highest) * 1.35)  # room above the curves, so that the legend covers none of them
    panel.legend(fontsize=8, ncols=2, loc="upper center", frameon=False)


def _draw_strength(panel: Axes, agents: Mapping[str, AgentResult], colours: Mapping[str, str]) -> None:
    for kind in dict.fromkeys(_kind_of(name) for name in agents):
        results = [result for name, result in agents.items() if _kind_of(name) == kind]
        results.sort(key=lambda result: result.ms_per_game)
        times, rates = [result.ms_per_game for result in results], [100 * result.win_rate for result in results]
        panel.errorbar(times, rates, yerr=_margins(results), color=colours[kind], fmt="o-", ms=4, lw=1, label=kind)
    panel.set_xscale("log")
    panel.set_xlabel("milliseconds per game, on one worker")
    panel.set_ylim(0, 105 * max(result.interval.high for result in agents.values()))


def _kind_of(name: str) -> str:
    return name.partition(":")[0]


def _margins(results: Sequence[AgentResult]) -> list[list[float]]:
    """How far the intervals reach below and above the rates, in percent; rounding must not make them negative."""
    below = [100 * max(result.win_rate - result.interval.low, 0) for result in results]
    above = [100 * max(result.interval.high - result.win_rate, 0) for result in results]
    return [below, above]


def _colours(names: Sequence[str]) -> dict[str, str]:
    others = [name for name in names if name not in _COLOURS]
    extra = {name: _MORE_COLOURS[index % len(_MORE_COLOURS)] for index, name in enumerate(others)}
    return {**_COLOURS, **extra}


def png(figure: Figure) -> bytes:
    """A picture as the bytes of a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150)
    return buffer.getvalue()
