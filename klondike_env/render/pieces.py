"""The pieces of a picture: cards, backs, empty places and text, each drawn once and cached.

Pieces are drawn larger and then shrunk, so that their edges are smooth. Suits are polygons, and letters come
from the font inside Pillow, so no font or image files are needed.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from klondike_env.cards import ACE, RANK_LETTERS, is_red, rank_of, suit_of

CARD_WIDTH, CARD_HEIGHT = 80, 108
CHIP_WIDTH, CHIP_HEIGHT = 27, 20

Colour = tuple[int, int, int]
Size = tuple[int, int]
Point = tuple[float, float]

_FINE = 4  # factor by which pieces are drawn larger
_CARD: Size = (CARD_WIDTH, CARD_HEIGHT)
_CHIP: Size = (CHIP_WIDTH, CHIP_HEIGHT)
_CORNER, _CHIP_CORNER = 8.0, 3.0
_PAPER: Colour = (255, 253, 247)
_EDGE: Colour = (104, 116, 109)
_RED: Colour = (200, 24, 38)
_BLACK: Colour = (24, 26, 30)
_BACK: Colour = (43, 78, 140)
_BACK_LINES: Colour = (106, 142, 200)
_CLEAR = (0, 0, 0, 0)
_FACE_DOWN_TINT = np.array([0.66, 0.76, 0.94, 1.0])  # of a face-down card whose face is shown
_RANKS = tuple(letter.replace("T", "10") for letter in RANK_LETTERS)

# Pips of the ranks 2 to 10, in a field from (0, 0) to (1, 1); those in the lower half are upside down.
_SIDES = (0.0, 1.0)
_CORNERS = tuple((x, y) for x in _SIDES for y in (0.0, 1.0))
_FOUR_ROWS = tuple((x, y / 3) for x in _SIDES for y in range(4))
_SIX = (*_CORNERS, (0.0, 0.5), (1.0, 0.5))
_PIPS: dict[str, tuple[Point, ...]] = {
    "2": ((0.5, 0.0), (0.5, 1.0)),
    "3": ((0.5, 0.0), (0.5, 0.5), (0.5, 1.0)),
    "4": _CORNERS,
    "5": (*_CORNERS, (0.5, 0.5)),
    "6": _SIX,
    "7": (*_SIX, (0.5, 0.25)),
    "8": (*_SIX, (0.5, 0.25), (0.5, 0.75)),
    "9": (*_FOUR_ROWS, (0.5, 0.5)),
    "10": (*_FOUR_ROWS, (0.5, 1 / 6), (0.5, 5 / 6)),
}


@cache
def card_face(card: int, face_down: bool = False) -> Image.Image:
    """The face of a card 0 to 51; with `face_down` it is marked as a hidden card that is shown."""
    piece = _sheet(_CARD, _PAPER, _CORNER)
    ink = _ink(card)
    suit, rank = suit_of(card), _RANKS[rank_of(card)]
    end = _write(piece, rank, (6, 11.5), 21, ink, anchor="lm")
    _stamp(piece, suit, (end + 10, 11), 15, ink)
    if rank_of(card) == ACE:
        _stamp(piece, suit, (CARD_WIDTH / 2, 63), 46, ink)
    elif rank in _PIPS:
        for x, y in _PIPS[rank]:
            _stamp(piece, suit, (20 + 40 * x, 34 + 61 * y), 16, ink, upside_down=y > 0.5)
    else:
        _draw_court(piece, card)
    return _finish(_tinted(piece, _CORNER) if face_down else piece, _CARD)


@cache
def card_back() -> Image.Image:
    """The back of a card."""
    piece = _sheet(_CARD, _PAPER, _CORNER)
    window, corner = _box(5, 5, CARD_WIDTH - 6, CARD_HEIGHT - 6), 5 * _FINE
    pattern, inside = Image.new("RGBA", piece.size, _BACK), Image.new("1", piece.size)
    ImageDraw.Draw(inside).rounded_rectangle(window, corner, fill=1)
    reach = CARD_HEIGHT * _FINE
    draw = ImageDraw.Draw(pattern)
    for start in range(-reach, CARD_WIDTH * _FINE, 9 * _FINE):
        draw.line((start, 0, start + reach, reach), fill=_BACK_LINES, width=_FINE)
        draw.line((start + reach, 0, start, reach), fill=_BACK_LINES, width=_FINE)
    piece.paste(pattern, (0, 0), inside)
    ImageDraw.Draw(piece).rounded_rectangle(window, corner, outline=_BACK, width=2 * _FINE)
    return _finish(piece, _CARD)


@cache
def card_place(mark: str = "", suit: int | None = None) -> Image.Image:
    """An empty place; `mark` is "ring", "cross" or empty, `suit` is the suit of a foundation."""
    piece = Image.new("RGBA", (CARD_WIDTH * _FINE, CARD_HEIGHT * _FINE), _CLEAR)
    draw = ImageDraw.Draw(piece)
    line, faint = (255, 255, 255, 110), (255, 255, 255, 70)
    draw.rounded_rectangle(
        _box(1, 1, CARD_WIDTH - 2, CARD_HEIGHT - 2), _CORNER * _FINE, fill=(0, 0, 0, 36), outline=line, width=2 * _FINE
    )
    x, y = CARD_WIDTH / 2, CARD_HEIGHT / 2
    if suit is not None:
        _stamp(piece, suit, (x, y), 40, faint)
    elif mark == "ring":
        draw.ellipse(_box(x - 20, y - 20, x + 20, y + 20), outline=line, width=5 * _FINE)
    elif mark == "cross":
        for side in (-1, 1):
            draw.line(_box(x - 16, y - 16 * side, x + 16, y + 16 * side), fill=line, width=5 * _FINE)
    return _finish(piece, _CARD)


@cache
def chip(card: int | None, face_down: bool = False) -> Image.Image:
    """A small card of the stock; None for one that was never seen."""
    piece = _sheet(_CHIP, _BACK if card is None else _PAPER, _CHIP_CORNER)
    if card is not None:
        _write(piece, _RANKS[rank_of(card)], (8.5, CHIP_HEIGHT / 2), 12, _ink(card), anchor="mm")
        _stamp(piece, suit_of(card), (CHIP_WIDTH - 7.5, CHIP_HEIGHT / 2), 10, _ink(card))
    return _finish(_tinted(piece, _CHIP_CORNER) if face_down else piece, _CHIP)


@lru_cache(maxsize=1024)
def label(text: str, size: int, colour: Colour) -> Image.Image:
    """Text on a transparent background, as wide as the text; all labels of a size have the same height."""
    font = ImageFont.load_default(size)
    piece = Image.new("RGBA", (int(font.getlength(text)) + 2, 2 * size), _CLEAR)
    ImageDraw.Draw(piece).text((1, size), text, fill=colour, font=font, anchor="lm")
    return piece


def _sheet(size: Size, colour: Colour, corner: float) -> Image.Image:
    """A blank card, drawn large."""
    piece = Image.new("RGBA", (size[0] * _FINE, size[1] * _FINE), _CLEAR)
    box = (0, 0, size[0] * _FINE - 1, size[1] * _FINE - 1)
    ImageDraw.Draw(piece).rounded_rectangle(box, corner * _FINE, fill=colour, outline=_EDGE, width=_FINE)
    return piece


def _finish(piece: Image.Image, size: Size) -> Image.Image:
    return piece.resize(size, Image.Resampling.LANCZOS)


def _tinted(piece: Image.Image, corner: float) -> Image.Image:
    """The piece tinted in the colour of card backs, with a heavy edge."""
    tinted = Image.fromarray((np.asarray(piece) * _FACE_DOWN_TINT).astype(np.uint8))
    box = (0, 0, piece.width - 1, piece.height - 1)
    ImageDraw.Draw(tinted).rounded_rectangle(box, corner * _FINE, outline=_BACK, width=2 * _FINE)
    return tinted


def _draw_court(piece: Image.Image, card: int) -> None:
    """Draw a court card: a framed letter between two suit symbols."""
    ink = _ink(card)
    frame = (252, 238, 222) if is_red(card) else (232, 236, 240)
    left, top, right, bottom = 12, 24, CARD_WIDTH - 13, CARD_HEIGHT - 8
    box = _box(left, top, right, bottom)
    ImageDraw.Draw(piece).rounded_rectangle(box, 4 * _FINE, fill=frame, outline=ink, width=_FINE)
    _write(piece, _RANKS[rank_of(card)], ((left + right) / 2, (top + bottom) / 2), 44, ink, anchor="mm")
    _stamp(piece, suit_of(card), (left + 11, top + 11), 15, ink)
    _stamp(piece, suit_of(card), (right - 11, bottom - 11), 15, ink, upside_down=True)


def _write(piece: Image.Image, text: str, place: Point, size: int, colour: Colour, anchor: str) -> float:
    """Write bold text, made by outlining because the font has no bold; return where text starting at `place` ends."""
    at = (place[0] * _FINE, place[1] * _FINE)
    font = ImageFont.load_default(size * _FINE)
    ImageDraw.Draw(piece).text(at, text, fill=colour, font=font, anchor=anchor, stroke_width=2, stroke_fill=colour)
    return place[0] + font.getlength(text) / _FINE


def _stamp(
    piece: Image.Image,
    suit: int,
    centre: Point,
    size: float,
    colour: Colour | tuple[int, int, int, int],
    upside_down: bool = False,
) -> None:
    """Draw a suit's symbol."""
    mask = Image.new("1", piece.size)
    draw = ImageDraw.Draw(mask)
    up = -1 if upside_down else 1
    for outline in _outlines(suit):
        draw.polygon([((centre[0] + size * x) * _FINE, (centre[1] + size * up * y) * _FINE) for x, y in outline], 1)
    piece.paste(colour, (0, 0), mask)


