"""The agent `collins`: the priority list of Daniel R. Collins' SolitaireSolver (2012).

It is the best cheap rule list we know of. It plays the first of these that applies:

    1  a whole run onto another column, first from the column with most cards face down (the
       rightmost of equals); into an empty column only if that turns a card up; then the top of
       the waste onto a column
    2  the top of a column to its foundation, then the top of the waste
    3  a card from its foundation back onto a column, if a run or the top of the waste then fits on it
    4  part of a run onto the twin of a buried card that its foundation takes next
    5  draw
    6  redeal, if anything but drawing happened in this pass
    7  give up

Every move is checked against the rules of the game at hand, so the list works for any variant. In Thumb and Pouch an
empty column may be filled by any run that uncovers a card and by the top of the waste; step 3 never applies; and a twin
is any card of the same rank on which that part of a run may lie.
"""

from __future__ import annotations

import numpy as np

from klondike_env.agents.base import Agent
from klondike_env.agents.lists.board import fitting, onto
from klondike_env.engine.actions import N_DESTINATIONS, RESIGN, STOCK_ACTION, TO_FOUNDATION, TO_GAP
from klondike_env.engine.card_sets import bit_of, card_of_bit, lowest_bit, may_lie_on
from klondike_env.engine.jit import kernel
from klondike_env.engine.queries import (
    NO_CARD,
    column_tops,
    foundation_tops,
    gap_takes,
    last_card,
    may_redeal,
    run_head,
    run_heads,
    wanted_cards,
    waste_card,
    waste_top,
)
from klondike_env.engine.state import N_COLUMNS, PLAYING
from klondike_env.rules import RuleParams, Rules

NOTHING = RESIGN  # what a step returns if it does not apply


@kernel
def find_column(views: np.ndarray, i: int, card: int, gaps: int, rules: RuleParams) -> int:
    """The action that puts `card` on the first column from the left that takes it, or NOTHING.

    gaps: the set of cards that an empty column takes.
    """
    for column in range(N_COLUMNS):
        below = last_card(views, i, column)
        if below == NO_CARD:
            if gaps & bit_of(card) != 0:
                return card * N_DESTINATIONS + TO_GAP
        elif may_lie_on(card, below, rules.build):
            return onto(card, below)
    return NOTHING


@kernel
def move_run(views: np.ndarray, i: int, room: int, gaps: int, rules: RuleParams) -> int:
    """Step 1, columns: a whole run onto another column, most face-down cards first.

    room: the set of cards that the columns take; gaps: those that an empty column takes, if there is one.
    """
    best = -1
    for column in range(N_COLUMNS):
        face_down = int(views[i]["face_down"][column])
        allowed = room | (gaps if face_down > 0 else 0)
        movable = run_head(views, i, column) & allowed != 0
        best = max(best, face_down * N_COLUMNS + column if movable else -1)  # of equals the rightmost
    if best < 0:
        return NOTHING
    face_down, column = best // N_COLUMNS, best % N_COLUMNS
    card = int(views[i]["columns"][column, face_down])
    return find_column(views, i, card, gaps if face_down > 0 else 0, rules)


@kernel
def move_waste(views: np.ndarray, i: int, room: int, gaps: int, rules: RuleParams) -> int:
    """Step 1, waste: its top onto a column."""
    card = waste_card(views, i)
    if card == NO_CARD or (room | gaps) & bit_of(card) == 0:
        return NOTHING
    return find_column(views, i, card, gaps, rules)


@kernel
def send_to_foundation(views: np.ndarray, i: int, tops: int, wanted: int) -> int:
    """Step 2: a card to its foundation, from the columns left to right, then from the waste.

    tops: the set of the columns' last cards; wanted: the set of cards that the foundations take next.
    """
    if wanted & (tops | waste_top(views, i)) == 0:
        return NOTHING
    for column in range(N_COLUMNS):
        card = last_card(views, i, column)
        if card != NO_CARD and wanted & bit_of(card) != 0:
            return card * N_DESTINATIONS + TO_FOUNDATION
    return waste_card(views, i) * N_DESTINATIONS + TO_FOUNDATION


