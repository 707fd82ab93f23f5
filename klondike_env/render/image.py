"""The board as a picture, drawn with Pillow and the font that comes with it."""

from __future__ import annotations

from functools import cache

import numpy as np
from PIL import Image, ImageDraw

from klondike_env.cards import N_CARDS, N_SUITS, UNSEEN, card_at
from klondike_env.engine.state import LOST, N_COLUMNS, OUTCOME_NAMES, PLAYING, STALLED, TRUNCATED, WON
from klondike_env.render.pieces import (
    CARD_HEIGHT,
    CARD_WIDTH,
    CHIP_WIDTH,
    Colour,
    card_back,
    card_face,
    card_place,
    chip,
    label,
)
from klondike_env.rules import Rules

WIDTH, HEIGHT = 800, 600  # even numbers, as video codecs require

_CLOTH_CENTRE, _CLOTH_EDGE = np.array([30.0, 118.0, 80.0]), np.array([14.0, 70.0, 48.0])
_BAR: Colour = (9, 42, 30)
_INK: Colour = (228, 240, 232)
_FAINT: Colour = (166, 206, 185)
_OUTCOME_COLOURS: dict[int, Colour] = {
    WON: (255, 212, 80),
    LOST: (244, 120, 108),
    STALLED: (250, 170, 96),
    TRUNCATED: (190, 200, 194),
}

_MARGIN = 34
_PITCH = (WIDTH - 2 * _MARGIN - CARD_WIDTH) / (N_COLUMNS - 1)  # from column to column
_TOP = 12  # upper edge of stock, waste and foundations
_LABELS = 132  # middle of the line of labels under them
_TABLEAU = 147
_FLOOR = 543  # no column reaches below this
_BAR_TOP = 550
_STOCK_LINE, _STATUS_LINE = 563, 586  # middles of the two lines in the bar
_CHIPS = 80  # left edge of the row of stock cards
_FACE_UP_STEP, _FACE_DOWN_STEP = 24.0, 10.0  # how much of the card under it stays visible
_FAN_STEP, _FAN_WIDTH = 44.0, 126.0  # from card to card, and at most from the first to the last
_LABEL_SIZE, _STATUS_SIZE = 14, 16


def draw_picture(record: np.void, rules: Rules) -> np.ndarray:
    """One game as a picture: uint8[600, 800, 3], a fresh array.

    Args:
        record: a STATE record. In a view, unseen cards are overwritten and drawn as backs. In a state, they
            are drawn as marked faces.
        rules: the rules of the game.
    """
    picture = _cloth().copy()
    _draw_stock(picture, record, rules)
    _draw_waste(picture, record, rules)
    for suit in range(N_SUITS):
        _draw_foundation(picture, suit, int(record["foundation"][suit]))
    for column in range(N_COLUMNS):
        _draw_column(picture, record, column)
    _draw_stock_line(picture, record)
    _draw_status_line(picture, record)
    return np.array(picture)


@cache
def _cloth() -> Image.Image:
    """The empty table: lighter in the middle, with a dark bar for text along the bottom."""
    y, x = np.mgrid[-1 : 1 : HEIGHT * 1j, -1 : 1 : WIDTH * 1j]
    shade = np.clip((x**2 + y**2) / 2, 0, 1)[..., None]
    table = Image.fromarray(np.round(_CLOTH_CENTRE + shade * (_CLOTH_EDGE - _CLOTH_CENTRE)).astype(np.uint8))
    ImageDraw.Draw(table).rectangle((0, _BAR_TOP, WIDTH, HEIGHT), fill=_BAR)
    return table


def _draw_stock(picture: Image.Image, record: np.void, rules: Rules) -> None:
    count = int(record["talon_size"]) - int(record["waste_size"])
    redeals_left = rules.redeals_left(int(record["redeals_used"]))
    _paste(picture, card_back() if count else card_place("cross" if redeals_left == 0 else "ring"), _left(0), _TOP)
    _write(picture, f"stock {count}", _middle(0), _LABELS)
    if redeals_left is not None:
        _write(picture, f"redeals left {redeals_left}", _middle(2), _LABELS)


