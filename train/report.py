"""Results as a terminal shows them, and as a report: `results.json`, `report.md` and its pictures."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from math import ceil
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.table import Table

from klondike_env.intervals import wilson_interval
from train.files import write_atomically
from train.results import AgentResult, BenchmarkResult, Comparison, Evaluation, Settings, VariantResult

PPO = "ppo"  # the network in the play mode that its configuration names
OTHER_MODES = ("ppo argmax", "ppo sampled")  # the same network in the other mode
SIGNIFICANCE = 0.05
RESULTS_FILE, REPORT_FILE = "results.json", "report.md"
WIN_RATES_PICTURE, CURVES_PICTURE = "win_rates.png", "learning_curves.png"

# Told apart by colour-blind readers too (Okabe and Ito).
_COLOURS = {"random": "#999999", "greedy": "#E69F00", "collins": "#0072B2", PPO: "#D55E00"}
_MORE_COLOURS = ("#009E73", "#CC79A7", "#56B4E9", "#F0E442")
_LINE_STYLES = ("--", ":", "-.")
_PANELS_PER_ROW = 3

_DETAILS = ("agent", "wins %", "95 % interval", "cards up", "moves", "stalled %", "ms/game", "how it played")


# --- words ---------------------------------------------------------------------------------------


def percent(share: float) -> str:
    """A share 0 to 1 in percent, with more digits where it is small: "53.6", "3.91", "0.04"."""
    return f"{100 * share:.{_digits(share)}f}"


def _digits(share: float) -> int:
    return 1 if share >= 0.0995 or share == 0 else 2


def title_of(variant: str) -> str:
    """A variant's name for readers: "draw 1", "thumb and pouch"."""
    return re.sub(r"(?<=[a-z])(?=\d)", " ", variant.replace("_", " "))


def describe_settings(settings: Settings) -> str:
    """How an agent met the game, in words: "argmax, talon reach, no repeats"."""
    words = [settings.play or "", f"talon {settings.talon}", "no repeats" if settings.no_repeats else ""]
    if not settings.auto_finish:
        words.append("no auto-finish")
    if settings.stall_limit != Settings().stall_limit:
        words.append(f"stall limit {settings.stall_limit or 'none'}")
    return ", ".join(word for word in words if word)


