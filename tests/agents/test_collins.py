"""Collins' list, one test for each of its steps and conditions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from klondike_env.agents.lists.collins import CollinsAgent
from klondike_env.engine.actions import RESIGN
from klondike_env.rules import Rules
from tests.agents.players import CLASSIC, DRAW1, GIVE_UP, THUMB_AND_POUCH, decide, decisions
from tests.boards import board

# A run that could be split where it lies, which the list never does: it keeps a game from being lost.
IDLE = ("QH JS", "QD")


def choice(*columns: str, rules: Rules = DRAW1, **piles: Any) -> str:
    return decide(CollinsAgent(), board(*columns, **piles), rules)


# --- step 1: columns and waste onto columns ----------------------------------------------------------


def test_the_run_with_most_cards_face_down_moves_first() -> None:
    assert choice("2C | 9D", "3C 4C | 9H", "TS", "5C | 8D") == "9H onto TS"


def test_the_rightmost_of_equal_runs_moves_first() -> None:
    assert choice("2C | 9H", "3C | 9D", "TS") == "9D onto TS"


def test_a_run_goes_to_the_leftmost_column_that_takes_it() -> None:
    assert choice("TC", "TS", "2C | 9H") == "9H onto TC"
    assert choice("TS", "TC", "2C | 9H") == "9H onto TS"


def test_a_run_moves_as_a_whole() -> None:
    assert choice("2C | TH 9S", "TD", "JS") == "TH onto JS"


def test_a_run_without_cards_face_down_moves_too() -> None:
    assert choice("9H", "TS") == "9H onto TS"


def test_a_king_fills_an_empty_column_only_if_that_turns_a_card_up() -> None:
    assert choice("2C | KH", "4C") == "KH to empty column"
    assert choice("KH QS", *IDLE) == GIVE_UP
    assert choice("9H", "TS", "KH") == "9H onto TS"


def test_other_cards_never_fill_an_empty_column() -> None:
    assert choice("2C | QH", "QD JS") == GIVE_UP


def test_the_waste_moves_after_all_runs() -> None:
    assert choice("9H", "TS", waste="9D") == "9H onto TS"
    assert choice("TS", waste="9D") == "9D onto TS"


def test_a_king_from_the_waste_fills_an_empty_column() -> None:
    assert choice("9H", waste="KS") == "KS to empty column"


# --- step 2: to the foundations ----------------------------------------------------------------------


def test_moves_between_columns_come_before_the_foundations() -> None:
    assert choice("2H", "3S", foundations="AH") == "2H onto 3S"
    assert choice("3S", waste="2H", foundations="AH") == "2H onto 3S"


def test_the_leftmost_column_goes_up_first_and_then_the_waste() -> None:
    assert choice("9C", "2S", "2H", waste="2C", foundations="AC AH AS") == "2S to foundation"
    assert choice("9C", "2H", "2S", waste="2C", foundations="AC AH AS") == "2H to foundation"
    assert choice("9C", waste="2C", foundations="AC AH AS") == "2C to foundation"


def test_foundations_come_before_drawing() -> None:
    assert choice("9C", "2S", foundations="AS", stock="4C") == "2S to foundation"


# --- step 3: worrying back ---------------------------------------------------------------------------


def test_a_foundation_card_comes_back_for_a_run_that_fits_on_it() -> None:
    assert choice("6S", "2D | 4C", foundations="5H") == "5H onto 6S"
    assert choice("6S", waste="4C", foundations="5H") == "5H onto 6S"


def test_a_foundation_card_stays_where_nothing_fits_on_it() -> None:
    assert choice("6S", "TC 4C", foundations="5H", stock="KC") == "stock"
    assert choice("6S", waste="4D", foundations="5H", stock="KC") == "stock"


def test_no_card_comes_back_where_the_rules_forbid_it() -> None:
    assert choice("6S", waste="4C", foundations="5H", stock="KC", rules=replace(DRAW1, worry_back=False)) == "stock"


# --- step 4: splitting a run -------------------------------------------------------------------------

BURIED = ("7C 6H 5S", "6D")


def test_a_run_is_split_onto_the_twin_of_the_card_its_foundation_needs() -> None:
    assert choice(*BURIED, foundations="5H", stock="KC") == "5S onto 6D"


def test_a_run_is_not_split_for_a_card_that_no_foundation_needs() -> None:
    assert choice(*BURIED, foundations="4H", stock="KC") == "stock"


def test_an_ace_is_never_the_card_needed() -> None:
    assert choice(*BURIED, stock="KC") == "stock"


def test_only_the_last_card_is_split_off_where_whole_runs_move() -> None:
    whole = replace(DRAW1, runs="whole_or_last")
    assert choice(*BURIED, foundations="5H", stock="KC", rules=whole) == "5S onto 6D"
    assert choice("7C 6H 5S 4D", "6D", foundations="5H", stock="KC", rules=whole) == "stock"
    assert choice("7C 6H 5S 4D", "6D", foundations="5H", stock="KC") == "5S onto 6D"


# --- steps 5 to 7: the stock -------------------------------------------------------------------------


def test_draws_when_no_card_moves() -> None:
    assert choice("9C", "9S", stock="4C") == "stock"


def test_redeals_only_after_a_pass_in_which_a_card_moved() -> None:
    record = board("2C | 9H", "TS", *IDLE, stock="4C")
    assert decisions(CollinsAgent(), record) == ["9H onto TS", "stock", "stock", "stock", GIVE_UP]
    assert decisions(CollinsAgent(), board("9H", *IDLE, stock="4C")) == ["stock", GIVE_UP]


def test_does_not_redeal_where_no_redeal_is_left() -> None:
    record = board("2C | 9H", "TS", *IDLE, stock="4C")
    assert decisions(CollinsAgent(), record, CLASSIC) == ["9H onto TS", "stock", GIVE_UP]
    once = replace(DRAW1, redeals=1)
    assert decisions(CollinsAgent(), record, once) == ["9H onto TS", "stock", "stock", "stock", GIVE_UP]
    assert decisions(CollinsAgent(), board("2C | 9H", "TS", *IDLE, stock="4C", redeals_used=1), once)[-2:] == [
        "stock",
        GIVE_UP,
    ]


def test_gives_up_when_the_talon_is_used_up() -> None:
    assert decisions(CollinsAgent(), board("2C | 9H", "TS", *IDLE)) == ["9H onto TS", GIVE_UP]


def test_forgets_the_game_before_in_its_row() -> None:
    before, after = (np.array([record]) for record in (board("9H", "TS"), board("9H", *IDLE, waste="4C")))
    agent, no_masks = CollinsAgent(), np.zeros((0, 313), dtype=np.int8)
    agent.start(1, DRAW1, seed=0)
    assert agent.act(before, no_masks)[0] != RESIGN
    assert agent.act(after, no_masks)[0] == RESIGN


# --- Thumb and Pouch ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "piles", "expected"),
    [
        (("2C | 9H", "7S"), {}, "9H to empty column"),  # any run that turns a card up
        (("9H", "7S"), {"stock": "KC"}, "stock"),  # but no other
        (("9H", "", "TS"), {}, "9H onto TS"),
        (("9H", "7S"), {"waste": "2D"}, "2D to empty column"),  # any card from the waste
        (("6S",), {"waste": "5C"}, "5C onto 6S"),  # any suit but the same
        (("7C 6H 5S", "6C"), {"foundations": "5H", "stock": "KC"}, "5S onto 6C"),  # twins too
        (("7C 6H 5S", "6S"), {"foundations": "5H", "stock": "KC"}, "stock"),
        (("6S", "TS"), {"foundations": "5H", "stock": "KC"}, "stock"),  # no worrying back
    ],
)
def test_thumb_and_pouch(columns: tuple[str, ...], piles: dict[str, str], expected: str) -> None:
    assert choice(*columns, rules=THUMB_AND_POUCH, **piles) == expected
