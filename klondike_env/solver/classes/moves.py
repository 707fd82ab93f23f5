"""The nodes of the class search, each a class of positions that differ only in where face-up cards lie, and the moves.

Where columns are built in alternating colours, gaps take kings, any tail may be moved and cards may come back from
the foundations, four things determine a class: the foundations, how many *locked* cards each column still holds,
the talon's cards, and how many of them are in the waste. Below, such a class is simply called a position.

A column's *locked* cards are its face-down cards and the first card that is face up. That one is *open*, the others are
hidden. All other face-up cards are *placed*: each lies on a card of the pair that is one rank higher and of the other
colour, or is a king in a gap. It does not matter on which card of that pair: where both are face up and one is covered,
what lies on one may be moved to the other. So only the number of covered cards of each pair counts. And the only moves
from column to column that count are those that take away a locked card.

This is exact. Every ordinary move is one of these or changes nothing here, and each of these can be made by ordinary
moves, however the placed cards lie.

A king that is the only locked card of its column counts as placed, since it lies at the bottom either way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.cards import KING, N_RANKS, N_SUITS
from klondike_env.engine.card_arithmetic import card_at, rank_of
from klondike_env.engine.card_sets import count_cards, lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import N_COLUMNS, TALON_SIZE
from klondike_env.engine.talon import comes_up, reachable_places
from klondike_env.solver.classes.card_numbering import (
    CARDS,
    KINGS,
    NUMBERS,
    RANK_WIDTH,
    next_in_suit,
    number_of,
    one_rank_lower,
    uncovered,
)


class Node(NamedTuple):
    """A position; its sets are those of `klondike_env.solver.classes.card_numbering`."""

    visible: int  # the face-up cards of the columns
    open: int  # those of them that are locked
    wanted: int  # the next card of each foundation, or its bit above the kings
    code: int  # the position as one number, see below


class Situation(NamedTuple):
    """A position and what follows from it."""

    node: Node
    free: int  # the pairs of which a card is face up and uncovered, both cards of each
    playable: int  # the talon cards that drawing can bring to the top of the waste
    gap: bool  # whether a column is empty


class MoveSets(NamedTuple):
    """The cards that can be moved, a set for each kind of move, in the order in which the kinds are tried."""

    unlock: int  # an open card, with all that lies on it, to another column
    column_to_foundation: int
    talon_to_column: int
    talon_to_foundation: int
    empty_column: int  # as unlock, but for the last locked card of its column, to make room for a king
    worry_back: int  # from a foundation to a column


# The kind of a move is the index of its set in MoveSets. A move is `kind * 64 + card`, with the card's number.
UNLOCK = MoveSets._fields.index("unlock")
COLUMN_TO_FOUNDATION = MoveSets._fields.index("column_to_foundation")
TALON_TO_COLUMN = MoveSets._fields.index("talon_to_column")
TALON_TO_FOUNDATION = MoveSets._fields.index("talon_to_foundation")
EMPTY_COLUMN = MoveSets._fields.index("empty_column")
WORRY_BACK = MoveSets._fields.index("worry_back")
N_KINDS = len(MoveSets._fields)
START = N_KINDS  # no move at all: the root of a search
NO_MOVE = -1
_CARD_BITS = 6

# The code of a position, a number below 2**63. No two positions of one search have the same code.
#   bits 0..30   sum of 14**suit * foundation height, and 14**4 times the locked cards in mixed radix
#   bits 31..54  the talon cards that are left, in dealing order
#   bits 55..57  0; the search writes here what is pending, at draw count 1 into bits 55..62
#   bits 58..62  how many cards are in the waste; 0 where that makes no difference, as at draw count 1
TALON_SHIFT, PENDING_SHIFT, WASTE_SHIFT = 31, 55, 58
TALON_MASK = ((1 << TALON_SIZE) - 1) << TALON_SHIFT
_HEIGHTS = N_RANKS + 1
_HEIGHT_STEPS = np.array([_HEIGHTS ** (card // N_RANKS) for card in CARDS], dtype=np.int64)
_LOCK_STEPS = np.array([_HEIGHTS**N_SUITS * np.prod(range(2, 2 + j), dtype=int) for j in range(N_COLUMNS)])

# Rows of `deal: int64[rows, 64]`, which does not change during a search; by card number unless another index is named.
(
    _LOCK_STEP,  # what the code loses when a locked card is taken away
    _SHOWN,  # the set that holds the card then turned up
    _OPENED,  # the same, but empty if that card does not count as locked
    _TALON_BIT,  # the bit of a talon card in the code
    TALON_CARD,  # by index in the talon: the card's number
    _SETS,  # sets of cards, by the indices that follow
    _DEAL_ROWS,
) = range(7)
_LAST_LOCKED = (_SETS, 0)  # the cards whose removal empties a column
_TALON_SET = (_SETS, 1)  # the talon's cards at the start
DEAL_SHAPE = (_DEAL_ROWS, 64)


@kernel
def move_of(kind: int, card: int) -> int:
    """A kind and a card as one number."""
    return (kind << _CARD_BITS) | card


@kernel
def kind_of(move: int) -> int:
    """The kind of a move."""
    return move >> _CARD_BITS


@kernel
def card_of(move: int) -> int:
    """The number of a move's card."""
    return move & ((1 << _CARD_BITS) - 1)


