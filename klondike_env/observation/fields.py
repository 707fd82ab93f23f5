"""The values of an observation: the definition that encoding, spaces and documentation share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.cards import N_CARDS, N_RANKS, N_SUITS, SUIT_NAMES, card_text
from klondike_env.checks import check_whole_number
from klondike_env.engine.state import MAX_HEIGHT, N_COLUMNS, TALON_SIZE
from klondike_env.rules import BUILDS, GAPS, MAX_DRAW_COUNT, MAX_REDEALS

BYTE = 255
POINTS_PER_VALUE = 5  # of the running score


class Field(NamedTuple):
    """One or more values of the observation."""

    name: str
    high: int  # highest value; the lowest is 0
    meaning: str
    size: int = 1
    parts: tuple[str, ...] = ()  # what each value belongs to, where they have names


CARD_FIELDS = (
    Field("unseen", 1, "the player does not know where the card is"),
    Field("foundation", 1, "on its foundation"),
    Field("waste_top", 1, "the top of the waste"),
    Field("talon", 1, "seen and in the talon (waste or stock), the waste's top included"),
    Field("tableau", 1, "face up in a column"),
    Field("face_down", 1, "face down in a column; shown in thoughtful mode only"),
    *(Field(f"on_{suit}", 1, f"lies on the next higher card of {suit}") for suit in SUIT_NAMES),
    Field("on_floor", 1, "in a column with no card under it"),
    Field("on_face_down", N_COLUMNS - 1, "number of face-down cards under it, if it lies directly on one"),
    Field("cards_above", MAX_HEIGHT - 1, "number of cards that lie on it in its column"),
    Field("draws", 2 * TALON_SIZE + 1, "stock actions to make it the waste's top, showing seen cards only; else 0"),
    Field("before_redeal", 1, "is the waste's top, or can be reached by drawing without a redeal"),
    Field("after_redeal", 1, "can be reached, but only after a redeal"),
    Field("talon_index", TALON_SIZE, "1 + its place in the talon in order of drawing"),
    Field("phase", MAX_DRAW_COUNT, "1 + (its place in the talon modulo the draw count)"),
    Field("under", N_CARDS, "1 + the id of the card directly under it in its column or the talon, if seen"),
)

TABLE_FIELDS = (
    Field("stock", TALON_SIZE, "cards in the stock"),
    Field("waste", TALON_SIZE, "cards in the waste"),
    Field("unseen_stock", TALON_SIZE, "cards in the stock that were never drawn"),
    Field("redeals_left", MAX_REDEALS, "redeals left; 0 where they are unlimited"),
    Field("face_down", N_COLUMNS - 1, "face-down cards in each column, highest count first", N_COLUMNS),
    Field("empty_columns", N_COLUMNS, "empty columns"),
    Field("foundations", N_RANKS, "cards on the foundations of clubs, diamonds, hearts, spades", N_SUITS, SUIT_NAMES),
    Field("best_foundation", N_CARDS, "the most cards that the foundations have held in this game"),
    Field("since_progress", BYTE, "steps in a row without progress, at most 255"),
    Field("score", BYTE, "score under the standard reward in units of 5 points, at most 255; else 0"),
    Field("draw_count", MAX_DRAW_COUNT, "rule: cards turned at once"),
    Field("unlimited_redeals", 1, "rule: redeals are unlimited"),
    Field("worry_back", 1, "rule: foundation cards may return"),
    Field("whole_runs", 1, "rule: only a whole run or the last card of a column moves"),
    Field("build", 1, f"rule: one-hot of {', '.join(BUILDS)}", len(BUILDS), BUILDS),
    Field("gaps", 1, f"rule: one-hot of what an empty column takes: {', '.join(GAPS)}", len(GAPS), GAPS),
)

N_CARD_FIELDS = len(CARD_FIELDS)
N_CARD_VALUES = N_CARDS * N_CARD_FIELDS
N_TABLE_VALUES = sum(field.size for field in TABLE_FIELDS)
N_VALUES = N_CARD_VALUES + N_TABLE_VALUES

CARD_HIGHS = np.array([field.high for field in CARD_FIELDS], dtype=np.uint8)
TABLE_HIGHS = np.concatenate([np.full(field.size, field.high, dtype=np.uint8) for field in TABLE_FIELDS])
HIGHS = np.concatenate([np.tile(CARD_HIGHS, N_CARDS), TABLE_HIGHS])


def card_index(name: str) -> int:
    """The index of a card field among the values of a card."""
    return [field.name for field in CARD_FIELDS].index(name)


def table_start(name: str) -> int:
    """The index of a table field's first value among the table values."""
    names = [field.name for field in TABLE_FIELDS]
    return sum(field.size for field in TABLE_FIELDS[: names.index(name)])