def _draw_waste(picture: Image.Image, record: np.void, rules: Rules) -> None:
    waste = int(record["waste_size"])
    fan = record["talon"][max(0, waste - rules.draw_count) : waste]
    if waste == 0:
        _paste(picture, card_place(), _left(1), _TOP)
    step = min(_FAN_STEP, _FAN_WIDTH / max(len(fan) - 1, 1))
    for index, card in enumerate(fan):
        _paste(picture, card_face(int(card)), round(_left(1) + index * step), _TOP)
    _write(picture, f"waste {waste}", _middle(1), _LABELS)


def _draw_foundation(picture: Image.Image, suit: int, height: int) -> None:
    piece = card_face(card_at(height - 1, suit)) if height else card_place(suit=suit)
    _paste(picture, piece, _left(N_COLUMNS - N_SUITS + suit), _TOP)


def _draw_column(picture: Image.Image, record: np.void, column: int) -> None:
    height, face_down = int(record["height"][column]), int(record["face_down"][column])
    cards = [int(card) for card in record["columns"][column, :height]]
    if not cards:
        _paste(picture, card_place(), _left(column), _TABLEAU)
    for row, (card, top) in enumerate(zip(cards, _tops(cards), strict=True)):
        piece = card_back() if card == UNSEEN else card_face(card, face_down=row < face_down)
        _paste(picture, piece, _left(column), top)


def _tops(cards: list[int]) -> list[int]:
    """The upper edge of each card of a column; cards of a long column lie closer together."""
    steps = [_FACE_DOWN_STEP if card == UNSEEN else _FACE_UP_STEP for card in cards[:-1]]
    squeeze = min(1.0, (_FLOOR - CARD_HEIGHT - _TABLEAU) / max(sum(steps), 1.0))
    return [round(_TABLEAU + squeeze * sum(steps[:row])) for row in range(len(cards))]


def _draw_stock_line(picture: Image.Image, record: np.void) -> None:
    """What the player knows of the stock, in order of drawing."""
    waste, seen, size = int(record["waste_size"]), int(record["seen_size"]), int(record["talon_size"])
    if waste < size:
        _write(picture, "next", _MARGIN, _STOCK_LINE, align=0.0)
    for index in range(waste, size):
        card = int(record["talon"][index])
        piece = chip(None) if card == UNSEEN else chip(card, face_down=index >= seen)
        left = _CHIPS + (index - waste) * (CHIP_WIDTH + 1)
        _paste(picture, piece, left, _STOCK_LINE - piece.height // 2)


def _draw_status_line(picture: Image.Image, record: np.void) -> None:
    outcome = int(record["outcome"])
    total = int(record["foundation"].sum())
    _write(picture, f"moves {int(record['moves'])}", _MARGIN, _STATUS_LINE, _STATUS_SIZE, _INK, align=0.0)
    _write(picture, f"foundations {total} of {N_CARDS}", WIDTH // 2, _STATUS_LINE, _STATUS_SIZE, _INK)
    if outcome != PLAYING:
        box = (WIDTH - _MARGIN - 88, _STATUS_LINE - 11, WIDTH - _MARGIN, _STATUS_LINE + 10)
        ImageDraw.Draw(picture).rounded_rectangle(box, 6, fill=_OUTCOME_COLOURS[outcome])
    colour = _FAINT if outcome == PLAYING else _BAR
    _write(picture, OUTCOME_NAMES[outcome], WIDTH - _MARGIN - 44, _STATUS_LINE, _STATUS_SIZE, colour)


def _write(
    picture: Image.Image,
    text: str,
    x: int,
    y: int,
    size: int = _LABEL_SIZE,
    colour: Colour = _FAINT,
    align: float = 0.5,
) -> None:
    """Write text on a line whose middle is at y; `align` is the fraction of its width that is left of x."""
    piece = label(text, size, colour)
    _paste(picture, piece, round(x - align * piece.width), y - piece.height // 2)


def _paste(picture: Image.Image, piece: Image.Image, left: int, top: int) -> None:
    picture.paste(piece, (left, top), piece)


def _left(column: int) -> int:
    return round(_MARGIN + column * _PITCH)


def _middle(column: int) -> int:
    return _left(column) + CARD_WIDTH // 2
