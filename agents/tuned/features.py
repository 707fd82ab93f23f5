"""Features of a move and of the position: small numbers that do not name suits.

For instance, how many cards can be played after a move, or where the other card is that could lie on the same cards.
`klondike_env.agents.tuned.pair_table` scores moves by pairs of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.agents.lists.board import fitting
from klondike_env.agents.lists.list_player import (
    CARDS,
    NO_CARD,
    NOWHERE,
    column_of,
    find_column,
    highest_index,
    hosts_of,
    set_of,
    stock_of,
    waste_card,
    waste_of,
)
from klondike_env.agents.tuned.scores import (
    COLUMN_TO_FOUNDATION,
    DRAW,
    RUN,
    SPLIT,
    TALON_TO_COLUMN,
    TALON_TO_FOUNDATION,
    Scene,
    is_grouped,
    most_face_down,
    place_of,
    places_in_reach,
    places_of,
    without,
)
from klondike_env.cards import N_RANKS
from klondike_env.engine.card_arithmetic import rank_of, suit_of
from klondike_env.engine.card_sets import GAP_SETS, SUIT_WIDTH, bit_of, card_of_bit, count_cards, lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import N_COLUMNS, TALON_SIZE
from klondike_env.engine.talon import redeals_are_unlimited

# Where a card is.
HOME, TOP, COVERED, TALON, UNSEEN, NO_SUCH = range(6)

# Features, and how many values each has. Those before `rank` are the same for all moves of a position.
VALUES = {
    "none": 1,
    "gaps": 4,  # empty columns
    "face_down": 22,  # cards face down
    "talon": TALON_SIZE // 2 + 1,  # half the cards in the talon
    "stock": TALON_SIZE // 2 + 1,  # half the cards in the stock
    "playable": 8,  # talon cards that can be played
    "movable": 5,  # columns whose run another column takes
    "home": 14,  # a quarter of the cards on the foundations
    "wanted": 4,  # columns' last cards that the foundations take
    "welcome": 13,  # the share of unseen cards that could be played, in twelfths
    "fillers": 5,  # cards that an empty column takes, in the talon or on cards face down
    "rank": N_RANKS,  # of the card that moves, the first of a run
    "under": N_COLUMNS,  # cards face down in the column that it leaves, or 0 if none can turn up
    "length": 6,  # cards that move with it
    "place": 4,  # whether it goes to a gap (0), to the only column that takes it, to one of them, to its foundation
    "over": N_COLUMNS,  # cards face down in the column where it goes
    "rivals": 4,  # what else could go there: a run that lies on cards face down (1), a talon card in reach (2)
    # of the cards that could then lie on it (for a split: on the card freed), the most cards face down under one that
    # heads a run; 7 if there are only runs with none face down, 8 if there is no run
    "hosted": 9,
    "hosts_talon": 2,  # whether one of these is in reach in the talon
    "hosts_unseen": 4,  # how many are unseen
    "ahead": N_RANKS,  # ranks from the foundation of its suit to it
    "hosted_ahead": N_RANKS + 1,  # the least `ahead` of the cards that could lie on it, plus 1; 0 if there is none
    "twin": 6,  # where a card is that lies on the same cards
    "other_host": 6,  # where another card is that it could lie on
    "follower": 6,  # where the next card of its suit is
    "freed": 4,  # talon cards in reach that can be played after it
    "beneath": 5,  # the talon card next to come: none, not playable, playable, playable now, unseen
    "useful_after": 9,  # talon cards in reach and playable after it, where only some are in reach
    "reach_after": 9,  # half the talon cards in reach after it
}
FEATURES = np.dtype([(name, np.int64) for name in VALUES])
N_FEATURES = len(VALUES)
FIRST_OF_MOVE = list(VALUES).index("rank")


class Known(NamedTuple):
    """What the player knows besides the scene."""

    seen: int  # talon cards whose places are known
    unseen: int  # cards whose places are not
    useful: int  # the places in the talon of cards that a pile takes, where only some are in reach; else 0


@kernel
def seen_talon(scene: Scene) -> int:
    """The talon cards that the player knows: all of them with unlimited redeals, else those in the waste."""
    games, g = scene.games, scene.g
    if redeals_are_unlimited(scene.rules.redeals):
        return int(games[g]["talon"])
    waste, cards = waste_of(int(games[g]["left"]), int(games[g]["waste"])), 0
    while waste != 0:
        cards |= bit_of(int(scene.layouts[0]["talon"][count_cards(lowest_bit(waste) - 1)]))
        waste &= waste - 1
    return cards


@kernel
def recall(scene: Scene) -> Known:
    """What the player knows."""
    seen = seen_talon(scene)
    unseen = CARDS & ~(int(scene.games[scene.g]["face_up"]) | seen | scene.home)
    useful = places_of(scene, scene.room | scene.gaps | scene.wanted) if is_grouped(scene.rules) else 0
    return Known(seen, unseen, useful)


# --- the position ------------------------------------------------------------------------------------


@kernel
def describe_position(scene: Scene, known: Known, features: np.ndarray) -> None:
    """Write what is the same for all moves. features: FEATURES[1]."""
    games, g = scene.games, scene.g
    left = int(games[g]["left"])
    playable = scene.room | scene.gaps | scene.wanted
    features[0]["gaps"] = min(int(games[g]["n_gaps"]), 3)
    features[0]["face_down"] = games[g]["n_face_down"]
    features[0]["talon"] = count_cards(left) // 2
    features[0]["stock"] = count_cards(stock_of(left, int(games[g]["waste"]))) // 2
    features[0]["playable"] = min(count_cards(scene.talon & playable), 7)
    features[0]["movable"] = min(count_cards(int(games[g]["heads"]) & scene.room), 4)
    features[0]["home"] = count_cards(scene.home) // 4
    features[0]["wanted"] = min(count_cards(int(games[g]["tops"]) & scene.wanted), 3)
    features[0]["welcome"] = 12 * count_cards(known.unseen & playable) // max(count_cards(known.unseen), 1)
    fillers = int(GAP_SETS[scene.rules.gaps]) & (scene.hiding | known.seen)
    features[0]["fillers"] = min(count_cards(fillers), 4)


# --- a move ------------------------------------------------------------------------------------------


@kernel
def place_of_card(scene: Scene, known: Known, bit: int) -> int:
    """Where a card is, as far as the player knows."""
    if bit & scene.home != 0:
        return HOME
    if bit & int(scene.games[scene.g]["tops"]) != 0:
        return TOP
    if bit & int(scene.games[scene.g]["face_up"]) != 0:
        return COVERED
    return TALON if bit & known.seen != 0 else UNSEEN


@kernel
def best_place(scene: Scene, known: Known, cards: int) -> int:
    """The least of the places, in their order, of a set of cards; NO_SUCH for none."""
    place = NO_SUCH
    while cards != 0:
        bit = lowest_bit(cards)
        cards ^= bit
        place = min(place, place_of_card(scene, known, bit))
    return place


@kernel
def ranks_ahead(scene: Scene, card: int) -> int:
    """How many cards of its suit have to go to the foundation before a card."""
    next_of_suit = int(scene.games[scene.g]["next"]) >> (SUIT_WIDTH * suit_of(card)) & ((1 << SUIT_WIDTH) - 1)
    return max(rank_of(card) - count_cards(next_of_suit - 1), 0)


@kernel
def least_ahead(scene: Scene, cards: int) -> int:
    """The least of `ranks_ahead` of a set of cards, plus 1; 0 for none."""
    least = N_RANKS if cards != 0 else 0
    while cards != 0:
        bit = lowest_bit(cards)
        cards ^= bit
        least = min(least, ranks_ahead(scene, card_of_bit(bit)) + 1)
    return least


@kernel
def describe_source(scene: Scene, kind: int, what: int, features: np.ndarray) -> int:
    """Write about the cards that a move takes along and what they leave; return the first of them."""
    if kind not in (RUN, COLUMN_TO_FOUNDATION, SPLIT):
        return what
    games, g = scene.games, scene.g
    column = column_of(games, g, what) if kind == SPLIT else what
    head, top = int(games[g]["head"][column]), int(games[g]["top"][column])
    card = top if kind == COLUMN_TO_FOUNDATION else (what if kind == SPLIT else head)
    if kind != COLUMN_TO_FOUNDATION or head == top:
        features[0]["under"] = games[g]["n_down"][column]
    features[0]["length"] = min(rank_of(card if kind == SPLIT else head) - rank_of(top), 5)
    return card


@kernel
def describe_target(scene: Scene, known: Known, bit: int, to_foundation: bool, features: np.ndarray) -> None:
    """Write where a card goes."""
    if to_foundation:
        features[0]["place"], features[0]["other_host"] = 3, NO_SUCH
        return
    games, g, rules = scene.games, scene.g, scene.rules
    all_hosts = hosts_of(card_of_bit(bit), rules)
    hosts = all_hosts & int(games[g]["tops"])
    features[0]["place"] = min(count_cards(hosts), 2)
    if hosts != 0:
        column = find_column(games, g, card_of_bit(bit), 0, rules)
        rivals = fitting(hosts, rules) & ~bit
        features[0]["over"] = games[g]["n_down"][column]
        features[0]["rivals"] = (1 if rivals & scene.hiding != 0 else 0) + (2 if rivals & scene.talon != 0 else 0)
        all_hosts &= ~bit_of(int(games[g]["top"][column]))
    features[0]["other_host"] = best_place(scene, known, all_hosts)


@kernel
def describe_hosted(scene: Scene, known: Known, users: int, features: np.ndarray) -> None:
    """Write about the cards that could lie on a card that a move puts down or frees."""
    if users & scene.hiding != 0:
        features[0]["hosted"] = most_face_down(scene, users & scene.hiding)
    else:
        features[0]["hosted"] = 7 if users & int(scene.games[scene.g]["heads"]) != 0 else 8
    features[0]["hosts_talon"] = 1 if users & scene.talon != 0 else 0
    features[0]["hosts_unseen"] = min(count_cards(users & known.unseen), 3)
    features[0]["hosted_ahead"] = least_ahead(scene, users)


@kernel
def describe_waste(scene: Scene, from_talon: bool, freed: int, features: np.ndarray) -> None:
    """Write about the card that is the waste's top after a move."""
    games, g = scene.games, scene.g
    card = waste_card(games, g, scene.layouts)
    if from_talon:
        index = highest_index(int(games[g]["left"]) & ((1 << int(games[g]["waste"])) - 1))
        card = int(scene.layouts[0]["talon"][index]) if index != NOWHERE else NO_CARD
    bit = set_of(card)
    if bit == 0:
        features[0]["beneath"] = 0
    elif bit & (scene.room | scene.gaps | scene.wanted) != 0:
        features[0]["beneath"] = 2
    else:
        features[0]["beneath"] = 3 if bit & freed != 0 else 1


