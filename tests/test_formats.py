"""Decks as text: ours and other tools'. The golden deal was laid out and written in each format by hand."""

from __future__ import annotations

import csv
import importlib
import json
import re
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from klondike_env import deals
from klondike_env.cards import parse_card
from klondike_env.deals import deck_of, format_deck, parse
from klondike_env.formats import FORMATS, WRITABLE_FORMATS
from klondike_env.rules import Rules
from tests.boards import EngineTable
from tests.reference import deal as lay_out_slowly

COLUMNS = ["QS", "AS 4S", "7S 6C 7D", "TS 8H 2S JC", "KD 2D JD AC KS", "7C AD 2C JH QC 3C", "5D 3S TC 9S KH 6H TH"]
STOCK = "8S 3H 5S 9C 4C 9D 7H 6D JS TD 5C QD 9H 6S KC 8D 2H 3D QH 4D 5H AH 4H 8C"  # 8S is drawn first

GOLDEN = {
    "rows": (
        "QS AS 7S TS KD 7C 5D 4S 6C 8H 2D AD 3S 7D 2S JD 2C TC JC AC JH 9S KS QC KH 3C 6H TH "
        "8S 3H 5S 9C 4C 9D 7H 6D JS TD 5C QD 9H 6S KC 8D 2H 3D QH 4D 5H AH 4H 8C"
    ),
    "columns": (
        "QSAS4S7S6C7DTS8H2SJCKD2DJDACKS7CAD2CJHQC3C5D3STC9SKH6HTH8S3H5S9C4C9D7H6DJSTD5CQD9H6SKC8D2H3DQH4D5HAH4H8C"
    ),
    "solvitaire": (
        """{
  "tableau piles": [
    ["QS"],
    ["As", "4S"],
    ["7s", "6c", "7D"],
    ["10s", "8h", "2s", "JC"],
    ["Kd", "2d", "Jd", "Ac", "KS"],
    ["7c", "Ad", "2c", "Jh", "Qc", "3C"],
    ["5d", "3s", "10c", "9s", "Kh", "6h", "10H"]
  ],
  "stock": ["8C", "4H", "AH", "5H", "4D", "QH", "3D", "2H", "8D", "KC", "6S", "9H", "QD", "5C", "10D", "JS", """
        """"6D", "7H", "9D", "4C", "9C", "5S", "3H", "8S"]
}"""
    ),
    "shootme": (
        "124014074104132071052" + "044061083022012034" + "072024112021101" + "111011113094" + "134121133" + "031063"
        "103" + "084033054091041092073062114102051122093064131082023032123042053013043081"
    ),
}

# The board that PySolFC shows of Klondike number 24, as Klondike-Solver's own test deals have it too.
PYSOLFC_24_COLUMNS = [
    "5C",
    "7H 9H",
    "2D 9S AC",
    "5D QH 5S 8C",
    "QC 2C JS 3C 7D",
    "5H 7S KD 9C JC 6S",
    "4C AH 2S 6C 6H TH KH",
]
PYSOLFC_24_STOCK = "TC TS AD 4D QS 3H 3S JH TD KC 8H 8S 4S 4H KS 6D 8D 7C JD 9D 2H QD 3D AS"


def laid_out(deck: np.ndarray) -> tuple[list[str], str]:
    """Columns and stock as the engine deals the deck."""
    table = EngineTable(deck, Rules())
    return [column.replace("| ", "") for column in table.columns], table.stock


def ids(text: str) -> list[int]:
    return [parse_card(word) for word in text.split()]


def stored_deals() -> dict[str, str]:
    with (Path(__file__).parent / "data" / "deals.csv").open() as file:
        return {row["name"]: row["columns"] for row in csv.DictReader(file)}


@pytest.mark.parametrize("format", GOLDEN)
def test_the_golden_deal_is_laid_out_as_every_format_says(format):
    assert laid_out(parse(GOLDEN[format], format)) == (COLUMNS, STOCK)


@pytest.mark.parametrize("format", GOLDEN)
def test_the_golden_deal_is_written_as_by_hand(format):
    position = lay_out_slowly(ids(GOLDEN["rows"]))  # the reference deals as the text written by hand says
    assert (position.columns, position.talon) == ([ids(column) for column in COLUMNS], ids(STOCK))
    assert format_deck(ids(GOLDEN["rows"]), format) == GOLDEN[format]


@pytest.mark.parametrize("name", stored_deals())
def test_stored_deals_come_back_from_every_format(name):
    text = stored_deals()[name]
    deck = parse(text, "columns")
    assert format_deck(deck, "columns") == text
    for format in WRITABLE_FORMATS:
        np.testing.assert_array_equal(parse(format_deck(deck, format), format), deck)