@cache
def _outlines(suit: int) -> tuple[tuple[Point, ...], ...]:
    """The polygons of a suit's symbol, within -0.5 to 0.5, y downwards."""
    clubs = (_circle(0, -0.24, 0.25), _circle(-0.25, 0.1, 0.25), _circle(0.25, 0.1, 0.25), _stem(0.0))
    diamonds, hearts, spades = (_diamond(),), (_heart(),), (_leaf(), _stem(0.05))
    return (clubs, diamonds, hearts, spades)[suit]


def _turn() -> np.ndarray:
    return np.linspace(0, 2 * np.pi, 72, endpoint=False)


def _points(x: np.ndarray, y: np.ndarray) -> tuple[Point, ...]:
    return tuple(zip(x.tolist(), y.tolist(), strict=True))


def _circle(x: float, y: float, radius: float) -> tuple[Point, ...]:
    return _points(x + radius * np.cos(_turn()), y + radius * np.sin(_turn()))


def _diamond() -> tuple[Point, ...]:
    """A rhombus with sides that bend inwards a little."""
    cosine, sine = np.cos(_turn()), np.sin(_turn())
    return _points(0.4 * np.sign(cosine) * np.abs(cosine) ** 2.3, 0.5 * np.sign(sine) * np.abs(sine) ** 2.3)


def _heart() -> tuple[Point, ...]:
    """A heart as the well-known sum of cosines."""
    x = 0.47 * np.sin(_turn()) ** 3
    y = 13 * np.cos(_turn()) - 5 * np.cos(2 * _turn()) - 2 * np.cos(3 * _turn()) - np.cos(4 * _turn())
    return _points(x, -(y + 2.5) / 29)


def _leaf() -> tuple[Point, ...]:
    """A spade without its stem: a flatter heart upside down."""
    return tuple((x, -0.84 * y - 0.08) for x, y in _heart())


def _stem(top: float) -> tuple[Point, ...]:
    """The foot of a club or spade."""
    return ((-0.04, top), (-0.06, 0.3), (-0.19, 0.5), (0.19, 0.5), (0.06, 0.3), (0.04, top))


def _ink(card: int) -> Colour:
    return _RED if is_red(card) else _BLACK


def _box(left: float, top: float, right: float, bottom: float) -> tuple[float, float, float, float]:
    return left * _FINE, top * _FINE, right * _FINE, bottom * _FINE
