"""The weights of the agent `tuned`: of what a play's mark is made up, and how much of it in each variant."""

from __future__ import annotations

import numpy as np

from klondike_env.rules import Rules

# Fields of a mark, and their weights in the variants below.
_TABLE = (
    # draw1, draw3, classic, thumb_and_pouch
    # a whole run to another column that turns a card up
    ("run", 17563, 18835, 9277, 10288),
    # for each card face down under it
    ("run_face_down", 507, 364, 1112, -108),
    # if it goes to an empty column
    ("run_to_gap", -70, 179, -987, 464),
    # if one card is face down under it
    ("run_last_face_down", 38, -324, 93, -605),
    # a whole run that lies on the floor onto a card
    ("built_run", 6897, 4973, -244, 12799),
    # if some card could then fill the gap
    ("built_run_awaited", 73, 900, 936, 253),
    # a column's last card to its foundation
    ("up", 6419, 6882, 3874, 5724),
    # if that turns a card up
    ("up_turning", 34, -13, 324, 436),
    # for each card face down under it
    ("up_turning_face_down", 408, 803, 421, 38),
    # for each card not home that could lie on it
    ("up_user", -60, 167, -1237, 534),
    # if one of these lies on cards face down
    ("up_host", 758, 93, -139, -279),
    # if that empties the column
    ("up_emptying", -166, 146, -103, -1336),
    # any talon card, for each card to pass on the way to it
    ("talon_distance", 9, -51, 119, -756),
    # for each card in reach afterwards that could be played
    ("talon_useful", -371, 1551, 360, 578),
    # for each card in reach afterwards
    ("talon_reachable", -126, -609, 29, 123),
    # a talon card to a column
    ("down", 5100, 3626, 9654, 7305),
    # for each rank above the ace
    ("down_rank", 52, 232, 397, -24),
    # for each card not home that could lie on it
    ("down_user", -383, -219, 70, 478),
    # if one of these lies on cards face down
    ("down_host", -2, -277, -34, 1054),
    # for each of them, at most
    ("down_host_face_down", 629, 1058, 368, 925),
    # else, if one of these is a talon card in reach
    ("down_chain", 360, 387, -536, -41),
    # if it goes to an empty column
    ("down_to_gap", -17, -992, -485, 49),
    # if it goes to an empty column and hosts a run that lies on cards face down
    ("down_to_gap_host", 392, 285, 261, 433),
    # a talon card to its foundation
    ("talon_up", 6499, 5431, 5075, 4682),
    # for each card not home that could lie on it
    ("talon_up_user", -869, -461, 597, 174),
    # if one of these lies on cards face down
    ("talon_up_host", -539, -393, -913, 22),
    # if the next card of its suit is the last of a column
    ("talon_up_chain", 613, 1062, 762, 399),
    # a foundation card back to a column for a run that lies on cards face down
    ("back_host", 886, 2612, 3186, 973),
    # for each of them, at most
    ("back_host_face_down", 122, -237, 166, 157),
    # the same for a talon card in reach
    ("back_talon", 69, 1480, 1579, 654),
    # the same for a run that lies on the floor
    ("back_built_run", 733, 67, -183, 1244),
    # a run split to free a card that its foundation takes
    ("split", 704, 243, 783, 795),
)
_VARIANTS = ("draw1", "draw3", "classic", "thumb_and_pouch")
WEIGHTS = np.dtype([(row[0], np.int64) for row in _TABLE])


def weights_for(rules: Rules) -> np.ndarray:
    """The weights for a game, WEIGHTS[1]: those of the variant that it is most like."""
    if rules.redeals is None:
        variant = "draw1" if rules.draw_count == 1 else "draw3"
    else:
        variant = "thumb_and_pouch" if rules.gaps == "any" else "classic"
    column = 1 + _VARIANTS.index(variant)
    return np.array([tuple(row[column] for row in _TABLE)], dtype=WEIGHTS)
