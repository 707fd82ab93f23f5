"""The moves of a short line, what each of them costs, and the fewest moves that a position still needs.

A move is one of `klondike_env.solver.columns.whole_runs`, with the draws that it needs. It costs one, and one more for
each draw; redeals cost nothing. So the cost of a line is its number of card moves and draws.

Positions are those of `klondike_env.solver.columns.nodes` with the columns told apart. But the waste is the actual one,
not an equally good earlier one, because draws are counted here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.cards import N_RANKS, N_SUITS
from klondike_env.engine.actions import ONTO_SUIT, TO_FOUNDATION, TO_GAP
from klondike_env.engine.card_sets import count_cards, lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import N_COLUMNS, TALON_SIZE
from klondike_env.engine.talon import draws_for
from klondike_env.solver.columns.card_numbering import ALL_CARDS, BUILDERS, number_of
from klondike_env.solver.columns.earliest import ON_TIME, key_of
from klondike_env.solver.columns.nodes import (
    BORDER,
    CARD_AT,
    COLUMNS,
    DEPTHS,
    FACE_UP,
    FLOOR,
    HEADS,
    NEXT,
    PLACE,
    PLACES,
    TALON_CARDS,
    TARGETS,
    UNDER,
    Game,
)
from klondike_env.solver.columns.reach import highest_bit, reach_now, waste_places
from klondike_env.solver.columns.safe import NONE, safe_of
from klondike_env.solver.columns.whole_runs import column_of, last_cards, play_whole_run, push_whole_runs

# The halves of `buried`, see `write_buried`.
_EXCESS, _ABOVE, _N_HALVES = range(3)
BURIED_SHAPE = (_N_HALVES, N_COLUMNS, N_COLUMNS)
# The most that one move can cost: drawing all of the stock, then all of the talon again, and the move.
MAX_MOVE_COST = TALON_SIZE + TALON_SIZE + 1
_SAME_SUIT = sum(1 << (N_SUITS * rank) for rank in range(N_RANKS))


class Fixed(NamedTuple):
    """What stays the same in a search."""

    cards: np.ndarray  # int64 of CARDS_SHAPE, see klondike_env.solver.columns.nodes
    buried: np.ndarray  # int64 of BURIED_SHAPE, see write_buried
    game: Game


@kernel
def draws_to(words: np.ndarray, place: int, draw_count: int) -> int:
    """How many draws bring the talon card of a place to the top of the waste; it must be in reach."""
    waste = waste_places(words)
    before = words[PLACES] & ((2 << place) - 1)
    if (reach_now(words, draw_count) >> place) & 1:
        return draws_for(count_cards(before & ~waste), draw_count)
    return draws_for(count_cards(words[PLACES] ^ waste), draw_count) + draws_for(count_cards(before), draw_count)


@kernel
def step(words: np.ndarray, move: int, fixed: Fixed) -> int:
    """Make a move; return its cost."""
    number, draw_count = move // TARGETS, fixed.game.draw_count
    if not (words[TALON_CARDS] >> number) & 1:
        play_whole_run(words, move, fixed.cards, draw_count)
        return 1
    place = fixed.cards[PLACE, number]
    n_draws = draws_to(words, place, draw_count)
    play_whole_run(words, move, fixed.cards, draw_count)
    words[BORDER] = place
    return 1 + n_draws


@kernel
def exact_key(words: np.ndarray, game: Game) -> np.uint64:
    """The key of a position with its waste and, unless there are enough, its redeals."""
    return key_of(words, ON_TIME, game)


@kernel
def can_wait(words: np.ndarray, move: int, game: Game) -> bool:
    """Whether a move takes a built card from one host to another that takes the same cards, and can wait.

    It can wait until the host that it uncovers can go up next, and no line gets longer by that. Proof: play the line
    without it, but what the line does with one of the two hosts (lay a run on it, take its run away) do with the other.
    Runs that hold a host are moved with what lies there now. So the two positions differ only in which run lies on
    which of the two hosts. That ends when the line moves the run back, which saves both moves, or when a host goes up,
    which the line has uncovered: then its run is moved to the other, which is free. A host that does not go up alone
    need not be free.
    """
    number, target = move // TARGETS, move % TARGETS
    bit = 1 << number
    if target in (TO_FOUNDATION, TO_GAP) or not (words[FACE_UP] & ~(words[HEADS] | words[FLOOR])) & bit:
        return False
    column = words[COLUMNS + column_of(words, bit)]
    host = lowest_bit(column & ~((bit << 1) - 1))
    same = BUILDERS[game.build, number_of(host) % N_SUITS] == BUILDERS[game.build, target - ONTO_SUIT]
    return same and words[NEXT] & host == 0


@kernel
def push_steps(words: np.ndarray, fixed: Fixed, moves: np.ndarray) -> int:
    """Write the moves to try; return how many. If there is a line to a win, one of them begins a shortest one.

    A safe column card goes up, and nothing else is tried: lines do not get longer by that, see
    `klondike_env.solver.columns.safe`. Talon cards may be safe too, but here it matters when they are drawn.

    moves: int64[MOST_MOVES], overwritten.
    """
    lasts = last_cards(words)
    safe = safe_of(words[NEXT] & words[FACE_UP] & lasts, words, fixed.game)
    if safe != NONE:
        moves[0] = safe * TARGETS + TO_FOUNDATION
        return 1
    found, count = push_whole_runs(words, lasts, fixed.cards, fixed.game, moves, 0), 0
    for k in range(found):
        if not can_wait(words, moves[k], fixed.game):
            moves[count] = moves[k]
            count += 1
    return count


@kernel
def write_buried(words: np.ndarray, cards: np.ndarray, buried: np.ndarray) -> None:
    """Write how many face-down cards lie above lower ones of their suit.

    buried: int64 of BURIED_SHAPE, overwritten; by column and by how many cards are still face down there.
    buried[_EXCESS] is how many of these lie above a lower card of their suit. buried[_ABOVE] is the set of the cards
    that would do so if they lay face up on top of these.
    """
    buried[:] = 0
    for column in range(N_COLUMNS):
        depth = (words[DEPTHS] >> (3 * column)) & 7
        number = number_of(highest_bit(words[COLUMNS + column]))
        for level in range(depth, 0, -1):
            number = cards[UNDER, number]
            buried[_ABOVE, column, level] = (_SAME_SUIT << (number + N_SUITS)) & ALL_CARDS
            buried[_EXCESS, column, level] = 1 << number
        above, total = 0, 0
        for level in range(1, depth + 1):
            total += 1 if buried[_EXCESS, column, level] & above else 0
            above |= buried[_ABOVE, column, level]
            buried[_EXCESS, column, level], buried[_ABOVE, column, level] = total, above


@kernel
def waste_excess(words: np.ndarray, cards: np.ndarray, draw_count: int) -> int:
    """The fewest additional moves for the cards of the waste that lie above a lower one of their suit."""
    waste, above, blocked = waste_places(words), 0, 0
    while waste != 0:
        place = lowest_bit(waste)
        waste ^= place
        number = cards[CARD_AT, number_of(place)]
        blocked += (above >> number) & 1
        above |= _SAME_SUIT << number
    return min(blocked, draws_for(blocked + 1, draw_count))


@kernel
def least_cost(words: np.ndarray, fixed: Fixed) -> int:
    """A lower bound on the moves of every line to a win.

    It is the bound of Klondike-Solver, MinimalKlondike and KSolve, slightly extended. It adds up moves and draws that
    every line must make. A move counts for one card, the highest of those that move together, so that none of the
    following is counted twice:

    - Each card that is not on its foundation goes there for a last time: one move for each.
    - Each card of the stock is drawn in this pass: as many draws as it takes to draw them all.
    - When a face-down card leaves its place for the first time, the move counts for it, because it is the highest
      face-up card of its column then. If a lower card of its suit lies under it, it cannot go up then: one more move.
    - If face-up cards lie on face-down ones, and one of them above a lower card of its suit, the run must be moved by
      one of its cards before that lower card is free, and not to a foundation: one more move for each such column.
      These are moves of cards that are face up now.
    - A card of the waste above a lower one of its suit cannot go up first. It is moved to a column, one more move
      for each; or the waste is turned over and it is drawn again with the lower ones. That takes one more draw for each
      `draw_count` of these cards that have not been moved and one other card, at least.

    Worrying back makes more moves, and never takes one of these away.
    """
    draw_count, buried = fixed.game.draw_count, fixed.buried
    talon, waste = count_cards(words[PLACES]), count_cards(waste_places(words))
    cost = talon + draws_for(talon - waste, draw_count) + count_cards(words[FACE_UP])
    cost += waste_excess(words, fixed.cards, draw_count)
    for column in range(N_COLUMNS):
        depth = (words[DEPTHS] >> (3 * column)) & 7
        cost += depth + buried[_EXCESS, column, depth]
        cost += 1 if words[COLUMNS + column] & buried[_ABOVE, column, depth] else 0
    return cost
