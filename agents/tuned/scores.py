"""The moves of the agent `tuned`, and their scores: each the sum of the weights of what is true of the move."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.agents.lists.board import fitting
from klondike_env.agents.lists.list_player import (
    CARDS,
    NO_CARD,
    gap_takes,
    hosts_of,
    may_redeal,
    set_of,
    stock_of,
    waste_card,
)
from klondike_env.cards import N_SUITS
from klondike_env.engine.card_arithmetic import rank_of
from klondike_env.engine.card_sets import GAP_SETS, SUIT_WIDTH, bit_of, card_of_bit, count_cards, lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import N_COLUMNS, TALON_SIZE
from klondike_env.engine.talon import reachable_places, redeals_are_unlimited
from klondike_env.rules import RuleParams

_ACES = sum(1 << SUIT_WIDTH * suit for suit in range(N_SUITS))
_NO_SCORE = -(1 << 60)

# Kinds of moves. A move is its kind and `what`: a column for the first two kinds, a card for the others but a draw.
RUN, COLUMN_TO_FOUNDATION, TALON_TO_COLUMN, TALON_TO_FOUNDATION, WORRY_BACK, SPLIT, DRAW = KINDS = tuple(range(7))
MOVE = np.dtype([("score", np.int64), ("kind", np.int64), ("what", np.int64)])
# 7 runs, 7 last cards of columns, 24 talon cards to a column and 4 of these to a foundation, 4 foundation cards,
# 4 splits onto each of 7 columns, and a draw.
MAX_MOVES = 76


class Scene(NamedTuple):
    """A position of a game, described by sets of cards."""

    games: np.ndarray  # GAME[n]
    g: int  # which of the games
    layouts: np.ndarray  # LAYOUT[1]
    rules: RuleParams
    room: int  # cards that the columns take
    gaps: int  # cards that an empty column takes, if there is one
    wanted: int  # cards that the foundations take
    home: int  # cards on the foundations
    hiding: int  # the first face-up cards of columns with cards face down: those that lie on them
    talon: int  # talon cards that can be played


class Sheet(NamedTuple):
    """The moves of a position, and the weights by which they are scored."""

    weights: np.ndarray  # WEIGHTS[1]
    moves: np.ndarray  # MOVE[MAX_MOVES], overwritten


@kernel
def add(moves: np.ndarray, n: int, score: int, kind: int, what: int) -> int:
    """Add a move to `n` others, unless it has no score; return how many there are now."""
    if score == _NO_SCORE:
        return n
    moves[n]["score"] = score
    moves[n]["kind"] = kind
    moves[n]["what"] = what
    return n + 1


# --- the talon ---------------------------------------------------------------------------------------


@kernel
def place_of(left: int, index: int) -> int:
    """The place in the present talon of an index in the talon at the start. left: the cards still there, as indices."""
    return count_cards(left & ((1 << index) - 1))


@kernel
def is_grouped(rules: RuleParams) -> bool:
    """Whether all of the talon is known, but only some of its cards are in reach."""
    return rules.draw_count > 1 and redeals_are_unlimited(rules.redeals)


@kernel
def places_in_reach(draw_count: int, n_waste: int, n_left: int) -> int:
    """The places of the talon cards in reach, with unlimited redeals."""
    return reachable_places(n_left, n_waste, n_left, draw_count, True)


@kernel
def find_reach(games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams) -> None:
    """Find which talon cards are in reach, if the talon is grouped; they change only when one of them is played."""
    if not is_grouped(rules):
        return
    left = int(games[g]["left"])
    places = places_in_reach(rules.draw_count, place_of(left, int(games[g]["waste"]) + 1), count_cards(left))
    cards = 0
    while left != 0:
        if places & 1:
            cards |= set_of(int(layouts[0]["talon"][count_cards(lowest_bit(left) - 1)]))  # none if it is unseen
        places >>= 1
        left &= left - 1
    games[g]["reach"] = cards


@kernel
def playable(games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams) -> int:
    """The set of talon cards that can be played."""
    if is_grouped(rules):
        return int(games[g]["reach"])
    if redeals_are_unlimited(rules.redeals):
        return int(games[g]["talon"])
    return set_of(waste_card(games, g, layouts))


@kernel
def places_of(scene: Scene, cards: int) -> int:
    """The places of those of `cards` that are in the talon, a bit for each."""
    left, places = int(scene.games[scene.g]["left"]), 0
    cards &= int(scene.games[scene.g]["talon"])
    while cards != 0:
        bit = lowest_bit(cards)
        cards ^= bit
        places |= 1 << place_of(left, int(scene.layouts[0]["index"][card_of_bit(bit)]))
    return places


@kernel
def without(places: int, place: int) -> int:
    """A set of places in the talon, renumbered after the card at `place` has left."""
    before = (1 << place) - 1
    return (places & before) | (places >> 1 & ~before)


# --- the position ------------------------------------------------------------------------------------


@kernel
def hiding_heads(games: np.ndarray, g: int) -> int:
    """The set of first face-up cards of columns with cards face down."""
    cards = 0
    for column in range(N_COLUMNS):
        cards |= bit_of(int(games[g]["head"][column])) if int(games[g]["n_down"][column]) > 0 else 0
    return cards


@kernel
def look(games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams) -> Scene:
    """The position of a game."""
    following = int(games[g]["next"])
    return Scene(
        games=games,
        g=g,
        layouts=layouts,
        rules=rules,
        room=fitting(int(games[g]["tops"]), rules),
        gaps=gap_takes(games, g, rules),
        wanted=following & CARDS,
        home=following - _ACES,  # of each suit a single bit, and all below it
        hiding=hiding_heads(games, g),
        talon=playable(games, g, layouts, rules),
    )


@kernel
def most_face_down(scene: Scene, heads: int) -> int:
    """The most cards face down under one of a set of first face-up cards; 0 for none."""
    games, g, most = scene.games, scene.g, 0
    for column in range(N_COLUMNS):
        under = int(games[g]["n_down"][column]) if heads & set_of(int(games[g]["head"][column])) != 0 else 0
        most = max(most, under)
    return most


@kernel
def hosts_of_all(cards: int, rules: RuleParams) -> int:
    """The set of cards on which one of `cards` may be built."""
    hosts = 0
    while cards != 0:
        bit = lowest_bit(cards)
        cards ^= bit
        hosts |= hosts_of(card_of_bit(bit), rules)
    return hosts


# --- columns' cards ----------------------------------------------------------------------------------


@kernel
def score_target(scene: Scene, bit: int, fits: bool, weights: np.ndarray) -> int:
    """The part of a run's score for where it goes. fits: whether it goes onto a card."""
    card = card_of_bit(bit)
    if not fits:
        return int(weights[0]["run_to_gap"]) + int(weights[0]["run_to_gap_rank"]) * rank_of(card)
    hosts = hosts_of(card, scene.rules) & int(scene.games[scene.g]["tops"])
    if count_cards(hosts) > 1:
        return int(weights[0]["run_spare"])
    rivals = fitting(hosts, scene.rules) & ~bit
    if rivals & scene.hiding != 0:
        return int(weights[0]["run_rival"])
    return int(weights[0]["run_rival_talon"]) if rivals & scene.talon != 0 else 0


