"""The golden files: the engine still gives what they say, and the slow reference agrees."""

from __future__ import annotations

import csv

import pytest

from klondike_env.deals import deck_of
from klondike_env.rules import PRESETS, Rules
from tests import reference
from tests.golden.__main__ import FOLDER, GOLDEN_FILES
from tests.golden.playthroughs import PLAYTHROUGHS

HOW = "if the change is meant, run `make golden` and read the difference that git shows"
MOST_NODES = 700  # so many does the slow reference visit for each deal, at most


def first_difference(left: str, right: str) -> str:
    ours, theirs = left.splitlines(), right.splitlines()
    for number, pair in enumerate(zip(ours, theirs, strict=False), start=1):
        if pair[0] != pair[1]:
            return f"line {number} is {pair[1]!r}, written down as {pair[0]!r}"
    return f"there are {len(theirs)} lines, {len(ours)} are written down"


def perft_counts() -> dict[tuple[str, int], list[int]]:
    """Preset and deal -> the counts of the depths from 1 on."""
    counts: dict[tuple[str, int], list[int]] = {}
    with (FOLDER / "perft.csv").open() as file:
        for row in csv.DictReader(file):
            nodes = counts.setdefault((row["preset"], int(row["deal"])), [])
            assert int(row["depth"]) == len(nodes) + 1
            nodes.append(int(row["nodes"]))
    return counts


def slow_perft(position: reference.Position, depth: int, rules: Rules) -> int:
    """The count of one depth, by the slow reference."""
    if sum(position.foundation) == 52 or reference.is_lost(position, rules):
        return 0
    actions = reference.legal_actions(position, rules, "draw")
    if depth == 1:
        return len(actions)
    total = 0
    for action in actions:
        after = position.copy()
        reference.play(after, action, rules)
        total += slow_perft(after, depth - 1, rules)
    return total


@pytest.mark.parametrize(("name", "text"), GOLDEN_FILES, ids=[name for name, _ in GOLDEN_FILES])
def test_making_a_golden_file_again_gives_the_same_bytes(name, text):
    file = FOLDER / name
    assert file.exists(), f"{name} is missing; run `make golden`"
    kept, made = file.read_bytes().decode(), text()
    if kept != made:
        pytest.fail(f"{name}: {first_difference(kept, made)}; {HOW}")


def test_no_other_golden_file_is_kept():
    kept = {file.relative_to(FOLDER).as_posix() for file in FOLDER.rglob("*") if file.suffix in (".csv", ".txt")}
    assert kept == {name for name, _ in GOLDEN_FILES}


def test_every_preset_has_perft_counts_and_a_playthrough():
    assert {preset for preset, _ in perft_counts()} == set(PRESETS)
    assert set(PRESETS) <= {game.name for game in PLAYTHROUGHS}


@pytest.mark.parametrize(("preset", "deal"), perft_counts())
def test_the_reference_counts_as_many_ways_to_play(preset, deal):
    counts = perft_counts()[preset, deal]
    depth = sum(nodes <= MOST_NODES for nodes in counts)
    assert depth >= 3
    assert slow_perft(reference.deal(deck_of(deal)), depth, PRESETS[preset]) == counts[depth - 1]


@pytest.mark.parametrize(
    "sight",
    [
        "outcome won",
        "outcome lost",
        "outcome stalled",
        "outcome truncated",
        "illegal_action True",  # a refused action
        "unseen: -",  # a card turned up or drawn
        "foundation: -",  # worrying back
        "KH to empty column, reward",
        "QC to empty column, reward",  # where gaps take any card
        "redeals_left 0",
        "stock: ts 3c",  # open cards
    ],
)
def test_together_the_playthroughs_show(sight):
    assert any(sight in file.read_text(encoding="ascii") for file in (FOLDER / "playthroughs").iterdir())


def test_the_message_names_the_first_line_that_differs():
    assert first_difference("a\nb", "a\nc\nd") == "line 2 is 'c', written down as 'b'"
    assert first_difference("a", "a\nb") == "there are 2 lines, 1 are written down"
