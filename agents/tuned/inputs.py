"""Inputs of the move network: which of some thousand facts are true of a move and of the position it is made in.

No input names a suit. Cards are described in relation to the card that moves: a card of its suit, one on which it could
lie if their ranks fit, or one of the other suits. So what the network learns about one suit holds for all. The
inputs that are true, the *active* ones, are listed by their numbers, and there are equally many for each move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.agents.lists.list_player import (
    NO_CARD,
    NOWHERE,
    column_of,
    highest_index,
    waste_of,
)
from klondike_env.agents.tuned.features import (
    FEATURES,
    FIRST_OF_MOVE,
    N_FEATURES,
    VALUES,
    Known,
    describe_move,
    describe_position,
)
from klondike_env.agents.tuned.scores import (
    COLUMN_TO_FOUNDATION,
    DRAW,
    KINDS,
    RUN,
    SPLIT,
    TALON_TO_COLUMN,
    TALON_TO_FOUNDATION,
    Scene,
    is_grouped,
    place_of,
    places_in_reach,
)
from klondike_env.cards import ACE, N_CARDS, N_RANKS, N_SUITS, card_at
from klondike_env.engine.card_arithmetic import rank_of, suit_of
from klondike_env.engine.card_sets import card_of_bit, count_cards, lowest_bit, may_lie_on
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import N_COLUMNS, TALON_SIZE
from klondike_env.engine.talon import redeals_are_unlimited
from klondike_env.rules import Rules

# The suit of a card in relation to that of the card that moves; ANY if no card moves.
OWN, HOST, OTHER, ANY = range(4)
_N_RELATIONS = 4
_NO_SUIT = N_SUITS

# Where a card is, as far as the player knows. Where all of the talon is known, its cards are in reach before and after
# the move, or before or after it only, or neither; elsewhere in reach is the waste's top, and next the card under it.
(
    HOME,
    TOP,
    COVERED,
    HIDING_TOP,
    HIDING_COVERED,
    MOVING,
    UNSEEN,
    OUT_OF_REACH,
    IN_REACH,
    IN_REACH_BEFORE,
    IN_REACH_AFTER,
) = range(11)
_N_PLACES = 11
NEXT = IN_REACH_BEFORE
_GAP = N_RANKS

_FEATURE_STARTS = np.concatenate([[0], np.cumsum(list(VALUES.values()))])
_N_FEATURE_VALUES = int(_FEATURE_STARTS[-1])
_CARDS_START = _N_FEATURE_VALUES * len(KINDS)
_HEADS_START = _CARDS_START + _N_RELATIONS * N_RANKS * _N_PLACES
_TOPS_START = _HEADS_START + _N_RELATIONS * N_COLUMNS * (N_RANKS + 1)
_TALON_START = _TOPS_START + _N_RELATIONS * (N_RANKS + 1)
N_INPUTS = _TALON_START + len(KINDS) * (TALON_SIZE + 1)
N_ACTIVE = N_FEATURES + N_CARDS + 2 * N_COLUMNS + 1


class Inputs(NamedTuple):
    """Scratch memory for the inputs of the moves of one position.

    Attributes:
        relations: int64[4, 5], that of a suit to the suit of the card that moves, or to none.
        features: FEATURES[1].
        values: int64[N_FEATURES], the same memory.
        places: int64[52], where each card is.
        active: uint64[N_ACTIVE], the active inputs of a move; signed indices would cost half as much time again.
    """

    relations: np.ndarray
    features: np.ndarray
    values: np.ndarray
    places: np.ndarray
    active: np.ndarray

    @classmethod
    def of(cls, rules: Rules) -> Inputs:
        """Scratch memory for games under these rules."""
        features = np.zeros(1, dtype=FEATURES)
        places, active = np.zeros(N_CARDS, dtype=np.int64), np.zeros(N_ACTIVE, dtype=np.uint64)
        return cls(relations_of(rules), features, features.view(np.int64), places, active)


def relations_of(rules: Rules) -> np.ndarray:
    """The relation of each suit to the suit of the card that moves, or to none: int64[4, 5]."""
    relations = np.full((N_SUITS, N_SUITS + 1), ANY)
    for moving in range(N_SUITS):
        for suit in range(N_SUITS):
            may_lie = may_lie_on(card_at(ACE, moving), card_at(ACE + 1, suit), rules.params().build)
            relations[suit, moving] = OWN if suit == moving else (HOST if may_lie else OTHER)
    return relations


@kernel
def moving_card(scene: Scene, kind: int, what: int) -> int:
    """The card that moves, the first of a run, or NO_CARD."""
    if kind == RUN:
        return int(scene.games[scene.g]["head"][what])
    return int(scene.games[scene.g]["top"][what]) if kind == COLUMN_TO_FOUNDATION else what


@kernel
def reach_without(scene: Scene, card: int) -> int:
    """The places of the talon cards in reach once a card has left the talon, as places with this card."""
    left = int(scene.games[scene.g]["left"])
    place = place_of(left, int(scene.layouts[0]["index"][card]))
    places = places_in_reach(scene.rules.draw_count, place, count_cards(left) - 1)
    before = (1 << place) - 1
    return (places & before) | (places & ~before) << 1


@kernel
def find_grouped(scene: Scene, kind: int, card: int, places: np.ndarray) -> None:
    """Write where the talon's cards are, if all of them are known but only some are in reach."""
    games, g = scene.games, scene.g
    left = int(games[g]["left"])
    n_waste = place_of(left, int(games[g]["waste"]) + 1)
    before = after = places_in_reach(scene.rules.draw_count, n_waste, count_cards(left))
    if kind in (TALON_TO_COLUMN, TALON_TO_FOUNDATION):
        after = reach_without(scene, card)
    while left != 0:
        other = int(scene.layouts[0]["talon"][count_cards(lowest_bit(left) - 1)])
        if other < N_CARDS:
            where = IN_REACH_BEFORE if before & 1 else OUT_OF_REACH
            places[other] = where if after & 1 == 0 else (IN_REACH if before & 1 else IN_REACH_AFTER)
        left, before, after = left & (left - 1), before >> 1, after >> 1


