"""The search of positions with all columns, for rules that do not let any tail move.

The face-up cards of a column have consecutive ranks, so a column is the set of them: its first card is
the highest, its last the lowest, and a run laid on a column is the union of two sets.
"""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_RANKS, N_SUITS
from klondike_env.engine.jit import kernel
from klondike_env.engine.lanes import count_cards, lowest_bit
from klondike_env.engine.mixer import mix
from klondike_env.engine.state import N_COLUMNS
from klondike_env.solver import tails
from klondike_env.solver.sets import ALL_CARDS, BUILDERS, RANK_BITS, index_of
from klondike_env.solver.tails import (
    BORDER, DEPTH, DEPTHS, FACE_UP, FLOOR, HEADS, LEFT, LIMIT, MARK, MORE_FRAMES, MORE_MOVES, MORE_SLOTS, MOVE, NEXT,
    PAUSED, REDEALS, SOLVED, STORED, TALON, TOP, UNSOLVABLE, VISITS, Game, is_new, key_of, leave_talon, reach_later,
    reach_now, safe_move, safe_talon_move, turn_up,
)

COLUMNS = tails.N_WORDS  # the sets of face-up cards of the columns, one word each
N_WHOLE_WORDS = COLUMNS + N_COLUMNS

# The target of a move `card index * 8 + target`; ONTO + suit is the card of that suit one rank higher.
UP, GAP, ONTO = 0, 1, 2

MOST_MOVES = 256  # of one position


@kernel
def last_cards(words: np.ndarray) -> int:
    """The set of the columns' last cards."""
    cards = 0
    for column in range(N_COLUMNS):
        cards |= lowest_bit(words[COLUMNS + column])
    return cards


@kernel
def column_with(words: np.ndarray, bit: int) -> int:
    """The column that holds a card."""
    for column in range(N_COLUMNS):
        if words[COLUMNS + column] & bit:
            return column
    return -1


@kernel
def gap_column(words: np.ndarray) -> int:
    """The first empty column."""
    for column in range(N_COLUMNS):
        if words[COLUMNS + column] == 0:
            return column
    return -1