def describe_p_value(p_value: float) -> str:
    """A p-value for readers: "p = 0.012" or "p < 0.001"."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def verdict(comparison: Comparison) -> str:
    """Whether the first agent is "below" or "above" the second, or the deals cannot tell them "apart"."""
    if comparison.p_value >= SIGNIFICANCE:
        return "apart"
    return "below" if comparison.difference < 0 else "above"


def ppo_sentences(evaluation: Evaluation) -> list[str]:
    """Where PPO stands against each baseline, one plain sentence each, the baselines it is below first."""
    comparisons = [evaluation.compare(PPO, name) for name in baselines_of(evaluation)]
    comparisons.sort(key=lambda comparison: ("below", "apart", "above").index(verdict(comparison)))
    return [_sentence(evaluation, comparison) for comparison in comparisons]


def _sentence(evaluation: Evaluation, comparison: Comparison) -> str:
    name, other = title_of(evaluation.variant), comparison.second
    ours = f"{percent(evaluation.agents[comparison.first].win_rate)} %"
    theirs = f"{percent(evaluation.agents[other].win_rate)} %"
    points = f"{percent(abs(comparison.difference))} points"
    p_value = describe_p_value(comparison.p_value)
    if verdict(comparison) == "apart":
        return f"On {name}, PPO ({ours}) and {other} ({theirs}) cannot be told apart ({p_value})."
    if verdict(comparison) == "below":
        return f"On {name}, PPO is BELOW {other}: {ours} against {theirs}, {points} less ({p_value})."
    return f"On {name}, PPO is above {other}: {ours} against {theirs}, {points} more ({p_value})."


def headline(variants: Sequence[VariantResult]) -> str:
    """One sentence naming every variant where PPO is below a baseline."""
    losses = []
    for result in variants:
        better = _groups(result.evaluation).get("below")
        if better:
            losses.append(f"{title_of(result.variant)} ({', '.join(better)})")
    if not losses:
        return "PPO is below no baseline on any variant."
    return f"PPO is BELOW a baseline on {len(losses)} of {len(variants)} variants: {', '.join(losses)}."


def baselines_of(evaluation: Evaluation) -> list[str]:
    """The agents that PPO is measured against."""
    return [name for name in evaluation.agents if name != PPO and name not in OTHER_MODES]


def _groups(evaluation: Evaluation) -> dict[str, list[str]]:
    """Verdict on PPO -> the baselines it holds against."""
    groups: dict[str, list[str]] = {}
    for name in baselines_of(evaluation):
        groups.setdefault(verdict(evaluation.compare(PPO, name)), []).append(name)
    return groups


def minutes(seconds: float) -> str:
    """A duration for readers: "1.4 min", or hours when long."""
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


# --- tables --------------------------------------------------------------------------------------


def evaluation_table(evaluation: Evaluation) -> Table:
    """The agents of one evaluation, for the terminal."""
    table = Table(title=f"{title_of(evaluation.variant)}: {evaluation.deals} deals ({evaluation.deal_numbers})")
    for index, heading in enumerate(_DETAILS):
        table.add_column(heading, justify="left" if index in (0, len(_DETAILS) - 1) else "right")
    for name, result in evaluation.agents.items():
        table.add_row(*_details(name, result))
    return table


def comparison_table(evaluation: Evaluation) -> Table:
    """The paired comparisons of one evaluation, for the terminal."""
    table = Table(title="Paired on the same deals (McNemar)")
    for heading in ("agents", "difference in points", "95 % interval", "p-value"):
        table.add_column(heading, justify="left" if heading == "agents" else "right")
    for comparison in evaluation.comparisons:
        table.add_row(*_comparison_cells(comparison))
    return table


def summary_table(variants: Sequence[VariantResult]) -> Table:
    """Win rates of all variants and agents in one table, for the terminal."""
    headings, rows = _summary(variants)
    table = Table(title="Deals won, in percent, with 95 % intervals")
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("variant", "PPO is") else "right")
    for row in rows:
        table.add_row(*row)
    for note in _shared_notes(variants):
        table.caption = f"{table.caption}\n{note}" if table.caption else note
    return table


def _details(name: str, result: AgentResult) -> tuple[str, ...]:
    return (
        name,
        percent(result.win_rate),
        f"{percent(result.interval.low)} to {percent(result.interval.high)}",
        f"{result.foundation_cards:.1f}",
        f"{result.moves:.0f}",
        percent(result.share_stalled),
        f"{result.ms_per_game:.3g}",
        describe_settings(result.settings),
    )


def _comparison_cells(comparison: Comparison) -> tuple[str, ...]:
    low, high = comparison.interval
    return (
        f"{comparison.first} - {comparison.second}",
        f"{100 * comparison.difference:+.2f}",
        f"{100 * low:+.2f} to {100 * high:+.2f}",
        describe_p_value(comparison.p_value),
    )


def _summary(variants: Sequence[VariantResult]) -> tuple[list[str], list[list[str]]]:
    names = list(dict.fromkeys(name for result in variants for name in _main_agents(result.evaluation)))
    headings = ["variant", *names, "PPO is"]
    rows = []
    for result in variants:
        agents = result.evaluation.agents
        mark = " *" if result.is_shared else ""
        cells = [_rate_with_margin(agents[name]) if name in agents else "" for name in names]
        rows.append([title_of(result.variant) + mark, *cells, _standing(result.evaluation)])
    return headings, rows


def _main_agents(evaluation: Evaluation) -> list[str]:
    """All but the network's other play mode, which only the details show."""
    return [name for name in evaluation.agents if name not in OTHER_MODES]


def _rate_with_margin(result: AgentResult) -> str:
    margin = 100 * (result.interval.high - result.interval.low) / 2
    return f"{percent(result.win_rate)} ± {margin:.{_digits(result.win_rate)}f}"


def _standing(evaluation: Evaluation) -> str:
    """Which baselines PPO does not beat."""
    groups = _groups(evaluation)
    words = {"below": "BELOW", "apart": "level with"}
    return "; ".join(f"{words[key]} {', '.join(groups[key])}" for key in words if key in groups) or "above all"


