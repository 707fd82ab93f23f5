"""Card ids and their texts."""

from __future__ import annotations

import pytest

from klondike_env.cards import (
    RANK_LETTERS,
    SUIT_LETTERS,
    UNSEEN,
    card_at,
    card_text,
    is_red,
    parse_card,
    rank_of,
    suit_of,
)

CARDS = [rank + suit for suit in "CDHS" for rank in "A23456789TJQK"]


def test_ids_run_from_the_ace_of_clubs_to_the_king_of_spades() -> None:
    assert [card_text(card) for card in range(52)] == CARDS
    assert (card_text(0), card_text(12), card_text(13), card_text(51)) == ("AC", "KC", "AD", "KS")


@pytest.mark.parametrize("card", range(52))
def test_rank_and_suit_make_the_card(card: int) -> None:
    assert card_at(rank_of(card), suit_of(card)) == card
    assert RANK_LETTERS[rank_of(card)] + SUIT_LETTERS[suit_of(card)] == card_text(card)
    assert parse_card(card_text(card)) == card


def test_diamonds_and_hearts_are_red() -> None:
    assert [is_red(parse_card("7" + suit)) for suit in "CDHS"] == [False, True, True, False]


@pytest.mark.parametrize(("text", "card"), [("10h", "TH"), ("as", "AS"), (" kd ", "KD"), ("10C", "TC")])
def test_cards_are_read_as_people_write_them(text: str, card: str) -> None:
    assert card_text(parse_card(text)) == card


@pytest.mark.parametrize("text", ["", "1H", "HT", "TX", "T", "THH", "??"])
def test_what_is_no_card_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^no such card: .*; write a rank of A23456789TJQK and a suit of CDHS"):
        parse_card(text)


def test_an_unseen_card_has_a_text_of_its_own() -> None:
    assert card_text(UNSEEN) == "??"
