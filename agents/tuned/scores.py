"""The plays of the agent `tuned`, and their first marks: sums of the weights of what is true of them."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from klondike_env.agents.lists.board import fitting
from klondike_env.agents.lists.list_player import CARDS, NO_CARD, hosts_of, may_redeal, set_of, stock_of, waste_card
from klondike_env.cards import N_SUITS
from klondike_env.engine.card_arithmetic import rank_of
from klondike_env.engine.card_sets import GAP_SETS, SUIT_WIDTH, bit_of, card_of_bit, count_cards, lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import N_COLUMNS, TALON_SIZE
from klondike_env.rules import MAX_DRAW_COUNT, UNLIMITED, RuleParams

_ACES = sum(1 << SUIT_WIDTH * suit for suit in range(N_SUITS))
_NO_MARK = -(1 << 60)


def _find_places(draw_count: int, n_waste: int, n_left: int) -> int:
    """The talon cards, by their places from the bottom of the waste up, that can come to the waste's top."""
    ends = {*range(n_waste, n_left, draw_count), *range(0, n_left, draw_count), n_left}
    return sum(1 << (end - 1) for end in ends if end > 0)


# _REACH[draw_count, cards in the waste, cards in the talon], with redeals without limit.
_REACH = np.zeros((MAX_DRAW_COUNT + 1, TALON_SIZE + 1, TALON_SIZE + 1), dtype=np.int32)
for _draw_count, _n_left in product(range(1, MAX_DRAW_COUNT + 1), range(TALON_SIZE + 1)):
    for _n_waste in range(_n_left + 1):
        _REACH[_draw_count, _n_waste, _n_left] = _find_places(_draw_count, _n_waste, _n_left)

# Kinds of plays; what else makes a play is a column for the first two, and a card for the others but a draw.
RUN, UP, TALON_DOWN, TALON_UP, BACK, SPLIT, DRAW = KINDS = tuple(range(7))
PLAY = np.dtype([("mark", np.int64), ("kind", np.int64), ("what", np.int64)])
# A run and a last card of each column, 24 talon cards and 4 of these up, 4 back, 4 onto each of 7 columns, a draw.
MAX_PLAYS = 76


class Scene(NamedTuple):
    """A position as sets of cards."""

    room: int  # cards that the columns take
    gaps: int  # cards that an empty column takes, if there is one
    wanted: int  # cards that the foundations take
    home: int  # cards on the foundations
    hiding: int  # first face-up cards of columns with cards face down
    talon: int  # talon cards that can be played


@kernel
def add(plays: np.ndarray, n: int, mark: int, kind: int, what: int) -> int:
    """Add a play to `n` others, unless it has no mark; how many there are now."""
    if mark == _NO_MARK:
        return n
    plays[n]["mark"] = mark
    plays[n]["kind"] = kind
    plays[n]["what"] = what
    return n + 1


@kernel
def place_of(left: int, index: int) -> int:
    """How many of the cards left in the talon come before an index."""
    return count_cards(left & ((1 << index) - 1))


@kernel
def is_grouped(rules: RuleParams) -> bool:
    """Whether the talon is known, but only some of its cards can be played. Elsewhere cards may be unseen."""
    return rules.draw_count > 1 and rules.redeals == UNLIMITED


@kernel
def places_in_reach(draw_count: int, n_waste: int, n_left: int) -> int:
    """The places in the talon of cards that can be played, with redeals without limit."""
    return int(_REACH[draw_count, n_waste, n_left])


@kernel
def find_reach(games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams) -> None:
    """Find which talon cards can be played; where that takes a while, they change only when one of them is played."""
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
    return int(games[g]["talon"]) if rules.redeals == UNLIMITED else set_of(waste_card(games, g, layouts))


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
        room=fitting(int(games[g]["tops"]), rules),
        gaps=int(GAP_SETS[rules.gaps]) if int(games[g]["n_gaps"]) > 0 else 0,
        wanted=following & CARDS,
        home=following - _ACES,  # in each lane a single bit, and all below it
        hiding=hiding_heads(games, g),
        talon=playable(games, g, layouts, rules),
    )


@kernel
def most_face_down(games: np.ndarray, g: int, heads: int) -> int:
    """The most cards face down under one of some first face-up cards; 0 for none."""
    most = 0
    for column in range(N_COLUMNS):
        under = int(games[g]["n_down"][column]) if heads & set_of(int(games[g]["head"][column])) != 0 else 0
        most = max(most, under)
    return most