def _shared_notes(variants: Sequence[VariantResult]) -> list[str]:
    return [
        f"* {title_of(result.variant)} has the rules of {title_of(result.trained_as)}: "
        "trained and played once, the figures are the same games."
        for result in variants
        if result.is_shared
    ]


# --- pictures ------------------------------------------------------------------------------------


def win_rates_figure(variants: Sequence[VariantResult]) -> Figure:
    """Bars with 95 % intervals, one panel per variant, each with its own scale."""
    figure, panels = _panels(len(variants), height=2.3)
    figure.suptitle("Deals won, in percent, with 95 % intervals (each panel has its own scale)")
    for panel, result in zip(panels, variants, strict=True):
        _draw_bars(panel, result.evaluation)
        panel.set_title(_panel_title(result), fontsize=11)
    return figure


def learning_curves_figure(variants: Sequence[VariantResult]) -> Figure:
    """Win rate on validation deals over frames with its 95 % band, one panel per network trained."""
    trained = [result for result in variants if not result.is_shared]
    figure, panels = _panels(len(trained), height=2.9)
    figure.suptitle("Validation deals won while PPO learns, in percent, with 95 % band")
    for panel, result in zip(panels, trained, strict=True):
        _draw_curve(panel, result)
    return figure


def _panels(count: int, height: float) -> tuple[Figure, list[Axes]]:
    columns = min(count, _PANELS_PER_ROW)
    rows = ceil(count / columns)
    # A single panel is drawn as wide as two, or the title would not fit above it.
    figure = Figure(figsize=(4.0 * max(columns, 2), height * rows + 0.6), layout="constrained")
    panels = [figure.add_subplot(rows, columns, index + 1) for index in range(count)]
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
    return figure, panels


def _panel_title(result: VariantResult) -> str:
    if not result.is_shared:
        return title_of(result.variant)
    return f"{title_of(result.variant)} (same rules as {title_of(result.trained_as)})"


def _draw_bars(panel: Axes, evaluation: Evaluation) -> None:
    names = _main_agents(evaluation)
    colours = _colours(names)
    longest = max(evaluation.agents[name].interval.high for name in names)
    for place, name in enumerate(reversed(names)):
        result = evaluation.agents[name]
        rate, low, high = 100 * result.win_rate, 100 * result.interval.low, 100 * result.interval.high
        panel.barh(place, rate, color=colours[name], height=0.7)
        # Rounding may put an end of the interval on the wrong side of the rate, by 1e-15.
        panel.errorbar(rate, place, xerr=[[max(rate - low, 0)], [max(high - rate, 0)]], color="black", capsize=3, lw=1)
        panel.annotate(percent(result.win_rate), (high, place), xytext=(5, 0), textcoords="offset points", va="center")
    panel.set_yticks(range(len(names)), list(reversed(names)))
    panel.tick_params(axis="y", length=0)
    panel.set_xlim(0, 100 * longest * 1.22)


def _draw_curve(panel: Axes, result: VariantResult) -> None:
    run, agents = result.run, result.evaluation.agents
    baselines = baselines_of(result.evaluation)
    colours = _colours([*baselines, PPO])
    for index, name in enumerate(baselines):
        style = _LINE_STYLES[index % len(_LINE_STYLES)]
        panel.axhline(100 * agents[name].win_rate, color=colours[name], linestyle=style, label=name)
    frames = [point.frames / 1e6 for point in run.curve]
    bands = [wilson_interval(round(point.win_rate * point.deals), point.deals) for point in run.curve]
    lows, highs = [100 * band.low for band in bands], [100 * band.high for band in bands]
    panel.fill_between(frames, lows, highs, color=colours[PPO], alpha=0.2, linewidth=0)
    panel.plot(frames, [100 * point.win_rate for point in run.curve], color=colours[PPO], marker=".", label=PPO)
    panel.set_title(title_of(result.variant), fontsize=11)
    panel.set_xlabel(f"million frames, {minutes(run.seconds)} in all")
    panel.set_xlim(left=0)
    panel.locator_params(axis="x", nbins=5)
    # Room above the curves, so that the legend covers none of them.
    highest = max([*(100 * agents[name].win_rate for name in baselines), *highs, 0.1])
    panel.set_ylim(0, highest * 1.35)
    panel.legend(fontsize=8, ncols=2, loc="upper center", frameon=False)


