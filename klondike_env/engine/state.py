"""The state of a game: one record of a structured array, field by field.

A batch of games is an array `states: STATE[n]`; kernels take `(states, i)` and read one record.
Copying a record copies the game.
"""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_CARDS, N_SUITS

N_COLUMNS = 7
# A column holds at most 6 face-down cards and, on them, at most a run from king to ace.
MAX_HEIGHT = 20
# Room for a column: three words of 64 bits, so that columns can be compared quickly.
COLUMN_ROOM = 24
TALON_SIZE = 24
N_FACE_DOWN = 21

# Values of `place` besides the columns 0 to 6.
FOUNDATION = 7
TALON = 8
HIDDEN_PLACE = 9  # only in views: the player does not know where the card is

# Values of `outcome`.
PLAYING, WON, LOST, STALLED, TRUNCATED = 0, 1, 2, 3, 4
OUTCOME_NAMES = ("playing", "won", "lost", "stalled", "truncated")

STATE = np.dtype(
    [
        ("columns", np.uint8, (N_COLUMNS, COLUMN_ROOM)),  # cards from the bottom up; unused places are 0
        ("talon", np.uint8, (TALON_SIZE,)),  # the waste from the bottom up, then the stock in order of drawing
        ("height", np.uint8, (N_COLUMNS,)),  # 0..19 cards in the column
        ("face_down", np.uint8, (N_COLUMNS,)),  # 0..6 of them face down
        ("foundation", np.uint8, (N_SUITS,)),  # 0..13 cards on the suit's foundation
        ("talon_size", np.uint8),  # 0..24 cards in waste and stock together
        ("waste_size", np.uint8),  # 0..talon_size of them in the waste; the last of these can be played
        ("seen_size", np.uint8),  # waste_size..talon_size; the player has seen talon[:seen_size]
        ("place", np.uint8, (N_CARDS,)),  # where each card is: column 0..6, FOUNDATION, TALON or HIDDEN_PLACE
        ("row", np.uint8, (N_CARDS,)),  # its index in the column; 0 elsewhere
        ("face_up", np.int64),  # the set of face-up column cards, see klondike_env.engine.card_sets
        ("outcome", np.uint8),  # PLAYING, WON, LOST, STALLED or TRUNCATED
        ("best_foundation", np.uint8),  # 0..52, the most cards the foundations have held in this game
        ("redeals_used", np.uint16),  # redeals made, saturating at 65535
        ("since_progress", np.int32),  # environment steps in a row without progress
        ("moves", np.int32),  # accepted actions, and each draw and redeal that an action implies
        ("steps", np.int32),  # environment steps taken, refused ones included; 0 in a fresh game
        ("score", np.int32),  # running total of the points of a scoring scheme; 0 where there are none
    ],
    align=True,
)


def new_states(n: int) -> np.ndarray:
    """An array of `n` blank records, STATE[n], for kernels to fill."""
    return np.zeros(n, dtype=STATE)