@kernel
def score_runs(scene: Scene, sheet: Sheet, n: int) -> int:
    """Score whole runs that go to another column."""
    games, g, weights = scene.games, scene.g, sheet.weights
    if int(games[g]["heads"]) & (scene.room | scene.gaps) == 0:
        return n
    awaited = (scene.hiding | scene.talon) & int(GAP_SETS[scene.rules.gaps]) != 0
    for column in range(N_COLUMNS):
        bit, n_down = set_of(int(games[g]["head"][column])), int(games[g]["n_down"][column])
        fits = bit & scene.room != 0
        if n_down > 0 and bit & (scene.room | scene.gaps) != 0:
            score = int(weights[0]["run"]) + int(weights[0]["run_face_down"]) * n_down
            score += score_target(scene, bit, fits, weights)
            score += int(weights[0]["run_last_face_down"]) if n_down == 1 else 0
            n = add(sheet.moves, n, score, RUN, column)
        elif fits:
            score = int(weights[0]["built_run"]) + (int(weights[0]["built_run_awaited"]) if awaited else 0)
            n = add(sheet.moves, n, score, RUN, column)
    return n


@kernel
def score_tops(scene: Scene, sheet: Sheet, n: int) -> int:
    """Score columns' last cards that go to their foundations."""
    games, g, weights = scene.games, scene.g, sheet.weights
    cards = int(games[g]["tops"]) & scene.wanted & ~int(games[g]["returned"])
    if cards == 0:
        return n
    for column in range(N_COLUMNS):
        bit = set_of(int(games[g]["top"][column]))
        if bit & cards != 0:
            users, n_down = fitting(bit, scene.rules) & ~scene.home, int(games[g]["n_down"][column])
            score = int(weights[0]["to_foundation"]) + int(weights[0]["to_foundation_user"]) * count_cards(users)
            score += int(weights[0]["to_foundation_host"]) if users & scene.hiding != 0 else 0
            if bit & int(games[g]["heads"]) != 0:
                turning = int(weights[0]["to_foundation_turning"])
                turning += int(weights[0]["to_foundation_turning_face_down"]) * n_down
                score += turning if n_down > 0 else int(weights[0]["to_foundation_emptying"])
            n = add(sheet.moves, n, score, COLUMN_TO_FOUNDATION, column)
    return n