@kernel
def mark_place(
    games: np.ndarray, g: int, bit: int, fits: bool, scene: Scene, rules: RuleParams, weights: np.ndarray
) -> int:
    """The part of a run's mark for where it goes; `fits`: whether that is another card."""
    card = card_of_bit(bit)
    if not fits:
        return int(weights[0]["run_to_gap"]) + int(weights[0]["run_to_gap_rank"]) * rank_of(card)
    hosts = hosts_of(card, rules) & int(games[g]["tops"])
    if count_cards(hosts) > 1:
        return int(weights[0]["run_spare"])
    rivals = fitting(hosts, rules) & ~bit
    if rivals & scene.hiding != 0:
        return int(weights[0]["run_rival"])
    return int(weights[0]["run_rival_talon"]) if rivals & scene.talon != 0 else 0


@kernel
def mark_runs(
    games: np.ndarray, g: int, scene: Scene, rules: RuleParams, weights: np.ndarray, plays: np.ndarray, n: int
) -> int:
    """Mark whole runs that go to another column."""
    if int(games[g]["heads"]) & (scene.room | scene.gaps) == 0:
        return n
    awaited = (scene.hiding | scene.talon) & int(GAP_SETS[rules.gaps]) != 0
    for column in range(N_COLUMNS):
        bit, n_down = set_of(int(games[g]["head"][column])), int(games[g]["n_down"][column])
        fits = bit & scene.room != 0
        if n_down > 0 and bit & (scene.room | scene.gaps) != 0:
            mark = int(weights[0]["run"]) + int(weights[0]["run_face_down"]) * n_down
            mark += mark_place(games, g, bit, fits, scene, rules, weights)
            mark += int(weights[0]["run_last_face_down"]) if n_down == 1 else 0
            n = add(plays, n, mark, RUN, column)
        elif fits:
            mark = int(weights[0]["built_run"]) + (int(weights[0]["built_run_awaited"]) if awaited else 0)
            n = add(plays, n, mark, RUN, column)
    return n


@kernel
def mark_ups(
    games: np.ndarray, g: int, scene: Scene, rules: RuleParams, weights: np.ndarray, plays: np.ndarray, n: int
) -> int:
    """Mark columns' last cards that go to their foundations."""
    cards = int(games[g]["tops"]) & scene.wanted & ~int(games[g]["returned"])
    if cards == 0:
        return n
    for column in range(N_COLUMNS):
        bit = set_of(int(games[g]["top"][column]))
        if bit & cards != 0:
            users, n_down = fitting(bit, rules) & ~scene.home, int(games[g]["n_down"][column])
            mark = int(weights[0]["up"]) + int(weights[0]["up_user"]) * count_cards(users)
            mark += int(weights[0]["up_host"]) if users & scene.hiding != 0 else 0
            if bit & int(games[g]["heads"]) != 0:
                turning = int(weights[0]["up_turning"]) + int(weights[0]["up_turning_face_down"]) * n_down
                mark += turning if n_down > 0 else int(weights[0]["up_emptying"])
            n = add(plays, n, mark, UP, column)
    return n


@kernel
def places_of(games: np.ndarray, g: int, cards: int, layouts: np.ndarray) -> int:
    """The places in the talon of those of some cards that are there, a bit for each."""
    left, places = int(games[g]["left"]), 0
    cards &= int(games[g]["talon"])
    while cards != 0:
        bit = lowest_bit(cards)
        cards ^= bit
        places |= 1 << place_of(left, int(layouts[0]["index"][card_of_bit(bit)]))
    return places


@kernel
def without(places: int, place: int) -> int:
    """Places in the talon after the card at one of them has gone."""
    before = (1 << place) - 1
    return (places & before) | (places >> 1 & ~before)


@kernel
def mark_distance(games: np.ndarray, g: int, index: int, weights: np.ndarray) -> int:
    """The part of a talon card's mark for how far it is."""
    left, waste = int(games[g]["left"]), int(games[g]["waste"])
    before = left & ((2 << index) - 1)
    passed = count_cards(stock_of(before, waste)) if index >= waste else count_cards(before) + TALON_SIZE
    return int(weights[0]["talon_distance"]) * passed


