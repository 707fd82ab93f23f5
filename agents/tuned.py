"""The agent `tuned`: a list of plays like Collins', but with marks in place of ranks, found by evolution.

Every play of a few kinds gets a mark: the sum of the weights of what is true of it, such as how many cards
it turns up at once or how many talon cards come into reach. The play with the best mark is made; where the
stock is hidden a draw has mark 0. Marks are whole numbers, so they are the same on every machine. Which
weights win most was found by playing some million deals, apart for each variant (see `train.tune`); other
rules borrow the weights of the variant most like them.

The kinds of plays, and what a mark is made of, are the fields of WEIGHTS. Plays that take nothing forward
are none of them, apart from two: a foundation card comes back for a card that fits on it, and a run is split
to free a card for its foundation, or for another that could then lie on it. Neither card goes on to its
foundation, nor is split off again, before a play that cannot be undone, lest the list run in circles.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from agents.base import Agent
from agents.board import fitting
from agents.playout import (
    CARDS,
    GAME,
    LAYOUT,
    NO_CARD,
    column_of,
    find_column,
    hosts_of,
    index_talon,
    is_decided,
    lay_single,
    may_redeal,
    move_tail,
    move_whole,
    pass_home,
    put_up_top,
    read_game,
    read_layout,
    set_of,
    stock_of,
    take_waste,
    tap_stock,
    waste_card,
)
from agents.tuned_weights import weights_for
from klondike_env.cards import N_SUITS, rank_of, suit_of
from klondike_env.engine.actions import N_DESTINATIONS, ONTO_SUIT, RESIGN, STOCK_ACTION, TO_FOUNDATION, TO_GAP
from klondike_env.engine.jit import kernel
from klondike_env.engine.lanes import GAP_SETS, LANE, bit_of, card_of_bit, count_cards, lowest_bit
from klondike_env.engine.state import N_COLUMNS, PLAYING, TALON_SIZE
from klondike_env.rules import MAX_DRAW_COUNT, UNLIMITED, RuleParams, Rules

_ACES = sum(1 << LANE * suit for suit in range(N_SUITS))
_MOST_PLAYS = 200
_NO_MARK = -(1 << 60)


def _places_in_reach(draw_count: int, n_waste: int, n_left: int) -> int:
    """The talon cards, by their places from the bottom of the waste up, that can come to the waste's top."""
    ends = {*range(n_waste, n_left, draw_count), *range(0, n_left, draw_count), n_left}
    return sum(1 << (end - 1) for end in ends if end > 0)


# _REACH[draw_count, cards in the waste, cards in the talon], with redeals without limit.
_REACH = np.zeros((MAX_DRAW_COUNT + 1, TALON_SIZE + 1, TALON_SIZE + 1), dtype=np.int32)
for _draw_count, _n_left in product(range(1, MAX_DRAW_COUNT + 1), range(TALON_SIZE + 1)):
    for _n_waste in range(_n_left + 1):
        _REACH[_draw_count, _n_waste, _n_left] = _places_in_reach(_draw_count, _n_waste, _n_left)

# Kinds of plays; the rest of a choice is a column for the first two, else a card.
RUN, UP, TALON_DOWN, TALON_UP, BACK, SPLIT, DRAW, NONE = range(8)


class Choice(NamedTuple):
    """The best play so far."""

    mark: int
    kind: int
    what: int


class Scene(NamedTuple):
    """A position as sets of cards."""

    room: int  # cards that the columns take
    gaps: int  # cards that an empty column takes, if there is one
    wanted: int  # cards that the foundations take
    home: int  # cards on the foundations
    hiding: int  # first face-up cards of columns with cards face down
    talon: int  # talon cards that can be played


@kernel
def better(choice: Choice, mark: int, kind: int, what: int) -> Choice:
    """The better of two plays; of equal ones the first."""
    return Choice(mark, kind, what) if mark > choice.mark else choice


@kernel
def place_of(left: int, index: int) -> int:
    """How many of the cards left in the talon come before an index."""
    return count_cards(left & ((1 << index) - 1))


@kernel
def is_grouped(rules: RuleParams) -> bool:
    """Whether the talon is known, but only some of its cards can be played. Elsewhere cards may be unseen."""
    return rules.draw_count > 1 and rules.redeals == UNLIMITED


@kernel
def find_reach(games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams) -> None:
    """Find which talon cards can be played; where that takes a while, they change only when one of them is played."""
    if not is_grouped(rules):
        return
    left = int(games[g]["left"])
    places = int(_REACH[rules.draw_count, place_of(left, int(games[g]["waste"]) + 1), count_cards(left)])
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
    games: np.ndarray, g: int, scene: Scene, rules: RuleParams, weights: np.ndarray, choice: Choice
) -> Choice:
    """Mark whole runs that go to another column."""
    if int(games[g]["heads"]) & (scene.room | scene.gaps) == 0:
        return choice
    awaited = (scene.hiding | scene.talon) & int(GAP_SETS[rules.gaps]) != 0
    for column in range(N_COLUMNS):
        bit, n_down = set_of(int(games[g]["head"][column])), int(games[g]["n_down"][column])
        fits = bit & scene.room != 0
        if n_down > 0 and bit & (scene.room | scene.gaps) != 0:
            mark = int(weights[0]["run"]) + int(weights[0]["run_face_down"]) * n_down
            mark += mark_place(games, g, bit, fits, scene, rules, weights)
            mark += int(weights[0]["run_last_face_down"]) if n_down == 1 else 0
            choice = better(choice, mark, RUN, column)
        elif fits:
            mark = int(weights[0]["built_run"]) + (int(weights[0]["built_run_awaited"]) if awaited else 0)
            choice = better(choice, mark, RUN, column)
    return choice


