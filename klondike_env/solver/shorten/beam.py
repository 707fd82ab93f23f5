"""A beam search for short lines: of the positions that cost the same, only the most promising are kept.

The cost of a position is the number of moves and draws that led to it, and positions are tried in that order. Of all
with the same cost only the `width` best by a score are kept. The position on the line known before is always kept too,
so that its neighbourhood is searched. By their `least_cost`, some positions cannot lead to a line shorter than the
known one, and are left out. A search that drops no other position proves that no line is shorter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.engine.jit import kernel
from klondike_env.engine.state import N_COLUMNS
from klondike_env.solver.columns.card_numbering import ALL_ON_FOUNDATIONS
from klondike_env.solver.columns.depth_first import MOST_MOVES
from klondike_env.solver.columns.earliest import OLD, enter
from klondike_env.solver.columns.nodes import COLUMNS, DEPTHS, LINK, MOVE, NEXT
from klondike_env.solver.shorten.steps import MAX_MOVE_COST, Fixed, exact_key, least_cost, push_steps, step

# The bits of a slot that hold the cost of a position, and the highest cost of a line that they allow.
COST_BITS = 12
MAX_LINE_COST = (1 << COST_BITS) - 2

_N_WORDS = COLUMNS + N_COLUMNS
_LAYERS = MAX_MOVE_COST + 1  # the current one, and those that moves from it lead to
_SLOTS_PER_POSITION = 8
_MOST_SLOTS = 1 << 24
_TIE_BITS = 8

# How far a search has come.
CONTROL = np.dtype(
    [
        ("nodes", np.int64),  # positions whose moves have been tried
        ("best", np.int64),  # the cost of the best line
        ("best_node", np.int64),  # where its last move is made, -1 if it is the line known before
        ("best_move", np.int64),
        ("entered", np.int64),  # slots in use
        ("dropped", np.int64),  # positions dropped for want of room
    ]
)

# How a position was reached whose moves have been tried.
ORIGIN = np.dtype([("node", np.int64), ("move", np.int64)])


class Beam(NamedTuple):
    """The arrays of a search. A layer holds the positions of one cost; layers follow each other in a ring, by cost."""

    layers: np.ndarray  # int64[50, width, 18], the positions of each layer, not in order
    heaps: np.ndarray  # int64[50, width], their indices as a heap, the worst first
    scores: np.ndarray  # int64[50, width], their scores, less is better
    counts: np.ndarray  # int64[50], how many positions there are
    origins: np.ndarray  # ORIGIN[n], for each node the one before, -1 at the start, and the move between
    slots: np.ndarray  # uint64[a power of two], the positions met
    control: np.ndarray  # CONTROL[1]
    moves: np.ndarray  # int64[MOST_MOVES], scratch
    words: np.ndarray  # int64[18], scratch


@kernel
def lift_worst(heap: np.ndarray, scores: np.ndarray) -> None:
    """Restore the order of a heap whose last index is new."""
    place, index = len(heap) - 1, heap[-1]
    while place > 0 and scores[heap[(place - 1) // 2]] < scores[index]:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = index


@kernel
def sink_first(heap: np.ndarray, scores: np.ndarray) -> None:
    """Restore the order of a heap whose first index has a new score."""
    place, child, index = 0, 1, heap[0]
    while child < len(heap):
        if child + 1 < len(heap) and scores[heap[child + 1]] > scores[heap[child]]:
            child += 1
        if scores[heap[child]] <= scores[index]:
            break
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = index


@kernel
def score_of(words: np.ndarray, least: int, key: np.uint64) -> int:
    """How unpromising a position is: its least cost, plus its face-down cards; bits of its key break ties."""
    score = least
    for column in range(N_COLUMNS):
        score += (words[DEPTHS] >> (3 * column)) & 7
    return int((score << _TIE_BITS) | np.int64(key >> np.uint64(64 - _TIE_BITS)))


@kernel
def keep(beam: Beam, layer: int, score: int) -> None:
    """Put the position in `beam.words` into a layer; if that is full, in place of the worst, unless it is the worst."""
    count, width = beam.counts[layer], beam.heaps.shape[1]
    heap, scores = beam.heaps[layer], beam.scores[layer]
    if count < width:
        index = count
        heap[count] = count
        beam.counts[layer] = count + 1
    else:
        beam.control[0]["dropped"] += 1
        index = heap[0]
        if scores[index] <= score:
            return
    for word in range(_N_WORDS):
        beam.layers[layer, index, word] = beam.words[word]
    scores[index] = score
    if count < width:
        lift_worst(heap[: count + 1], scores)
    else:
        sink_first(heap, scores)


@kernel
def meet(beam: Beam, cost: int, node: int, move: int, fixed: Fixed) -> None:
    """Record the position in `beam.words`, to which a move led, if it is a win or may lead to a shorter line."""
    words, control = beam.words, beam.control
    if cost >= control[0]["best"]:
        return
    if words[NEXT] == ALL_ON_FOUNDATIONS:
        control[0]["best"], control[0]["best_node"], control[0]["best_move"] = cost, node, move
        return
    least = least_cost(words, fixed)
    if cost + least >= control[0]["best"]:
        return
    if 4 * control[0]["entered"] >= 3 * len(beam.slots):
        control[0]["dropped"] += 1
        return
    key = exact_key(words, fixed.game)
    if enter(beam.slots, key, cost + 1, COST_BITS) == OLD:
        return
    control[0]["entered"] += 1
    words[LINK], words[MOVE] = node, move
    keep(beam, cost % _LAYERS, score_of(words, least, key))


@kernel
def try_moves(beam: Beam, position: np.ndarray, cost: int, fixed: Fixed) -> None:
    """Try all moves of a position. position: int64[18]."""
    node = int(beam.control[0]["nodes"])
    beam.origins[node]["node"], beam.origins[node]["move"] = position[LINK], position[MOVE]
    beam.control[0]["nodes"] += 1
    for k in range(push_steps(position, fixed, beam.moves)):
        for word in range(_N_WORDS):
            beam.words[word] = position[word]
        after = cost + step(beam.words, beam.moves[k], fixed)
        meet(beam, after, node, beam.moves[k], fixed)


@kernel
def try_layer(beam: Beam, known: np.ndarray, cost: int, limit: int, fixed: Fixed) -> None:
    """Try all moves of the positions of one cost, until `limit` positions have been tried in all.

    known: int64[0 or 1, 18], the position of the line known before.
    """
    layer = cost % _LAYERS
    for index in range(len(known)):
        if beam.control[0]["nodes"] < limit:
            try_moves(beam, known[index], cost, fixed)
    for index in range(beam.counts[layer]):
        if beam.control[0]["nodes"] < limit:
            try_moves(beam, beam.layers[layer, index], cost, fixed)
    beam.counts[layer] = 0


def new_beam(width: int, cost: int) -> Beam:
    """The arrays of a search for a line that costs less than `cost`."""
    n_positions = width * cost
    n_slots = 1 << min(_SLOTS_PER_POSITION * n_positions, _MOST_SLOTS).bit_length()
    control = np.zeros(1, dtype=CONTROL)
    control["best"], control["best_node"] = cost, -1
    return Beam(
        layers=np.zeros((_LAYERS, width, _N_WORDS), dtype=np.int64),
        heaps=np.zeros((_LAYERS, width), dtype=np.int64),
        scores=np.zeros((_LAYERS, width), dtype=np.int64),
        counts=np.zeros(_LAYERS, dtype=np.int64),
        origins=np.zeros(n_positions + cost, dtype=ORIGIN),
        slots=np.zeros(n_slots, dtype=np.uint64),
        control=control,
        moves=np.zeros(MOST_MOVES, dtype=np.int64),
        words=np.zeros(_N_WORDS, dtype=np.int64),
    )
