"""Second marks of the agent `tuned`: plays whose marks are close to each other are looked at once more.

What is true of a play and of the position is noted as facts, small numbers such as how many cards the
play leaves playable, or where the card of the same rank is that could lie on the same cards. Each pair of
facts in PAIRS, together with the kind of the play, has a cell in a table for each of its values, and
what stands there is added to the mark. Facts know no suits, so a cell means the same in many positions.

The numbers of the table were learned from plays that were tried out in many games each, see
`train.tune_table`. Sums of terms of one and two variables are the model of Lou, Caruana, Gehrke and
Hooker, "Accurate intelligible models with pairwise interactions" (2013).
"""

from __future__ import annotations

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
)
from klondike_env.agents.tuned.scores import (
    DRAW,
    KINDS,
    RUN,
    SPLIT,
    TALON_DOWN,
    TALON_UP,
    UP,
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
from klondike_env.rules import UNLIMITED, RuleParams

# Marks so far behind the best are left alone: without this bound draw 1 took half as long again, and was won as often.
MARGIN = 6000

# Where a card is.
HOME, TOP, COVERED, TALON, UNSEEN, NO_SUCH = range(6)

# Facts, and how many values each has. Those before `rank` are the same for all plays of a position.
_VALUES = {
    "none": 1,
    "gaps": 4,  # empty columns
    "face_down": 22,  # cards face down
    "talon": TALON_SIZE // 2 + 1,  # half the cards in the talon
    "stock": TALON_SIZE // 2 + 1,  # half the cards in the stock
    "playable": 8,  # talon cards that can be played
    "movable": 5,  # columns whose face-up cards another takes
    "home": 14,  # a quarter of the cards on the foundations
    "wanted": 4,  # columns' last cards that the foundations take
    "welcome": 13,  # of twelve unseen cards those that could be played
    "fillers": 5,  # cards for an empty column, in the talon or on cards face down
    "rank": N_RANKS,  # of the card that is played, the first of a run
    "under": N_COLUMNS,  # cards face down in the column that it leaves, or 0 if none can turn up
    "length": 6,  # cards that move with it
    "place": 4,  # whether it goes to a gap (0), to the only column that takes it, to one of them, to its foundation
    "over": N_COLUMNS,  # cards face down in the column where it goes
    "rivals": 4,  # what else could go there: a run that lies on cards face down (1), a talon card in reach (2)
    "hosted": 9,  # of the cards that it is wanted for the most cards face down under one; 7 on the floor; 8 none
    "hosts_talon": 2,  # whether one of these is in reach in the talon
    "hosts_unseen": 4,  # how many are unseen
    "ahead": N_RANKS,  # ranks from the foundation of its suit to it
    "hosted_ahead": N_RANKS + 1,  # the least of these of the cards that it is wanted for, plus 1; 0 if there is none
    "twin": 6,  # where a card is that lies on the same cards
    "other_host": 6,  # where another card is that it could lie on
    "follower": 6,  # where the next card of its suit is
    "freed": 4,  # talon cards in reach that it lets play
    "beneath": 5,  # the talon card next to come: none, not playable, playable, playable now, unseen
    "useful_after": 9,  # talon cards in reach and playable after it, where only some are in reach
    "reach_after": 9,  # half the talon cards in reach after it
}
FACTS = np.dtype([(name, np.int64) for name in _VALUES])
N_FACTS = len(_VALUES)
_FIRST_OF_PLAY = list(_VALUES).index("rank")

PAIRS = (
    ("none", "none"),
    ("under", "face_down"),
    ("hosted", "rank"),
    ("hosted", "under"),
    ("hosts_talon", "hosted"),
    ("place", "gaps"),
    ("hosted_ahead", "hosted"),
    ("gaps", "under"),
    ("gaps", "hosted"),
    ("talon", "under"),
    ("playable", "under"),
    ("playable", "hosted"),
    ("movable", "hosted"),
    ("home", "ahead"),
    ("twin", "rank"),
    ("twin", "hosted"),
    ("length", "under"),
    ("length", "place"),
    ("length", "rank"),
    ("welcome", "under"),
    ("welcome", "hosted"),
    ("over", "hosted"),
    ("over", "under"),
    ("rivals", "under"),
    ("rivals", "hosted"),
    ("wanted", "under"),
    ("fillers", "place"),
    ("fillers", "under"),
    ("stock", "hosted"),
    ("hosted_ahead", "ahead"),
    ("hosts_unseen", "hosted"),
    ("hosts_unseen", "face_down"),
    ("hosts_unseen", "rank"),
    ("hosts_unseen", "under"),
    ("follower", "ahead"),
    ("follower", "hosted_ahead"),
    ("beneath", "hosted"),
    ("beneath", "under"),
    ("useful_after", "under"),
    ("useful_after", "hosted"),
    ("useful_after", "reach_after"),
    ("reach_after", "talon"),
    ("other_host", "rank"),
    ("other_host", "under"),
    ("other_host", "twin"),
    ("freed", "hosted"),
    ("freed", "under"),
    ("freed", "hosts_talon"),
    ("ahead", "hosted"),
)
N_PAIRS = len(PAIRS)
SIZES = np.array(list(_VALUES.values()))
_FIRST = np.array([list(_VALUES).index(first) for first, _ in PAIRS])
_SECOND = np.array([list(_VALUES).index(second) for _, second in PAIRS])
_SECOND_SIZES = SIZES[_SECOND]
_CELLS = SIZES[_FIRST] * _SECOND_SIZES  # of each pair, for one kind of play
_STARTS = np.concatenate([[0], np.cumsum(_CELLS * len(KINDS))[:-1]])
N_CELLS = int(_CELLS.sum()) * len(KINDS)


# --- the position ------------------------------------------------------------------------------------


@kernel
def seen_talon(games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams) -> int:
    """The talon cards that the player knows: all of them with redeals without limit, else those in the waste."""
    if rules.redeals == UNLIMITED:
        return int(games[g]["talon"])
    left, cards = int(games[g]["left"]), 0
    waste = left & ~stock_of(left, int(games[g]["waste"]))
    while waste != 0:
        cards |= bit_of(int(layouts[0]["talon"][count_cards(lowest_bit(waste) - 1)]))
        waste &= waste - 1
    return cards


@kernel
def note_position(games: np.ndarray, g: int, seen: int, scene: Scene, rules: RuleParams, facts: np.ndarray) -> None:
    """Note what is the same for all plays. seen: the talon cards that the player knows."""
    left = int(games[g]["left"])
    unseen = CARDS & ~(int(games[g]["face_up"]) | seen | scene.home)
    playable = scene.room | scene.gaps | scene.wanted
    facts[0]["gaps"] = min(int(games[g]["n_gaps"]), 3)
    facts[0]["face_down"] = games[g]["n_face_down"]
    facts[0]["talon"] = count_cards(left) // 2
    facts[0]["stock"] = count_cards(stock_of(left, int(games[g]["waste"]))) // 2
    facts[0]["playable"] = min(count_cards(scene.talon & playable), 7)
    facts[0]["movable"] = min(count_cards(int(games[g]["heads"]) & scene.room), 4)
    facts[0]["home"] = count_cards(scene.home) // 4
    facts[0]["wanted"] = min(count_cards(int(games[g]["tops"]) & scene.wanted), 3)
    facts[0]["welcome"] = 12 * count_cards(unseen & playable) // max(count_cards(unseen), 1)
    facts[0]["fillers"] = min(count_cards(int(GAP_SETS[rules.gaps]) & (scene.hiding | seen)), 4)


# --- a play ------------------------------------------------------------------------------------------


@kernel
def place_of_card(games: np.ndarray, g: int, bit: int, seen: int, scene: Scene) -> int:
    """Where a card is, as far as the player knows."""
    if bit & scene.home != 0:
        return HOME
    if bit & int(games[g]["tops"]) != 0:
        return TOP
    if bit & int(games[g]["face_up"]) != 0:
        return COVERED
    return TALON if bit & seen != 0 else UNSEEN


@kernel
def best_place(games: np.ndarray, g: int, cards: int, seen: int, scene: Scene) -> int:
    """The first of the places, in their order, where one of some cards is, or NO_SUCH if there are none."""
    place = NO_SUCH
    while cards != 0:
        bit = lowest_bit(cards)
        cards ^= bit
        place = min(place, place_of_card(games, g, bit, seen, scene))
    return place


@kernel
def ranks_ahead(games: np.ndarray, g: int, card: int) -> int:
    """How many cards of its suit go to the foundation before a card."""
    lane = int(games[g]["next"]) >> (SUIT_WIDTH * suit_of(card)) & ((1 << SUIT_WIDTH) - 1)
    return max(rank_of(card) - count_cards(lane - 1), 0)


@kernel
def least_ahead(games: np.ndarray, g: int, cards: int) -> int:
    """The least of `ranks_ahead` of some cards, plus 1; 0 if there are none."""
    least = N_RANKS if cards != 0 else 0
    while cards != 0:
        bit = lowest_bit(cards)
        cards ^= bit
        least = min(least, ranks_ahead(games, g, card_of_bit(bit)) + 1)
    return least


@kernel
def note_source(games: np.ndarray, g: int, kind: int, what: int, facts: np.ndarray) -> int:
    """Note which cards a play moves, and what they leave; the first of them."""
    if kind not in (RUN, UP, SPLIT):
        return what
    column = column_of(games, g, what) if kind == SPLIT else what
    head, top = int(games[g]["head"][column]), int(games[g]["top"][column])
    card = top if kind == UP else (what if kind == SPLIT else head)
    if kind != UP or head == top:
        facts[0]["under"] = games[g]["n_down"][column]
    facts[0]["length"] = min(rank_of(card if kind == SPLIT else head) - rank_of(top), 5)
    return card


@kernel
def note_target(
    games: np.ndarray,
    g: int,
    bit: int,
    to_foundation: bool,
    seen: int,
    scene: Scene,
    rules: RuleParams,
    facts: np.ndarray,
) -> None:
    """Note where a card goes."""
    if to_foundation:
        facts[0]["place"], facts[0]["other_host"] = 3, NO_SUCH
        return
    all_hosts = hosts_of(card_of_bit(bit), rules)
    hosts = all_hosts & int(games[g]["tops"])
    facts[0]["place"] = min(count_cards(hosts), 2)
    if hosts != 0:
        column = find_column(games, g, card_of_bit(bit), 0, rules)
        rivals = fitting(hosts, rules) & ~bit
        facts[0]["over"] = games[g]["n_down"][column]
        facts[0]["rivals"] = (1 if rivals & scene.hiding != 0 else 0) + (2 if rivals & scene.talon != 0 else 0)
        all_hosts &= ~bit_of(int(games[g]["top"][column]))
    facts[0]["other_host"] = best_place(games, g, all_hosts, seen, scene)


@kernel
def note_hosted(games: np.ndarray, g: int, users: int, seen: int, scene: Scene, facts: np.ndarray) -> None:
    """Note the cards that a play is wanted for."""
    unseen = CARDS & ~(int(games[g]["face_up"]) | seen | scene.home)
    if users & scene.hiding != 0:
        facts[0]["hosted"] = most_face_down(games, g, users & scene.hiding)
    else:
        facts[0]["hosted"] = 7 if users & int(games[g]["heads"]) != 0 else 8
    facts[0]["hosts_talon"] = 1 if users & scene.talon != 0 else 0
    facts[0]["hosts_unseen"] = min(count_cards(users & unseen), 3)
    facts[0]["hosted_ahead"] = least_ahead(games, g, users)


@kernel
def note_waste(
    games: np.ndarray, g: int, from_talon: bool, freed: int, scene: Scene, layouts: np.ndarray, facts: np.ndarray
) -> None:
    """Note the card that is the waste's top after a play."""
    card = waste_card(games, g, layouts)
    if from_talon:
        index = highest_index(int(games[g]["left"]) & ((1 << int(games[g]["waste"])) - 1))
        card = int(layouts[0]["talon"][index]) if index != NOWHERE else NO_CARD
    bit = set_of(card)
    if bit == 0:
        facts[0]["beneath"] = 0
    elif bit & (scene.room | scene.gaps | scene.wanted) != 0:
        facts[0]["beneath"] = 2
    else:
        facts[0]["beneath"] = 3 if bit & freed != 0 else 1


@kernel
def note_reach(
    games: np.ndarray,
    g: int,
    from_talon: bool,
    card: int,
    useful: int,
    layouts: np.ndarray,
    rules: RuleParams,
    facts: np.ndarray,
) -> None:
    """Note which talon cards are in reach after a play. useful: the places in the talon of cards that can be played."""
    left = int(games[g]["left"])
    n_left, place = count_cards(left), place_of(left, int(games[g]["waste"]) + 1)
    if from_talon:
        n_left, place = n_left - 1, place_of(left, int(layouts[0]["index"][card]))
        useful = without(useful, place)
    places = places_in_reach(rules.draw_count, place, n_left)
    facts[0]["useful_after"] = min(count_cards(places & useful), 8)
    facts[0]["reach_after"] = min(count_cards(places) // 2, 8)


@kernel
def note_play(
    games: np.ndarray,
    g: int,
    kind: int,
    what: int,
    seen: int,
    useful: int,
    scene: Scene,
    layouts: np.ndarray,
    rules: RuleParams,
    facts: np.ndarray,
) -> None:
    """Note what is true of a play, in facts that are 0 so far.

    useful: the places in the talon of cards that can be played before it.
    """
    if kind == DRAW:
        facts[0]["beneath"] = 4
        return
    card = note_source(games, g, kind, what, facts)
    bit = bit_of(card)
    from_talon, to_foundation = kind in (TALON_DOWN, TALON_UP), kind in (UP, TALON_UP)
    users = fitting(bit if kind != SPLIT else bit_of(int(games[g]["below"][card])), rules) & ~scene.home & ~bit
    following = bit << 1 & CARDS
    freed = 0 if kind == RUN else (following if to_foundation else users)
    facts[0]["rank"] = rank_of(card)
    facts[0]["ahead"] = ranks_ahead(games, g, card)
    facts[0]["twin"] = best_place(games, g, fitting(hosts_of(card, rules), rules) & ~bit, seen, scene)
    if to_foundation:
        facts[0]["follower"] = best_place(games, g, following, seen, scene)
    facts[0]["freed"] = min(count_cards(freed & scene.talon), 3)
    note_target(games, g, bit, to_foundation, seen, scene, rules, facts)
    note_hosted(games, g, users, seen, scene, facts)
    if rules.redeals != UNLIMITED:
        note_waste(games, g, from_talon, freed, scene, layouts, facts)
    if is_grouped(rules):
        useful |= places_of(games, g, freed, layouts)
        note_reach(games, g, from_talon, card, useful, layouts, rules, facts)


# --- marks -------------------------------------------------------------------------------------------


@kernel
def cell_of(pair: int, kind: int, values: np.ndarray) -> int:
    """The cell of a pair of facts, where all facts have these values."""
    return _STARTS[pair] + kind * _CELLS[pair] + values[_FIRST[pair]] * _SECOND_SIZES[pair] + values[_SECOND[pair]]


@kernel
def keep_close(plays: np.ndarray, n: int) -> int:
    """Keep of `n` plays those whose marks are close to the best; how many they are."""
    most, left = int(plays[0]["mark"]), 0
    for p in range(1, n):
        most = max(most, int(plays[p]["mark"]))
    for p in range(n):
        if int(plays[p]["mark"]) >= most - MARGIN:
            plays[left] = plays[p]
            left += 1
    return left


@kernel
def find_cells(
    games: np.ndarray,
    g: int,
    scene: Scene,
    layouts: np.ndarray,
    rules: RuleParams,
    plays: np.ndarray,
    n: int,
    facts: np.ndarray,
    values: np.ndarray,
    cells: np.ndarray,
) -> None:
    """Find the cells of the first `n` plays. cells: int64[MAX_PLAYS, N_PAIRS], overwritten; the rest as below."""
    seen = seen_talon(games, g, layouts, rules)
    useful = places_of(games, g, scene.room | scene.gaps | scene.wanted, layouts) if is_grouped(rules) else 0
    values[:] = 0
    note_position(games, g, seen, scene, rules, facts)
    for p in range(n):
        kind = int(plays[p]["kind"])
        values[_FIRST_OF_PLAY:] = 0
        note_play(games, g, kind, int(plays[p]["what"]), seen, useful, scene, layouts, rules, facts)
        for pair in range(N_PAIRS):
            cells[p, pair] = cell_of(pair, kind, values)


@kernel
def mark_again(
    games: np.ndarray,
    g: int,
    scene: Scene,
    layouts: np.ndarray,
    rules: RuleParams,
    table: np.ndarray,
    plays: np.ndarray,
    n: int,
    facts: np.ndarray,
    values: np.ndarray,
    cells: np.ndarray,
) -> int:
    """Keep the plays whose marks are close, and add what the table says; how many they are.

    table: int16[N_CELLS]; plays: PLAY[MAX_PLAYS], of which the first `n` have marks; scratch are facts: FACTS[1],
    values: int64[N_FACTS] in the same memory, and cells: int64[MAX_PLAYS, N_PAIRS].
    """
    n = keep_close(plays, n)
    if n == 1:
        return n
    find_cells(games, g, scene, layouts, rules, plays, n, facts, values, cells)
    for p in range(n):
        for pair in range(N_PAIRS):
            plays[p]["mark"] += table[cells[p, pair]]
    return n
