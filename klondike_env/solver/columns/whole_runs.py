"""Whole-run moves: the columns are told apart, as they must be where not every tail of a column may be moved.

The face-up cards of a column have consecutive ranks, so the set of them says how they lie: the first is the highest,
the last the lowest. A run laid on a column makes one set of two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.cards import N_SUITS
from klondike_env.engine.actions import ONTO_SUIT, TO_FOUNDATION, TO_GAP
from klondike_env.engine.card_sets import count_cards, lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import N_COLUMNS, TALON_SIZE
from klondike_env.solver.columns.any_tail import push
from klondike_env.solver.columns.card_numbering import BUILDERS, ONE_RANK, number_of
from klondike_env.solver.columns.nodes import (
    CARD_AT,
    COLUMNS,
    FACE_UP,
    FLOOR,
    HEADS,
    NEXT,
    TALON_CARDS,
    TARGETS,
    Game,
    foundation_tops,
    turn_up,
)
from klondike_env.solver.columns.reach import reach_later, reach_now, take_from_talon


@kernel
def last_cards(words: np.ndarray) -> int:
    """The set of the columns' last cards."""
    cards = 0
    for column in range(N_COLUMNS):
        cards |= lowest_bit(words[COLUMNS + column])
    return cards


@kernel
def column_of(words: np.ndarray, cards: int) -> int:
    """The first column that holds one of a set of cards; for the empty set, the first empty column."""
    column = 0
    while (words[COLUMNS + column] & cards) == 0 and (cards != 0 or words[COLUMNS + column] != 0):
        column += 1
    return column


@kernel
def lift_run(words: np.ndarray, number: int, cards: np.ndarray) -> int:
    """Take a column card, with all that lies on it, off its column; return the run as a set."""
    bit = 1 << number
    column = column_of(words, bit)
    run = words[COLUMNS + column] & ((bit << 1) - 1)
    words[COLUMNS + column] ^= run
    if words[HEADS] & bit:
        words[COLUMNS + column] = turn_up(words, number, cards)
    words[FLOOR] &= ~bit
    return run


@kernel
def play_whole_run(words: np.ndarray, move: int, cards: np.ndarray, draw_count: int) -> None:
    """Make a move. What lies on the card goes along."""
    number, target = move // TARGETS, move % TARGETS
    bit = 1 << number
    run = bit
    if words[TALON_CARDS] & bit:
        take_from_talon(words, number, cards, draw_count)
    elif words[FACE_UP] & bit:
        run = lift_run(words, number, cards)
    else:
        words[NEXT] ^= bit | (bit << N_SUITS)
    words[FACE_UP] |= bit
    if target == TO_FOUNDATION:
        words[FACE_UP] ^= bit
        words[NEXT] ^= bit | (bit << N_SUITS)
    elif target == TO_GAP:
        words[COLUMNS + column_of(words, 0)] = run
        words[FLOOR] |= bit
    else:
        host = 1 << ((number // N_SUITS + 1) * N_SUITS + target - ONTO_SUIT)
        words[COLUMNS + column_of(words, host)] |= run


@kernel
def push_onto(bits: int, lasts: int, build: int, moves: np.ndarray, top: int) -> int:
    """Push on the stack the moves that build a set of cards on the last cards of columns; return the new top."""
    while bits != 0:
        bit = lowest_bit(bits)
        bits ^= bit
        number = number_of(bit)
        rank, suit = number // N_SUITS, number % N_SUITS
        hosts = (lasts >> (N_SUITS * (rank + 1))) & ONE_RANK
        for host in range(N_SUITS):
            if (hosts >> host) & (BUILDERS[build, host] >> suit) & 1:
                moves[top] = number * TARGETS + ONTO_SUIT + host
                top += 1
    return top


class Targets(NamedTuple):
    """Where cards can go."""

    lasts: int  # the last cards of the columns, on which cards are built
    build: int  # the rule by which they are, an index into BUILDS
    wanted: int  # the cards that the foundations take next
    gap_cards: int  # the cards that a gap takes, none where there is no gap


@kernel
def push_talon_onto(places: int, targets: Targets, cards: np.ndarray, moves: np.ndarray, top: int) -> int:
    """Push on the stack the moves of talon cards, the first place last, to be tried first; return the new top."""
    for place in range(TALON_SIZE - 1 if places != 0 else -1, -1, -1):
        if (places >> place) & 1:
            bit = 1 << cards[CARD_AT, place]
            top = push(bit & targets.gap_cards, TO_GAP, moves, top)
            top = push(bit & targets.wanted, TO_FOUNDATION, moves, top)
            top = push_onto(bit, targets.lasts, targets.build, moves, top)
    return top


@kernel
def push_whole_runs(words: np.ndarray, lasts: int, cards: np.ndarray, game: Game, moves: np.ndarray, top: int) -> int:
    """Push on the stack all moves that may be needed, the most promising last; return the new top."""
    heads, floor, wanted = words[HEADS], words[FLOOR], words[NEXT]
    tails = (lasts if game.whole_runs else words[FACE_UP]) & ~(heads | floor)
    tops = foundation_tops(words) if game.worry_back else 0
    gaps = N_COLUMNS - count_cards(heads | floor)
    gap_cards = game.gap_cards if gaps > 0 else 0
    now = reach_now(words, game.draw_count)
    later = reach_later(words, game.draw_count) & ~now
    targets = Targets(lasts=lasts, build=game.build, wanted=wanted, gap_cards=gap_cards)
    waiting = (heads | tails | words[TALON_CARDS] | tops) & game.gap_cards

    top = push(tops & gap_cards, TO_GAP, moves, top)
    top = push_onto(tops, lasts, game.build, moves, top)
    top = push(tails & gap_cards, TO_GAP, moves, top)
    if not game.late_gaps or (gaps == 0 and waiting != 0):
        top = push_onto(floor, lasts, game.build, moves, top)
    top = push_onto(tails, lasts, game.build, moves, top)
    top = push_talon_onto(later, targets, cards, moves, top)
    top = push(heads & gap_cards, TO_GAP, moves, top)
    top = push_talon_onto(now, targets, cards, moves, top)
    top = push(wanted & lasts & ~heads, TO_FOUNDATION, moves, top)
    top = push_onto(heads, lasts, game.build, moves, top)
    return push(wanted & lasts & heads, TO_FOUNDATION, moves, top)
