"""The report says what the results say, in words, tables and pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from rich.console import Console
from rich.table import Table

from train.pictures import learning_curves_figure, strength_figure, win_rates_figure
from train.report import comparison_table, evaluation_table, report_text, summary_table, write_report
from train.results import BenchmarkResult, VariantResult
from train.words import describe_time, headline, network_sentences, percent, title_of, verdict


def printed(table: Table) -> str:
    console = Console(width=160)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def texts_of(figure: Figure) -> list[Text]:
    """Every visible text in the picture; ticks beyond the end of an axis are not drawn."""
    texts = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    for panel in figure.axes:
        texts += [panel.title, panel.xaxis.label, *panel.texts]
        legend = panel.get_legend()
        texts += legend.get_texts() if legend else []
        for axis in (panel.xaxis, panel.yaxis):
            low, high = axis.get_view_interval()
            texts += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [text for text in texts if text.get_text()]


def overlapping_texts(figure: Figure) -> list[tuple[str, str]]:
    figure.draw_without_rendering()
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts_of(figure)]
    assert len(boxes) > 10
    for text, box in boxes:
        assert figure.bbox.x0 <= box.x0, text
        assert box.x1 <= figure.bbox.x1, text
    return [(a, b) for (a, first), (b, second) in combinations(boxes, 2) if first.overlaps(second)]


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.5358, "53.6"), (0.0391, "3.91"), (0.0004, "0.04"), (0.0, "0.0"), (1.0, "100.0")],
)
def test_small_shares_get_more_digits(share: float, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0.0123, "0.012 ms"), (0.35, "0.35 ms"), (9.94, "9.9 ms"), (28.7, "29 ms"), (999, "999 ms"), (2.87e4, "28.7 s")],
)
def test_times_have_one_readable_unit(milliseconds: float, text: str) -> None:
    assert describe_time(milliseconds) == text


def test_titles_are_for_readers() -> None:
    assert [title_of(name) for name in ("draw1", "thumb_and_pouch_whole")] == ["draw 1", "thumb and pouch whole"]


def test_headline_compares_the_taught_network_with_collins(benchmark: BenchmarkResult) -> None:
    assert headline(benchmark.variants) == (
        "Taught PPO is above collins on 3 of 5 variants, BELOW it on classic, level with it on thumb and pouch whole."
    )
    assert headline(benchmark.variants[:2]) == "Taught PPO is above collins on 2 of 2 variants."


def test_headline_without_a_taught_network_or_collins(benchmark: BenchmarkResult) -> None:
    renamed = {"taught": "ppo 2", "taught sampled": "ppo sampled", "collins": "mine"}
    variants = [
        variant.model_copy(update={"evaluation": variant.evaluation.renamed(renamed)}) for variant in benchmark.variants
    ]
    assert headline(variants[:1]).startswith("PPO is above ppo 2 on 0 of 1 variants, BELOW it on draw 1")


def ppo_sentences(variant: VariantResult) -> list[str]:
    """What is said of the network without a teacher: the second half."""
    sentences = network_sentences(variant.evaluation)
    return sentences[len(sentences) // 2 :]


def test_sentences_say_below_apart_and_above(benchmark: BenchmarkResult) -> None:
    pouch = ppo_sentences(benchmark.variants[3])
    assert re.fullmatch(
        r"On thumb and pouch, PPO is BELOW collins: 7.* % against 8.* %, 1.* points less \(p < 0\.001\)\.",
        pouch[0],
    )
    assert [sentence.split(":")[0] for sentence in pouch[1:]] == [
        "On thumb and pouch, PPO is above random",
        "On thumb and pouch, PPO is above greedy",
    ]
    assert network_sentences(benchmark.variants[3].evaluation)[0].startswith("On thumb and pouch, taught PPO is above")
    whole = ppo_sentences(benchmark.variants[4])
    assert re.match(r"On thumb and pouch whole, PPO \(.* %\) and collins \(.* %\) cannot be told apart", whole[0])


def test_verdict_depends_on_the_side(benchmark: BenchmarkResult) -> None:
    evaluation = benchmark.variants[0].evaluation
    assert verdict(evaluation.compare("ppo", "random")) == "above"
    assert verdict(evaluation.compare("random", "ppo")) == "below"


def test_terminal_tables_hold_every_agent_and_other_names_of_a_game(benchmark: BenchmarkResult) -> None:
    summary = printed(summary_table(benchmark.variants))
    for words in (
        "draw 1",
        "draw 3",
        "classic",
        "thumb and pouch whole",
        "random",
        "BELOW greedy, collins",
    ):
        assert words in summary
    assert "Deal 1 is draw 1 under another name." in summary
    assert "another name" not in printed(summary_table(benchmark.variants[1:]))
    assert "sampled" not in summary
    evaluation = benchmark.variants[0].evaluation
    details = printed(evaluation_table(evaluation))
    for words in (*evaluation.agents, "argmax, talon reach, no repeats", "talon draw", "2000 deals (0 to 1999)"):
        assert words in details
    assert "collins - ppo" in printed(comparison_table(evaluation))


def test_report_holds_tables_pictures_and_how_it_was_made(benchmark: BenchmarkResult) -> None:
    text = report_text(benchmark)
    for words in (
        "Made by `python -m train.benchmark` in 7.9 min",
        headline(benchmark.variants),
        "![Learning curves](learning_curves.png)",
        "](win_rates.png)",
        "Deal 1 is draw 1 under another name.",
        "the same 2000 deals (numbers 0 to 1999)",
        "Test processor, 2 cores",
        "### Thumb and pouch whole",
        "](strength.png)",
        "Deals 0 to 499:",
        "| bandit:samples=10 - bandit:samples=100 |",
    ):
        assert words in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    widths = {line.count("|") for line in rows}
    assert widths == {5, 7, 9}  # comparisons, training, summary and details: no ragged line
    assert len([line for line in rows if line.startswith("| ppo |")]) == len(benchmark.variants)


def test_writes_report_pictures_and_results(benchmark: BenchmarkResult, tmp_path: Path) -> None:
    report = write_report(benchmark, tmp_path)
    assert report == tmp_path / "report.md"
    names = {"report.md", "results.json", "win_rates.png", "learning_curves.png", "strength.png"}
    assert {file.name for file in tmp_path.iterdir()} == names
    for picture in tmp_path.glob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")
    results = json.loads((tmp_path / "results.json").read_text())
    assert 0 <= results["variants"][0]["evaluation"]["agents"]["ppo"]["win_rate"] <= 1
    assert BenchmarkResult.model_validate(results) == benchmark


def test_never_overwrites_results(benchmark: BenchmarkResult, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text("earlier")
    with pytest.raises(FileExistsError, match="holds results already; remove it or choose another name"):
        write_report(benchmark, tmp_path)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["earlier"]


def strength_of(variants: Sequence[VariantResult]) -> Figure:
    return strength_figure({result.variant: result.agents for result in variants})


@pytest.mark.parametrize("picture", [win_rates_figure, learning_curves_figure, strength_of])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_no_text_of_a_picture_covers_another(picture: object, count: int, benchmark: BenchmarkResult) -> None:
    assert overlapping_texts(picture(benchmark.variants[:count])) == []  # type: ignore[operator]


def test_settings_of_one_agent_are_joined_in_the_order_of_their_times(benchmark: BenchmarkResult) -> None:
    panel = strength_of(benchmark.variants[:1]).axes[0]
    lines = {container.get_label(): container.lines[0] for container in panel.containers}
    assert list(lines["bandit"].get_xdata()) == [10.0, 100.0]
    assert len(lines["collins"].get_xdata()) == 1


def test_pictures_bear_agents_that_never_win_and_own_agents(benchmark: BenchmarkResult) -> None:
    variant = with_agent(benchmark.variants[0], "my_players.cautious:make", win_rate=0.0)
    assert overlapping_texts(win_rates_figure([variant])) == []
    runs = {network: run.model_copy(update={"curve": []}) for network, run in variant.runs.items()}
    learning_curves_figure([variant.model_copy(update={"runs": runs})])


def with_agent(variant: VariantResult, name: str, win_rate: float) -> VariantResult:
    """The variant with its first agent renamed and given another win rate."""
    evaluation = variant.evaluation.renamed({"random": name})
    agent = evaluation.agents[name].model_copy(update={"win_rate": win_rate})
    changed = evaluation.model_copy(update={"agents": {**evaluation.agents, name: agent}})
    return variant.model_copy(update={"evaluation": changed})
