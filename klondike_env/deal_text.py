"""Deals for the command line: from what a user names to what is printed."""

from __future__ import annotations

import numpy as np
from gymnasium.utils import seeding

from klondike_env.cards import card_text
from klondike_env.deal_sets import draw_deal
from klondike_env.deals import CUSTOM_DEAL, TRAINING_DEALS, deck_of, format_deck, parse
from klondike_env.engine.dealing import lay_out
from klondike_env.engine.state import new_states
from klondike_env.engine.views import write_views
from klondike_env.formats import WRITABLE_FORMATS
from klondike_env.render.text import draw_board
from klondike_env.rules import Rules

BOARD = "board"


def read_deal(number: str | None, text: str | None, format: str, seed: int | None) -> tuple[int, np.ndarray]:
    """The deal that a user names.

    Args:
        number: a deal number as text, or None.
        text: a deck as text, or None.
        format: the format of the text, see `klondike_env.deals.parse`.
        seed: draws the deal that `reset(seed=seed)` draws.

    Returns:
        The deal number, -1 for a deck given as text, and uint8[52] card ids in dealing order.

    Raises:
        ValueError: more than one is given, or one has a value that is not allowed.
    """
    if sum(given is not None for given in (number, text, seed)) > 1:
        raise ValueError("give a deal number, --from or --seed, and only one of them")
    if text is not None:
        return CUSTOM_DEAL, parse(text, format)
    if number is None:
        deal = draw_deal(seeding.np_random(seed)[0], TRAINING_DEALS)
    elif number.isdecimal():
        deal = int(number)
    else:
        raise ValueError(f"deal is {number!r}; allowed: 0 to {TRAINING_DEALS.stop - 1}; decks are given with --from")
    return deal, deck_of(deal)


def deal_text(deal: int, deck: np.ndarray, format: str, open_cards: bool = False) -> str:
    """A deal as it is printed.

    Args:
        deal: the deal number, or -1.
        deck: uint8[52] card ids in dealing order.
        format: "board", or a format of `klondike_env.deals.format_deck`.
        open_cards: whether the board shows face-down cards and the stock.

    Raises:
        ValueError: there is no such format.
    """
    if format not in (BOARD, "pysolfc", *WRITABLE_FORMATS):
        raise ValueError(f"no such format: {format!r}; known: {BOARD}, {', '.join(WRITABLE_FORMATS)}")
    if format != BOARD:
        return format_deck(deck, format)
    heading = [] if deal == CUSTOM_DEAL else [f"deal {deal}", ""]
    return "\n".join([*heading, _open_board(deck) if open_cards else _board(deck)])


def _dealt(deck: np.ndarray) -> np.ndarray:
    states = new_states(1)
    lay_out(states, 0, deck)
    return states


def _board(deck: np.ndarray) -> str:
    """What a player sees of a fresh deal."""
    states = _dealt(deck)
    views = new_states(1)
    write_views(states, views)
    return draw_board(views[0], Rules())


def _open_board(deck: np.ndarray) -> str:
    """All cards of a fresh deal."""
    states = _dealt(deck)
    stock = " ".join(card_text(int(card)) for card in states[0]["talon"])
    states["face_down"] = 0
    return f"{draw_board(states[0], Rules())}\n\nstock in order of drawing: {stock}"