@kernel
def hosts_of_all(cards: int, rules: RuleParams) -> int:
    """The set of cards on which one of some cards may be built."""
    hosts = 0
    while cards != 0:
        bit = lowest_bit(cards)
        cards ^= bit
        hosts |= hosts_of(card_of_bit(bit), rules)
    return hosts


@kernel
def mark_access(
    games: np.ndarray,
    g: int,
    bit: int,
    index: int,
    useful: int,
    welcome: int,
    scene: Scene,
    layouts: np.ndarray,
    rules: RuleParams,
    weights: np.ndarray,
) -> int:
    """The part of a talon card's mark for what can be played once it has gone.

    useful: the places of cards that can be played as things are; welcome: of those on which a run that lies on cards
    face down could go that can go nowhere yet.
    """
    left = int(games[g]["left"])
    place = place_of(left, index)
    newly = fitting(bit, rules) | (bit & scene.wanted) << 1
    useful |= places_of(games, g, newly, layouts)
    places = places_in_reach(rules.draw_count, place, count_cards(left) - 1)
    mark = int(weights[0]["talon_useful"]) * count_cards(places & without(useful, place))
    mark += int(weights[0]["talon_useful_host"]) * count_cards(places & without(useful & welcome, place))
    return mark + int(weights[0]["talon_reachable"]) * count_cards(places)


@kernel
def mark_down(games: np.ndarray, g: int, bit: int, scene: Scene, rules: RuleParams, weights: np.ndarray) -> int:
    """The other part of its mark where it goes to a column."""
    users = fitting(bit, rules) & ~scene.home
    mark = int(weights[0]["down"]) + int(weights[0]["down_rank"]) * rank_of(card_of_bit(bit))
    mark += int(weights[0]["down_user"]) * count_cards(users)
    hosted = users & scene.hiding
    if hosted != 0:
        mark += int(weights[0]["down_host"]) + int(weights[0]["down_host_face_down"]) * most_face_down(games, g, hosted)
    elif users & scene.talon != 0:
        mark += int(weights[0]["down_chain"])
        chained = fitting(users & scene.talon, rules) & scene.hiding
        if chained != 0:
            under = most_face_down(games, g, chained)
            mark += int(weights[0]["down_chain_host"]) + int(weights[0]["down_chain_host_face_down"]) * under
    mark += int(weights[0]["down_built_run"]) if users & int(games[g]["heads"]) & ~scene.hiding != 0 else 0
    if bit & scene.room == 0:
        mark += int(weights[0]["down_to_gap"]) + (int(weights[0]["down_to_gap_host"]) if hosted != 0 else 0)
        mark += int(weights[0]["down_to_gap_rank"]) * rank_of(card_of_bit(bit))
    elif count_cards(hosts_of(card_of_bit(bit), rules) & int(games[g]["tops"])) > 1:
        mark += int(weights[0]["down_spare"])
    return mark


@kernel
def mark_talon_up(games: np.ndarray, g: int, bit: int, scene: Scene, rules: RuleParams, weights: np.ndarray) -> int:
    """The other part of its mark where it goes to its foundation."""
    users = fitting(bit, rules) & ~scene.home
    mark = int(weights[0]["talon_up"]) + int(weights[0]["talon_up_user"]) * count_cards(users)
    mark += int(weights[0]["talon_up_host"]) if users & scene.hiding != 0 else 0
    return mark + (int(weights[0]["talon_up_chain"]) if bit << 1 & int(games[g]["tops"]) != 0 else 0)


@kernel
def mark_talon(
    games: np.ndarray,
    g: int,
    scene: Scene,
    layouts: np.ndarray,
    rules: RuleParams,
    weights: np.ndarray,
    plays: np.ndarray,
    n: int,
) -> int:
    """Mark talon cards."""
    playable_now = scene.room | scene.gaps | scene.wanted
    cards = scene.talon & playable_now
    useful = welcome = 0
    if is_grouped(rules) and cards != 0:
        useful = places_of(games, g, playable_now, layouts)
        welcome = places_of(games, g, hosts_of_all(scene.hiding & ~scene.room, rules), layouts)
    while cards != 0:
        bit = lowest_bit(cards)
        cards ^= bit
        card = card_of_bit(bit)
        index = int(layouts[0]["index"][card])
        access = mark_distance(games, g, index, weights)
        if is_grouped(rules):
            access += mark_access(games, g, bit, index, useful, welcome, scene, layouts, rules, weights)
        if bit & (scene.room | scene.gaps) != 0:
            n = add(plays, n, access + mark_down(games, g, bit, scene, rules, weights), TALON_DOWN, card)
        if bit & scene.wanted != 0:
            n = add(plays, n, access + mark_talon_up(games, g, bit, scene, rules, weights), TALON_UP, card)
    return n


