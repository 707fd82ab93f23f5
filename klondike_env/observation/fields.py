"""The values of an observation: the one description that encoding, spaces and documentation share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.cards import N_CARDS, N_RANKS, N_SUITS, SUIT_NAMES
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


CARD_FIELDS = (
    Field("unseen", 1, "the player does not know where the card is"),
    Field("foundation", 1, "on its foundation"),
    Field("waste_top", 1, "the top of the waste"),
    Field("talon", 1, "seen and in the talon (waste or stock), the waste's top included"),
    Field("tableau", 1, "face up in a column"),
    Field("face_down", 1, "face down in a column; shown in thoughtful mode only"),
    *(Field(f"on_{suit}", 1, f"lies on the next higher card of {suit}") for suit in SUIT_NAMES),
    Field("on_floor", 1, "in a column with no card under it"),
    Field("on_face_down", N_COLUMNS - 1, "face-down cards under it, if it lies right on them"),
    Field("cards_above", MAX_HEIGHT - 1, "cards that lie on it in its column"),
    Field("taps", 2 * TALON_SIZE + 1, "stock taps that make it the waste's top, if it can be reached over seen cards"),
    Field("this_sweep", 1, "the waste's top, or to be reached by drawing without a redeal"),
    Field("next_sweep", 1, "to be reached only after a redeal"),
    Field("talon_index", TALON_SIZE, "1 + its place in the talon in order of drawing"),
    Field("phase", MAX_DRAW_COUNT, "1 + its place in the talon modulo the draw count"),
    Field("under", N_CARDS, "1 + the card right under it in its column or in the talon, if that was seen"),
)

TABLE_FIELDS = (
    Field("stock", TALON_SIZE, "cards in the stock"),
    Field("waste", TALON_SIZE, "cards in the waste"),
    Field("unseen_stock", TALON_SIZE, "cards in the stock that were never turned"),
    Field("redeals_left", MAX_REDEALS, "redeals left; 0 where they are unlimited"),
    Field("face_down", N_COLUMNS - 1, "face-down cards of the columns, highest count first", N_COLUMNS),
    Field("empty_columns", N_COLUMNS, "empty columns"),
    Field("foundations", N_RANKS, "cards on the foundations of clubs, diamonds, hearts, spades", N_SUITS),
    Field("best_foundation", N_CARDS, "the most cards that the foundations have held in this game"),
    Field("since_progress", BYTE, "steps in a row without progress, at most 255"),
    Field("score", BYTE, "running total of the standard reward in units of 5 points, at most 255; else 0"),
    Field("draw_count", MAX_DRAW_COUNT, "rule: cards turned at once"),
    Field("unlimited_redeals", 1, "rule: redeals are unlimited"),
    Field("worry_back", 1, "rule: foundation cards may return"),
    Field("whole_runs", 1, "rule: only whole runs or single cards move"),
    Field("build", 1, f"rule: one-hot of {', '.join(BUILDS)}", len(BUILDS)),
    Field("gaps", 1, f"rule: one-hot of what an empty column takes: {', '.join(GAPS)}", len(GAPS)),
)

_CARD_NAMES = [field.name for field in CARD_FIELDS]
N_CARD_FIELDS = len(CARD_FIELDS)
N_CARD_VALUES = N_CARDS * N_CARD_FIELDS
N_TABLE_VALUES = sum(field.size for field in TABLE_FIELDS)
N_VALUES = N_CARD_VALUES + N_TABLE_VALUES

CARD_HIGHS = np.array([field.high for field in CARD_FIELDS], dtype=np.uint8)
TABLE_HIGHS = np.concatenate([np.full(field.size, field.high, dtype=np.uint8) for field in TABLE_FIELDS])
HIGHS = np.concatenate([np.tile(CARD_HIGHS, N_CARDS), TABLE_HIGHS])
# Indices of the card fields.
UNSEEN = _CARD_NAMES.index("unseen")
FOUNDATION = _CARD_NAMES.index("foundation")
WASTE_TOP = _CARD_NAMES.index("waste_top")
TALON = _CARD_NAMES.index("talon")
TABLEAU = _CARD_NAMES.index("tableau")
FACE_DOWN = _CARD_NAMES.index("face_down")
ON_SUIT = _CARD_NAMES.index(f"on_{SUIT_NAMES[0]}")
ON_FLOOR = _CARD_NAMES.index("on_floor")
ON_FACE_DOWN = _CARD_NAMES.index("on_face_down")
CARDS_ABOVE = _CARD_NAMES.index("cards_above")
TAPS = _CARD_NAMES.index("taps")
THIS_SWEEP = _CARD_NAMES.index("this_sweep")
NEXT_SWEEP = _CARD_NAMES.index("next_sweep")
TALON_INDEX = _CARD_NAMES.index("talon_index")
PHASE = _CARD_NAMES.index("phase")
UNDER = _CARD_NAMES.index("under")


def table_start(name: str) -> int:
    """Index of a table field's first value among the table values."""
    names = [field.name for field in TABLE_FIELDS]
    return sum(field.size for field in TABLE_FIELDS[: names.index(name)])