def _colours(names: Sequence[str]) -> dict[str, str]:
    others = [name for name in names if name not in _COLOURS]
    extra = {name: _MORE_COLOURS[index % len(_MORE_COLOURS)] for index, name in enumerate(others)}
    return {**_COLOURS, **extra}


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150)
    return buffer.getvalue()


# --- the report ----------------------------------------------------------------------------------


def write_report(result: BenchmarkResult, directory: Path) -> Path:
    """Write pictures, report and results into `directory`, `results.json` last; the path of the report.

    Raises:
        FileExistsError: the directory holds results already.
    """
    if (directory / RESULTS_FILE).exists():
        raise FileExistsError(f"{directory} holds results already; remove it or choose another name")
    write_atomically(directory / WIN_RATES_PICTURE, _png(win_rates_figure(result.variants)))
    write_atomically(directory / CURVES_PICTURE, _png(learning_curves_figure(result.variants)))
    write_atomically(directory / REPORT_FILE, report_text(result))
    write_atomically(directory / RESULTS_FILE, result.model_dump_json(indent=2) + "\n")
    return directory / REPORT_FILE


def report_text(result: BenchmarkResult) -> str:
    """The report as Markdown; it refers to the pictures by file name."""
    sections = [
        f"# Benchmark {result.name}",
        f"Made by `{result.command}` in {minutes(result.seconds)} of training and games, {result.finished}.",
        f"**{headline(result.variants)}**",
        "## Deals won",
        _markdown_table(*_summary(result.variants)),
        "\n".join(_shared_notes(result.variants)),
        _how_to_read(result),
        f"![Deals won by each agent on each variant]({WIN_RATES_PICTURE})",
        "## PPO against the baselines",
        _bullets(sentence for variant in result.variants for sentence in ppo_sentences(variant.evaluation)),
        "## Training",
        _markdown_table(*_training(result.variants)),
        f"![Learning curves]({CURVES_PICTURE})",
        "The horizontal lines are the baselines on the test deals.",
        "## Each variant",
        *(_variant_section(variant) for variant in result.variants if not variant.is_shared),
        "## Machine",
        _machine(result),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _how_to_read(result: BenchmarkResult) -> str:
    evaluation = result.variants[0].evaluation
    return (
        f"Every agent played the same {evaluation.deals} deals (numbers {evaluation.deal_numbers}), none of which was "
        "trained on. Intervals are Wilson's, 95 %; agents are compared on paired deals by McNemar's exact test, and "
        f'"below" or "above" means p < {SIGNIFICANCE}. PPO played in the mode, argmax or sampled, that its '
        "configuration named before training; the other mode is among the details. With auto-finish a game counts as "
        "won once no card is face down and the talon is empty or wholly reachable; talon reach means that seen talon "
        "cards are played directly, the draws between counted as moves; no repeats means that plays back to a visited "
        "position were masked. Cards up are the cards on the foundations at the end, on average."
    )


def _training(variants: Sequence[VariantResult]) -> tuple[list[str], list[list[str]]]:
    headings = ["variant", "million frames", "time", "frames/s", "weights"]
    rows = []
    for result in variants:
        if result.is_shared:
            rows.append([title_of(result.variant), f"as {title_of(result.trained_as)}", "", "", ""])
            continue
        run = result.run
        rate = run.frames / max(run.seconds, 1e-9)
        cells = [f"{run.frames / 1e6:.2f}", minutes(run.seconds), f"{rate:.0f}", f"`{run.weights}`"]
        rows.append([title_of(result.variant), *cells])
    return headings, rows


def _variant_section(result: VariantResult) -> str:
    evaluation = result.evaluation
    agents = _markdown_table(list(_DETAILS), [list(_details(*item)) for item in evaluation.agents.items()])
    pairs = _markdown_table(
        ["agents", "difference in points", "95 % interval", "p-value"],
        [list(_comparison_cells(comparison)) for comparison in evaluation.comparisons],
    )
    return f"### {title_of(result.variant).capitalize()}\n\n{agents}\n\n{pairs}"


def _machine(result: BenchmarkResult) -> str:
    machine = result.machine
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    return f"{machine.processor}, {machine.cores} cores, {machine.system}; trained on {machine.device}. {versions}."


def _markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