@kernel
def placed_cards(node: Node) -> int:
    """The face-up cards of the columns that are not locked."""
    return node.visible & ~node.open


@kernel
def free_pairs(node: Node) -> int:
    """The pairs of which a card is face up and uncovered."""
    return uncovered(node.visible, placed_cards(node))


@kernel
def has_gap(node: Node) -> bool:
    """Whether a column is empty."""
    return count_cards(node.open) + count_cards(placed_cards(node) & KINGS) < N_COLUMNS


@kernel
def last_locked(deal: np.ndarray) -> int:
    """The cards whose removal empties a column."""
    return int(deal[_LAST_LOCKED])


@kernel
def talon_bit(deal: np.ndarray, card: int) -> int:
    """The bit of a talon card in the code."""
    return int(deal[_TALON_BIT, card])


@kernel
def talon_index(deal: np.ndarray, card: int) -> int:
    """The index of a talon card at the start."""
    return number_of(talon_bit(deal, card) >> TALON_SHIFT)


@kernel
def in_talon(node: Node, cards: int, deal: np.ndarray) -> int:
    """Those of `cards` that are in the talon; none of `cards` is on a foundation."""
    return cards & int(deal[_TALON_SET]) & ~node.visible


@kernel
def with_waste(code: int, waste: int, draw_count: int) -> int:
    """The code with a number of cards in the waste.

    Where whole draws from the start of a pass produce that waste, the same cards can be reached as from an empty one,
    now and later, so the number is 0.
    """
    code &= (1 << WASTE_SHIFT) - 1
    as_good_as_none = comes_up(waste, count_cards(code & TALON_MASK), draw_count)
    return code if as_good_as_none else code | (waste << WASTE_SHIFT)


@kernel
def reachable(code: int, deal: np.ndarray, draw_count: int) -> int:
    """The talon cards that drawing, with unlimited redeals, can bring to the top of the waste."""
    left = (code & TALON_MASK) >> TALON_SHIFT
    size = count_cards(left)
    places = reachable_places(size, code >> WASTE_SHIFT, size, draw_count, True)
    cards = 0
    while left != 0:
        lowest = lowest_bit(left)
        left ^= lowest
        cards |= (places & 1) << int(deal[TALON_CARD, number_of(lowest)])
        places >>= 1
    return cards


@kernel
def code_without(code: int, card: int, deal: np.ndarray, draw_count: int) -> int:
    """The code after a card has left the talon: the cards before it are the waste."""
    bit = talon_bit(deal, card)
    code ^= bit
    return code if draw_count == 1 else with_waste(code, count_cards(code & TALON_MASK & (bit - 1)), draw_count)


