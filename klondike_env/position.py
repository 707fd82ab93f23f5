"""Positions as text that a person can write, read and keep.

    # Comments and blank lines are allowed.
    foundations: 2C 3D AH -S
    1: 9C 8H
    2: 4D | QS
    3: 7D TC | JS
    ...
    7: KH 2S 9D 3C ?? ?? | KS QD
    waste: 7C 4C 5S
    stock: 8D TH 6S ...
    redeals: 1
    moves: 30

- `foundations`: the top card of each, "-" or "-S" for an empty one.
- `1` to `7`: the columns, from the bottom up; the cards to the left of a bar are face down.
- `waste`: from the bottom up, so that the last can be played. `stock`: in order of drawing.
- `redeals`: how often the waste has been turned over. After the first redeal the player has seen the
  whole stock, before it only the waste.
- `moves`, `steps`, `since_progress`, `score`, `best_foundation` and `outcome`: the other counters of the
  record (`klondike_env.engine.state`). They may be left out, like empty piles: counters are then 0, the
  best foundation total is the current one, and the game is in play.

All 52 cards must be there. A card that the player has not seen, face down or in the stock, may be written as
"??", as in the text of a view. `reset` fills in such cards at random.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from klondike_env.cards import (
    N_CARDS,
    N_SUITS,
    SUIT_LETTERS,
    UNSEEN,
    card_at,
    card_text,
    parse_card,
    rank_of,
    suit_of,
)
from klondike_env.engine.determinize import determinized
from klondike_env.engine.faults import check_record
from klondike_env.engine.restore import index_records
from klondike_env.engine.state import MAX_HEIGHT, N_COLUMNS, OUTCOME_NAMES, STATE, TALON_SIZE, new_states
from klondike_env.rules import Rules

_COLUMN_LINES = tuple(str(column + 1) for column in range(N_COLUMNS))
_COUNTER_LINES = {  # name of the line -> field of the record
    "redeals": "redeals_used",
    "moves": "moves",
    "steps": "steps",
    "since_progress": "since_progress",
    "best_foundation": "best_foundation",
    "score": "score",
}
_LINES = ("foundations", *_COLUMN_LINES, "waste", "stock", *_COUNTER_LINES, "outcome")
_UNSEEN_WORDS = ("??", "##")
_COMMENT = re.compile(r"(^|\s)#(?!#).*")
_BAR = "|"


def is_position(text: str) -> bool:
    """Whether a text can be a position; in a deck a colon occurs only within braces."""
    return ":" in text and "{" not in text


def format_position(record: np.ndarray | np.void) -> str:
    """A position as text, the inverse of `parse_position`.

    Args:
        record: one STATE record; the unseen cards of a view are written as "??".
    """
    waste, size = int(record["waste_size"]), int(record["talon_size"])
    lines = [f"foundations: {' '.join(_foundation_word(record, suit) for suit in range(N_SUITS))}"]
    lines += [f"{name}: {_column_words(record, column)}" for column, name in enumerate(_COLUMN_LINES)]
    lines.append(f"waste: {_words(record['talon'][:waste])}")
    lines.append(f"stock: {_words(record['talon'][waste:size])}")
    for name, field in _COUNTER_LINES.items():
        if int(record[field]) != (int(record["foundation"].sum()) if name == "best_foundation" else 0):
            lines.append(f"{name}: {int(record[field])}")
    if record["outcome"]:
        lines.append(f"outcome: {OUTCOME_NAMES[int(record['outcome'])]}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def parse_position(text: str, rules: Rules | None = None) -> np.void:
    """The STATE record of a position's text; a view where cards are unknown ("??").

    Args:
        text: the format that this module describes.
        rules: the rules under which the position must be possible.

    Raises:
        ValueError: a line cannot be read (the message quotes it, with its number), cards are missing,
            or the position is not possible under the rules.
    """
    if not isinstance(text, str):
        raise ValueError(f"position is {text!r}; allowed: a text")
    reader = _Reader()
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):  # the byte order mark of some editors
        content = _COMMENT.sub("", line).strip()
        if content:
            reader.read(number, content)
    record = reader.finish()
    if rules is not None:
        check_record(record, rules, may_hide=True)
    return record


def read_position(position: Any, rules: Rules, rng: np.random.Generator) -> np.ndarray:
    """A position that a user gives, as STATE[1]; unknown cards are filled in at random.

    Args:
        position: a text for `parse_position`, or one STATE record, which may be a view.
        rules: the rules under which the position must be possible.
        rng: the generator for the unknown cards.

    Raises:
        ValueError: it is neither, the text cannot be read, or the position is not possible.
    """
    if isinstance(position, str):
        position = parse_position(position)
    record = np.atleast_1d(np.asarray(position))
    if record.dtype != STATE or record.shape != (1,):
        raise ValueError(f"position is {position!r}; allowed: a text, or one record of STATE")
    check_record(record, rules, may_hide=True)
    record = record.copy()
    index_records(record)
    unknown = UNSEEN in record["columns"] or UNSEEN in record["talon"]
    return determinized(record, rng) if unknown else record


def _words(cards: np.ndarray) -> str:
    return " ".join(card_text(int(card)) for card in cards)


def _foundation_word(record: np.ndarray | np.void, suit: int) -> str:
    height = int(record["foundation"][suit])
    return card_text(card_at(height - 1, suit)) if height else f"-{SUIT_LETTERS[suit]}"


def _column_words(record: np.ndarray | np.void, column: int) -> str:
    cards, face_down = record["columns"][column], int(record["face_down"][column])
    hidden = f"{_words(cards[:face_down])} {_BAR} " if face_down else ""
    return hidden + _words(cards[face_down : int(record["height"][column])])


class _Reader:
    """Reads a position line by line into a record."""

    def __init__(self) -> None:
        self.states = new_states(1)
        self.record: Any = self.states[0]
        self.lines: dict[str, int] = {}  # the number of each line
        self.cards: dict[int, int] = {}  # the number of the line that names each card
        self.unknown = 0
        self.waste: list[int] = []
        self.stock: list[int] = []

    def read(self, number: int, content: str) -> None:
        """Read one line.

        Raises:
            ValueError: it cannot be read.
        """
        try:
            name, colon, value = (part.strip() for part in content.partition(":"))
            if not colon or name not in _LINES:
                raise ValueError(f"it must begin with one of {', '.join(_LINES)} and a colon")
            if name in self.lines:
                raise ValueError(f"line {self.lines[name]} begins with {name!r} already")
            self.lines[name] = number
            self._read_value(name, value)
        except ValueError as error:
            raise ValueError(f"line {number} of the position, {content!r}: {error}") from None

    def finish(self) -> np.void:
        """The record, after all lines have been read.

        Raises:
            ValueError: cards are missing, or are unknown where the player has seen them.
        """
        record = self.record
        talon = self.waste + self.stock
        if len(talon) > TALON_SIZE:
            raise ValueError(f"waste and stock of the position have {len(talon)} cards; at most {TALON_SIZE} fit")
        record["talon"][: len(talon)] = talon
        record["talon_size"], record["waste_size"] = len(talon), len(self.waste)
        record["seen_size"] = len(talon) if record["redeals_used"] else len(self.waste)
        if UNSEEN in talon[: int(record["seen_size"])]:
            raise ValueError("the position's stock has been redealt, so the player has seen it; name all its cards")
        if "best_foundation" not in self.lines:
            record["best_foundation"] = record["foundation"].sum()
        self._check_cards()
        index_records(self.states)
        return record

    def _check_cards(self) -> None:
        missing = [card for card in range(N_CARDS) if card not in self.cards]
        if len(missing) != self.unknown:
            raise ValueError(
                f"the position has {len(self.cards) + self.unknown} cards, {self.unknown} of them unknown (??); a deck "
                f"has {N_CARDS}, and not named are: {', '.join(map(card_text, missing)) or 'none'}"
            )

    def _read_value(self, name: str, value: str) -> None:
        if name == "foundations":
            self._read_foundations(value)
        elif name in _COLUMN_LINES:
            self._read_column(_COLUMN_LINES.index(name), value)
        elif name == "waste":
            self.waste = self._pile(value, "in the waste")
        elif name == "stock":
            self.stock = self._pile(value)
        elif name == "outcome":
            if value not in OUTCOME_NAMES:
                raise ValueError(f"outcome is {value!r}; allowed: {', '.join(OUTCOME_NAMES)}")
            self.record["outcome"] = OUTCOME_NAMES.index(value)
        else:
            self._read_counter(_COUNTER_LINES[name], value)

    def _read_foundations(self, value: str) -> None:
        for word in value.split():
            if word != "-" and word.upper() not in [f"-{letter}" for letter in SUIT_LETTERS]:
                top = parse_card(word)
                for rank in range(rank_of(top) + 1):
                    self._name_card(card_at(rank, suit_of(top)))
                self.record["foundation"][suit_of(top)] = rank_of(top) + 1

    def _read_column(self, column: int, value: str) -> None:
        before, bar, after = value.rpartition(_BAR)
        face_down, face_up = self._pile(before), self._pile(after, "face up")
        if bar and not face_up:
            raise ValueError("its last card is face down; a column's last card is always turned up")
        cards = face_down + face_up
        if len(cards) >= MAX_HEIGHT:
            raise ValueError(f"it has {len(cards)} cards; at most {MAX_HEIGHT - 1} can lie in a column")
        self.record["columns"][column, : len(cards)] = cards
        self.record["height"][column] = len(cards)
        self.record["face_down"][column] = len(face_down)

    def _read_counter(self, field: str, value: str) -> None:
        limits = np.iinfo(STATE[field])
        lowest = limits.min if field == "score" else 0
        if not re.fullmatch(r"-?\d+", value) or not lowest <= int(value) <= limits.max:
            raise ValueError(f"{value!r} is not a whole number from {lowest} to {limits.max}")
        self.record[field] = int(value)

    def _pile(self, value: str, seen: str = "") -> list[int]:
        """The cards of a pile; `seen` says where they lie if the player has seen them."""
        cards = []
        for word in value.split():
            if word in _UNSEEN_WORDS:
                if seen:
                    raise ValueError(f"a card that is {seen} is unknown; name it")
                self.unknown += 1
                cards.append(UNSEEN)
            else:
                cards.append(self._name_card(parse_card(word)))
        return cards

    def _name_card(self, card: int) -> int:
        if card in self.cards:
            raise ValueError(f"{card_text(card)} is in line {self.cards[card]} already")
        self.cards[card] = max(self.lines.values())
        return card