@kernel
def mark_ups(games: np.ndarray, g: int, scene: Scene, rules: RuleParams, weights: np.ndarray, choice: Choice) -> Choice:
    """Mark columns' last cards that go to their foundations."""
    cards = int(games[g]["tops"]) & scene.wanted & ~int(games[g]["returned"])
    if cards == 0:
        return choice
    for column in range(N_COLUMNS):
        bit = set_of(int(games[g]["top"][column]))
        if bit & cards != 0:
            users, n_down = fitting(bit, rules) & ~scene.home, int(games[g]["n_down"][column])
            mark = int(weights[0]["up"]) + int(weights[0]["up_user"]) * count_cards(users)
            mark += int(weights[0]["up_host"]) if users & scene.hiding != 0 else 0
            if bit & int(games[g]["heads"]) != 0:
                turning = int(weights[0]["up_turning"]) + int(weights[0]["up_turning_face_down"]) * n_down
                mark += turning if n_down > 0 else int(weights[0]["up_emptying"])
            choice = better(choice, mark, UP, column)
    return choice


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
    places = int(_REACH[rules.draw_count, place, count_cards(left) - 1])
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
    games: np.ndarray, g: int, scene: Scene, layouts: np.ndarray, rules: RuleParams, weights: np.ndarray, choice: Choice
) -> Choice:
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
            choice = better(choice, access + mark_down(games, g, bit, scene, rules, weights), TALON_DOWN, card)
        if bit & scene.wanted != 0:
            choice = better(choice, access + mark_talon_up(games, g, bit, scene, rules, weights), TALON_UP, card)
    return choice


@kernel
def mark_backs(
    games: np.ndarray, g: int, scene: Scene, rules: RuleParams, weights: np.ndarray, choice: Choice
) -> Choice:
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
        choice = better(choice, mark, BACK, card_of_bit(bit))
    return choice


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
    games: np.ndarray, g: int, scene: Scene, rules: RuleParams, weights: np.ndarray, choice: Choice
) -> Choice:
    """Mark runs that can be split."""
    covers = scene.room & int(games[g]["face_up"]) & ~int(games[g]["heads"]) & ~int(games[g]["returned"])
    covers &= int(games[g]["tops"]) if rules.whole_runs else -1
    while covers != 0:
        bit = lowest_bit(covers)
        covers ^= bit
        cover = card_of_bit(bit)
        freed = bit_of(int(games[g]["below"][cover]))
        choice = better(choice, mark_split(games, g, freed, scene, rules, weights), SPLIT, cover)
    return choice


@kernel
def mark_draw(games: np.ndarray, g: int, rules: RuleParams, choice: Choice) -> Choice:
    """Mark a draw, and a redeal where nothing else is left, unless the whole stock is within reach anyway."""
    left = int(games[g]["left"])
    if rules.redeals == UNLIMITED or left == 0:
        return choice
    if stock_of(left, int(games[g]["waste"])) != 0:
        return better(choice, 0, DRAW, NO_CARD)
    again = choice.kind == NONE and int(games[g]["moved"]) != 0 and may_redeal(games, g, rules)
    return Choice(0, DRAW, NO_CARD) if again else choice


@kernel
def choose_play(games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams, weights: np.ndarray) -> Choice:
    """The best play; its kind is NONE if there is none."""
    scene = look(games, g, layouts, rules)
    choice = Choice(_NO_MARK, NONE, NO_CARD)
    choice = mark_runs(games, g, scene, rules, weights, choice)
    choice = mark_ups(games, g, scene, rules, weights, choice)
    choice = mark_talon(games, g, scene, layouts, rules, weights, choice)
    choice = mark_backs(games, g, scene, rules, weights, choice)
    choice = mark_splits(games, g, scene, rules, weights, choice)
    return mark_draw(games, g, rules, choice)


@kernel
def target_of(games: np.ndarray, g: int, choice: Choice, rules: RuleParams) -> int:
    """The column that a play leads to; not for plays to a foundation, and draws."""
    gaps = int(GAP_SETS[rules.gaps]) if int(games[g]["n_gaps"]) > 0 else 0
    if choice.kind == RUN:
        gaps = gaps if int(games[g]["n_down"][choice.what]) > 0 else 0
        return find_column(games, g, int(games[g]["head"][choice.what]), gaps, rules)
    return find_column(games, g, choice.what, gaps if choice.kind == TALON_DOWN else 0, rules)


