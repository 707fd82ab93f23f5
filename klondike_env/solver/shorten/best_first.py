"""A* over exact positions: the shortest line, as far as memory and time allow.

Positions are tried in the order of their total, which is the cost so far plus
`klondike_env.solver.shorten.steps.least_cost`; of equal ones the last that was stored comes first. A line is proved
shortest once no open position has a lower total than its cost. A position is stored again if it is reached at a lower
cost than before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.engine.card_sets import lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import N_COLUMNS
from klondike_env.solver.columns.card_numbering import ALL_CARDS, ALL_ON_FOUNDATIONS, number_of
from klondike_env.solver.columns.depth_first import MOST_MOVES
from klondike_env.solver.columns.earliest import NEW, OLD, enter
from klondike_env.solver.columns.nodes import (
    BORDER,
    CARD_AT,
    COLUMNS,
    DEPTHS,
    FACE_UP,
    FLOOR,
    HEADS,
    NEXT,
    PLACES,
    REDEALS,
    TALON_CARDS,
)
from klondike_env.solver.columns.reach import highest_bit
from klondike_env.solver.shorten.beam import COST_BITS, MAX_LINE_COST
from klondike_env.solver.shorten.steps import Fixed, exact_key, least_cost, push_steps, step

# A position takes ten words: its columns, each with its face-down cards above the set of the others, the talon, what
# the foundations take next, and how it was reached.
_TALON, _NEXT, _ORIGIN, _PACKED_WORDS = range(N_COLUMNS, N_COLUMNS + 4)
_CARD_BITS = 52
_PLACE_BITS, _BORDER_BITS = 24, 5
_MOVE_BITS = 10
_BYTES_PER_POSITION = 8 * _PACKED_WORDS + 8 + 24  # with its link and its share of the slots

DONE, PAUSED, FULL = range(3)

# How far a search has come.
CONTROL = np.dtype(
    [
        ("stored", np.int64),  # positions
        ("nodes", np.int64),  # positions whose moves have been tried
        ("best", np.int64),  # the cost of the best line
        ("best_node", np.int64),  # where its last move is made, -1 if it is the line known before
        ("best_move", np.int64),
        ("entered", np.int64),  # slots in use
    ]
)


class Open(NamedTuple):
    """The open positions of a search, and its other arrays."""

    nodes: np.ndarray  # int64[n, 10], the positions
    links: np.ndarray  # int64[n], for each the next one of the same total cost
    tops: np.ndarray  # int64[4096], by total cost: the first position, or -1
    slots: np.ndarray  # uint64[a power of two], the positions met
    control: np.ndarray  # CONTROL[1]
    moves: np.ndarray  # int64[MOST_MOVES], scratch
    position: np.ndarray  # int64[18], the one whose moves are tried
    words: np.ndarray  # int64[18], scratch


@kernel
def pack(words: np.ndarray, packed: np.ndarray) -> None:
    """Write the words of a position as nine. words: int64[18]; packed: int64[10], all but the last overwritten."""
    for column in range(N_COLUMNS):
        packed[column] = words[COLUMNS + column] | ((words[DEPTHS] >> (3 * column)) & 7) << _CARD_BITS
    packed[_TALON] = words[PLACES] | words[BORDER] << _PLACE_BITS | words[REDEALS] << (_PLACE_BITS + _BORDER_BITS)
    packed[_NEXT] = words[NEXT]


@kernel
def unpack_words(packed: np.ndarray, cards: np.ndarray, words: np.ndarray) -> None:
    """Write the words of a packed position; the inverse of `pack`. words: int64[18], overwritten."""
    words[:] = 0
    for column in range(N_COLUMNS):
        face_up, depth = packed[column] & ALL_CARDS, packed[column] >> _CARD_BITS
        words[COLUMNS + column] = face_up
        words[FACE_UP] |= face_up
        words[HEADS if depth > 0 else FLOOR] |= highest_bit(face_up)
        words[DEPTHS] |= depth << (3 * column)
    words[NEXT] = packed[_NEXT]
    words[PLACES] = packed[_TALON] & ((1 << _PLACE_BITS) - 1)
    words[BORDER] = (packed[_TALON] >> _PLACE_BITS) & ((1 << _BORDER_BITS) - 1)
    words[REDEALS] = packed[_TALON] >> (_PLACE_BITS + _BORDER_BITS)
    places = words[PLACES]
    while places != 0:
        place = lowest_bit(places)
        places ^= place
        words[TALON_CARDS] |= 1 << cards[CARD_AT, number_of(place)]


@kernel
def store(arrays: Open, words: np.ndarray, origin: int, total: int) -> None:
    """Store a position among those of the same total cost."""
    new = int(arrays.control[0]["stored"])
    arrays.control[0]["stored"] += 1
    pack(words, arrays.nodes[new])
    arrays.nodes[new, _ORIGIN] = origin
    arrays.links[new] = arrays.tops[total]
    arrays.tops[total] = new


@kernel
def origin_of(node: int, move: int, cost: int) -> int:
    """How a position was reached, as one number."""
    return (node << _MOVE_BITS | move) << COST_BITS | cost


@kernel
def meet(arrays: Open, cost: int, total: int, node: int, move: int, fixed: Fixed) -> None:
    """Record the position in `arrays.words`, to which a move led, if it is a win or may lead to a shorter line."""
    words, control = arrays.words, arrays.control
    if words[NEXT] == ALL_ON_FOUNDATIONS:
        if cost < control[0]["best"]:
            control[0]["best"], control[0]["best_node"], control[0]["best_move"] = cost, node, move
        return
    total = max(total, cost + least_cost(words, fixed))
    if total >= control[0]["best"]:
        return
    status = enter(arrays.slots, exact_key(words, fixed.game), cost + 1, COST_BITS)
    if status != OLD:
        control[0]["entered"] += 1 if status == NEW else 0
        store(arrays, words, origin_of(node, move, cost), total)


@kernel
def search_best(arrays: Open, limit: int, fixed: Fixed) -> int:
    """Search until `limit` positions have been tried in all; return DONE, PAUSED, or FULL if no memory is left."""
    control, moves, position, words = arrays.control, arrays.moves, arrays.position, arrays.words
    total = 0
    while total < control[0]["best"]:
        node = arrays.tops[total]
        if node < 0:
            total += 1
            continue
        if control[0]["nodes"] >= limit:
            return PAUSED
        if control[0]["stored"] + len(moves) > len(arrays.nodes):
            return FULL
        arrays.tops[total] = arrays.links[node]
        control[0]["nodes"] += 1
        cost = arrays.nodes[node, _ORIGIN] & ((1 << COST_BITS) - 1)
        unpack_words(arrays.nodes[node], fixed.cards, position)
        for k in range(push_steps(position, fixed, moves)):
            for word in range(len(words)):
                words[word] = position[word]
            after = cost + step(words, moves[k], fixed)
            meet(arrays, after, total, node, moves[k], fixed)
    return DONE


def new_open(words: np.ndarray, fixed: Fixed, cost: int, max_bytes: int) -> Open:
    """The arrays of a search from a position for a line that costs less than `cost`, which is known."""
    n = max(max_bytes // _BYTES_PER_POSITION, 2 * MOST_MOVES)
    control = np.zeros(1, dtype=CONTROL)
    control["best"], control["best_node"] = cost, -1
    arrays = Open(
        nodes=np.zeros((n, _PACKED_WORDS), dtype=np.int64),  # memory that is not written to yet is not taken
        links=np.zeros(n, dtype=np.int64),
        tops=np.full(MAX_LINE_COST + 2, -1, dtype=np.int64),
        slots=np.zeros(1 << (4 * n // 3).bit_length(), dtype=np.uint64),
        control=control,
        moves=np.zeros(MOST_MOVES, dtype=np.int64),
        position=np.zeros(len(words), dtype=np.int64),
        words=np.zeros(len(words), dtype=np.int64),
    )
    store(arrays, words, -1 << (_MOVE_BITS + COST_BITS), least_cost(words, fixed))
    return arrays


def line_of(arrays: Open) -> list[int]:
    """The moves of the best line that was found; empty if the known one is the best."""
    node, move, line = int(arrays.control["best_node"][0]), int(arrays.control["best_move"][0]), list[int]()
    while node >= 0:
        line.append(move)
        origin = int(arrays.nodes[node, _ORIGIN]) >> COST_BITS
        node, move = origin >> _MOVE_BITS, origin & ((1 << _MOVE_BITS) - 1)
    return line[::-1]