def describe(index: int) -> str:
    """A value of the flat observation in words: index, card or table, field, range of the unscaled value, meaning.

    `describe(10)` is "10: AC on_floor, 0 to 1: in a column with no card under it".

    Raises:
        ValueError: the index is not 0 to N_VALUES - 1.
    """
    index = check_whole_number("index", index, 0, N_VALUES - 1)
    if index < N_CARD_VALUES:
        card, k = divmod(index, N_CARD_FIELDS)
        field = CARD_FIELDS[k]
        owner, part = card_text(card), ""
    else:
        owner = "table"
        field = next(f for f in reversed(TABLE_FIELDS) if N_CARD_VALUES + table_start(f.name) <= index)
        k = index - N_CARD_VALUES - table_start(field.name)
        part = f"[{field.parts[k] if field.parts else k}]" if field.size > 1 else ""
    return f"{index}: {owner} {field.name}{part}, 0 to {field.high}: {field.meaning}"


# Indices for kernels: CARD_* among the values of a card, TABLE_* (of a field's first value) in the whole row.
CARD_UNSEEN = card_index("unseen")
CARD_FOUNDATION = card_index("foundation")
CARD_WASTE_TOP = card_index("waste_top")
CARD_TALON = card_index("talon")
CARD_TABLEAU = card_index("tableau")
CARD_FACE_DOWN = card_index("face_down")
CARD_ON_SUIT = card_index(f"on_{SUIT_NAMES[0]}")
CARD_ON_FLOOR = card_index("on_floor")
CARD_ON_FACE_DOWN = card_index("on_face_down")
CARD_CARDS_ABOVE = card_index("cards_above")
CARD_DRAWS = card_index("draws")
CARD_BEFORE_REDEAL = card_index("before_redeal")
CARD_AFTER_REDEAL = card_index("after_redeal")
CARD_TALON_INDEX = card_index("talon_index")
CARD_PHASE = card_index("phase")
CARD_UNDER = card_index("under")
TABLE_STOCK = N_CARD_VALUES + table_start("stock")
TABLE_WASTE = N_CARD_VALUES + table_start("waste")
TABLE_UNSEEN_STOCK = N_CARD_VALUES + table_start("unseen_stock")
TABLE_REDEALS_LEFT = N_CARD_VALUES + table_start("redeals_left")
TABLE_FACE_DOWN = N_CARD_VALUES + table_start("face_down")
TABLE_EMPTY_COLUMNS = N_CARD_VALUES + table_start("empty_columns")
TABLE_FOUNDATIONS = N_CARD_VALUES + table_start("foundations")
TABLE_BEST_FOUNDATION = N_CARD_VALUES + table_start("best_foundation")
TABLE_SINCE_PROGRESS = N_CARD_VALUES + table_start("since_progress")
TABLE_SCORE = N_CARD_VALUES + table_start("score")
TABLE_DRAW_COUNT = N_CARD_VALUES + table_start("draw_count")
TABLE_UNLIMITED_REDEALS = N_CARD_VALUES + table_start("unlimited_redeals")
TABLE_WORRY_BACK = N_CARD_VALUES + table_start("worry_back")
TABLE_WHOLE_RUNS = N_CARD_VALUES + table_start("whole_runs")
TABLE_BUILD = N_CARD_VALUES + table_start("build")
TABLE_GAPS = N_CARD_VALUES + table_start("gaps")
