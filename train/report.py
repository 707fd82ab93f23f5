"""Results as tables for the terminal, and as a report: `results.json`, `report.md` and its pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.table import Table

from klondike_env.rules import aliases_of
from train.config import NETWORKS
from train.files import write_atomically
from train.pictures import learning_curves_figure, png, strength_figure, win_rates_figure
from train.results import AgentResult, BenchmarkResult, Comparison, Evaluation, VariantResult
from train.words import (
    OTHER_MODES,
    SIGNIFICANCE,
    describe_p_value,
    describe_settings,
    describe_time,
    groups_of,
    headline,
    main_agents,
    minutes,
    network_sentences,
    percent,
    rate_with_margin,
    title_of,
    title_of_network,
)

RESULTS_FILE, REPORT_FILE = "results.json", "report.md"
WIN_RATES_PICTURE, CURVES_PICTURE, STRENGTH_PICTURE = "win_rates.png", "learning_curves.png", "strength.png"

_TAUGHT_OR_NOT = "Taught networks learned from the actions of a teacher before PPO, the others from PPO alone."
_DETAILS = (
    "agent",
    "wins %",
    "95 % interval",
    "foundation cards",
    "moves",
    "stalled %",
    "time a game",
    "how it played",
)


# --- tables --------------------------------------------------------------------------------------


def evaluation_table(evaluation: Evaluation) -> Table:
    """The agents of one evaluation, for the terminal."""
    table = Table(title=f"{title_of(evaluation.variant)}: {evaluation.deals} deals ({evaluation.deal_numbers})")
    for index, heading in enumerate(_DETAILS):
        table.add_column(heading, justify="left" if index in (0, len(_DETAILS) - 1) else "right", overflow="fold")
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
    table = Table(title="Win rates in percent, with 95 % intervals")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "variant" or heading.endswith(" is") else "right")
    for row in rows:
        table.add_row(*row)
    table.caption = _alias_note(variants)
    return table


def _details(name: str, result: AgentResult) -> tuple[str, ...]:
    return (
        name,
        percent(result.win_rate),
        f"{percent(result.interval.low)} to {percent(result.interval.high)}",
        f"{result.foundation_cards:.1f}",
        f"{result.moves:.0f}",
        percent(result.share_stalled),
        describe_time(result.ms_per_game),
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
    names = list(dict.fromkeys(name for result in variants for name in main_agents(result.evaluation)))
    networks = [network for network in NETWORKS if network in names]
    headings = ["variant", *names, *(f"{title_of_network(network)} is" for network in networks)]
    rows = []
    for result in variants:
        agents = result.evaluation.agents
        cells = [rate_with_margin(agents[name]) if name in agents else "" for name in names]
        standings = [_standing(result.evaluation, network) for network in networks]
        rows.append([title_of(result.variant), *cells, *standings])
    return headings, rows


def _standing(evaluation: Evaluation, network: str) -> str:
    """Which baselines a network does not beat."""
    groups = groups_of(evaluation, network)
    words = {"below": "BELOW", "apart": "level with"}
    return "; ".join(f"{words[key]} {', '.join(groups[key])}" for key in words if key in groups) or "above all"


def _alias_note(variants: Sequence[VariantResult]) -> str:
    """Other names of the variants, one sentence each."""
    return " ".join(
        f"{title_of(alias).capitalize()} is {title_of(result.variant)} under another name."
        for result in variants
        for alias in aliases_of(result.variant)
    )


# --- the report ----------------------------------------------------------------------------------


def write_report(result: BenchmarkResult, directory: Path) -> Path:
    """Write pictures, report and results into `directory`, `results.json` last. Returns the path of the report.

    Raises:
        FileExistsError: the directory holds results already.
    """
    if (directory / RESULTS_FILE).exists():
        raise FileExistsError(f"{directory} holds results already; remove it or choose another name")
    write_atomically(directory / WIN_RATES_PICTURE, png(win_rates_figure(result.variants)))
    write_atomically(directory / CURVES_PICTURE, png(learning_curves_figure(result.variants)))
    write_atomically(directory / STRENGTH_PICTURE, png(strength_figure(_strength(result.variants))))
    write_atomically(directory / REPORT_FILE, report_text(result))
    write_atomically(directory / RESULTS_FILE, result.model_dump_json(indent=2) + "\n")
    return directory / REPORT_FILE


def report_text(result: BenchmarkResult) -> str:
    """The report as Markdown, with the pictures by file name."""
    sections = [
        f"# Benchmark {result.name}",
        f"Made by `{result.command}` in {minutes(result.seconds)} of training and games, {result.finished}.",
        f"**{headline(result.variants)}**",
        "## Win rates",
        _markdown_table(*_summary(result.variants)),
        _alias_note(result.variants),
        _how_to_read(result),
        f"![Win rate of each agent on each variant]({WIN_RATES_PICTURE})",
        "## Networks against the baselines",
        _bullets(sentence for variant in result.variants for sentence in network_sentences(variant.evaluation)),
        "## Training",
        _markdown_table(*_training(result.variants)),
        f"![Learning curves]({CURVES_PICTURE})",
        "The horizontal lines are the baselines on the test deals.",
        "## Strength against time",
        f"![Win rate over time per game]({STRENGTH_PICTURE})",
        "Agents that plan played fewer deals than the others; the tables say how many.",
        "## Each variant",
        *map(_variant_section, result.variants),
        "## Machine",
        _machine(result),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _strength(variants: Sequence[VariantResult]) -> dict[str, dict[str, AgentResult]]:
    return {
        result.variant: {name: agent for name, agent in result.agents.items() if name not in OTHER_MODES}
        for result in variants
    }


def _how_to_read(result: BenchmarkResult) -> str:
    evaluation = result.variants[0].evaluation
    return (
        f"Every agent played the same {evaluation.deals} deals (numbers {evaluation.deal_numbers}), none of which was "
        "trained on. Intervals are Wilson's, 95 %; agents are compared on paired deals by McNemar's exact test, and "
        f'"below" or "above" means p < {SIGNIFICANCE}. {_TAUGHT_OR_NOT} A network played in the mode, argmax or '
        "sampled, that its configuration named before training; the other mode is among the details. With auto-finish "
        "a game counts as won once no card is face down and the talon is empty or wholly reachable; talon reach means "
        "that seen talon cards are played directly, and the draws in between count as moves; no repeats means that "
        "actions which lead back to a visited position were masked. Cards up are the cards on the foundations at the "
        "end, on average."
    )


def _training(variants: Sequence[VariantResult]) -> tuple[list[str], list[list[str]]]:
    headings = ["variant", "network", "million frames", "time", "frames/s", "weights"]
    rows = []
    for result in variants:
        for network, run in result.runs.items():
            rate = run.frames / max(run.seconds, 1e-9)
            cells = [f"{run.frames / 1e6:.2f}", minutes(run.seconds), f"{rate:.0f}", f"`{run.weights}`"]
            rows.append([title_of(result.variant), network, *cells])
    return headings, rows


def _variant_section(result: VariantResult) -> str:
    tables = _evaluation_tables(result.evaluation, result.evaluation.comparisons)
    if result.planning:
        new = [pair for pair in result.planning.comparisons if pair.second not in result.evaluation.agents]
        tables += f"\n\nDeals {result.planning.deal_numbers}:\n\n{_evaluation_tables(result.planning, new)}"
    return f"### {title_of(result.variant).capitalize()}\n\n{tables}"


def _evaluation_tables(evaluation: Evaluation, comparisons: Sequence[Comparison]) -> str:
    agents = _markdown_table(list(_DETAILS), [list(_details(*item)) for item in evaluation.agents.items()])
    pairs = _markdown_table(
        ["agents", "difference in points", "95 % interval", "p-value"],
        [list(_comparison_cells(comparison)) for comparison in comparisons],
    )
    return f"{agents}\n\n{pairs}"


def _machine(result: BenchmarkResult) -> str:
    machine = result.machine
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    return f"{machine.processor}, {machine.cores} cores, {machine.system}; trained on {machine.device}. {versions}."


def _markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
