"""The agent `tuned`: a list of plays like Collins', but with marks in place of ranks, found by evolution.

Every play of a few kinds gets a mark: the sum of the weights of what is true of it, such as how many cards
it turns up at once or how many talon cards come into reach. Plays whose marks are close to the best get a
second one, which depends on much more (see `klondike_env.agents.tuned.features`), and the play with the best mark is
made; where the stock is hidden a draw has mark 0. Marks are whole numbers, so they are the same on every machine.
Which weights win most was found by playing some million deals, apart for each variant (see `train.tune`); other rules
borrow the weights of the variant most like them.

The kinds of plays, and what a first mark is made of, are the fields of WEIGHTS. Plays that take nothing
forward are none of them, apart from two: a foundation card comes back for a card that fits on it, and a run
is split to free a card for its foundation, or for another that could then lie on it. Neither card goes on to
its foundation, nor is split off again, before a play that cannot be undone, lest the list run in circles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.agents.base import Agent
from klondike_env.agents.lists.list_player import (
    GAME,
    LAYOUT,
    NO_CARD,
    column_of,
    find_column,
    index_talon,
    is_decided,
    lay_single,
    move_tail,
    move_whole,
    pass_home,
    put_up_top,
    read_game,
    read_layout,
    take_waste,
    tap_stock,
)
from klondike_env.agents.tuned.features import FACTS, N_PAIRS, mark_again
from klondike_env.agents.tuned.scores import (
    BACK,
    DRAW,
    MAX_PLAYS,
    PLAY,
    RUN,
    SPLIT,
    TALON_DOWN,
    TALON_UP,
    UP,
    find_reach,
    list_plays,
    look,
)
from klondike_env.agents.tuned.weights import WEIGHTS, table_for, weights_for
from klondike_env.engine.actions import N_DESTINATIONS, ONTO_SUIT, RESIGN, STOCK_ACTION, TO_FOUNDATION, TO_GAP
from klondike_env.engine.card_arithmetic import suit_of
from klondike_env.engine.card_sets import GAP_SETS, bit_of
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import PLAYING
from klondike_env.rules import RuleParams, Rules

MOST_PLAYS = 200
NONE = -1


class Marking(NamedTuple):
    """What marks are made of, with room for the plays of one game at a time."""

    weights: np.ndarray  # WEIGHTS[1], of first marks; WEIGHTS[0] for no marks at all
    table: np.ndarray  # int16[n], what second marks add; int16[0] if there are none
    plays: np.ndarray  # PLAY[MAX_PLAYS], scratch
    facts: np.ndarray  # FACTS[1], scratch
    values: np.ndarray  # int64[N_FACTS], the same once more
    cells: np.ndarray  # int64[MAX_PLAYS, N_PAIRS], scratch

    @classmethod
    def by(cls, weights: np.ndarray, table: np.ndarray) -> Marking:
        """Marks by these weights and this table."""
        plays, facts = np.zeros(MAX_PLAYS, dtype=PLAY), np.zeros(1, dtype=FACTS)
        return cls(weights, table, plays, facts, facts.view(np.int64), np.zeros((MAX_PLAYS, N_PAIRS), dtype=np.int64))

    @classmethod
    def of(cls, rules: Rules) -> Marking:
        """Marks under these rules."""
        return cls.by(weights_for(rules), table_for(rules))

    @classmethod
    def none(cls) -> Marking:
        """No marks, for a list that needs none."""
        return cls.by(np.empty(0, dtype=WEIGHTS), np.empty(0, dtype=np.int16))


class Choice(NamedTuple):
    """A play, or NONE."""

    kind: int
    what: int


@kernel
def is_none(choice: Choice) -> bool:
    """Whether there is no play."""
    return choice.kind == NONE


@kernel
def choice_of(plays: np.ndarray, p: int) -> Choice:
    """One of the plays."""
    return Choice(int(plays[p]["kind"]), int(plays[p]["what"]))


@kernel
def best_of(plays: np.ndarray, n: int) -> Choice:
    """The play with the best mark, the first of equals, or NONE."""
    if n == 0:
        return Choice(NONE, NO_CARD)
    best = 0
    for p in range(1, n):
        if plays[p]["mark"] > plays[best]["mark"]:
            best = p
    return choice_of(plays, best)


@kernel
def mark_plays(games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams, marking: Marking) -> int:
    """Find the plays that may be best, and mark them; how many there are."""
    scene = look(games, g, layouts, rules)
    n = list_plays(games, g, scene, layouts, rules, marking.weights, marking.plays)
    if n > 1 and len(marking.table) > 0:
        scratch = marking.facts, marking.values, marking.cells
        n = mark_again(games, g, scene, layouts, rules, marking.table, marking.plays, n, *scratch)
    return n


@kernel
def choose_play(games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams, marking: Marking) -> Choice:
    """The best play, or NONE."""
    return best_of(marking.plays, mark_plays(games, g, layouts, rules, marking))


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
    games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams, enough: int, marking: Marking
) -> bool:
    """Play a game to its end; whether it is won. The arguments are those of
    `klondike_env.agents.lists.list_player.play_out`.
    """
    find_reach(games, g, layouts, rules)
    for _ in range(MOST_PLAYS):
        if is_decided(games, g, rules, enough):
            return True
        choice = choose_play(games, g, layouts, rules, marking)
        if is_none(choice):
            return False
        make_play(games, g, choice, layouts, rules)
    return False


# --- as an agent -------------------------------------------------------------------------------------


@kernel
def action_of(games: np.ndarray, g: int, choice: Choice, rules: RuleParams) -> int:
    """The action of a play, or RESIGN."""
    if is_none(choice):
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
    marking: Marking,
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
    choice = choose_play(games, 0, layouts, rules, marking)
    note_return(games, 0, choice)
    returned[i] = games[0]["returned"]
    return action_of(games, 0, choice, rules)


@kernel
def choose_all(
    views: np.ndarray,
    rules: RuleParams,
    marking: Marking,
    returned: np.ndarray,
    actions: np.ndarray,
    games: np.ndarray,
    layouts: np.ndarray,
) -> None:
    """`choose_tuned` for every game that is on; actions: int64[n], overwritten there."""
    for i in range(len(views)):
        if views[i]["outcome"] == PLAYING:
            actions[i] = choose_tuned(views, i, rules, marking, returned, games, layouts)


class TunedAgent(Agent):
    """Makes the play with the best mark, and gives up when there is none."""

    name = "tuned"
    no_repeats = False
    needs_masks = False

    def start(self, n_games: int, rules: Rules, seed: int) -> None:
        """See `Agent.start`; the list leaves nothing to chance."""
        self._rules, self._marking = rules.params(), Marking.of(rules)
        self._returned = np.zeros(n_games, dtype=np.int64)
        self._actions = np.zeros(n_games, dtype=np.int64)

    def act(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See `Agent.act`."""
        scratch = np.zeros(1, dtype=GAME), np.zeros(1, dtype=LAYOUT)
        choose_all(views, self._rules, self._marking, self._returned, self._actions, *scratch)
        return self._actions
