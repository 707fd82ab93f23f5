"""The agent `greedy`: in each position here a kind of move and the next lower one are both on offer."""

from __future__ import annotations

import pytest

from klondike_env.agents.lists.greedy import GreedyAgent
from tests.agents.players import CLASSIC, decide
from tests.boards import board

PRIORITIES = {
    "to a foundation and turning up, before any other to a foundation": (
        board("3C | AH", "AS", waste="AD"),
        "AH to foundation",
    ),
    "column to foundation, before turning up": (board("AS", "3C | 9H", "TS"), "AS to foundation"),
    "waste to foundation, before turning up": (board("3C | 9H", "TS", waste="AS"), "AS to foundation"),
    "turning up, before talon to column": (board("3C | 9H", "TS", "9D", waste="8C"), "9H onto TS"),
    "talon to column, before foundation to column": (
        board("6S", "9D", waste="8C", foundations="5H"),
        "8C onto 9D",
    ),
    "foundation to column, before turning nothing up": (board("6S", "9D", "TS", foundations="5H"), "5H onto 6S"),
    "turning nothing up, before the stock": (board("9D", "TS", stock="3C"), "9D onto TS"),
    "the stock when nothing else is legal": (board("9D", "9S", stock="3C"), "stock"),
}


@pytest.mark.parametrize(("record", "expected"), PRIORITIES.values(), ids=PRIORITIES)
def test_priority(record, expected) -> None:
    assert {decide(GreedyAgent(), record, CLASSIC, seed) for seed in range(10)} == {expected}


def test_a_part_of_a_run_turns_nothing_up() -> None:
    record = board("3C | TS 9H", "TC", "6S", foundations="5D")
    assert decide(GreedyAgent(), record, CLASSIC) == "5D onto 6S"


def test_moving_a_column_with_cards_face_down_into_a_gap_turns_one_up() -> None:
    assert decide(GreedyAgent(), board("3C | KH", "6S", foundations="5D"), CLASSIC) == "KH to empty column"


def test_ties_are_broken_at_random() -> None:
    record = board("AS", "AH", "AD", "3C | 9H", "TS")
    choices = {decide(GreedyAgent(), record, CLASSIC, seed) for seed in range(40)}
    assert choices == {"AS to foundation", "AH to foundation", "AD to foundation"}
