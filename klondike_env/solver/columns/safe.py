"""Moves to the foundations that cannot lose a win, so that no other move need be tried.

The *followers* of a card are the cards one rank lower that may lie on it, the cards another rank lower that may lie on
these, and so on; without worrying back, only those of them that are not up yet. A card is safe if each of its followers
is up or is what its foundation takes next.

Proof: take any winning line and change it. The card goes up first, and whenever the line moves a follower, that goes up
instead and stays there. Only followers ever lie on followers, so all else can be played as before, and the line does
not get longer. Whatever lay on a moved follower is a follower too and goes up before it.

For alternating colours this is the rule of Blake and Gent (The Winnability of Klondike Solitaire and Many
Other Patience Games, appendix B).
"""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_SUITS
from klondike_env.engine.card_sets import lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.solver.columns.card_numbering import builders_of, number_of
from klondike_env.solver.columns.nodes import ENOUGH, FACE_UP, NEXT, PLACE, PLACES, REDEALS, TALON_CARDS, Game
from klondike_env.solver.columns.reach import highest_bit, is_pure, waste_places

NONE = -1
# Lower ranks add no condition: for each follower there, a higher card of its suit must be up or next, so it is up.
_RANKS_OF_FOLLOWERS = 2


@kernel
def up_or_next(words: np.ndarray) -> int:
    """The cards on the foundations, and those that the foundations take next."""
    cards = words[NEXT] | (words[NEXT] >> N_SUITS)
    cards |= cards >> (2 * N_SUITS)
    cards |= cards >> (4 * N_SUITS)
    return cards | (cards >> (8 * N_SUITS))


@kernel
def is_safe(words: np.ndarray, number: int, game: Game) -> bool:
    """Whether a card that is up or next may go up, or stay there, without losing a win."""
    rank, suits = number // N_SUITS, 1 << (number % N_SUITS)
    ready = up_or_next(words)
    up = ready & ~words[NEXT]
    for lower in range(rank - 1, max(rank - 1 - _RANKS_OF_FOLLOWERS, -1), -1):
        suits = builders_of(suits, game.build)
        if not game.worry_back:
            suits &= ~(up >> (N_SUITS * lower))
        if suits & ~(ready >> (N_SUITS * lower)):
            return False
    return True


@kernel
def safe_of(candidates: int, words: np.ndarray, game: Game) -> int:
    """The number of the lowest safe card of a set, or NONE."""
    while candidates != 0:
        bit = lowest_bit(candidates)
        if is_safe(words, number_of(bit), game):
            return number_of(bit)
        candidates ^= bit
    return NONE


@kernel
def detachable(words: np.ndarray, candidates: int, cards: np.ndarray, game: Game) -> int:
    """Those of a set of talon cards that can be taken now without changing when others can be taken.

    With enough redeals that is every card at draw 1. At other draw counts it is the last card, while the waste is pure:
    the groups before it stay as they are. With fewer redeals it is the waste's top, which blocks the cards below it,
    unless a redeal is left in which the cards would fall into other groups.
    """
    if words[REDEALS] == ENOUGH and game.draw_count == 1:
        return candidates
    if words[REDEALS] == ENOUGH:
        places = highest_bit(words[PLACES]) if is_pure(words, game.draw_count) else 0
    else:
        places = highest_bit(waste_places(words)) if game.draw_count == 1 or words[REDEALS] == 0 else 0
    detached = 0
    while candidates != 0:
        bit = lowest_bit(candidates)
        candidates ^= bit
        detached |= bit if (places >> cards[PLACE, number_of(bit)]) & 1 else 0
    return detached


@kernel
def safe_card(words: np.ndarray, uncovered: int, cards: np.ndarray, game: Game) -> int:
    """The number of a card that can go up and is safe, or NONE. uncovered: the set of column cards that can go up."""
    number = safe_of(words[NEXT] & words[FACE_UP] & uncovered, words, game)
    wanted = words[NEXT] & words[TALON_CARDS]
    if number == NONE and wanted != 0:
        number = safe_of(detachable(words, wanted, cards, game), words, game)
    return number
