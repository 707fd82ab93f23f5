"""Positions that forget where face-up cards lie, and what can be done in them.

Where columns are built in alternating colours, gaps take kings, any tail may be moved and cards may come back from
the foundations, a position is told by four things: the foundations, how many *locked* cards each column still holds,
the talon's cards, and how many of them are in the waste.

Locked are a column's face-down cards and the lowest card that is face up; that one is *open*, the others are hidden.
All other face-up cards are *placed*: each lies on a card of the pair that is one rank higher and of the other colour,
or is a king in a gap. On which card of the pair does not matter: where two are face up and one is covered, what lies
on the one may be moved to the other. So of each pair only the number of covered cards counts, and moves from column to
column exist only as the removal of a locked card. This is exact, not an estimate: every ordinary move is one of these
or changes nothing here, and each of these can be made by ordinary moves, from any arrangement of the placed cards.

A king that ends up as the only locked card of its column is counted as placed: it lies on the floor either way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.cards import KING, N_CARDS, N_RANKS, N_SUITS, card_at, rank_of
from klondike_env.engine.jit import kernel
from klondike_env.engine.lanes import count_cards
from klondike_env.engine.state import N_COLUMNS, TALON_SIZE
from klondike_env.solver.pairs import CARDS, NUMBERS, next_in_suit, number_of

# Kinds of moves. A move is `kind * 64 + card`, with the card's number of klondike_env.solver.pairs.
UNLOCK = 0  # an open card, with all that lies on it, to another column
UP = 1  # from a column to its foundation
STOCK_DOWN = 2  # from the talon to a column
STOCK_UP = 3  # from the talon to its foundation
EMPTY = 4  # UNLOCK of the last locked card of a column, to make room for a king
DOWN = 5  # from a foundation to a column
N_KINDS = 6
START = 6  # no move at all: the root of the search
_CARD_BITS = 6

# The code of a position, a number below 2**63:
#   bits 0..30   sum of 14**suit * foundation height, and 14**4 times the locked cards in mixed radix
#   bits 31..54  talon cards that are left, in dealing order
#   bits 55..57  the search's own, see klondike_env.solver.free; 55..59 where the draw count is 1
#   bits 58..62  cards in the waste, 0 where that makes no difference
TALON_SHIFT, MARK_SHIFT, WASTE_SHIFT = 31, 55, 58
_TALON_MASK = ((1 << TALON_SIZE) - 1) << TALON_SHIFT
_WASTE_MASK = 31 << WASTE_SHIFT
_HEIGHTS = N_RANKS + 1
_HEIGHT_STEPS = np.array([_HEIGHTS ** (card // N_RANKS) for card in CARDS], dtype=np.int64)
_LOCK_STEPS = np.array([_HEIGHTS**N_SUITS * np.prod(np.arange(2, 2 + j), dtype=int) for j in range(N_COLUMNS)])

# Rows of `deal: int64[5, 64]`, what stays fixed during a search, by card number.
LOCK_STEP = 0  # what the code loses when a locked card is removed
SHOWN = 1  # the set that holds the card then turned up
OPENED = 2  # the same, if that card is locked in its turn
TALON_BIT = 3  # the bit of a talon card in the code
TALON_CARD = 4  # by index in the talon: the card's number
LAST_LOCKED = (4, TALON_SIZE)  # the set of cards whose removal empties a column
DEAL_SHAPE = (5, 64)


class Position(NamedTuple):
    """A position; sets are those of klondike_env.solver.pairs."""

    visible: int  # the face-up cards of the columns
    open: int  # those of them that are locked
    wanted: int  # the next card of each foundation, or its bit above the king
    playable: int  # talon cards that drawing can bring to the waste's top
    code: int


@kernel
def talon_index(code: int, place: int) -> int:
    """How many talon cards lie before the one whose bit is `place`."""
    return count_cards(code & _TALON_MASK & (place - 1))


@kernel
def with_waste(code: int, waste: int, draw_count: int) -> int:
    """The code with a number of cards in the waste.

    Where that is a multiple of the draw count, or the stock is empty, the same cards can be reached as with
    an empty waste, so it counts as 0.
    """
    size = count_cards(code & _TALON_MASK)
    code &= ~_WASTE_MASK
    return code if waste % draw_count == 0 or waste == size else code | (waste << WASTE_SHIFT)


@kernel
def reachable(code: int, deal: np.ndarray, draw_count: int) -> int:
    """The talon cards that drawing, with any number of redeals, can bring to the waste's top."""
    waste = code >> WASTE_SHIFT
    rest = (code & _TALON_MASK) >> TALON_SHIFT
    cards = 0
    to_fresh = draw_count
    to_stop = waste if waste > 0 else N_CARDS
    while rest != 0:
        lowest = rest & -rest
        rest ^= lowest
        to_fresh -= 1
        to_stop -= 1
        if to_fresh == 0 or to_stop == 0 or rest == 0:
            cards |= 1 << int(deal[TALON_CARD, number_of(lowest)])
        to_fresh = draw_count if to_fresh == 0 else to_fresh
        to_stop = draw_count if to_stop == 0 else to_stop
    return cards


