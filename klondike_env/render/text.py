"""The board as text."""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_CARDS, N_SUITS, SUIT_LETTERS, card_at, card_text
from klondike_env.engine.state import N_COLUMNS, OUTCOME_NAMES
from klondike_env.rules import Rules

_FACE_DOWN = "##"
_EMPTY = "--"


def draw_board(view: np.void, rules: Rules, *, thoughtful: bool = False) -> str:
    """One game as text: stock, waste and foundations in the first line, the columns below it.

    Args:
        view: a STATE record; it may be a full state, because face-down cards are read in thoughtful mode only.
        rules: the rules of the game.
        thoughtful: whether to show face-down cards, in lower case, and the stock in order of drawing.
    """
    heights, face_down = view["height"], view["face_down"]
    lines = [_top_line(view, rules), ""]
    lines.append("  ".join(f" {column + 1}" for column in range(N_COLUMNS)))
    for row in range(max(int(heights.max()), 1)):
        cells = []
        for column in range(N_COLUMNS):
            if row < face_down[column]:
                cells.append(card_text(int(view["columns"][column, row])).lower() if thoughtful else _FACE_DOWN)
            elif row < heights[column]:
                cells.append(card_text(int(view["columns"][column, row])))
            else:
                cells.append(_EMPTY if row == 0 else "  ")
        lines.append("  ".join(cells).rstrip())
    lines.append("")
    if thoughtful:
        lines.append(_stock_line(view))
    lines.append(_last_line(view))
    return "\n".join(lines)


def _top_line(view: np.void, rules: Rules) -> str:
    size, waste = int(view["talon_size"]), int(view["waste_size"])
    fan = " ".join(card_text(int(card)) for card in view["talon"][max(0, waste - rules.draw_count) : waste]) or _EMPTY
    left = rules.redeals_left(int(view["redeals_used"]))
    redeals = "" if left is None else f", redeals left {left}"
    return f"{_foundations(view)}    stock {size - waste}, waste {waste}: {fan}{redeals}"


def _foundations(view: np.void) -> str:
    heights = [int(height) for height in view["foundation"]]
    tops = [
        card_text(card_at(heights[suit] - 1, suit)) if heights[suit] else f"-{SUIT_LETTERS[suit]}"
        for suit in range(N_SUITS)
    ]
    return " ".join(tops)


def _stock_line(view: np.void) -> str:
    stock = view["talon"][int(view["waste_size"]) : int(view["talon_size"])]
    return f"stock: {' '.join(card_text(int(card)).lower() for card in stock) or _EMPTY}"


def _last_line(view: np.void) -> str:
    total = int(view["foundation"].sum())
    return f"moves {int(view['moves'])}, foundations {total} of {N_CARDS}, {OUTCOME_NAMES[int(view['outcome'])]}"