@kernel
def note_return(games: np.ndarray, g: int, choice: Choice) -> None:
    """Note which cards must not move again before a play that cannot be undone, lest the list run in circles."""
    if choice.kind in (BACK, SPLIT):
        games[g]["returned"] |= bit_of(choice.what)
    elif choice.kind in (TALON_DOWN, TALON_UP) or (choice.kind == RUN and int(games[g]["n_down"][choice.what]) > 0):
        games[g]["returned"] = 0


@kernel
def make_play(games: np.ndarray, g: int, choice: Choice, layouts: np.ndarray, rules: RuleParams) -> None:
    """Make a play."""
    what = choice.what
    if choice.kind == DRAW:
        tap_stock(games, g, rules)
        return
    games[g]["moved"] = 1
    note_return(games, g, choice)
    if choice.kind == UP:
        put_up_top(games, g, what, layouts)
        return
    if choice.kind in (TALON_DOWN, TALON_UP):
        games[g]["waste"] = layouts[0]["index"][what]
        take_waste(games, g, what)
        find_reach(games, g, layouts, rules)
    if choice.kind == TALON_UP:
        pass_home(games, g, what)
        return
    target = target_of(games, g, choice, rules)
    if choice.kind == RUN:
        move_whole(games, g, what, target, layouts)
    elif choice.kind == SPLIT:
        move_tail(games, g, what, column_of(games, g, what), target)
    else:
        if choice.kind == BACK:
            pass_home(games, g, what)
        lay_single(games, g, what, target)


@kernel
def play_out_tuned(
    games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams, enough: int, weights: np.ndarray
) -> bool:
    """Play a game to its end; whether it is won. weights: WEIGHTS[1]; the rest as for `agents.playout.play_out`."""
    find_reach(games, g, layouts, rules)
    for _ in range(_MOST_PLAYS):
        if is_decided(games, g, rules, enough):
            return True
        choice = choose_play(games, g, layouts, rules, weights)
        if choice.kind == NONE:
            return False
        make_play(games, g, choice, layouts, rules)
    return False


# --- as an agent -------------------------------------------------------------------------------------


@kernel
def action_of(games: np.ndarray, g: int, choice: Choice, rules: RuleParams) -> int:
    """The action of a play, or RESIGN."""
    if choice.kind == NONE:
        return RESIGN
    if choice.kind == DRAW:
        return STOCK_ACTION
    if choice.kind == UP:
        return int(games[g]["top"][choice.what]) * N_DESTINATIONS + TO_FOUNDATION
    if choice.kind == TALON_UP:
        return choice.what * N_DESTINATIONS + TO_FOUNDATION
    card = int(games[g]["head"][choice.what]) if choice.kind == RUN else choice.what
    below = int(games[g]["top"][target_of(games, g, choice, rules)])
    return card * N_DESTINATIONS + (TO_GAP if below == NO_CARD else ONTO_SUIT + suit_of(below))


@kernel
def choose_tuned(
    views: np.ndarray,
    i: int,
    rules: RuleParams,
    weights: np.ndarray,
    returned: np.ndarray,
    games: np.ndarray,
    layouts: np.ndarray,
) -> int:
    """The action of the list in view `i`, or RESIGN.

    returned: int64[n], cards that must not move again yet, updated; scratch are games: GAME[1], layouts: LAYOUT[1].
    """
    read_layout(views, i, layouts)
    read_game(views, i, games, 0)
    index_talon(views, i, layouts, games, 0)
    find_reach(games, 0, layouts, rules)
    games[0]["returned"] = returned[i] if int(views[i]["steps"]) > 0 else 0
    choice = choose_play(games, 0, layouts, rules, weights)
    note_return(games, 0, choice)
    returned[i] = games[0]["returned"]
    return action_of(games, 0, choice, rules)


@kernel
def choose_all(
    views: np.ndarray,
    rules: RuleParams,
    weights: np.ndarray,
    returned: np.ndarray,
    actions: np.ndarray,
    games: np.ndarray,
    layouts: np.ndarray,
) -> None:
    """`choose_tuned` for every game that is on; actions: int64[n], overwritten there."""
    for i in range(len(views)):
        if views[i]["outcome"] == PLAYING:
            actions[i] = choose_tuned(views, i, rules, weights, returned, games, layouts)


class TunedAgent(Agent):
    """Makes the play with the best mark, and gives up when there is none."""

    name = "tuned"
    no_repeats = False
    needs_masks = False

    def start(self, n_games: int, rules: Rules, seed: int) -> None:
        """See `Agent.start`; the list leaves nothing to chance."""
        self._rules, self._weights = rules.params(), weights_for(rules)
        self._returned = np.zeros(n_games, dtype=np.int64)
        self._actions = np.zeros(n_games, dtype=np.int64)

    def act(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See `Agent.act`."""
        scratch = np.zeros(1, dtype=GAME), np.zeros(1, dtype=LAYOUT)
        choose_all(views, self._rules, self._weights, self._returned, self._actions, *scratch)
        return self._actions
