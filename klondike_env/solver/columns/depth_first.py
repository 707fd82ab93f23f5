"""The depth-first search itself: one kernel, which can be left and entered again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.cards import N_CARDS
from klondike_env.engine.actions import TO_FOUNDATION
from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import mix
from klondike_env.engine.state import N_COLUMNS
from klondike_env.rules import RuleParams, Rules
from klondike_env.solver.columns.any_tail import Free, find_free, play_any_tail, push_any_tail
from klondike_env.solver.columns.card_numbering import ALL_ON_FOUNDATIONS
from klondike_env.solver.columns.earliest import NEW, OLD, enter, key_of, lateness, latest
from klondike_env.solver.columns.nodes import (
    CARDS_SHAPE,
    LINK,
    MOVE,
    N_WORDS,
    NEXT,
    REDEALS,
    TARGETS,
    Game,
    read_words,
)
from klondike_env.solver.columns.pruning import ALL, make_game
from klondike_env.solver.columns.reach import settle_talon
from klondike_env.solver.columns.safe import NONE, safe_card
from klondike_env.solver.columns.whole_runs import last_cards, play_whole_run, push_whole_runs
from klondike_env.solver.verdicts import SOLVED_INDEX, UNDECIDED_INDEX, UNSOLVABLE_INDEX

# How the kernel ends: with the index of a verdict (undecided: the limit is reached), or because an array is full. Then
# the caller passes a larger one with the same contents.
FRAMES_FULL, MOVES_FULL, SLOTS_FULL = range(UNDECIDED_INDEX + 1, UNDECIDED_INDEX + 4)

# Moves of one position: at most three for a talon card, four for a card elsewhere.
MOST_MOVES = 4 * N_CARDS

_SMALL_DEPTH, _SMALL_MOVES = 1 << 9, 1 << 14

# How far a search has come.
CONTROL = np.dtype(
    [
        ("depth", np.int64),  # of the current frame; -1 before the start and after the end
        ("top", np.int64),  # moves on the stack
        ("nodes", np.int64),  # positions searched
        ("entered", np.int64),  # slots in use
        ("limit", np.int64),  # nodes at which to pause
        ("redeals", np.int64),  # left at the start, or ENOUGH
        ("late_bits", np.int64),  # see klondike_env.solver.columns.earliest
    ]
)


class Buffers(NamedTuple):
    """The arrays of a search and its rules, for kernels."""

    frames: np.ndarray  # int64[m, words], the positions of the line being tried, the start first
    moves: np.ndarray  # int64[k], the stack of the moves not yet tried
    slots: np.ndarray  # uint64[a power of two], the positions searched
    control: np.ndarray  # CONTROL[1]
    cards: np.ndarray  # int64 of CARDS_SHAPE, see klondike_env.solver.columns.nodes
    game: Game

    @classmethod
    def of(cls, nodes: int, rules: Rules) -> Buffers:
        """Buffers for searches of at most `nodes` nodes each, by `quick_verdict`."""
        game = make_game(rules.params(), ALL)
        n_words = N_WORDS + N_COLUMNS if game.by_columns else N_WORDS
        control = np.zeros(1, dtype=CONTROL)
        control["limit"] = nodes
        return cls(
            frames=np.zeros((min(nodes + 2, _SMALL_DEPTH), n_words), dtype=np.int64),
            moves=np.zeros(_SMALL_MOVES, dtype=np.int64),
            slots=np.zeros(1 << (2 * nodes).bit_length(), dtype=np.uint64),
            control=control,
            cards=np.zeros(CARDS_SHAPE, dtype=np.int64),
            game=game,
        )


@kernel
def mix_up(moves: np.ndarray, start: int, top: int, bits: np.uint64) -> None:
    """Vary the order of the most promising moves: each may change places with the next. bits: random bits."""
    for k in range(top - 1, start, -1):
        if bits & np.uint64(1):
            moves[k], moves[k - 1] = moves[k - 1], moves[k]
        bits >>= np.uint64(1)


@kernel
def visit(buffers: Buffers) -> None:
    """Make the next frame the current one and push the moves from it, unless its position was searched before.

    From a position with a safe move no other move is tried, and the position is not entered.
    """
    moves, control, cards, game = buffers.moves, buffers.control, buffers.cards, buffers.game
    depth, top = int(control[0]["depth"]) + 1, int(control[0]["top"])
    words = buffers.frames[depth]
    free = Free(uncovered=last_cards(words), landing=0) if game.by_columns else find_free(words, game.build)
    safe = safe_card(words, free.uncovered, cards, game) if game.safe else NONE
    words[LINK] = top
    if safe != NONE:
        moves[top] = safe * TARGETS + TO_FOUNDATION
        top += 1
    else:
        late_bits = int(control[0]["late_bits"])
        late = lateness(words, int(control[0]["redeals"]), game)
        key = key_of(words, late, game)
        status = enter(buffers.slots, key, late, late_bits)
        if status == OLD:
            return
        control[0]["entered"] += 1 if status == NEW else 0
        if game.by_columns:
            top = push_whole_runs(words, free.uncovered, cards, game, moves, top)
        else:
            top = push_any_tail(words, free, cards, game, moves, top)
        if game.shuffle != 0:
            mix_up(moves, words[LINK], top, mix(key + np.uint64(game.shuffle)))
    control[0]["nodes"] += 1
    control[0]["depth"], control[0]["top"] = depth, top


@kernel
def follow(move: int, depth: int, buffers: Buffers) -> None:
    """Write the position after a move from frame `depth` into the next frame."""
    frames, game = buffers.frames, buffers.game
    for word in range(frames.shape[1]):
        frames[depth + 1, word] = frames[depth, word]
    frames[depth + 1, MOVE] = move
    if game.by_columns:
        play_whole_run(frames[depth + 1], move, buffers.cards, game.draw_count)
    else:
        play_any_tail(frames[depth + 1], move, buffers.cards, game.draw_count)


@kernel
def search(buffers: Buffers) -> int:
    """Search until the position is decided, the limit is reached or an array is full; return which."""
    frames, moves, control = buffers.frames, buffers.moves, buffers.control
    if control[0]["nodes"] == 0:
        visit(buffers)
    while control[0]["depth"] >= 0:
        depth = int(control[0]["depth"])
        if frames[depth, NEXT] == ALL_ON_FOUNDATIONS:
            return SOLVED_INDEX
        if control[0]["nodes"] >= control[0]["limit"]:
            return UNDECIDED_INDEX
        if depth + 1 == len(frames):
            return FRAMES_FULL
        if control[0]["top"] + MOST_MOVES > len(moves):
            return MOVES_FULL
        if 4 * control[0]["entered"] >= 3 * len(buffers.slots):
            return SLOTS_FULL
        if control[0]["top"] == frames[depth, LINK]:
            control[0]["depth"] -= 1
        else:
            control[0]["top"] -= 1
            follow(int(moves[control[0]["top"]]), depth, buffers)
            visit(buffers)
    return UNSOLVABLE_INDEX


@kernel
def begin(control: np.ndarray, redeals: int) -> None:
    """Prepare the search from a position in the first frame. redeals: those left there, or ENOUGH. The limit stays."""
    control[0]["depth"] = -1
    control[0]["top"] = 0
    control[0]["nodes"] = 0
    control[0]["entered"] = 0
    control[0]["redeals"] = redeals
    control[0]["late_bits"] = bit_length(latest(redeals))


@kernel
def bit_length(number: int) -> int:
    """Binary digits of a number that is not negative."""
    length = 0
    while number >> length != 0:
        length += 1
    return length


@kernel
def quick_verdict(states: np.ndarray, i: int, rules: RuleParams, buffers: Buffers) -> int:
    """Search from a valid record within the limit of `Buffers.of`; return the index of the verdict."""
    words = buffers.frames[0]
    read_words(states, i, words, buffers.cards, rules)
    settle_talon(words, rules.draw_count)
    buffers.slots[:] = 0
    begin(buffers.control, words[REDEALS])
    return min(search(buffers), UNDECIDED_INDEX)
