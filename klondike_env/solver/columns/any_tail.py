"""Any-tail moves: where any tail of a column may be moved, it does not matter on which card a run lies.

Where any tail may move, runs change hosts freely. Two positions that differ only in which host of a rank
carries which run are won or lost together, whatever the build rule, so they count as one. Such a position is
determined by which cards are face down, heads, on the floor, built, in the talon, and on the foundations.

Proof. Call moves from host to host free, and count all others. What free moves can do between two ranks is in
`BETWEEN_RANKS`, and does not depend on what lies where at first (a test tries all cases). Consider a counted move that
one arrangement allows: a run, with whatever lies on it, to a host, to a gap or to its foundation. The other
arrangements allow it too after free moves, and it leads to positions that again differ only in arrangement. By
induction all need the same number of counted moves to a win.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.cards import N_RANKS, N_SUITS
from klondike_env.engine.actions import TO_FOUNDATION, TO_GAP
from klondike_env.engine.card_sets import count_cards, lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import N_COLUMNS, TALON_SIZE
from klondike_env.solver.columns.card_numbering import BETWEEN_RANKS, ONE_RANK, number_of
from klondike_env.solver.columns.nodes import (
    CARD_AT,
    FACE_UP,
    FLOOR,
    HEADS,
    NEXT,
    ONTO_ANY,
    PLACE,
    TALON_CARDS,
    TARGETS,
    Game,
    foundation_tops,
    turn_up,
)
from klondike_env.solver.columns.reach import reach_later, reach_now, take_from_talon


class Free(NamedTuple):
    """What moves between hosts can make possible, as sets of cards."""

    uncovered: int  # the column cards that can be uncovered
    landing: int  # all cards that could land on a column card


@kernel
def find_free(words: np.ndarray, build: int) -> Free:
    """What moves between hosts can make possible."""
    face_up = words[FACE_UP]
    built = face_up & ~(words[HEADS] | words[FLOOR])
    uncovered, landing = face_up & ONE_RANK, 0
    for rank in range(1, N_RANKS):
        shift = N_SUITS * rank
        hosts, on_hosts = (face_up >> shift) & ONE_RANK, (built >> (shift - N_SUITS)) & ONE_RANK
        entry = BETWEEN_RANKS[build, (hosts << N_SUITS) | on_hosts]
        uncovered |= (entry & ONE_RANK) << shift
        landing |= (entry >> N_SUITS) << (shift - N_SUITS)
    return Free(uncovered=uncovered, landing=landing)


@kernel
def play_any_tail(words: np.ndarray, move: int, cards: np.ndarray, draw_count: int) -> None:
    """Make a move. What lies on the card goes along."""
    number, target = move // TARGETS, move % TARGETS
    bit = 1 << number
    if words[TALON_CARDS] & bit:
        take_from_talon(words, number, cards, draw_count)
    elif words[HEADS] & bit:
        turn_up(words, number, cards)
    elif not words[FACE_UP] & bit:
        words[NEXT] ^= bit | (bit << N_SUITS)
    words[FLOOR] &= ~bit
    words[FACE_UP] |= bit
    if target == TO_FOUNDATION:
        words[FACE_UP] ^= bit
        words[NEXT] ^= bit | (bit << N_SUITS)
    elif target == TO_GAP:
        words[FLOOR] |= bit


@kernel
def worth_parking(words: np.ndarray, built: int, movable: int, build: int) -> int:
    """The built cards whose move to a gap lets another movable card land, or frees one that its foundation takes."""
    worth = 0
    for rank in range(N_RANKS - 1):
        shift = N_SUITS * rank
        on_hosts = (built >> shift) & ONE_RANK
        if on_hosts != 0:
            hosts = (words[FACE_UP] >> (shift + N_SUITS)) & ONE_RANK
            useful = ((words[NEXT] >> (shift + N_SUITS)) & ONE_RANK) | (((movable >> shift) & ONE_RANK) << N_SUITS)
            useful &= ~BETWEEN_RANKS[build, (hosts << N_SUITS) | on_hosts]
            for suit in range(N_SUITS):
                card = on_hosts & (1 << suit)
                opened = BETWEEN_RANKS[build, (hosts << N_SUITS) | (on_hosts ^ card)] & ~(card << N_SUITS)
                worth |= card << shift if opened & useful else 0
    return worth


@kernel
def push(bits: int, target: int, moves: np.ndarray, top: int) -> int:
    """Push on the stack a move to `target` for each card of a set; return the new top."""
    while bits != 0:
        bit = lowest_bit(bits)
        bits ^= bit
        moves[top] = number_of(bit) * TARGETS + target
        top += 1
    return top


@kernel
def places_of(bits: int, cards: np.ndarray) -> int:
    """The places of a set of talon cards."""
    places = 0
    while bits != 0:
        bit = lowest_bit(bits)
        bits ^= bit
        places |= 1 << cards[PLACE, number_of(bit)]
    return places


class Targets(NamedTuple):
    """Sets of cards by where they can go."""

    landing: int  # the cards that could land on a column card
    wanted: int  # the cards that the foundations take next
    gap_cards: int  # the cards that a gap takes, none where there is no gap


@kernel
def push_talon(places: int, targets: Targets, cards: np.ndarray, moves: np.ndarray, top: int) -> int:
    """Push on the stack the moves of talon cards, the first place last, to be tried first; return the new top."""
    for place in range(TALON_SIZE - 1 if places != 0 else -1, -1, -1):
        if (places >> place) & 1:
            bit = 1 << cards[CARD_AT, place]
            top = push(bit & targets.gap_cards, TO_GAP, moves, top)
            top = push(bit & targets.wanted, TO_FOUNDATION, moves, top)
            top = push(bit & targets.landing, ONTO_ANY, moves, top)
    return top


@kernel
def push_any_tail(words: np.ndarray, free: Free, cards: np.ndarray, game: Game, moves: np.ndarray, top: int) -> int:
    """Push on the stack all moves that may be needed, the most promising last; return the new top."""
    heads, floor, wanted, landing = words[HEADS], words[FLOOR], words[NEXT], free.landing
    built = words[FACE_UP] & ~(heads | floor)
    tops = foundation_tops(words) if game.worry_back else 0
    gaps = N_COLUMNS - count_cards(heads | floor)
    gap_cards = game.gap_cards if gaps > 0 else 0
    targets = Targets(landing=landing, wanted=wanted, gap_cards=gap_cards)
    places = places_of(words[TALON_CARDS] & (wanted | landing | gap_cards), cards)
    now, later = 0, 0
    if places != 0:
        now = places & reach_now(words, game.draw_count)
        later = places & ~now & reach_later(words, game.draw_count)
    parked = built & gap_cards
    if parked != 0 and game.late_parking:
        parked &= worth_parking(words, built, heads | floor | words[TALON_CARDS] | tops, game.build)
    waiting = (heads | built | words[TALON_CARDS] | tops) & game.gap_cards

    top = push(tops & gap_cards, TO_GAP, moves, top)
    top = push(tops & landing, ONTO_ANY, moves, top)
    top = push(parked, TO_GAP, moves, top)
    if not game.late_gaps or (gaps == 0 and waiting != 0):
        top = push(floor & landing, ONTO_ANY, moves, top)
    top = push_talon(later, targets, cards, moves, top)
    top = push(heads & gap_cards, TO_GAP, moves, top)
    top = push_talon(now, targets, cards, moves, top)
    top = push(wanted & free.uncovered & ~heads, TO_FOUNDATION, moves, top)
    top = push(heads & landing, ONTO_ANY, moves, top)
    return push(wanted & free.uncovered & heads, TO_FOUNDATION, moves, top)
