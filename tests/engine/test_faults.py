"""What makes a record impossible is named."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from klondike_env.cards import parse_card
from klondike_env.engine.faults import check_record, faults_of
from klondike_env.games import Games
from klondike_env.position import parse_position
from klondike_env.rules import PRESETS, Rules
from tests.engine.test_invariants import everywhere, random_play

TEXT = """
foundations: AC - - -
1: 3H
2: 7H | 4C
3: 9S 2C | JS TD
4: 8C JD 9C | 8H
5: TC 6S 5S 6H | 8S
6: QC 3D 4D 9D QS | 5C
7: 9H 3C 4H 2H KS KD | 5H
waste: 2D AD
stock: TS 7S TH KC 3S 8D JC AS 6D 7C QD AH 7D KH 4S QH JH 6C 2S 5D
"""


def sound() -> Any:
    return parse_position(TEXT).copy()


@everywhere
def test_no_position_that_can_be_reached_has_a_fault(rules: Rules, talon: str) -> None:
    for step, games in enumerate(random_play(rules, talon, auto_finish=True)):
        if step % 4 == 0:
            for record, view in zip(games.states, games.views(), strict=True):
                assert faults_of(record, rules) == []
                assert faults_of(view, rules, may_hide=True) == []


def change(**fields: Any) -> Any:
    record = sound()
    for name, value in fields.items():
        if isinstance(value, tuple):
            *index, new = value
            record[name][tuple(index)] = new
        else:
            record[name] = value
    return record


@pytest.mark.parametrize(
    ("record", "reasons"),
    [
        (change(height=(2, 20)), ["column 3 has 20 cards; at most 19 can lie there"]),
        (change(height=(2, 255)), ["column 3 has 255 cards; at most 19 can lie there"]),
        (change(face_down=(1, 2)), ["column 2 has 2 face-down cards; only 1 were dealt so", "last card of column 2"]),
        (change(face_down=(2, 4)), ["column 3 has 4 face-down cards", "the last card of column 3 is face down"]),
        (change(height=(6, 3)), ["the last card of column 7 is face down"]),
        (change(foundation=(0, 14)), ["the foundation of clubs has 14 cards; at most 13 can lie there"]),
        (change(talon_size=25), ["waste and stock have 25 cards; at most 24 were dealt there"]),
        (change(talon_size=1), ["the waste has 2 cards, but waste and stock have 1 together"]),
        (change(seen_size=5), ["5 cards of waste and stock have been seen; after 0 redeals it must be 2"]),
        (change(redeals_used=1), ["2 cards of waste and stock have been seen; after 1 redeals it must be 22"]),
        (change(redeals_used=2, seen_size=22), ["2 redeals were used; the rules allow 1"]),
        (change(best_foundation=0), ["the foundations hold 1 cards now, but at most 0 in the game so far"]),
        (change(best_foundation=53), ["the foundations hold 1 cards now, but at most 53 in the game so far"]),
        (change(moves=-1), ["moves is -1; allowed: a whole number from 0"]),
        (change(steps=-3), ["steps is -3; allowed: a whole number from 0"]),
        (change(since_progress=-2), ["since_progress is -2; allowed: a whole number from 0"]),
        (change(outcome=5), ["outcome is 5; allowed: 0 to 4"]),
        (change(columns=(1, 0, 52)), ["column 2 holds a card that is unknown"]),
        (change(talon=(9, 52)), ["waste or stock hold a card that is unknown"]),
        (change(columns=(1, 0, 99)), ["column 2 holds card 99; allowed: 0 to 51"]),
        (change(talon=(9, 200)), ["waste or stock hold card 200; allowed: 0 to 51"]),
        (change(columns=(0, 0, parse_card("7H"))), ["7H is there twice", "3H is missing"]),
        (change(foundation=(0, 2), best_foundation=2), ["2C is there twice"]),
        (change(foundation=(0, 0)), ["AC is missing"]),
        (change(talon_size=21), ["5D is missing"]),
    ],
)
def test_an_impossible_record_is_refused_with_reasons(record: Any, reasons: list[str]) -> None:
    rules = Rules(redeals=1)
    faults = faults_of(record, rules)
    assert len(faults) == len(reasons)
    for fault, reason in zip(faults, reasons, strict=True):
        assert reason in fault
    with pytest.raises(ValueError, match=f"^the position is not possible: {re.escape('; '.join(faults))}$"):
        check_record(record, rules)
    with pytest.raises(ValueError, match=r"^the position is not possible: "):
        Games(1, rules).start_positions(record)


@pytest.mark.parametrize(
    ("build", "faults"),
    [
        ("alternating_colour", []),
        ("other_suit", []),
        ("any_suit", []),
        ("same_suit", ["TD lies on JS in column 3, which the rules do not allow"]),
        ("same_colour", ["TD lies on JS in column 3, which the rules do not allow"]),
    ],
)
def test_face_up_cards_must_be_built_by_the_rules(build: str, faults: list[str]) -> None:
    assert faults_of(sound(), Rules(build=build)) == faults


def test_only_unseen_cards_may_be_unknown_and_as_many_as_are_missing() -> None:
    record = change(columns=(3, 2, 52))  # 9C
    assert faults_of(record, Rules(), may_hide=True) == []
    record["talon"][1] = 52  # AD, the top of the waste
    assert faults_of(record, Rules(), may_hide=True)[0] == "waste or stock hold a card that is unknown"
    record = change(columns=(3, 2, 52))
    record["columns"][0, 0] = record["columns"][3, 1]
    assert faults_of(record, Rules(), may_hide=True) == [
        "JD is there twice",
        "1 cards are unknown, but 2 are missing",
    ]


def test_a_record_full_of_noise_is_refused_without_reading_beyond_it() -> None:
    generator = np.random.default_rng(0)
    for _ in range(200):
        record = sound()
        noise = generator.integers(0, 256, record.dtype.itemsize, dtype=np.uint8)
        record = noise.view(record.dtype)[0]
        assert 0 < len(faults_of(record, PRESETS["draw1"])) <= 64
