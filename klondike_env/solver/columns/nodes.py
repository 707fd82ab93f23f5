"""The nodes of the search: positions of a few words each, made from a record.

What does not change during a search is in `Game` and in `cards`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.cards import N_SUITS
from klondike_env.engine.actions import ONTO_SUIT
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import N_COLUMNS
from klondike_env.rules import UNLIMITED, RuleParams
from klondike_env.solver.columns.card_numbering import ALL_CARDS, KINGS, NUMBERS

# The words of a position, int64[N_WORDS], or int64[N_WORDS + 7] where the columns are told apart.
(
    FACE_UP,  # the set of face-up column cards
    HEADS,  # those that lie on a face-down card
    FLOOR,  # those that lie on no card; all others are built, each on a card one rank higher
    NEXT,  # for each suit the card that its foundation takes next
    DEPTHS,  # face-down cards of each column, three bits a column
    TALON_CARDS,  # the set of cards in the talon
    PLACES,  # the places that they had in the talon at the start, 0 to 23, as bits
    BORDER,  # the waste is the part of the talon whose places are below this one
    REDEALS,  # redeals left, or ENOUGH
    MOVE,  # the move that led here
    LINK,  # for the search: depth-first, where the moves from here begin on its stack; in a beam, the node before
    N_WORDS,
) = range(12)
COLUMNS = N_WORDS  # the set of face-up cards of each column

ENOUGH = 255  # at least as many redeals as talon cards: as good as unlimited, since each card needs one at most

# A move is `8 * card + target`, with the card's number of klondike_env.solver.columns.card_numbering. Its target is the
# destination of klondike_env.engine.actions, or ONTO_ANY where it makes no difference which card is built on.
TARGETS = 8
ONTO_ANY = ONTO_SUIT

# Rows of `cards: int64 of CARDS_SHAPE`, which does not change during a search; by number of the card except the last.
(
    PLACE,  # its place in the talon
    COLUMN,  # the column where it lay at the start
    UNDER,  # the card under it there
    CARD_AT,  # by place in the talon: the card
    _CARDS_ROWS,
) = range(5)
CARDS_SHAPE = (_CARDS_ROWS, 64)

_NUMBERS = np.array(NUMBERS, dtype=np.int64)


class Game(NamedTuple):
    """The rules of a game and the prunings of its search as plain integers; flags are 0 or 1."""

    build: int  # index into BUILDS
    gap_cards: int  # the set of cards that a gap takes
    draw_count: int
    worry_back: int
    whole_runs: int
    by_columns: int  # columns are told apart
    safe: int  # this and the next three: see klondike_env.solver.columns.pruning
    earliest: int
    late_gaps: int
    late_parking: int
    shuffle: int  # 0, or a number for another order of moves


@kernel
def turn_up(words: np.ndarray, number: int, cards: np.ndarray) -> int:
    """Turn up the card under a head that leaves; return the set that holds it."""
    column, under = cards[COLUMN, number], 1 << cards[UNDER, number]
    words[DEPTHS] -= 1 << (3 * column)
    words[FACE_UP] |= under
    words[HEADS] ^= 1 << number
    words[HEADS if (words[DEPTHS] >> (3 * column)) & 7 else FLOOR] |= under
    return under


@kernel
def foundation_tops(words: np.ndarray) -> int:
    """The set of the foundations' top cards."""
    return (words[NEXT] >> N_SUITS) & ALL_CARDS


def gap_cards(rules: RuleParams) -> int:
    """The set of cards that a gap takes."""
    return (KINGS, ALL_CARDS, 0)[rules.gaps]


def read_record(record: np.void, rules: RuleParams) -> tuple[np.ndarray, np.ndarray]:
    """The words of a record's position, int64[N_WORDS + 7], and its `cards`, int64 of CARDS_SHAPE."""
    words, cards = np.zeros(N_WORDS + N_COLUMNS, dtype=np.int64), np.zeros(CARDS_SHAPE, dtype=np.int64)
    read_words(np.atleast_1d(record), 0, words, cards, rules)
    return words, cards


@kernel
def redeals_left(states: np.ndarray, i: int, rules: RuleParams) -> int:
    """Redeals left in a record's game, or ENOUGH."""
    left = ENOUGH if rules.redeals == UNLIMITED else max(rules.redeals - int(states[i]["redeals_used"]), 0)
    return ENOUGH if left >= int(states[i]["talon_size"]) else left


@kernel
def read_words(states: np.ndarray, i: int, words: np.ndarray, cards: np.ndarray, rules: RuleParams) -> None:
    """Write the words of a record's position and its `cards`. words: int64[N_WORDS + 7] or, without columns, less."""
    words[:] = 0
    for column in range(N_COLUMNS):
        _read_column(states, i, column, words, cards)
    for suit in range(N_SUITS):
        words[NEXT] |= 1 << (N_SUITS * int(states[i]["foundation"][suit]) + suit)
    size = int(states[i]["talon_size"])
    for place in range(size):
        number = int(_NUMBERS[int(states[i]["talon"][place])])
        cards[PLACE, number], cards[CARD_AT, place] = place, number
        words[TALON_CARDS] |= 1 << number
    words[PLACES] = (1 << size) - 1
    words[BORDER] = int(states[i]["waste_size"])
    words[REDEALS] = redeals_left(states, i, rules)


@kernel
def _read_column(states: np.ndarray, i: int, column: int, words: np.ndarray, cards: np.ndarray) -> None:
    depth, height = int(states[i]["face_down"][column]), int(states[i]["height"][column])
    words[DEPTHS] |= depth << (3 * column)
    under = 0
    for row in range(height):
        number = int(_NUMBERS[int(states[i]["columns"][column, row])])
        cards[COLUMN, number] = column
        cards[UNDER, number] = under
        under = number
        if row == depth:
            words[HEADS if depth > 0 else FLOOR] |= 1 << number
        if row >= depth:
            words[FACE_UP] |= 1 << number
            if len(words) > COLUMNS:
                words[COLUMNS + column] |= 1 << number
