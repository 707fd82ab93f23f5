"""The agent `tuned`: a list of moves like Collins', but ordered by scores, whose weights were found by evolution.

Every move of a few kinds gets a score: the sum of the weights of what is true of it, such as how many cards lie face
down under a run or how many talon cards come into reach. Moves whose scores are close to the best get a pair score as
well, which depends on much more (see `klondike_env.agents.tuned.pair_table`). The move with the best score is made.
Where the stock is hidden a draw has score 0. Scores are whole numbers, so they are the same on every machine. The
weights were found for each variant by playing some million deals (see `train.tune`); other rules use the weights of the
variant most like them.

The kinds of moves are those of `klondike_env.agents.tuned.scores`, and the parts of a score are the fields of WEIGHTS.
Only two kinds make no progress by themselves. A foundation card comes back for a card that fits on it. And a run is
split to free a card for its foundation, or for another that could then lie on it. Until the next irreversible move such
a card is not sent to its foundation and not split off again, so that the list does not run in circles.
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
    draw_or_redeal,
    find_column,
    gap_takes,
    is_decided,
    move_run,
    move_tail,
    place_single,
    read_position,
    send_to_foundation,
    shift_foundation,
    take_waste,
)
from klondike_env.agents.tuned.network import MoveNetwork, Weights, add_network_scores
from klondike_env.agents.tuned.pair_table import PairTable, add_pair_scores, table_for
from klondike_env.agents.tuned.scores import (
    COLUMN_TO_FOUNDATION,
    DRAW,
    MAX_MOVES,
    MOVE,
    RUN,
    SPLIT,
    TALON_TO_COLUMN,
    TALON_TO_FOUNDATION,
    WORRY_BACK,
    Sheet,
    find_reach,
    look,
    score_moves,
)
from klondike_env.agents.tuned.weights import weights_for
from klondike_env.engine.actions import N_DESTINATIONS, ONTO_SUIT, RESIGN, STOCK_ACTION, TO_FOUNDATION, TO_GAP
from klondike_env.engine.card_arithmetic import suit_of
from klondike_env.engine.card_sets import bit_of
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import PLAYING
from klondike_env.rules import PRESETS, RuleParams, Rules

MOST_MOVES = 200
NONE = -1


class Scoring(NamedTuple):
    """The weights, the pair table and the move network, with room for the moves of one position at a time."""

    sheet: Sheet
    pair_table: PairTable
    network: MoveNetwork

    @classmethod
    def by(cls, weights: np.ndarray, table: np.ndarray) -> Scoring:
        """Scores by weights, WEIGHTS[1], and by a table, int16[N_ENTRIES], or int16[0] for no pair scores."""
        sheet = Sheet(weights, np.zeros(MAX_MOVES, dtype=MOVE))
        return cls(sheet, PairTable.of(table), MoveNetwork.of(Weights.none(), PRESETS["draw1"]))

    @classmethod
    def by_network(cls, weights: Weights, rules: Rules) -> Scoring:
        """Scores by what `tuned` has for these rules and by a move network."""
        return cls.of(rules)._replace(network=MoveNetwork.of(weights, rules))

    @classmethod
    def of(cls, rules: Rules) -> Scoring:
        """Scores under these rules."""
        return cls.by(weights_for(rules), table_for(rules))


class Memory(NamedTuple):
    """What the list needs to decide on a view.

    Attributes:
        returned: int64[n], for each game the cards worried back or split off, which must not move again yet; updated.
        games: GAME[1], scratch.
        layouts: LAYOUT[1], scratch.
    """

    returned: np.ndarray
    games: np.ndarray
    layouts: np.ndarray

    @classmethod
    def of(cls, n_games: int) -> Memory:
        """Fresh memory for `n_games` games."""
        return cls(np.zeros(n_games, dtype=np.int64), np.zeros(1, dtype=GAME), np.zeros(1, dtype=LAYOUT))


class Choice(NamedTuple):
    """A move, or NONE."""

    kind: int
    what: int  # a column or a card, by the kind, see klondike_env.agents.tuned.scores


@kernel
def is_none(choice: Choice) -> bool:
    """Whether there is no move."""
    return choice.kind == NONE


@kernel
def choice_of(moves: np.ndarray, p: int) -> Choice:
    """One of the moves."""
    return Choice(int(moves[p]["kind"]), int(moves[p]["what"]))


@kernel
def best_of(moves: np.ndarray, n: int) -> Choice:
    """The move with the best score, the first of equals, or NONE."""
    if n == 0:
        return Choice(NONE, NO_CARD)
    best = 0
    for p in range(1, n):
        if moves[p]["score"] > moves[best]["score"]:
            best = p
    return choice_of(moves, best)


@kernel
def find_moves(games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams, scoring: Scoring) -> int:
    """Find the moves that may be best, and score them; return how many there are."""
    scene = look(games, g, layouts, rules)
    n = score_moves(scene, scoring.sheet)
    if n > 1 and len(scoring.pair_table.table) > 0:
        n = add_pair_scores(scene, scoring.sheet.moves, n, scoring.pair_table)
    if n > 1 and len(scoring.network.weights.rows) > 0:
        n = add_network_scores(scene, scoring.sheet.moves, n, scoring.network)
    return n


@kernel
def choose_move(games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams, scoring: Scoring) -> Choice:
    """The best move, or NONE."""
    return best_of(scoring.sheet.moves, find_moves(games, g, layouts, rules, scoring))


@kernel
def target_of(games: np.ndarray, g: int, choice: Choice, rules: RuleParams) -> int:
    """The column that a move leads to; not for draws and moves to a foundation."""
    gaps = gap_takes(games, g, rules)
    if choice.kind == RUN:
        gaps = gaps if int(games[g]["n_down"][choice.what]) > 0 else 0
        return find_column(games, g, int(games[g]["head"][choice.what]), gaps, rules)
    return find_column(games, g, choice.what, gaps if choice.kind == TALON_TO_COLUMN else 0, rules)


@kernel
def record_return(games: np.ndarray, g: int, choice: Choice) -> None:
    """Record which cards must not move again before an irreversible move, so that the list does not run in circles."""
    turns_up = choice.kind == RUN and int(games[g]["n_down"][choice.what]) > 0
    if choice.kind in (WORRY_BACK, SPLIT):
        games[g]["returned"] |= bit_of(choice.what)
    elif turns_up or choice.kind in (TALON_TO_COLUMN, TALON_TO_FOUNDATION):
        games[g]["returned"] = 0


@kernel
def make_move(games: np.ndarray, g: int, choice: Choice, layouts: np.ndarray, rules: RuleParams) -> None:
    """Make a move."""
    what = choice.what
    if choice.kind == DRAW:
        draw_or_redeal(games, g, rules)
        return
    games[g]["moved"] = 1
    record_return(games, g, choice)
    if choice.kind == COLUMN_TO_FOUNDATION:
        send_to_foundation(games, g, what, layouts)
        return
    if choice.kind in (TALON_TO_COLUMN, TALON_TO_FOUNDATION):
        games[g]["waste"] = layouts[0]["index"][what]
        take_waste(games, g, what)
        find_reach(games, g, layouts, rules)
    if choice.kind == TALON_TO_FOUNDATION:
        shift_foundation(games, g, what)
        return
    target = target_of(games, g, choice, rules)
    if choice.kind == RUN:
        move_run(games, g, what, target, layouts)
    elif choice.kind == SPLIT:
        move_tail(games, g, what, column_of(games, g, what), target)
    else:
        if choice.kind == WORRY_BACK:
            shift_foundation(games, g, what)
        place_single(games, g, what, target)


@kernel
def play_out_tuned(
    games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams, enough: int, scoring: Scoring
) -> bool:
    """Play a game to its end; return whether it is won.

    The arguments are those of `klondike_env.agents.lists.list_player.play_out`.
    """
    find_reach(games, g, layouts, rules)
    for _ in range(MOST_MOVES):
        if is_decided(games, g, rules, enough):
            return True
        choice = choose_move(games, g, layouts, rules, scoring)
        if is_none(choice):
            return False
        make_move(games, g, choice, layouts, rules)
    return False


# --- as an agent -------------------------------------------------------------------------------------


@kernel
def action_of(games: np.ndarray, g: int, choice: Choice, rules: RuleParams) -> int:
    """The action of a move, or RESIGN."""
    if is_none(choice):
        return RESIGN
    if choice.kind == DRAW:
        return STOCK_ACTION
    if choice.kind == COLUMN_TO_FOUNDATION:
        return int(games[g]["top"][choice.what]) * N_DESTINATIONS + TO_FOUNDATION
    if choice.kind == TALON_TO_FOUNDATION:
        return choice.what * N_DESTINATIONS + TO_FOUNDATION
    card = int(games[g]["head"][choice.what]) if choice.kind == RUN else choice.what
    below = int(games[g]["top"][target_of(games, g, choice, rules)])
    return card * N_DESTINATIONS + (TO_GAP if below == NO_CARD else ONTO_SUIT + suit_of(below))


@kernel
def choose_tuned(views: np.ndarray, i: int, rules: RuleParams, scoring: Scoring, memory: Memory) -> int:
    """The action of the list in view `i`, or RESIGN."""
    games, layouts = memory.games, memory.layouts
    read_position(views, i, games, layouts)
    find_reach(games, 0, layouts, rules)
    games[0]["returned"] = memory.returned[i] if int(views[i]["steps"]) > 0 else 0
    choice = choose_move(games, 0, layouts, rules, scoring)
    record_return(games, 0, choice)
    memory.returned[i] = games[0]["returned"]
    return action_of(games, 0, choice, rules)


@kernel
def choose_all(views: np.ndarray, rules: RuleParams, scoring: Scoring, memory: Memory, actions: np.ndarray) -> None:
    """`choose_tuned` for every game in play; actions: int64[n], overwritten there."""
    for i in range(len(views)):
        if views[i]["outcome"] == PLAYING:
            actions[i] = choose_tuned(views, i, rules, scoring, memory)


class TunedAgent(Agent):
    """Makes the move with the best score, and gives up when there is none."""

    name = "tuned"
    no_repeats = False
    needs_masks = False

    def scoring(self, rules: Rules) -> Scoring:
        """How it scores moves under these rules."""
        return Scoring.of(rules)

    def start(self, n_games: int, rules: Rules, seed: int) -> None:
        """See `Agent.start`; no random numbers are used."""
        self._rules, self._scoring, self._memory = rules.params(), self.scoring(rules), Memory.of(n_games)
        self._actions = np.zeros(n_games, dtype=np.int64)

    def act(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See `Agent.act`."""
        choose_all(views, self._rules, self._scoring, self._memory, self._actions)
        return self._actions