@kernel
def play_whole_move(words: np.ndarray, move: int, cards: np.ndarray, draw_count: int) -> None:
    """Make a move; a column card takes along all that lies on it."""
    index, target = move >> 3, move & 7
    bit = 1 << index
    run = bit
    if words[TALON] & bit:
        leave_talon(words, index, cards, draw_count)
    elif words[FACE_UP] & bit:
        column = column_with(words, bit)
        run = words[COLUMNS + column] & ((bit << 1) - 1)
        words[COLUMNS + column] ^= run
        if words[HEADS] & bit:
            words[HEADS] ^= bit
            turn_up(words, index, cards)
            words[COLUMNS + column] = 1 << cards[2, index]
        words[FLOOR] &= ~bit
    else:
        words[NEXT] ^= bit | (bit << N_SUITS)
    if target == UP:
        words[FACE_UP] &= ~bit
        words[NEXT] ^= bit | (bit << N_SUITS)
    else:
        words[FACE_UP] |= bit
        if target == GAP:
            words[FLOOR] |= bit
            words[COLUMNS + gap_column(words)] = run
        else:
            host = 1 << ((index // N_SUITS + 1) * N_SUITS + target - ONTO)
            words[COLUMNS + column_with(words, host)] |= run


@kernel
def whole_key(words: np.ndarray, game: Game) -> tuple[np.uint64, int]:
    """The key of a position, whatever the order of its columns, and how late it is, see `key_of`."""
    key, late = key_of(words, game)
    for column in range(N_COLUMNS):
        key += mix(np.uint64(words[COLUMNS + column]))
    return mix(key), late


@kernel
def push_onto(bits: int, lasts: int, build: int, moves: np.ndarray, top: int) -> int:
    """Put the moves of a set of cards onto last cards on the stack of moves; the new top."""
    while bits != 0:
        bit = lowest_bit(bits)
        bits ^= bit
        index = index_of(bit)
        rank, suit = index // N_SUITS, index % N_SUITS
        hosts = (lasts >> (N_SUITS * (rank + 1))) & RANK_BITS
        for host in range(N_SUITS):
            if (hosts >> host) & 1 and (BUILDERS[build, host] >> suit) & 1:
                moves[top] = index * 8 + ONTO + host
                top += 1
    return top


@kernel
def push_to(bits: int, target: int, moves: np.ndarray, top: int) -> int:
    """Put one move for each card of a set on the stack of moves; the new top."""
    while bits != 0:
        bit = lowest_bit(bits)
        bits ^= bit
        moves[top] = index_of(bit) * 8 + target
        top += 1
    return top


@kernel
def push_whole_talon(
    places: int, lasts: int, gap_cards: int, words: np.ndarray, cards: np.ndarray, build: int, moves: np.ndarray, top: int
) -> int:
    """Put the moves of talon cards on the stack, the last place first, so that the first is tried first."""
    for place in range(23, -1, -1):
        if (places >> place) & 1:
            bit = 1 << cards[3, place]
            top = push_to(bit & gap_cards, GAP, moves, top)
            top = push_to(bit & words[NEXT], UP, moves, top)
            top = push_onto(bit, lasts, build, moves, top)
    return top


@kernel
def push_whole_moves(words: np.ndarray, lasts: int, cards: np.ndarray, game: Game, moves: np.ndarray, top: int) -> int:
    """Put all moves worth trying on the stack, the best last; the new top."""
    heads, floor, wanted = words[HEADS], words[FLOOR], words[NEXT]
    gaps = N_COLUMNS - count_cards(heads | floor)
    gap_cards = game.gap_cards if gaps > 0 else 0
    now = reach_now(words, game.draw_count)
    later = reach_later(words, game.draw_count) & ~now
    tops = (wanted >> N_SUITS) & ALL_CARDS if game.worry_back else 0
    ends = (lasts if game.whole_runs else words[FACE_UP]) & ~(heads | floor)
    top = push_to(tops & gap_cards, GAP, moves, top)
    top = push_onto(tops, lasts, game.build, moves, top)
    top = push_to(ends & gap_cards, GAP, moves, top)
    fillers = (heads | ends | words[TALON] | tops) & game.gap_cards
    if (gaps == 0 and fillers != 0) or not game.idle:
        top = push_onto(floor, lasts, game.build, moves, top)
    top = push_onto(ends, lasts, game.build, moves, top)
    top = push_whole_talon(later, lasts, gap_cards, words, cards, game.build, moves, top)
    top = push_to(heads & gap_cards, GAP, moves, top)
    top = push_whole_talon(now, lasts, gap_cards, words, cards, game.build, moves, top)
    top = push_to(wanted & lasts & ~heads, UP, moves, top)
    top = push_onto(heads, lasts, game.build, moves, top)
    return push_to(wanted & lasts & heads, UP, moves, top)


@kernel
def enter_whole(
    frames: np.ndarray, moves: np.ndarray, slots: np.ndarray, counters: np.ndarray, cards: np.ndarray, game: Game
) -> None:
    """Visit the position of the frame above the top one, unless that was done before."""
    depth, top = counters[DEPTH] + 1, counters[TOP]
    words = frames[depth]
    lasts = last_cards(words)
    forced = -1
    if game.safe:
        forced = safe_move(words, lasts, game)
        if forced < 0:
            forced = safe_talon_move(words, cards, game)
    if forced < 0:
        key, late = whole_key(words, game)
        fresh = is_new(key, late, slots, game.time_bits)
        if fresh == 0:
            return
        counters[STORED] += fresh >> 1
    counters[VISITS] += 1
    words[MARK] = top
    if forced >= 0:
        moves[top] = forced * 8 + UP
        top += 1
    else:
        top = push_whole_moves(words, lasts, cards, game, moves, top)
    counters[TOP] = top
    counters[DEPTH] = depth


@kernel
def search_wholes(
    frames: np.ndarray,
    moves: np.ndarray,
    slots: np.ndarray,
    counters: np.ndarray,
    cards: np.ndarray,
    packed: np.ndarray,
) -> int:
    """As `klondike_env.solver.tails.search_tails`, with frames: int64[m, N_WHOLE_WORDS]."""
    game = tails.unpack(packed)
    room = len(frames) - 1
    if counters[DEPTH] < 0:
        enter_whole(frames, moves, slots, counters, cards, game)
    while counters[DEPTH] >= 0:
        depth = counters[DEPTH]
        if frames[depth, NEXT] == RANK_BITS << (N_SUITS * N_RANKS):
            return SOLVED
        if counters[VISITS] >= counters[LIMIT]:
            return PAUSED
        if depth >= room:
            return MORE_FRAMES
        if counters[TOP] + MOST_MOVES > len(moves):
            return MORE_MOVES
        if counters[STORED] * 4 >= len(slots) * 3:
            return MORE_SLOTS
        if counters[TOP] == frames[depth, MARK]:
            counters[DEPTH] = depth - 1
            continue
        counters[TOP] -= 1
        move = moves[counters[TOP]]
        for word in range(N_WHOLE_WORDS):
            frames[depth + 1, word] = frames[depth, word]
        play_whole_move(frames[depth + 1], move, cards, game.draw_count)
        frames[depth + 1, MOVE] = move
        enter_whole(frames, moves, slots, counters, cards, game)
    return UNSOLVABLE