@kernel
def find_waste(scene: Scene, places: np.ndarray) -> None:
    """Write where the waste's top is and the card under it, if redeals are limited."""
    games, g = scene.games, scene.g
    waste = waste_of(int(games[g]["left"]), int(games[g]["waste"]))
    for where in (IN_REACH, NEXT):
        index = highest_index(waste)
        if index != NOWHERE:
            places[int(scene.layouts[0]["talon"][index])] = where
            waste ^= 1 << index


@kernel
def mark(cards: int, where: int, places: np.ndarray) -> None:
    """Write that a set of cards is at a place."""
    while cards != 0:
        places[card_of_bit(lowest_bit(cards))] = where
        cards &= cards - 1


@kernel
def find_places(scene: Scene, known: Known, kind: int, card: int, places: np.ndarray) -> None:
    """Write where each card is. card: the one that moves; places: int64[52], overwritten."""
    games, g = scene.games, scene.g
    tops, covered = int(games[g]["tops"]), int(games[g]["face_up"]) & ~int(games[g]["tops"])
    mark(scene.home, HOME, places)
    mark(tops & ~scene.hiding, TOP, places)
    mark(tops & scene.hiding, HIDING_TOP, places)
    mark(covered & ~scene.hiding, COVERED, places)
    mark(covered & scene.hiding, HIDING_COVERED, places)
    mark(known.unseen, UNSEEN, places)
    if is_grouped(scene.rules):
        find_grouped(scene, kind, card, places)
    elif redeals_are_unlimited(scene.rules.redeals):
        mark(known.seen, IN_REACH, places)
    else:
        mark(known.seen, OUT_OF_REACH, places)
        find_waste(scene, places)
    if kind == DRAW:
        return
    places[card] = MOVING
    if kind in (RUN, SPLIT):
        last = int(games[g]["top"][column_of(games, g, card)])
        while card != last:
            card = int(games[g]["above"][card])
            places[card] = MOVING


@kernel
def list_features(scene: Scene, known: Known, kind: int, what: int, inputs: Inputs) -> int:
    """List the active inputs that stand for features; return how many there are."""
    inputs.values[FIRST_OF_MOVE:] = 0
    describe_move(scene, known, kind, what, inputs.features)
    for feature in range(N_FEATURES):
        inputs.active[feature] = kind * _N_FEATURE_VALUES + _FEATURE_STARTS[feature] + inputs.values[feature]
    return N_FEATURES


@kernel
def list_cards(inputs: Inputs, moving: int, n: int) -> int:
    """List the active inputs that stand for places of cards, after `n` others; return how many there are now."""
    for suit in range(N_SUITS):
        start = _CARDS_START + inputs.relations[suit, moving] * N_RANKS * _N_PLACES
        for rank in range(N_RANKS):
            inputs.active[n + rank] = start + rank * _N_PLACES + inputs.places[suit * N_RANKS + rank]
        n += N_RANKS
    return n


@kernel
def list_columns(scene: Scene, inputs: Inputs, moving: int, n: int) -> int:
    """List the active inputs that stand for columns, after `n` others; return how many there are now."""
    games, g = scene.games, scene.g
    for column in range(N_COLUMNS):
        head, top, n_down = int(games[g]["head"][column]), int(games[g]["top"][column]), int(games[g]["n_down"][column])
        related = relate(head, moving, inputs)
        rank = _GAP if head == NO_CARD else rank_of(head)
        inputs.active[n] = _HEADS_START + (related * N_COLUMNS + n_down) * (N_RANKS + 1) + rank
        related = relate(top, moving, inputs)
        inputs.active[n + 1] = _TOPS_START + related * (N_RANKS + 1) + (_GAP if top == NO_CARD else rank_of(top))
        n += 2
    return n


@kernel
def relate(card: int, moving: int, inputs: Inputs) -> int:
    """The relation of a card's suit to that of the card that moves; ANY for NO_CARD."""
    return ANY if card == NO_CARD else inputs.relations[suit_of(card), moving]


@kernel
def begin_inputs(scene: Scene, known: Known, inputs: Inputs) -> None:
    """Write what is the same for all moves of a position."""
    inputs.values[:] = 0
    describe_position(scene, known, inputs.features)


@kernel
def list_inputs(scene: Scene, known: Known, kind: int, what: int, inputs: Inputs) -> None:
    """List the active inputs of a move."""
    card = moving_card(scene, kind, what)
    moving = _NO_SUIT if card == NO_CARD else suit_of(card)
    find_places(scene, known, kind, card, inputs.places)
    n = list_features(scene, known, kind, what, inputs)
    n = list_cards(inputs, moving, n)
    n = list_columns(scene, inputs, moving, n)
    games, g = scene.games, scene.g
    waste = waste_of(int(games[g]["left"]), int(games[g]["waste"]))
    inputs.active[n] = _TALON_START + kind * (TALON_SIZE + 1) + count_cards(waste)