@kernel
def mark_backs(
    games: np.ndarray, g: int, scene: Scene, rules: RuleParams, weights: np.ndarray, plays: np.ndarray, n: int
) -> int:
    """Mark foundation cards that come back for a card that fits on them."""
    cards = scene.room & (int(games[g]["next"]) >> 1) & CARDS if rules.worry_back else 0
    while cards != 0:
        bit = lowest_bit(cards)
        cards ^= bit
        users, mark = fitting(bit, rules), _NO_MARK
        if users & scene.hiding != 0:
            under = most_face_down(games, g, users & scene.hiding)
            mark = int(weights[0]["back_host"]) + int(weights[0]["back_host_face_down"]) * under
        elif users & scene.talon != 0:
            mark = int(weights[0]["back_talon"])
        elif users & int(games[g]["heads"]) != 0:
            mark = int(weights[0]["back_built_run"])
        n = add(plays, n, mark, BACK, card_of_bit(bit))
    return n


@kernel
def mark_split(games: np.ndarray, g: int, freed: int, scene: Scene, rules: RuleParams, weights: np.ndarray) -> int:
    """The mark of a run's split for the card that it frees: for its foundation, or for what could lie on it."""
    mark = int(weights[0]["split"]) if freed & scene.wanted != 0 else _NO_MARK
    users = fitting(freed, rules) & ~scene.room  # none where colours alternate: a like card is among the columns' last
    if users & scene.hiding != 0:
        under = most_face_down(games, g, users & scene.hiding)
        return max(mark, int(weights[0]["split_host"]) + int(weights[0]["split_host_face_down"]) * under)
    if users & scene.talon != 0:
        return max(mark, int(weights[0]["split_talon"]))
    return max(mark, int(weights[0]["split_built_run"])) if users & int(games[g]["heads"]) != 0 else mark


@kernel
def mark_splits(
    games: np.ndarray, g: int, scene: Scene, rules: RuleParams, weights: np.ndarray, plays: np.ndarray, n: int
) -> int:
    """Mark runs that can be split."""
    covers = scene.room & int(games[g]["face_up"]) & ~int(games[g]["heads"]) & ~int(games[g]["returned"])
    covers &= int(games[g]["tops"]) if rules.whole_runs else -1
    while covers != 0:
        bit = lowest_bit(covers)
        covers ^= bit
        cover = card_of_bit(bit)
        freed = bit_of(int(games[g]["below"][cover]))
        n = add(plays, n, mark_split(games, g, freed, scene, rules, weights), SPLIT, cover)
    return n


@kernel
def mark_draw(games: np.ndarray, g: int, rules: RuleParams, plays: np.ndarray, n: int) -> int:
    """Mark a draw, and a redeal where nothing else is left, unless the whole stock is within reach anyway."""
    left = int(games[g]["left"])
    if rules.redeals == UNLIMITED or left == 0:
        return n
    if stock_of(left, int(games[g]["waste"])) != 0:
        return add(plays, n, 0, DRAW, NO_CARD)
    again = n == 0 and int(games[g]["moved"]) != 0 and may_redeal(games, g, rules)
    return add(plays, n, 0, DRAW, NO_CARD) if again else n


@kernel
def list_plays(
    games: np.ndarray,
    g: int,
    scene: Scene,
    layouts: np.ndarray,
    rules: RuleParams,
    weights: np.ndarray,
    plays: np.ndarray,
) -> int:
    """Find all plays and mark them; how many there are. plays: PLAY[MAX_PLAYS], overwritten."""
    n = mark_runs(games, g, scene, rules, weights, plays, 0)
    n = mark_ups(games, g, scene, rules, weights, plays, n)
    n = mark_talon(games, g, scene, layouts, rules, weights, plays, n)
    n = mark_backs(games, g, scene, rules, weights, plays, n)
    n = mark_splits(games, g, scene, rules, weights, plays, n)
    return mark_draw(games, g, rules, plays, n)
