"""The action space: 313 actions, the same for every variant.

    id = card * 6 + destination          card 0..51, see klondike_env.cards

    destination   0        1         2           3         4          5
                  its      onto the next higher card of                an empty
                  found-   clubs     diamonds    hearts    spades      column
                  ation

    312 = the stock: draw, or redeal when the stock is empty

An action names a card, wherever it lies. All cards that lie on it move with it. Empty columns are
interchangeable, so the leftmost is used. Names read "TH to foundation", "QH onto KS", "KD to empty column",
"stock".
"""

from __future__ import annotations

from typing import NamedTuple

from klondike_env.cards import KING, N_CARDS, SUIT_LETTERS, card_at, card_text, parse_card, rank_of
from klondike_env.checks import check_whole_number

N_DESTINATIONS = 6
TO_FOUNDATION = 0
ONTO_SUIT = 1  # plus the suit 0..3 of the card below
TO_GAP = 5
STOCK_ACTION = N_CARDS * N_DESTINATIONS
N_ACTIONS = STOCK_ACTION + 1
_STOCK = "stock"
RESIGN = -1  # how an agent resigns a game; for the evaluator only, the environment never sees it


class Action(NamedTuple):
    """A decoded action: `card` 0..51 and `destination` 0..5, or None and None for the stock."""

    card: int | None
    destination: int | None


def encode(card: int | None = None, destination: int | None = None) -> int:
    """The action id 0..312 of a card and a destination; without them the stock action.

    Raises:
        ValueError: card or destination is out of range.
    """
    if card is None and destination is None:
        return STOCK_ACTION
    card = check_whole_number("card", card, 0, N_CARDS - 1)
    destination = check_whole_number("destination", destination, 0, N_DESTINATIONS - 1)
    return card * N_DESTINATIONS + destination


def decode(action: int) -> Action:
    """Card and destination of an action id.

    Raises:
        ValueError: the id is not 0..312.
    """
    action = check_whole_number("action", action, 0, N_ACTIONS - 1)
    if action == STOCK_ACTION:
        return Action(None, None)
    return Action(*divmod(action, N_DESTINATIONS))


def name(action: int) -> str:
    """The readable name of an action, such as "QH onto KS"; the inverse of `parse`.

    Raises:
        ValueError: the id is not 0..312.
    """
    card, destination = decode(action)
    if card is None or destination is None:
        return _STOCK
    if destination == TO_FOUNDATION:
        return f"{card_text(card)} to foundation"
    if destination == TO_GAP:
        return f"{card_text(card)} to empty column"
    suit = destination - ONTO_SUIT
    if rank_of(card) == KING:  # no card is higher; the id exists but is never legal
        return f"{card_text(card)} onto ?{SUIT_LETTERS[suit]}"
    return f"{card_text(card)} onto {card_text(card_at(rank_of(card) + 1, suit))}"


def describe(action: int) -> str:
    """An action id with its name and what it does, such as "132: TD to foundation: the card goes to its foundation".

    Raises:
        ValueError: the id is not 0..312.
    """
    return f"{action}: {name(action)}: {_meaning(*decode(action))}"


def _meaning(card: int | None, destination: int | None) -> str:
    if card is None or destination is None:
        return "draw, or redeal when the stock is empty"
    if destination == TO_FOUNDATION:
        return "the card goes to its foundation"
    if destination == TO_GAP:
        return "the card, with all that lies on it, goes to the leftmost empty column"
    if rank_of(card) == KING:
        return "never legal, for no card is higher than a king"
    return "the card, with all that lies on it, goes onto the next higher card of that suit"


def parse(text: str) -> int:
    """The action id of a name that `name` has written.

    Raises:
        ValueError: the text is not the name of an action.
    """
    if text == _STOCK:
        return STOCK_ACTION
    card_name, _, rest = text.partition(" ")
    card = parse_card(card_name)
    for destination in range(N_DESTINATIONS):
        action = encode(card, destination)
        if name(action) == f"{card_text(card)} {rest}":
            return action
    raise ValueError(
        f"no such action: {text!r}; write 'TH to foundation', 'QH onto KS', 'KD to empty column' or 'stock'"
    )
