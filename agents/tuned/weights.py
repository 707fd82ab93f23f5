"""The weights of the agent `tuned`: what the score of a move is made of, and the weight of each part by variant."""

from __future__ import annotations

import numpy as np

from klondike_env.rules import Rules

# What may be true of a move, and its weight in each variant. A card is home if it is on its foundation. A card hosts
# another if that may lie on it.
_TABLE = (
    # draw1, draw3, classic, thumb_and_pouch
    # a whole run to another column that turns a card up
    ("run", 15587, 18125, 6534, 12592),
    # for each card face down under it
    ("run_face_down", 930, 454, 1628, -96),
    # if one card is face down under it
    ("run_last_face_down", 582, 78, -450, -58),
    # if it goes to an empty column
    ("run_to_gap", -32, 124, -1140, -536),
    # for each rank above the ace, if it goes to an empty column
    ("run_to_gap_rank", 934, -645, 1064, -34),
    # if two columns take it
    ("run_spare", -1420, -2311, 1749, -212),
    # if only one does, and it would also take another run that lies on cards face down
    ("run_rival", -1254, 607, -445, 2399),
    # else, if it would also take a talon card in reach
    ("run_rival_talon", 2585, 3881, 957, 1957),
    # a whole run from the bottom of its column (with no card face down) onto a card
    ("built_run", 6372, 4965, -208, 13896),
    # if some card could then fill the gap
    ("built_run_awaited", -68, 1335, 1068, 94),
    # a column's last card to its foundation
    ("to_foundation", 8121, 7126, 2973, 7216),
    # if that turns a card up
    ("to_foundation_turning", 94, 743, 461, 338),
    # for each card face down under it
    ("to_foundation_turning_face_down", 966, 1617, 184, -332),
    # for each card not home that could lie on it
    ("to_foundation_user", -321, -357, -1124, 1128),
    # if one of these lies on cards face down
    ("to_foundation_host", 1712, 455, 823, -446),
    # if that empties the column
    ("to_foundation_emptying", 53, 441, 296, -1644),
    # any talon card, for each card to pass on the way to it
    ("talon_distance", 3, -29, -238, -516),
    # for each card in reach afterwards that could be played
    ("talon_useful", -60, 1902, 603, 1078),
    # for each of these on which a run that lies on cards face down could go that can go nowhere yet
    ("talon_useful_host", -615, 1005, 1316, -873),
    # for each card in reach afterwards
    ("talon_reachable", 431, -872, 531, 297),
    # a talon card to a column
    ("to_column", 4368, 4140, 11017, 8343),
    # for each rank above the ace
    ("to_column_rank", 56, 241, 193, -176),
    # for each card not home that could lie on it
    ("to_column_user", -131, -334, -210, 1073),
    # if one of these lies on cards face down
    ("to_column_host", 552, 236, -304, 698),
    # for each of them, at most
    ("to_column_host_face_down", 819, 1484, 665, 1245),
    # if a run that lies on the floor could lie on it
    ("to_column_built_run", 916, 54, 544, 3605),
    # else, if one of these is a talon card in reach
    ("to_column_chain", 567, 451, -341, 182),
    # if on one of these a run could go that lies on cards face down
    ("to_column_chain_host", -241, -1084, 601, -2197),
    # for each of them, at most
    ("to_column_chain_host_face_down", 547, 642, 3080, 2646),
    # if two columns take it
    ("to_column_spare", 694, 650, 534, 434),
    # if it goes to an empty column
    ("to_column_gap", -225, -1123, -485, 94),
    # for each rank above the ace, if it goes to an empty column
    ("to_column_gap_rank", 1681, 60, 850, -73),
    # if it goes to an empty column and hosts a run that lies on cards face down
    ("to_column_gap_host", 792, 699, 98, 1151),
    # a talon card to its foundation
    ("talon_to_foundation", 7592, 6288, 5566, 5546),
    # for each card not home that could lie on it
    ("talon_to_foundation_user", -1198, -558, 77, -200),
    # if one of these lies on cards face down
    ("talon_to_foundation_host", -1622, -300, -1171, -79),
    # if the next card of its suit is the last of a column
    ("talon_to_foundation_chain", 1002, 1685, -436, 53),
    # a foundation card back to a column for a run that lies on cards face down
    ("worry_back_host", 809, 2332, 2723, 997),
    # for each of them, at most
    ("worry_back_host_face_down", -383, -229, 396, -105),
    # the same for a talon card in reach
    ("worry_back_talon", 195, 2142, 1982, 784),
    # the same for a run that lies on the floor
    ("worry_back_built_run", 836, -74, 363, 983),
    # part of a run to another card, to free a card that its foundation takes
    ("split", 1002, 1090, 1069, 482),
    # the same to free one on which a run could go that lies on cards face down
    ("split_host", -2044, -173, 175, 3211),
    # for each of them, at most
    ("split_host_face_down", 450, -2261, -1599, 3139),
    # the same for a talon card in reach
    ("split_talon", 1005, 2262, -2380, 689),
    # the same for a run that lies on the floor
    ("split_built_run", -306, -2131, -1251, 2117),
)
_VARIANTS = ("draw1", "draw3", "classic", "thumb_and_pouch")
WEIGHTS = np.dtype([(row[0], np.int64) for row in _TABLE])


def most_like(rules: Rules) -> str:
    """The variant that a game is most like."""
    if rules.redeals is None:
        return "draw1" if rules.draw_count == 1 else "draw3"
    return "thumb_and_pouch" if rules.gaps == "any" else "classic"


def weights_for(rules: Rules) -> np.ndarray:
    """The weights for a game, WEIGHTS[1]: those of the variant that it is most like."""
    column = 1 + _VARIANTS.index(most_like(rules))
    return np.array([tuple(row[column] for row in _TABLE)], dtype=WEIGHTS)
