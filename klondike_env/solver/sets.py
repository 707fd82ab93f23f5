"""Sets of cards in order of ranks: bit `4 * rank + suit`, so that a shift by four moves every card one rank.

In a column a card lies on one that is one rank higher. Between two neighbouring ranks there are at most
four hosts (face-up column cards of the higher rank) and at most four cards built on them, so all that
may happen between them fits in a table of 256 entries for each build rule:

- a host can be uncovered if the built cards can all lie on the other hosts;
- a card can land if it and the built cards can all lie on the hosts together.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from klondike_env.cards import N_CARDS, N_RANKS, N_SUITS
from klondike_env.engine.jit import kernel
from klondike_env.engine.lanes import BUILD_SETS, count_cards
from klondike_env.rules import BUILDS

RANK_BITS = (1 << N_SUITS) - 1
ALL_CARDS = (1 << N_CARDS) - 1
KINGS = RANK_BITS << (N_SUITS * (N_RANKS - 1))

# BUILDERS[build, suit]: the suits, as four bits, that may lie on a card of `suit`.
BUILDERS = np.array(
    [
        [sum(1 << suit for suit in range(N_SUITS) if int(BUILD_SETS[build, below]) >> (16 * suit) & 1) for below in range(N_SUITS)]
        for build in range(len(BUILDS))
    ],
    dtype=np.int64,
)


def set_bit(card: int) -> int:
    """The index of a card's bit."""
    suit, rank = divmod(card, N_RANKS)
    return N_SUITS * rank + suit


def _members(suits: int) -> list[int]:
    return [suit for suit in range(N_SUITS) if suits >> suit & 1]


def fits(hosts: int, built: int, build: int) -> bool:
    """Whether all `built` suits can lie on different `hosts`, both sets of suits as four bits."""
    cards = _members(built)
    return any(
        all(int(BUILDERS[build, host]) >> card & 1 for host, card in zip(order, cards, strict=True))
        for order in permutations(_members(hosts), len(cards))
    )


def _entry(hosts: int, built: int, build: int) -> int:
    """Suits of hosts that can be uncovered, and above them suits that can land."""
    bare = sum(1 << host for host in _members(hosts) if fits(hosts & ~(1 << host), built, build))
    land = sum(1 << suit for suit in range(N_SUITS) if not built >> suit & 1 and fits(hosts, built | 1 << suit, build))
    return bare | land << N_SUITS


# BETWEEN_RANKS[build, hosts * 16 + built]: as `_entry` says.
BETWEEN_RANKS = np.array(
    [
        [_entry(pair >> N_SUITS, pair & RANK_BITS, build) for pair in range(1 << (2 * N_SUITS))]
        for build in range(len(BUILDS))
    ],
    dtype=np.int64,
)


@kernel
def index_of(bit: int) -> int:
    """The index of the only bit of a set."""
    return count_cards(bit - 1)
