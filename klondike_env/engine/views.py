"""What a player knows of a game: the record with every unseen card overwritten."""

from __future__ import annotations

import numpy as np

from klondike_env.cards import UNSEEN
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import HIDDEN_PLACE, N_COLUMNS


@kernel
def hide_card(states: np.ndarray, i: int, card: int) -> None:
    """Overwrite where a card is, unless the card is UNSEEN already."""
    if card != UNSEEN:
        states[i]["place"][card] = HIDDEN_PLACE
        states[i]["row"][card] = 0


@kernel
def hide_unseen(states: np.ndarray, i: int) -> None:
    """Overwrite the face-down cards and the unseen cards of the stock."""
    for column in range(N_COLUMNS):
        for row in range(int(states[i]["face_down"][column])):
            hide_card(states, i, int(states[i]["columns"][column, row]))
            states[i]["columns"][column, row] = UNSEEN
    for index in range(int(states[i]["seen_size"]), int(states[i]["talon_size"])):
        hide_card(states, i, int(states[i]["talon"][index]))
        states[i]["talon"][index] = UNSEEN


@kernel
def write_views(states: np.ndarray, views: np.ndarray) -> None:
    """Write the view of each game. states, views: STATE[n]; views is overwritten."""
    for i in range(len(states)):
        views[i] = states[i]
        hide_unseen(views, i)