@kernel
def score_split(scene: Scene, freed: int, weights: np.ndarray) -> int:
    """The score of splitting a run to free a card for its foundation, or for what could then lie on it."""
    score = int(weights[0]["split"]) if freed & scene.wanted != 0 else _NO_SCORE
    # None where colours alternate: what fits on the freed card also fits on the one that the cover moves to.
    users = fitting(freed, scene.rules) & ~scene.room
    if users & scene.hiding != 0:
        under = most_face_down(scene, users & scene.hiding)
        return max(score, int(weights[0]["split_host"]) + int(weights[0]["split_host_face_down"]) * under)
    if users & scene.talon != 0:
        return max(score, int(weights[0]["split_talon"]))
    built = users & int(scene.games[scene.g]["heads"]) != 0
    return max(score, int(weights[0]["split_built_run"])) if built else score


@kernel
def score_splits(scene: Scene, sheet: Sheet, n: int) -> int:
    """Score runs that can be split."""
    games, g = scene.games, scene.g
    covers = scene.room & int(games[g]["face_up"]) & ~int(games[g]["heads"]) & ~int(games[g]["returned"])
    covers &= int(games[g]["tops"]) if scene.rules.whole_runs else -1
    while covers != 0:
        bit = lowest_bit(covers)
        covers ^= bit
        cover = card_of_bit(bit)
        freed = bit_of(int(games[g]["below"][cover]))
        n = add(sheet.moves, n, score_split(scene, freed, sheet.weights), SPLIT, cover)
    return n


# --- talon cards -------------------------------------------------------------------------------------


@kernel
def score_distance(scene: Scene, index: int, weights: np.ndarray) -> int:
    """The part of a talon card's score for how far it is."""
    left, waste = int(scene.games[scene.g]["left"]), int(scene.games[scene.g]["waste"])
    before = left & ((2 << index) - 1)
    passed = count_cards(stock_of(before, waste)) if index >= waste else count_cards(before) + TALON_SIZE
    return int(weights[0]["talon_distance"]) * passed


@kernel
def score_access(scene: Scene, bit: int, index: int, useful: int, welcome: int, weights: np.ndarray) -> int:
    """The part of a talon card's score for what can be played once it has gone.

    useful: the places of talon cards that a pile takes now; welcome: the places of those that would take a run that
    lies on cards face down and can go nowhere yet.
    """
    left, rules = int(scene.games[scene.g]["left"]), scene.rules
    place = place_of(left, index)
    newly = fitting(bit, rules) | (bit & scene.wanted) << 1
    useful |= places_of(scene, newly)
    places = places_in_reach(rules.draw_count, place, count_cards(left) - 1)
    score = int(weights[0]["talon_useful"]) * count_cards(places & without(useful, place))
    score += int(weights[0]["talon_useful_host"]) * count_cards(places & without(useful & welcome, place))
    return score + int(weights[0]["talon_reachable"]) * count_cards(places)


@kernel
def score_to_column(scene: Scene, bit: int, weights: np.ndarray) -> int:
    """The other part of a talon card's score, if it goes to a column."""
    users, rank = fitting(bit, scene.rules) & ~scene.home, rank_of(card_of_bit(bit))
    score = int(weights[0]["to_column"]) + int(weights[0]["to_column_rank"]) * rank
    score += int(weights[0]["to_column_user"]) * count_cards(users)
    hosted = users & scene.hiding
    if hosted != 0:
        under = most_face_down(scene, hosted)
        score += int(weights[0]["to_column_host"]) + int(weights[0]["to_column_host_face_down"]) * under
    elif users & scene.talon != 0:
        score += int(weights[0]["to_column_chain"])
        chained = fitting(users & scene.talon, scene.rules) & scene.hiding
        if chained != 0:
            under = most_face_down(scene, chained)
            score += int(weights[0]["to_column_chain_host"])
            score += int(weights[0]["to_column_chain_host_face_down"]) * under
    built = users & int(scene.games[scene.g]["heads"]) & ~scene.hiding != 0
    score += int(weights[0]["to_column_built_run"]) if built else 0
    if bit & scene.room == 0:
        score += int(weights[0]["to_column_gap"]) + (int(weights[0]["to_column_gap_host"]) if hosted != 0 else 0)
        score += int(weights[0]["to_column_gap_rank"]) * rank
    elif count_cards(hosts_of(card_of_bit(bit), scene.rules) & int(scene.games[scene.g]["tops"])) > 1:
        score += int(weights[0]["to_column_spare"])
    return score


