"""The depth-first search itself: one kernel, which can be left and entered again."""

from __future__ import annotations

import numpy as np

from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import mix
from klondike_env.rules import RuleParams
from klondike_env.solver.columns.any_tail import find_free, play_tail, push_tails
from klondike_env.solver.columns.card_numbering import ALL_UP
from klondike_env.solver.columns.earliest import NEW, OLD, enter, key_of, lateness, latest
from klondike_env.solver.columns.nodes import (
    MARK,
    MOVE,
    NEXT,
    REDEALS,
    TARGETS,
    TO_FOUNDATION,
    Game,
    read_words,
    unpack,
)
from klondike_env.solver.columns.reach import settle_talon
from klondike_env.solver.columns.safe import NONE, safe_card
from klondike_env.solver.columns.whole_runs import last_cards, play_whole, push_wholes

# How a call ends. After MORE_... the caller gives larger arrays with the same contents.
SOLVED, UNSOLVABLE, PAUSED, MORE_FRAMES, MORE_MOVES, MORE_SLOTS = range(6)

# `counters: int64[4]`, what a search keeps between calls.
DEPTH = 0  # the frame of the position now tried; -1 before the start and after the end
TOP = 1  # moves on the stack
NODES = 2  # positions visited
ENTERED = 3  # slots in use
N_COUNTERS = 4

# Moves of one position: at most three for a talon card, four for a card elsewhere.
MOST_MOVES = 4 * 52

# Where the packed game holds what depends on the redeals left at the start.
REDEALS_OF_GAME = Game._fields.index("redeals")
LATE_BITS_OF_GAME = Game._fields.index("late_bits")


@kernel
def mix_up(moves: np.ndarray, start: int, top: int, bits: np.uint64) -> None:
    """Change the order of the most promising moves: each may change places with the next. bits: random ones."""
    for k in range(top - 1, start, -1):
        if bits & np.uint64(1):
            moves[k], moves[k - 1] = moves[k - 1], moves[k]
        bits >>= np.uint64(1)


@kernel
def visit(
    frames: np.ndarray, moves: np.ndarray, slots: np.ndarray, counters: np.ndarray, cards: np.ndarray, game: Game
) -> None:
    """Visit the position in the frame after the present one and make it the present one, unless it is old.

    A position with a safe move has no other, and is not entered.
    """
    depth, top = counters[DEPTH] + 1, counters[TOP]
    words = frames[depth]
    uncovered, landing = (last_cards(words), 0) if game.by_columns else find_free(words, game.build)
    safe = safe_card(words, uncovered, cards, game) if game.safe else NONE
    words[MARK] = top
    if safe != NONE:
        moves[top] = safe * TARGETS + TO_FOUNDATION
        top += 1
    else:
        late = lateness(words, game)
        key = key_of(words, late, game)
        status = enter(slots, key, late, game.late_bits)
        if status == OLD:
            return
        counters[ENTERED] += 1 if status == NEW else 0
        if game.by_columns:
            top = push_wholes(words, uncovered, cards, game, moves, top)
        else:
            top = push_tails(words, uncovered, landing, cards, game, moves, top)
        if game.shuffle != 0:
            mix_up(moves, words[MARK], top, mix(key + np.uint64(game.shuffle)))
    counters[NODES] += 1
    counters[DEPTH], counters[TOP] = depth, top


@kernel
def follow(frames: np.ndarray, depth: int, move: int, cards: np.ndarray, game: Game) -> None:
    """Write the position after a move into the frame after that at `depth`."""
    for word in range(frames.shape[1]):
        frames[depth + 1, word] = frames[depth, word]
    frames[depth + 1, MOVE] = move
    if game.by_columns:
        play_whole(frames[depth + 1], move, cards, game.draw_count)
    else:
        play_tail(frames[depth + 1], move, cards, game.draw_count)


@kernel
def search(
    frames: np.ndarray,
    moves: np.ndarray,
    slots: np.ndarray,
    counters: np.ndarray,
    cards: np.ndarray,
    packed: np.ndarray,
    limit: int,
) -> int:
    """Go on until the search is decided, `limit` positions are visited in all, or room is lacking.

    frames: int64[m, words], the positions of the line now tried, the start first; moves: int64[k], the
    stack of the moves not yet tried; slots: uint64[a power of two], the positions visited; counters:
    int64[4]; cards: int64[4, 64]; packed: int64[13], the game.
    """
    game = unpack(packed)
    if counters[NODES] == 0:
        visit(frames, moves, slots, counters, cards, game)
    while counters[DEPTH] >= 0:
        depth = counters[DEPTH]
        if frames[depth, NEXT] == ALL_UP:
            return SOLVED
        if counters[NODES] >= limit:
            return PAUSED
        if depth + 1 == len(frames):
            return MORE_FRAMES
        if counters[TOP] + MOST_MOVES > len(moves):
            return MORE_MOVES
        if 4 * counters[ENTERED] >= 3 * len(slots):
            return MORE_SLOTS
        if counters[TOP] == frames[depth, MARK]:
            counters[DEPTH] -= 1
        else:
            counters[TOP] -= 1
            follow(frames, depth, moves[counters[TOP]], cards, game)
            visit(frames, moves, slots, counters, cards, game)
    return UNSOLVABLE


@kernel
def bit_length(number: int) -> int:
    """Binary digits of a number that is not negative."""
    length = 0
    while number >> length != 0:
        length += 1
    return length


@kernel
def search_record(
    states: np.ndarray,
    i: int,
    rules: RuleParams,
    frames: np.ndarray,
    moves: np.ndarray,
    slots: np.ndarray,
    counters: np.ndarray,
    cards: np.ndarray,
    packed: np.ndarray,
    limit: int,
) -> int:
    """Search from a sound record, all buffers used anew; how it ends, as for `search`.

    packed: the game; its redeals and the bits for lateness are set to what the record asks for.
    """
    read_words(states, i, frames[0], cards, rules)
    settle_talon(frames[0], rules.draw_count)
    slots[:] = 0
    counters[:] = 0
    counters[DEPTH] = -1
    packed[REDEALS_OF_GAME] = frames[0, REDEALS]
    packed[LATE_BITS_OF_GAME] = bit_length(latest(frames[0, REDEALS]))
    return search(frames, moves, slots, counters, cards, packed, limit)
