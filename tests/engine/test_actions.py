"""The numbering of the actions."""

from __future__ import annotations

import pytest

from klondike_env.cards import card_text, parse_card
from klondike_env.engine import actions


def test_there_are_313_actions_and_the_stock_is_the_last() -> None:
    assert actions.N_ACTIONS == 313
    assert actions.STOCK_ACTION == 312


def test_resigning_is_no_action() -> None:
    assert actions.RESIGN == -1


@pytest.mark.parametrize("action", range(actions.N_ACTIONS))
def test_decode_and_parse_undo_encode_and_name(action: int) -> None:
    assert actions.encode(*actions.decode(action)) == action
    assert actions.parse(actions.name(action)) == action


def test_every_action_has_a_name_of_its_own() -> None:
    assert len({actions.name(action) for action in range(actions.N_ACTIONS)}) == actions.N_ACTIONS


@pytest.mark.parametrize(
    ("card", "destination", "name"),
    [
        ("TH", 0, "TH to foundation"),
        ("QH", 4, "QH onto KS"),
        ("AC", 2, "AC onto 2D"),
        ("KD", 5, "KD to empty column"),
        ("KD", 1, "KD onto ?C"),
    ],
)
def test_an_id_is_six_times_the_card_plus_the_destination(card: str, destination: int, name: str) -> None:
    action = 6 * parse_card(card) + destination
    assert actions.name(action) == name
    assert actions.decode(action) == (parse_card(card), destination)


def test_the_stock_has_neither_card_nor_destination() -> None:
    assert actions.encode() == 312
    assert actions.decode(312) == (None, None)
    assert actions.name(312) == "stock"


@pytest.mark.parametrize("action", [-1, 313, -313, 1.5, True, None, "stock"])
def test_decode_and_name_refuse_other_numbers(action: int) -> None:
    with pytest.raises(ValueError, match=f"^action is {action!r}; allowed: a whole number from 0 to 312$"):
        actions.decode(action)
    with pytest.raises(ValueError, match=f"^action is {action!r}; allowed: "):
        actions.name(action)


@pytest.mark.parametrize(
    ("card", "destination", "message"),
    [
        (52, 0, "card is 52; allowed: a whole number from 0 to 51"),
        (-1, 0, "card is -1; allowed: a whole number from 0 to 51"),
        (None, 0, "card is None; allowed: a whole number from 0 to 51"),
        (0, 6, "destination is 6; allowed: a whole number from 0 to 5"),
        (0, None, "destination is None; allowed: a whole number from 0 to 5"),
    ],
)
def test_encode_refuses_what_is_out_of_range(card: int | None, destination: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        actions.encode(card, destination)


@pytest.mark.parametrize("text", ["QH onto KT", "QH onto JS", "QH", "QH to column 3"])
def test_parse_refuses_what_is_no_action(text: str) -> None:
    with pytest.raises(ValueError, match=f"^no such action: '{text}'; write 'TH to foundation'"):
        actions.parse(text)


def test_parse_refuses_a_card_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match=r"^no such card: '1X'"):
        actions.parse("1X to foundation")


def test_an_onto_action_names_the_card_one_rank_higher() -> None:
    for card in range(52):
        for suit in range(4):
            if card % 13 < 12:
                below = suit * 13 + card % 13 + 1
                assert actions.name(card * 6 + 1 + suit) == f"{card_text(card)} onto {card_text(below)}"


@pytest.mark.parametrize("action", range(actions.N_ACTIONS))
def test_a_description_begins_with_the_id_and_the_name(action: int) -> None:
    assert actions.describe(action).startswith(f"{action}: {actions.name(action)}: ")


@pytest.mark.parametrize(
    ("action", "description"),
    [
        (132, "132: TD to foundation: the card goes to its foundation"),
        (136, "136: TD onto JS: the card, with all that lies on it, goes onto the next higher card of that suit"),
        (137, "137: TD to empty column: the card, with all that lies on it, goes to the leftmost empty column"),
        (73, "73: KC onto ?C: never legal, for no card is higher than a king"),
        (312, "312: stock: draw, or redeal when the stock is empty"),
    ],
)
def test_a_description_tells_what_the_action_does(action: int, description: str) -> None:
    assert actions.describe(action) == description


@pytest.mark.parametrize("action", [-1, 313, "stock"])
def test_there_is_no_description_of_what_is_no_action(action: object) -> None:
    with pytest.raises(ValueError, match=r"^action is .*; allowed: a whole number from 0 to 312$"):
        actions.describe(action)  # type: ignore[arg-type]