@kernel
def score_to_foundation(scene: Scene, bit: int, weights: np.ndarray) -> int:
    """The other part of a talon card's score, if it goes to its foundation."""
    users = fitting(bit, scene.rules) & ~scene.home
    score = int(weights[0]["talon_to_foundation"])
    score += int(weights[0]["talon_to_foundation_user"]) * count_cards(users)
    score += int(weights[0]["talon_to_foundation_host"]) if users & scene.hiding != 0 else 0
    chained = bit << 1 & int(scene.games[scene.g]["tops"]) != 0
    return score + (int(weights[0]["talon_to_foundation_chain"]) if chained else 0)


@kernel
def score_talon(scene: Scene, sheet: Sheet, n: int) -> int:
    """Score talon cards."""
    weights, rules = sheet.weights, scene.rules
    playable_now = scene.room | scene.gaps | scene.wanted
    cards = scene.talon & playable_now
    useful = welcome = 0
    if is_grouped(rules) and cards != 0:
        useful = places_of(scene, playable_now)
        welcome = places_of(scene, hosts_of_all(scene.hiding & ~scene.room, rules))
    while cards != 0:
        bit = lowest_bit(cards)
        cards ^= bit
        card = card_of_bit(bit)
        index = int(scene.layouts[0]["index"][card])
        access = score_distance(scene, index, weights)
        if is_grouped(rules):
            access += score_access(scene, bit, index, useful, welcome, weights)
        if bit & (scene.room | scene.gaps) != 0:
            n = add(sheet.moves, n, access + score_to_column(scene, bit, weights), TALON_TO_COLUMN, card)
        if bit & scene.wanted != 0:
            n = add(sheet.moves, n, access + score_to_foundation(scene, bit, weights), TALON_TO_FOUNDATION, card)
    return n


# --- foundation cards, and draws ---------------------------------------------------------------------


@kernel
def score_worrying_back(scene: Scene, sheet: Sheet, n: int) -> int:
    """Score foundation cards that come back for a card that fits on them."""
    games, g, weights = scene.games, scene.g, sheet.weights
    cards = scene.room & (int(games[g]["next"]) >> 1) & CARDS if scene.rules.worry_back else 0
    while cards != 0:
        bit = lowest_bit(cards)
        cards ^= bit
        users, score = fitting(bit, scene.rules), _NO_SCORE
        if users & scene.hiding != 0:
            under = most_face_down(scene, users & scene.hiding)
            score = int(weights[0]["worry_back_host"]) + int(weights[0]["worry_back_host_face_down"]) * under
        elif users & scene.talon != 0:
            score = int(weights[0]["worry_back_talon"])
        elif users & int(games[g]["heads"]) != 0:
            score = int(weights[0]["worry_back_built_run"])
        n = add(sheet.moves, n, score, WORRY_BACK, card_of_bit(bit))
    return n


@kernel
def score_draw(scene: Scene, sheet: Sheet, n: int) -> int:
    """Score a draw, or a redeal if there is no other move, unless the whole talon is known anyway."""
    games, g = scene.games, scene.g
    left = int(games[g]["left"])
    if redeals_are_unlimited(scene.rules.redeals) or left == 0:
        return n
    if stock_of(left, int(games[g]["waste"])) != 0:
        return add(sheet.moves, n, 0, DRAW, NO_CARD)
    again = n == 0 and int(games[g]["moved"]) != 0 and may_redeal(games, g, scene.rules)
    return add(sheet.moves, n, 0, DRAW, NO_CARD) if again else n


@kernel
def score_moves(scene: Scene, sheet: Sheet) -> int:
    """Find all moves and score them; return how many there are."""
    n = score_runs(scene, sheet, 0)
    n = score_tops(scene, sheet, n)
    n = score_talon(scene, sheet, n)
    n = score_worrying_back(scene, sheet, n)
    n = score_splits(scene, sheet, n)
    return score_draw(scene, sheet, n)
