"""Positions visited since the last progress, and the moves that would lead back to one.

A position is identified by a 64-bit key of the columns in any order, the foundations, the waste size, and the
redeals used where they are limited. The key needs no terms for the contents of the talon or for which cards are face
down: taking a card out of the talon or turning one up is progress, and progress empties the list of visited positions.

The key is a sum with one term for each card outside the talon. A term depends on the card and on what it lies on, so a
move changes two terms at most, and the order of the columns does not matter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.cards import N_SUITS
from klondike_env.engine.actions import N_DESTINATIONS, ONTO_SUIT, TO_FOUNDATION, TO_GAP
from klondike_env.engine.card_arithmetic import card_at, rank_of
from klondike_env.engine.card_sets import card_of_bit, lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.legal import STOCK_MOVE
from klondike_env.engine.mixer import mix
from klondike_env.engine.queries import foundation_total
from klondike_env.engine.state import FOUNDATION, N_COLUMNS, TALON
from klondike_env.engine.talon import redeals_are_unlimited, waste_after_draw
from klondike_env.rules import RuleParams

# What a card lies on, beside the cards 0..51.
_ON_FLOOR, _ON_FOUNDATION = 52, 53
# Terms of the key that belong to no card.
_WASTE, _REDEALS = 1 << 16, 1 << 17
_PLACES = 64


class History(NamedTuple):
    """The positions that game i has visited since its last progress."""

    keys: np.ndarray  # uint64[n, capacity]: row i begins with the keys of its visited positions
    size: int  # how many visited positions there are
    now: np.uint64  # the key of the current position


@kernel
def term(card: int, below: int) -> np.uint64:
    """The key's term for a card and what it lies on."""
    return mix(np.uint64(card * _PLACES + below + 1))


@kernel
def talon_term(waste: int, redeals: int, rules: RuleParams) -> np.uint64:
    """The key's term for the waste size and, where they are limited, the redeals used."""
    key = mix(np.uint64(_WASTE + waste))
    if not redeals_are_unlimited(rules.redeals):
        key += mix(np.uint64(_REDEALS + redeals))
    return key


@kernel
def layout_key(states: np.ndarray, i: int) -> np.uint64:
    """The part of a position's key that describes the columns and the foundations."""
    key = np.uint64(0)
    for column in range(N_COLUMNS):
        below = _ON_FLOOR
        for row in range(int(states[i]["height"][column])):
            card = int(states[i]["columns"][column, row])
            key += term(card, below)
            below = card
    for suit in range(N_SUITS):
        for rank in range(int(states[i]["foundation"][suit])):
            key += term(card_at(rank, suit), _ON_FOUNDATION)
    return key


@kernel
def position_key(states: np.ndarray, i: int, rules: RuleParams) -> np.uint64:
    """The key of a position."""
    return layout_key(states, i) + talon_term(int(states[i]["waste_size"]), int(states[i]["redeals_used"]), rules)


@kernel
def lies_on(states: np.ndarray, i: int, card: int) -> int:
    """What a card outside the talon lies on: a card, the floor or its foundation."""
    column, row = int(states[i]["place"][card]), int(states[i]["row"][card])
    if column == FOUNDATION:
        return _ON_FOUNDATION
    return _ON_FLOOR if row == 0 else int(states[i]["columns"][column, row - 1])


@kernel
def will_lie_on(card: int, destination: int) -> int:
    """What a card will lie on after a move to a destination."""
    if destination == TO_FOUNDATION:
        return _ON_FOUNDATION
    return _ON_FLOOR if destination == TO_GAP else card_at(rank_of(card) + 1, destination - ONTO_SUIT)


@kernel
def is_progress(states: np.ndarray, i: int, card: int, destination: int) -> bool:
    """Whether a move is progress: out of the talon, off a face-down card, or to more foundation cards than ever."""
    place, row = int(states[i]["place"][card]), int(states[i]["row"][card])
    if place == TALON:
        return True
    if place < N_COLUMNS and row > 0 and row == int(states[i]["face_down"][place]):
        return True
    return destination == TO_FOUNDATION and foundation_total(states, i) >= int(states[i]["best_foundation"])


@kernel
def was_visited(history: History, i: int, key: np.uint64) -> bool:
    """Whether the key is among those of game i."""
    found = False
    for k in range(history.size):  # no early exit, so that the compiler can compare several keys at once
        found |= history.keys[i, k] == key
    return found


@kernel
def stock_repeats(states: np.ndarray, i: int, rules: RuleParams, history: History) -> bool:
    """Whether the stock action leads back to a visited position."""
    waste, size, seen = int(states[i]["waste_size"]), int(states[i]["talon_size"]), int(states[i]["seen_size"])
    redeals = int(states[i]["redeals_used"])
    layout = history.now - talon_term(waste, redeals, rules)
    if waste == size:
        return was_visited(history, i, layout + talon_term(0, redeals + 1, rules))
    waste = waste_after_draw(size, waste, rules.draw_count)
    return waste <= seen and was_visited(history, i, layout + talon_term(waste, redeals, rules))


@kernel
def fresh_cards(states: np.ndarray, i: int, cards: int, destination: int, history: History) -> int:
    """The cards of a set whose move to `destination` does not lead back to a visited position."""
    fresh = cards
    while cards != 0:
        bit = lowest_bit(cards)
        cards ^= bit
        card = card_of_bit(bit)
        if not is_progress(states, i, card, destination):
            change = term(card, will_lie_on(card, destination)) - term(card, lies_on(states, i, card))
            if was_visited(history, i, history.now + change):
                fresh ^= bit
    return fresh


@kernel
def prune_repeats(states: np.ndarray, i: int, rules: RuleParams, history: History, moves: np.ndarray) -> bool:
    """Remove the moves that lead back; return whether any are left. moves: int64[7], changed in place."""
    if history.size <= 1:
        return True  # only the position itself was visited, and every move changes it
    if moves[STOCK_MOVE] and stock_repeats(states, i, rules, history):
        moves[STOCK_MOVE] = 0
    left = moves[STOCK_MOVE]
    for destination in range(N_DESTINATIONS):
        moves[destination] = fresh_cards(states, i, int(moves[destination]), destination, history)
        left |= moves[destination]
    return left != 0


@kernel
def remember(keys: np.ndarray, i: int, count: int, now: np.uint64) -> History:
    """Add the current position to the `count` visited positions of game i. keys: uint64[n, capacity]."""
    history = History(keys, count, now)
    if was_visited(history, i, now):
        return history
    keys[i, count] = now
    return History(keys, count + 1, now)
