"""The golden files: what the engine gives today is what they say, and so is the oracle's word."""

from __future__ import annotations

import csv

import pytest

from klondike_env.deals import deck_of
from klondike_env.rules import PRESETS, Rules
from tests import reference
from tests.golden.__main__ import FOLDER, GOLDEN_FILES

MOST_NODES = 700  # that the slow reference is to visit for each deal


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
    """The count of one depth, by the rules in plain Python."""
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
    assert text().encode() == (FOLDER / name).read_bytes()


def test_every_preset_has_perft_counts():
    assert {preset for preset, _ in perft_counts()} == set(PRESETS)


@pytest.mark.parametrize(("preset", "deal"), perft_counts())
def test_the_reference_counts_as_many_ways_to_play(preset, deal):
    counts = perft_counts()[preset, deal]
    depth = sum(nodes <= MOST_NODES for nodes in counts)
    assert depth >= 3
    assert slow_perft(reference.deal(deck_of(deal)), depth, PRESETS[preset]) == counts[depth - 1]