@kernel
def describe_reach(scene: Scene, from_talon: bool, card: int, useful: int, features: np.ndarray) -> None:
    """Write which talon cards are in reach after a move. useful: the places of talon cards that a pile takes then."""
    left = int(scene.games[scene.g]["left"])
    n_left, place = count_cards(left), place_of(left, int(scene.games[scene.g]["waste"]) + 1)
    if from_talon:
        n_left, place = n_left - 1, place_of(left, int(scene.layouts[0]["index"][card]))
        useful = without(useful, place)
    places = places_in_reach(scene.rules.draw_count, place, n_left)
    features[0]["useful_after"] = min(count_cards(places & useful), 8)
    features[0]["reach_after"] = min(count_cards(places) // 2, 8)


@kernel
def describe_move(scene: Scene, known: Known, kind: int, what: int, features: np.ndarray) -> None:
    """Write what is true of a move, in features that are 0 so far. features: FEATURES[1]."""
    if kind == DRAW:
        features[0]["beneath"] = 4
        return
    rules = scene.rules
    card = describe_source(scene, kind, what, features)
    bit = bit_of(card)
    from_talon = kind in (TALON_TO_COLUMN, TALON_TO_FOUNDATION)
    to_foundation = kind in (COLUMN_TO_FOUNDATION, TALON_TO_FOUNDATION)
    host = bit if kind != SPLIT else bit_of(int(scene.games[scene.g]["below"][card]))
    users = fitting(host, rules) & ~scene.home & ~bit
    following = bit << 1 & CARDS
    freed = 0 if kind == RUN else (following if to_foundation else users)
    features[0]["rank"] = rank_of(card)
    features[0]["ahead"] = ranks_ahead(scene, card)
    features[0]["twin"] = best_place(scene, known, fitting(hosts_of(card, rules), rules) & ~bit)
    if to_foundation:
        features[0]["follower"] = best_place(scene, known, following)
    features[0]["freed"] = min(count_cards(freed & scene.talon), 3)
    describe_target(scene, known, bit, to_foundation, features)
    describe_hosted(scene, known, users, features)
    if not redeals_are_unlimited(rules.redeals):
        describe_waste(scene, from_talon, freed, features)
    if is_grouped(rules):
        describe_reach(scene, from_talon, card, known.useful | places_of(scene, freed), features)
