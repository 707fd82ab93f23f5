"""Cards numbered by ranks, and what can be done between two neighbouring ranks.

Within the column search a card is a number 0..51, `4 * rank + suit`, and a set of cards an int64, so that a shift
by four moves every card one rank. Bits 52 to 55 stand for a rank above the kings.

In a column a card lies on one that is one rank higher. Of each rank there are at most four hosts (face-up
column cards), and at most four cards are built on them, so all that can be done by moving runs between
these hosts fits in a table of 256 entries for each build rule:

- a host can be uncovered if the built cards can all lie on the other hosts;
- a card can land if it and the built cards can all lie on the hosts.

A test checks for every entry that the moves exist, however the cards lie at first.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from klondike_env.cards import KING, N_CARDS, N_SUITS, card_at, rank_of, suit_of
from klondike_env.engine.card_sets import BUILD_SETS, SUIT_WIDTH, count_cards
from klondike_env.engine.jit import kernel
from klondike_env.rules import BUILDS

ONE_RANK = (1 << N_SUITS) - 1  # the four cards of the lowest rank, as a set
ALL_CARDS = (1 << N_CARDS) - 1
KINGS = ONE_RANK << (N_SUITS * KING)
ALL_ON_FOUNDATIONS = ONE_RANK << N_CARDS  # what the foundations would take next after a win

# NUMBERS[card]: the number of a card of klondike_env.cards; CARDS is the inverse.
NUMBERS = [N_SUITS * rank_of(card) + suit_of(card) for card in range(N_CARDS)]
CARDS = [card_at(number // N_SUITS, number % N_SUITS) for number in range(N_CARDS)]


def suits_of(bits: int) -> list[int]:
    """The suits in a set of four bits."""
    return [suit for suit in range(N_SUITS) if bits >> suit & 1]


def _bits(suits: list[int]) -> int:
    return sum(1 << suit for suit in suits)


def _may_build(build: int, suit: int, below: int) -> bool:
    return bool(int(BUILD_SETS[build, below]) >> (SUIT_WIDTH * suit) & 1)


# BUILDERS[build, suit]: four bits, the suits that may lie on a card of `suit`.
BUILDERS = np.array(
    [
        [_bits([suit for suit in range(N_SUITS) if _may_build(build, suit, below)]) for below in range(N_SUITS)]
        for build in range(len(BUILDS))
    ],
    dtype=np.int64,
)


def all_fit(hosts: int, built: int, build: int) -> bool:
    """Whether cards of the suits `built` can lie on different cards of the suits `hosts`, both as four bits."""
    cards = suits_of(built)
    return any(
        all(int(BUILDERS[build, host]) >> card & 1 for host, card in zip(order, cards, strict=True))
        for order in permutations(suits_of(hosts), len(cards))
    )


def _between(hosts: int, built: int, build: int) -> int:
    uncovered = _bits([host for host in suits_of(hosts) if all_fit(hosts & ~(1 << host), built, build)])
    landing = _bits([suit for suit in suits_of(~built) if all_fit(hosts, built | 1 << suit, build)])
    return uncovered | landing << N_SUITS


# BETWEEN_RANKS[build, 16 * hosts + built]: four bits, the hosts that can be uncovered, and above them four
# bits, the suits that can land.
BETWEEN_RANKS = np.array(
    [
        [_between(pair >> N_SUITS, pair & ONE_RANK, build) for pair in range(1 << (2 * N_SUITS))]
        for build in range(len(BUILDS))
    ],
    dtype=np.int64,
)


@kernel
def number_of(bit: int) -> int:
    """The number of the only card in a set."""
    return count_cards(bit - 1)


@kernel
def builders_of(suits: int, build: int) -> int:
    """The suits that may lie on any of `suits`, both as four bits."""
    builders = 0
    for suit in range(N_SUITS):
        builders |= BUILDERS[build, suit] if (suits >> suit) & 1 else 0
    return builders