@kernel
def play(node: Node, kind: int, card: int, deal: np.ndarray, draw_count: int) -> Node:
    """The position after a move."""
    visible, open_cards, wanted, code = node.visible, node.open, node.wanted, node.code
    bit = 1 << card
    if kind == COLUMN_TO_FOUNDATION:
        visible ^= bit
    elif kind in (WORRY_BACK, TALON_TO_COLUMN):
        visible |= bit
    if kind in (TALON_TO_COLUMN, TALON_TO_FOUNDATION):
        code = code_without(code, card, deal, draw_count)
    elif kind != START and open_cards & bit:
        visible |= int(deal[_SHOWN, card])
        open_cards ^= bit | int(deal[_OPENED, card])
        code -= int(deal[_LOCK_STEP, card])
    if kind in (COLUMN_TO_FOUNDATION, TALON_TO_FOUNDATION):
        wanted ^= bit | (1 << next_in_suit(card))
        code += int(_HEIGHT_STEPS[card])
    elif kind == WORRY_BACK:
        wanted ^= bit | (1 << next_in_suit(card))
        code -= int(_HEIGHT_STEPS[card])
    return Node(visible=visible, open=open_cards, wanted=wanted, code=code)


@kernel
def find_moves(situation: Situation) -> MoveSets:
    """All moves; those that empty a column are among the unlocking ones."""
    node = situation.node
    landing = (situation.free >> RANK_WIDTH) | (KINGS if situation.gap else 0)
    return MoveSets(
        unlock=node.open & landing,
        column_to_foundation=node.visible & situation.free & node.wanted,
        talon_to_column=situation.playable & landing,
        talon_to_foundation=situation.playable & node.wanted,
        empty_column=0,
        worry_back=one_rank_lower(node.wanted) & landing,
    )


@kernel
def read_column(states: np.ndarray, i: int, column: int, deal: np.ndarray) -> Node:
    """What a column adds to a position. deal: written for each locked card."""
    height = int(states[i]["height"][column])
    n_locked = int(states[i]["face_down"][column]) + 1 if height > 0 else 0
    step = int(_LOCK_STEPS[column])
    visible, beneath, code = 0, 0, 0
    for row in range(height):
        card = int(states[i]["columns"][column, row])
        number = int(NUMBERS[card])
        if row < n_locked:
            is_locked = row > 0 or rank_of(card) != KING
            deal[_LOCK_STEP, number] = (row + 1) * step - code
            deal[_SHOWN, number] = visible
            deal[_OPENED, number] = beneath
            visible, beneath, code = 1 << number, 1 << number if is_locked else 0, (row + 1) * step if is_locked else 0
            if row == 0:
                deal[_LAST_LOCKED] |= beneath
        else:
            visible |= 1 << number
    return Node(visible=visible, open=beneath, wanted=0, code=code)


@kernel
def read_foundation(states: np.ndarray, i: int, suit: int) -> Node:
    """What a foundation adds to a position."""
    height = int(states[i]["foundation"][suit])
    ace = int(NUMBERS[card_at(0, suit)])
    wanted = ace if height == 0 else next_in_suit(int(NUMBERS[card_at(height - 1, suit)]))
    return Node(visible=0, open=0, wanted=1 << wanted, code=height * int(_HEIGHT_STEPS[ace]))


@kernel
def read_node(states: np.ndarray, i: int, deal: np.ndarray, draw_count: int) -> Node:
    """The position of a valid record. deal: int64 of DEAL_SHAPE, overwritten."""
    deal[:] = 0
    visible, open_cards, wanted, code = 0, 0, 0, 0
    for column in range(N_COLUMNS):
        part = read_column(states, i, column, deal)
        visible |= part.visible
        open_cards |= part.open
        code += part.code
    for suit in range(N_SUITS):
        part = read_foundation(states, i, suit)
        wanted |= part.wanted
        code += part.code
    for index in range(int(states[i]["talon_size"])):
        number = int(NUMBERS[int(states[i]["talon"][index])])
        deal[TALON_CARD, index] = number
        deal[_TALON_BIT, number] = 1 << (TALON_SHIFT + index)
        deal[_TALON_SET] |= 1 << number
        code |= 1 << (TALON_SHIFT + index)
    if draw_count > 1:
        code = with_waste(code, int(states[i]["waste_size"]), draw_count)
    return Node(visible=visible, open=open_cards, wanted=wanted, code=code)