@pytest.mark.parametrize("format", ["rows", "solvitaire", "shootme"])
def test_what_leaves_no_doubt_is_read_without_its_format(format):
    deck = deck_of(7)
    assert deck.dtype == parse(format_deck(deck, format)).dtype == np.uint8
    np.testing.assert_array_equal(parse(format_deck(deck, format)), deck)


def test_spaces_lines_small_letters_and_tens_do_not_matter():
    deck = parse(GOLDEN["rows"])
    assert (parse(GOLDEN["rows"].replace(" ", ""), "rows") == deck).all()
    assert (parse(GOLDEN["rows"].replace("T", "10").lower()) == deck).all()
    assert (parse("\n".join(re.findall(".{26}", GOLDEN["columns"])), "columns") == deck).all()
    assert (parse("\n".join(re.findall(".{39}", GOLDEN["shootme"])) + "\n") == deck).all()
    assert (parse(json.dumps(json.loads(GOLDEN["solvitaire"]), indent=1)) == deck).all()


ROWS = GOLDEN["rows"].split()


def changed(number: int, word: str) -> str:
    """The golden deal with another word for card `number`, counted from 1."""
    return " ".join([*ROWS[: number - 1], word, *ROWS[number:]])


@pytest.mark.parametrize(
    ("text", "format", "message"),
    [
        (changed(17, "QX"), "auto", "card 17 is 'QX': no such card"),
        (changed(31, "AS"), "auto", "card 31 (AS) was card 2 already"),
        (" ".join(ROWS[:-1]), "auto", "51 cards; 8C is missing"),
        (" ".join(ROWS[:-3]), "auto", "49 cards; 8C, AH, 4H are missing"),
        (" ".join(ROWS[:3]), "rows", "3 cards; AC, 2C, 3C, 4C, 5C, ... are missing"),
        (" ".join([*ROWS, "QS"]), "auto", "card 53 (QS) was card 1 already"),
        ("", "rows", "0 cards; AC, 2C, 3C, 4C, 5C, ... are missing"),
        (GOLDEN["columns"][:-1], "columns", "card 52 is '8': no such card"),
        (GOLDEN["columns"].replace("7D", "7S"), "columns", "card 6 (7S) was card 4 already"),
        (GOLDEN["shootme"][:-3], "auto", "51 cards; 8C is missing"),
        (GOLDEN["shootme"][:-1], "auto", "card 52 is '08': no such card"),
        ("140" + GOLDEN["shootme"][3:], "auto", "card 1 is '140': no such card"),
        ("125" + GOLDEN["shootme"][3:], "auto", "card 1 is '125': no such card"),
        ("12S" + GOLDEN["shootme"][3:], "shootme", "card 1 is '12S': no such card"),
        (GOLDEN["shootme"] + GOLDEN["shootme"][:3], "auto", "card 53 (QS) was card 1 already"),
        (GOLDEN["columns"], "auto", "(cards without spaces may be in the order of rows or of columns)"),
        ("24", "auto", "cannot tell the format of '24'"),
        ("24", "auto", "(a bare number may be ours or PySolFC's)"),
        (
            "x" * 60,
            "auto",
            f"cannot tell the format of '{'x' * 37}...'; name one of rows, columns, solvitaire, shootme",
        ),
        (
            GOLDEN["rows"],
            "lonely",
            "no such format: 'lonely'; known: auto, rows, columns, solvitaire, shootme, pysolfc",
        ),
        (52, "rows", "a deck as text is a string; this one is of type int"),
    ],
)
def test_a_text_that_is_no_deck_is_refused_with_the_card_named(text, format, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        parse(text, format)


def solvitaire(**changes: object) -> str:
    """The golden deal with other values in its JSON; None leaves one out."""
    game = json.loads(GOLDEN["solvitaire"])
    for name, value in changes.items():
        game[name.replace("_", " ")] = value
    return json.dumps({name: value for name, value in game.items() if value is not None})


PILES, SOLVITAIRE_STOCK = json.loads(GOLDEN["solvitaire"]).values()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "this is not JSON: "),
        ("[]", "the JSON of Solvitaire is an object with 'tableau piles' and 'stock'"),
        (solvitaire(stock=None), "the JSON has no 'stock'"),
        (solvitaire(stock="8C"), "the stock is '8C'; it must be a list"),
        (solvitaire(tableau_piles=PILES[1:]), "'tableau piles' has 6 piles; in a fresh deal it has 7"),
        (solvitaire(stock=SOLVITAIRE_STOCK[1:]), "the stock has 23 cards; in a fresh deal it has 24"),
        (solvitaire(tableau_piles=[*PILES[:6], PILES[6][1:]]), "tableau pile 7 has 6 cards; in a fresh deal it has 7"),
        (solvitaire(waste=["8C"]), "the JSON has 'waste', which a fresh deal of Klondike does not have"),
        (solvitaire(stock=[8, *SOLVITAIRE_STOCK[1:]]), "8 is not a card; write it as text such as '10H'"),
        (solvitaire(stock=["8X", *SOLVITAIRE_STOCK[1:]]), "card 1 of the stock is '8X': no such card"),
        (
            solvitaire(stock=["QS", *SOLVITAIRE_STOCK[1:]]),
            "card 1 of the stock (QS) was card 1 of tableau pile 1 already",
        ),
        (solvitaire(tableau_piles=[["AS"], *PILES[1:]]), "card 1 of tableau pile 2 (AS) was card 1 of tableau pile 1"),
        (
            solvitaire(tableau_piles=[["Qs"], *PILES[1:]]),
            "card 1 of tableau pile 1 is 'Qs', which means face down; in a fresh deal it is face up: 'QS'",
        ),
    ],
)
def test_a_solvitaire_file_of_anything_but_a_fresh_deal_is_refused(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        parse(text, "solvitaire")


def test_a_solvitaire_file_in_which_all_cards_are_face_up_is_refused():
    upper = json.dumps(
        {name: json.loads(json.dumps(cards).upper()) for name, cards in json.loads(solvitaire()).items()}
    )
    message = "card 1 of tableau pile 2 is 'AS', which means face up; in a fresh deal it is face down: 'As'"
    with pytest.raises(ValueError, match=f"^{message}$"):
        parse(upper)


def test_a_solvitaire_stock_may_be_in_either_case_and_other_piles_be_empty():
    text = solvitaire(stock=[word.lower() for word in SOLVITAIRE_STOCK], waste=[])
    assert laid_out(parse(text)) == (COLUMNS, STOCK)


def test_pysolfc_deals_number_24_so():
    pytest.importorskip("pysol_cards")
    assert laid_out(parse("24", "pysolfc")) == (PYSOLFC_24_COLUMNS, PYSOLFC_24_STOCK)
    assert (parse("ms24") == parse("00000000000000000024", "pysolfc")).all()


@pytest.mark.parametrize("number", [1, 31_999, 32_001, 12_345_678_901_234_567_890, 10**20])
def test_other_numbers_agree_with_the_boards_of_pysol_cards(number):
    pytest.importorskip("pysol_cards")
    game = importlib.import_module("pysol_cards.deal_game").Game("klondike", number, which_deals=1)
    board = game.calc_layout_string(importlib.import_module("pysol_cards.cards").CardRenderer(print_ts=True))
    talon, *columns = re.sub("[<>]|Talon: ", "", board).splitlines()
    assert laid_out(parse(str(number), "pysolfc")) == (columns, talon)


def test_pysolfc_leaves_the_shuffle_of_freecell_at_number_32000():
    pytest.importorskip("pysol_cards")
    assert (parse("31999", "pysolfc") == parse("ms31999")).all()
    assert (parse("32000", "pysolfc") != parse("ms32000")).any()


@pytest.mark.parametrize("text", ["0", "ms0", "-1", "24 25", "ms", "x", str(10**20 + 1), f"ms{2**33}", "9" * 5000])
def test_what_is_no_number_of_pysolfc_is_refused(text):
    with pytest.raises(
        ValueError, match=rf"^no such game of PySolFC: '.*'; allowed: 1 to {10**20}, and ms1 to ms{2**33 - 1}$"
    ):
        parse(text, "pysolfc")


def test_pysolfc_numbers_ask_for_their_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "pysol_cards", None)
    with pytest.raises(gymnasium.error.DependencyNotInstalled, match="pip install pysol-cards"):
        parse("ms24")


@pytest.mark.parametrize(
    ("deck", "format", "message"),
    [
        (
            deck_of(0),
            "pysolfc",
            "a PySolFC number is the seed of a shuffle, and hardly any deck has one; it can only be read",
        ),
        (deck_of(0), "auto", "no such format: 'auto'; known: rows, columns, solvitaire, shootme"),
        ([0] * 52, "rows", "card 1 of the deck is 0, which is there already"),
    ],
)
def test_what_cannot_be_written_is_refused(deck, format, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        format_deck(deck, format)


def test_the_module_of_deals_offers_the_formats():
    assert deals.parse is parse
    assert set(FORMATS) == {*GOLDEN, "pysolfc"}
    assert set(WRITABLE_FORMATS) == set(GOLDEN)