@kernel
def take(playable: int, code: int, card: int, deal: np.ndarray, draw_count: int) -> tuple[int, int]:
    """The playable cards and the code after a card has left the talon."""
    place = int(deal[TALON_BIT, card])
    if draw_count == 1:
        return playable ^ (1 << card), code ^ place
    code = with_waste(code ^ place, talon_index(code, place), draw_count)
    return reachable(code, deal, draw_count), code


@kernel
def play(position: Position, kind: int, card: int, deal: np.ndarray, draw_count: int) -> Position:
    """The position after a move."""
    visible, open_cards, wanted, playable, code = position
    bit = 1 << card
    if kind == STOCK_DOWN or kind == STOCK_UP:
        playable, code = take(playable, code, card, deal, draw_count)
        visible |= bit if kind == STOCK_DOWN else 0
    elif kind == DOWN:
        visible |= bit
        wanted ^= bit | (1 << next_in_suit(card))
        code -= int(_HEIGHT_STEPS[card])
    elif kind != START:
        visible ^= bit if kind == UP else 0
        if open_cards & bit:
            visible |= int(deal[SHOWN, card])
            open_cards ^= bit | int(deal[OPENED, card])
            code -= int(deal[LOCK_STEP, card])
    if kind == UP or kind == STOCK_UP:
        wanted ^= bit | (1 << next_in_suit(card))
        code += int(_HEIGHT_STEPS[card])
    return Position(visible, open_cards, wanted, playable, code)


@kernel
def lock_column(states: np.ndarray, i: int, column: int, deal: np.ndarray) -> tuple[int, int, int]:
    """Note what removing each locked card of a column does; its face-up cards, the open one, its part of the code."""
    n_locked = int(states[i]["face_down"][column]) + 1 if int(states[i]["height"][column]) > 0 else 0
    step = int(_LOCK_STEPS[column])
    visible, beneath, is_locked, locks = 0, 0, False, 0
    for row in range(int(states[i]["height"][column])):
        card = int(states[i]["columns"][column, row])
        number = int(NUMBERS[card])
        if row < n_locked:
            deal[LOCK_STEP, number] = step if is_locked or row == 0 else 2 * step
            deal[SHOWN, number] = beneath
            deal[OPENED, number] = beneath if is_locked else 0
            beneath, is_locked = 1 << number, row > 0 or rank_of(card) != KING
            locks = (row + 1) * step if is_locked else 0
        if row == 0 and is_locked:
            deal[LAST_LOCKED] |= 1 << number
        if row >= n_locked - 1:
            visible |= 1 << number
    return visible, beneath if is_locked else 0, locks


@kernel
def read_position(states: np.ndarray, i: int, deal: np.ndarray, draw_count: int) -> Position:
    """The position of a record. deal: int64[5, 64], overwritten."""
    deal[LAST_LOCKED] = 0
    visible, open_cards, wanted, playable, code = 0, 0, 0, 0, 0
    for column in range(N_COLUMNS):
        shown, locked, locks = lock_column(states, i, column, deal)
        visible |= shown
        open_cards |= locked
        code += locks
    for suit in range(N_SUITS):
        height = int(states[i]["foundation"][suit])
        wanted |= 1 << (next_in_suit(int(NUMBERS[card_at(height - 1, suit)])) if height > 0 else int(NUMBERS[card_at(0, suit)]))
        code += height * int(_HEIGHT_STEPS[int(NUMBERS[card_at(0, suit)])])
    for index in range(int(states[i]["talon_size"])):
        number = int(NUMBERS[int(states[i]["talon"][index])])
        deal[TALON_CARD, index] = number
        deal[TALON_BIT, number] = 1 << (TALON_SHIFT + index)
        code |= 1 << (TALON_SHIFT + index)
        playable |= 1 << number
    if draw_count > 1:
        code = with_waste(code, int(states[i]["waste_size"]), draw_count)
        playable = reachable(code, deal, draw_count)
    return Position(visible, open_cards, wanted, playable, code)
