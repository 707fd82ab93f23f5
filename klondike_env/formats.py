"""Decks as text, in our own format and in those of other tools.

| format | text | order of the cards |
|---|---|---|
| `rows` | 52 cards, written with spaces | our dealing order, see `klondike_env.deals` |
| `columns` | 52 cards, written without spaces, as lonelybot writes them | by columns, see below |
| `solvitaire` | JSON of Solvitaire | by columns, but the last stock card is drawn first |
| `shootme` | 156 digits of Klondike-Solver, MinimalKlondike and pyksolve | our dealing order |
| `pysolfc` | a game number of PySolFC; can only be read | |

By columns: the columns from left to right, each from its bottom card up, then the stock in order of drawing.

Cards are "TH" or "10H". `rows` and `columns` may be read with or without spaces, over several lines.

`solvitaire`: an upper-case suit letter means face up, a lower-case one face down. A file with upper-case
letters only is a game in which every card is face up, so it is refused.

`shootme`: two digits for the rank (01 ace to 13 king), one for the suit (1 clubs, 2 diamonds, 3 hearts, 4
spades). KSolve documents this format too, but its parser takes 3 for spades and 4 for hearts, so the
two must be exchanged for it.

`pysolfc`: a number such as 24 or "ms24", as PySolFC's Klondike deals it. Numbers below 32000, and all with "ms", are
shuffled as Microsoft's FreeCell does. PySolFC itself starts a game with the first draw already made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike

from klondike_env.cards import N_CARDS, N_RANKS, SUIT_LETTERS, card_at, card_text, parse_card, rank_of, suit_of
from klondike_env.checks import whole_number
from klondike_env.engine.state import N_COLUMNS, TALON_SIZE

_N_TABLEAU = N_CARDS - TALON_SIZE
_MAX_NAMED = 5  # how many missing cards a message names

_PYSOLFC_NUMBER = re.compile(r"(ms)?(\d{1,21})")
_MAX_PYSOLFC_NUMBER = 10**20
_MAX_MICROSOFT_NUMBER = 2**33 - 1
_FIRST_MERSENNE_TWISTER_NUMBER = 32_000  # as in PySolFC; the limit of pysol_cards.random.shuffle is one higher


def _dealt_piles() -> list[list[int]]:
    """The seven columns, each from its bottom card up, and the stock, as indices into a deck in dealing order."""
    columns: list[list[int]] = [[] for _ in range(N_COLUMNS)]
    places = ((row, column) for row in range(N_COLUMNS) for column in range(row, N_COLUMNS))
    for index, (_, column) in enumerate(places):
        columns[column].append(index)
    return [*columns, list(range(_N_TABLEAU, N_CARDS))]


_PILES = _dealt_piles()
_COLUMN_ORDER = np.array(list(chain(*_PILES)))


def check_deck(deck: Any) -> np.ndarray:
    """Return the deck as uint8[52] if it holds every card once.

    Raises:
        ValueError: a card is missing, occurs twice, or is not a card id; the message names it.
    """
    cards = np.asarray(deck, dtype=object)  # as objects, so that numpy does not turn other values into whole numbers
    if cards.ndim == 0:
        raise ValueError(f"deck is {deck!r}; allowed: a list of {N_CARDS} card ids")
    if cards.shape != (N_CARDS,):
        raise ValueError(f"a deck has {N_CARDS} cards; this one has shape {cards.shape}")
    seen: set[int] = set()
    for position, card in enumerate(cards):
        number = whole_number(card)
        if number is None or not 0 <= number < N_CARDS:
            raise ValueError(f"card {position} of the deck is {card!r}; allowed: 0 to {N_CARDS - 1}")
        if number in seen:
            raise ValueError(f"card {position} of the deck is {card}, which is there already")
        seen.add(number)
    return cards.astype(np.uint8)


def parse(text: str, format: str = "auto") -> np.ndarray:
    """The deck that a text stands for.

    Args:
        text: the deck in one of the formats of this module.
        format: "rows", "columns", "solvitaire", "shootme" or "pysolfc". "auto" recognizes the
            format if the text leaves no doubt. It refuses 52 cards without spaces, which may be in either
            order, and a bare number, which may be ours or PySolFC's.

    Returns:
        uint8[52] card ids in dealing order.

    Raises:
        ValueError: the text is not a deck in this format; the message names the card and its place.
        gymnasium.error.DependencyNotInstalled: reading `pysolfc` needs the package pysol-cards.
    """
    if not isinstance(text, str):
        raise ValueError(f"a deck as text is a string; this one is of type {type(text).__name__}")
    if format == "auto":
        format = _guess_format(text)
    if format not in _READERS:
        raise ValueError(f"no such format: {format!r}; known: auto, {', '.join(FORMATS)}")
    return _READERS[format](text)


def read_deck(deck: Any) -> np.ndarray:
    """The deck of a reset option: uint8[52] card ids in dealing order.

    Args:
        deck: 52 card ids; a text that `parse` reads; or the arguments of `parse` as a
            dict, such as {"text": "QSAS4S...", "format": "columns"}.

    Raises:
        ValueError: it is not a deck.
    """
    if isinstance(deck, str):
        return parse(deck)
    if isinstance(deck, Mapping):
        if not {"text"} <= set(deck) <= {"text", "format"}:
            raise ValueError(f"the deck has the keys {list(deck)}; allowed: 'text', and 'format' where it is not plain")
        return parse(**deck)
    return check_deck(deck)


def format_deck(deck: ArrayLike, format: str = "rows") -> str:
    """The deck as text that `parse` reads again.

    Args:
        deck: int[52] card ids in dealing order.
        format: "rows", "columns", "solvitaire" or "shootme".

    Raises:
        ValueError: the deck does not hold every card once, or cannot be written in this format.
    """
    cards = check_deck(deck)
    if format == "pysolfc":
        raise ValueError("a PySolFC number is the seed of a shuffle, and hardly any deck has one; it can only be read")
    if format not in _WRITERS:
        raise ValueError(f"no such format: {format!r}; known: {', '.join(_WRITERS)}")
    return _WRITERS[format](cards)


def _guess_format(text: str) -> str:
    """The format of a text, if there is no doubt."""
    words = text.split()
    if text.lstrip().startswith("{"):
        return "solvitaire"
    if text.strip().startswith("ms"):
        return "pysolfc"
    doubt = ""
    if "".join(words).isdecimal():
        if len("".join(words)) > len(str(_MAX_PYSOLFC_NUMBER)):
            return "shootme"
        doubt = " (a bare number may be ours or PySolFC's)"
    elif len(words) > N_CARDS // 2:  # spaces between cards, not only line ends
        return "rows"
    elif len("".join(words)) == 2 * N_CARDS:
        doubt = " (cards without spaces may be in the order of rows or of columns)"
    raise ValueError(f"cannot tell the format of {_shortened(text)!r}; name one of {', '.join(FORMATS)}{doubt}")


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."


def _deck_of(words: Iterable[tuple[str, str]], read_card: Callable[[str], int] = parse_card) -> np.ndarray:
    """Read cards in the order of their words, and check that every card occurs once.

    Args:
        words: for each card where it is, such as "card 17", and its text.
        read_card: returns the card id of a word, or raises a ValueError.

    Returns:
        uint8[52] card ids.
    """
    place_of: dict[int, str] = {}
    for place, word in words:
        try:
            card = read_card(word)
        except ValueError:
            raise ValueError(f"{place} is {word!r}: no such card") from None
        if card in place_of:
            raise ValueError(f"{place} ({card_text(card)}) was {place_of[card]} already")
        place_of[card] = place
    missing = [card_text(card) for card in range(N_CARDS) if card not in place_of]
    if missing:
        named = ", ".join(missing[:_MAX_NAMED]) + (", ..." if len(missing) > _MAX_NAMED else "")
        raise ValueError(f"{len(place_of)} cards; {named} {'is' if len(missing) == 1 else 'are'} missing")
    return np.array(list(place_of), dtype=np.uint8)


def _numbered(words: Iterable[str]) -> list[tuple[str, str]]:
    return [(f"card {number}", word) for number, word in enumerate(words, start=1)]


def _chunks(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _words(text: str) -> list[str]:
    """The cards of a text with or without spaces; only cards such as "10H" have three characters."""
    return [card for word in text.split() for card in (_chunks(word, 2) if len(word) > 3 else [word])]


def _from_columns(cards: np.ndarray) -> np.ndarray:
    """Bring cards from the order of columns into dealing order: uint8[52]."""
    deck = np.empty(N_CARDS, dtype=np.uint8)
    deck[_COLUMN_ORDER] = cards
    return deck


def _read_rows(text: str) -> np.ndarray:
    return _deck_of(_numbered(_words(text)))


def _write_rows(deck: np.ndarray) -> str:
    return " ".join(card_text(int(card)) for card in deck)


def _read_columns(text: str) -> np.ndarray:
    return _from_columns(_read_rows(text))


def _write_columns(deck: np.ndarray) -> str:
    return "".join(card_text(int(card)) for card in deck[_COLUMN_ORDER])


def _read_shootme(text: str) -> np.ndarray:
    return _deck_of(_numbered(_chunks("".join(text.split()), 3)), _read_digits)


def _read_digits(word: str) -> int:
    if not re.fullmatch(r"[0-9]{3}", word):
        raise ValueError("not three digits")
    rank, suit = int(word[:2]) - 1, int(word[2]) - 1
    if not (0 <= rank < N_RANKS and 0 <= suit < len(SUIT_LETTERS)):
        raise ValueError("no such rank or suit")
    return card_at(rank, suit)


def _write_shootme(deck: np.ndarray) -> str:
    return "".join(f"{rank_of(card) + 1:02}{suit_of(card) + 1}" for card in deck.tolist())


def _read_solvitaire(text: str) -> np.ndarray:
    piles, stock = _solvitaire_piles(text)
    words = []
    for pile, cards in enumerate(piles, start=1):
        for number, word in enumerate(cards, start=1):
            place = f"card {number} of tableau pile {pile}"
            _check_face(place, word, face_up=number == len(cards))
            words.append((place, word))
    # Cards are numbered as in the file, where the last stock card is drawn first.
    words += [(f"card {number} of the stock", word) for number, word in reversed(list(enumerate(stock, start=1)))]
    return _from_columns(_deck_of(words))


def _solvitaire_piles(text: str) -> tuple[list[list[str]], list[str]]:
    """Return the tableau piles and the stock of a Solvitaire file if they have the sizes of a fresh deal."""
    try:
        game = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not JSON: {error}") from None
    if not isinstance(game, dict):
        raise ValueError("the JSON of Solvitaire is an object with 'tableau piles' and 'stock'")
    for name in ("tableau piles", "stock"):
        if name not in game:
            raise ValueError(f"the JSON has no {name!r}")
    for name, cards in game.items():
        if name not in ("tableau piles", "stock") and cards:
            raise ValueError(f"the JSON has {name!r}, which a fresh deal of Klondike does not have")
    piles, stock = game["tableau piles"], game["stock"]
    _check_list("'tableau piles'", piles, N_COLUMNS, "piles")
    for number, pile in enumerate(piles, start=1):
        _check_list(f"tableau pile {number}", pile, number, "cards")
    _check_list("the stock", stock, TALON_SIZE, "cards")
    for word in chain(*piles, stock):
        if not isinstance(word, str):
            raise ValueError(f"{word!r} is not a card; write it as text such as '10H'")
    return piles, stock


def _check_list(name: str, value: Any, size: int, things: str) -> None:
    if not isinstance(value, list):
        raise ValueError(f"{name} is {_shortened(repr(value))}; it must be a list")
    if len(value) != size:
        raise ValueError(f"{name} has {len(value)} {things}; in a fresh deal it has {size}")


def _check_face(place: str, word: str, face_up: bool) -> None:
    """Make sure that the suit letter has the case, and so the facing, of a fresh deal."""
    right = word[:-1] + (word[-1:].upper() if face_up else word[-1:].lower())
    if word != right:
        face, proper = ("down", "up") if face_up else ("up", "down")
        raise ValueError(
            f"{place} is {word!r}, which means face {face}; in a fresh deal it is face {proper}: {right!r}"
        )


def _write_solvitaire(deck: np.ndarray) -> str:
    words = [card_text(card).replace("T", "10") for card in deck.tolist()]
    *columns, stock = [[words[index] for index in pile] for pile in _PILES]
    piles = ",\n    ".join(json.dumps([*(word[:-1] + word[-1].lower() for word in down), up]) for *down, up in columns)
    return f'{{\n  "tableau piles": [\n    {piles}\n  ],\n  "stock": {json.dumps(stock[::-1])}\n}}'


def _read_pysolfc(text: str) -> np.ndarray:
    match = _PYSOLFC_NUMBER.fullmatch(text.strip())
    microsoft, number = (bool(match[1]), int(match[2])) if match else (False, 0)
    if not 1 <= number <= (_MAX_MICROSOFT_NUMBER if microsoft else _MAX_PYSOLFC_NUMBER):
        raise ValueError(
            f"no such game of PySolFC: {_shortened(text)!r}; "
            f"allowed: 1 to {_MAX_PYSOLFC_NUMBER}, and ms1 to ms{_MAX_MICROSOFT_NUMBER}"
        )
    cards = iter(_pysolfc_shuffle(number, microsoft or number < _FIRST_MERSENNE_TWISTER_NUMBER))
    columns: list[list[str]] = [[] for _ in range(N_COLUMNS)]
    for first in (1, 2, 3, 4, 5, 6, 0):  # six rows face down, then the row of the face-up cards
        for column in reversed(range(first, N_COLUMNS)):
            columns[column].append(next(cards))
    return _from_columns(_deck_of(_numbered([*chain(*columns), *cards])))


def _pysolfc_shuffle(number: int, microsoft: bool) -> list[str]:
    """The 52 cards as PySolFC shuffles them, in the order in which they leave its talon."""
    try:
        from pysol_cards import cards, random
    except ImportError:
        raise gymnasium.error.DependencyNotInstalled(
            "reading PySolFC's game numbers needs another package: pip install pysol-cards"
        ) from None
    deck = cards.createCards(1)
    generator = random.LCRandom31(number) if microsoft else random.MTRandom(number)
    shuffled = generator.shuffle(cards.ms_rearrange(deck) if microsoft else deck)
    renderer = cards.CardRenderer(print_ts=True)
    return [renderer.to_s(card) for card in reversed(shuffled)]


_READERS: dict[str, Callable[[str], np.ndarray]] = {
    "rows": _read_rows,
    "columns": _read_columns,
    "solvitaire": _read_solvitaire,
    "shootme": _read_shootme,
    "pysolfc": _read_pysolfc,
}
_WRITERS: dict[str, Callable[[np.ndarray], str]] = {
    "rows": _write_rows,
    "columns": _write_columns,
    "solvitaire": _write_solvitaire,
    "shootme": _write_shootme,
}
FORMATS = tuple(_READERS)
WRITABLE_FORMATS = tuple(_WRITERS)