@kernel
def worry_back(views: np.ndarray, i: int, room: int, rules: RuleParams) -> int:
    """Step 3: a foundation card back onto a column, where a run or the top of the waste then fits on it."""
    candidates = room & foundation_tops(views, i) if rules.worry_back else 0
    followers = run_heads(views, i) | waste_top(views, i) if candidates != 0 else 0
    while candidates != 0:
        bit = lowest_bit(candidates)
        if fitting(bit, rules) & followers != 0:
            return find_column(views, i, card_of_bit(bit), 0, rules)
        candidates ^= bit
    return NOTHING


@kernel
def cover_of(views: np.ndarray, i: int, card: int, rules: RuleParams) -> int:
    """The set that holds the card lying on a buried one, if it may move with all that lies on it."""
    column, row = int(views[i]["place"][card]), int(views[i]["row"][card])
    if rules.whole_runs and row + 2 < int(views[i]["height"][column]):
        return 0
    return bit_of(int(views[i]["columns"][column, row + 1]))


@kernel
def split_run(views: np.ndarray, i: int, buried: int, room: int, rules: RuleParams) -> int:
    """Step 4: what lies on one of the buried cards onto another card of its rank.

    buried: the set of face-up cards that their foundations take next, but on which other cards lie.
    """
    while buried != 0:
        bit = lowest_bit(buried)
        cover = cover_of(views, i, card_of_bit(bit), rules) & room
        if cover != 0:
            return find_column(views, i, card_of_bit(cover), 0, rules)
        buried ^= bit
    return NOTHING


@kernel
def move_card(views: np.ndarray, i: int, rules: RuleParams) -> int:
    """Steps 1 to 4: the first move of a card that applies, or NOTHING."""
    tops, wanted = column_tops(views, i), wanted_cards(views, i)
    room = fitting(tops, rules)
    gaps = gap_takes(views, i, rules)
    action = move_run(views, i, room, gaps, rules)
    if action == NOTHING:
        action = move_waste(views, i, room, gaps, rules)
    if action == NOTHING:
        action = send_to_foundation(views, i, tops, wanted)
    if action == NOTHING:
        action = worry_back(views, i, room, rules)
    if action == NOTHING:
        action = split_run(views, i, wanted & int(views[i]["face_up"]) & ~tops, room, rules)
    return action


@kernel
def choose(views: np.ndarray, i: int, rules: RuleParams, moved: np.ndarray) -> int:
    """The list's action for record `i`, or RESIGN.

    moved: uint8[n], whether a card was moved since the last redeal; updated. Set it to 1 to begin in the middle of a
    game of which the earlier moves are unknown.
    """
    if views[i]["steps"] == 0:
        moved[i] = 0
    action = move_card(views, i, rules)
    if action != NOTHING:
        moved[i] = 1
        return action
    size = int(views[i]["talon_size"])
    if int(views[i]["waste_size"]) < size:
        return STOCK_ACTION
    if size > 0 and moved[i] and may_redeal(views, i, rules):
        moved[i] = 0
        return STOCK_ACTION
    return RESIGN


@kernel
def choose_all(views: np.ndarray, rules: RuleParams, moved: np.ndarray, actions: np.ndarray) -> None:
    """`choose` for every game in play; actions: int64[n], overwritten there."""
    for i in range(views.shape[0]):
        if views[i]["outcome"] == PLAYING:
            actions[i] = choose(views, i, rules, moved)


class CollinsAgent(Agent):
    """Plays Collins' priority list, with draws as actions, and gives up after a pass in which no card was moved."""

    name = "collins"
    talon = "draw"
    no_repeats = False
    needs_masks = False

    def start(self, n_games: int, rules: Rules, seed: int) -> None:
        """See `Agent.start`; the list uses no random numbers."""
        self._rules = rules.params()
        self._moved = np.zeros(n_games, dtype=np.uint8)
        self._actions = np.zeros(n_games, dtype=np.int64)

    def act(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See `Agent.act`."""
        choose_all(views, self._rules, self._moved, self._actions)
        return self._actions
