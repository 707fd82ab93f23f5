"""Deals and positions on the command line: reading what a user names, and writing what is printed."""

from __future__ import annotations

import numpy as np
from gymnasium.utils import seeding

from klondike_env.cards import UNSEEN, card_text
from klondike_env.deal_sets import draw_deal
from klondike_env.deals import CUSTOM_DEAL, TRAINING_DEALS, deck_of, format_deck, parse
from klondike_env.engine.dealing import lay_out
from klondike_env.engine.state import N_COLUMNS, new_states
from klondike_env.engine.views import write_views
from klondike_env.formats import WRITABLE_FORMATS
from klondike_env.position import format_position, is_position, parse_position
from klondike_env.render.text import draw_board
from klondike_env.rules import Rules

BOARD, POSITION = "board", "position"


def read_deal(number: str | None, text: str | None, format: str, seed: int | None) -> tuple[int, np.ndarray]:
    """The deal or position that a user names.

    Args:
        number: a deal number as text, or None.
        text: a deck or a position as text, or None.
        format: the format of the text: "position", or a format of `klondike_env.deals.parse`. "auto" also
            recognizes a position.
        seed: selects the deal that `reset(seed=seed)` draws.

    Returns:
        The deal number, -1 for a text, and STATE[1]; cards that a position does not name are UNSEEN.

    Raises:
        ValueError: more than one of number, text and seed is given, or one is not allowed.
    """
    if sum(given is not None for given in (number, text, seed)) > 1:
        raise ValueError("give a deal number, --from or --seed, and only one of them")
    if text is not None:
        if format == POSITION or (format == "auto" and is_position(text)):
            return CUSTOM_DEAL, np.array([parse_position(text)])
        return CUSTOM_DEAL, _dealt(parse(text, format))
    if number is None:
        deal = draw_deal(seeding.np_random(seed)[0], TRAINING_DEALS)
    elif number.isdecimal():
        deal = int(number)
    else:
        raise ValueError(f"deal is {number!r}; allowed: 0 to {TRAINING_DEALS.stop - 1}; decks are given with --from")
    return deal, _dealt(deck_of(deal))


def deal_text(deal: int, states: np.ndarray, format: str, open_cards: bool = False) -> str:
    """A deal or position as it is printed.

    Args:
        deal: the deal number, or -1.
        states: STATE[1].
        format: "board", "position", or for a fresh deal a format of `klondike_env.deals.format_deck`.
        open_cards: whether the board shows face-down cards and the stock.

    Raises:
        ValueError: there is no such format, or it cannot hold this position.
    """
    if format not in (BOARD, POSITION, "pysolfc", *WRITABLE_FORMATS):
        known = ", ".join((BOARD, POSITION, *WRITABLE_FORMATS))
        raise ValueError(f"no such format: {format!r}; known: {known}")
    if format == POSITION:
        return format_position(states[0]).rstrip()
    if format != BOARD:
        return format_deck(_deck(states, format), format)
    heading = [] if deal == CUSTOM_DEAL else [f"deal {deal}", ""]
    return "\n".join([*heading, _open_board(states) if open_cards else _board(states)])


def _dealt(deck: np.ndarray) -> np.ndarray:
    states = new_states(1)
    lay_out(states, 0, deck)
    return states


def _deck(states: np.ndarray, format: str) -> np.ndarray:
    """The deck of a position that is a fresh deal: uint8[52] in dealing order.

    Raises:
        ValueError: the position is not a fresh deal, or has unknown cards.
    """
    state = states[0]
    rows = ((row, column) for row in range(N_COLUMNS) for column in range(row, N_COLUMNS))
    deck = np.array([*(state["columns"][column, row] for row, column in rows), *state["talon"]])
    if (deck == UNSEEN).any():
        raise ValueError(f"cards of this position are unknown, which {format} cannot hold; use board or position")
    if len(set(deck.tolist())) != len(deck) or format_position(_dealt(deck)[0]) != format_position(state):
        raise ValueError(f"this position is not a fresh deal, and {format} holds nothing else; use board or position")
    return deck


def _board(states: np.ndarray) -> str:
    """The board as a player sees it."""
    views = new_states(1)
    write_views(states, views)
    return draw_board(views[0], Rules())


def _open_board(states: np.ndarray) -> str:
    """The board with all cards face up, and the stock."""
    opened = states.copy()
    opened["face_down"] = 0
    stock = states[0]["talon"][int(states[0]["waste_size"]) : int(states[0]["talon_size"])]
    words = " ".join(card_text(int(card)) for card in stock)
    return f"{draw_board(opened[0], Rules())}\n\nstock in order of drawing: {words}"
