"""The candidates of a decision: each is an action in a position that the player can bring about.

There are two generators of candidates. `legal` takes the legal actions as they are. `irreversible` finds all positions
that reversible moves lead to, and takes the irreversible actions there; a candidate is then such an action together
with the moves before it.

A move is reversible if a legal move leads from the position after it back to the one before. Such a move turns up no
card, takes none from the talon, and draws none.

Of irreversible candidates that lead to positions with the same possibilities only the one with the fewest moves is
kept. Not all such pairs are recognised.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.agents.base import Agent
from klondike_env.agents.lists.collins import choose
from klondike_env.agents.lists.greedy import N_PRIORITIES, priority
from klondike_env.agents.tuned.agent import Memory, Scoring, TunedAgent, choose_tuned
from klondike_env.cards import N_SUITS
from klondike_env.engine.actions import N_ACTIONS, N_DESTINATIONS, RESIGN, STOCK_ACTION, TO_FOUNDATION, TO_GAP
from klondike_env.engine.apply import apply
from klondike_env.engine.card_sets import GAP_SETS, bit_of, card_of_bit, lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.legal import find_moves
from klondike_env.engine.mixer import mix
from klondike_env.engine.queries import (
    column_tops,
    face_down_total,
    floor_cards,
    run_heads,
    stock_is_live,
    talon_cards,
    wanted_cards,
)
from klondike_env.engine.repeats import lies_on, position_key, term, will_lie_on
from klondike_env.engine.state import FOUNDATION, N_COLUMNS, STATE, TALON
from klondike_env.engine.talon import comes_up, draw_or_redeal, redeals_are_unlimited
from klondike_env.rules import RuleParams, Rules
from klondike_env.solver.classes.visited import insert

MAX_CANDIDATES = 128  # legal actions are 88 at most
MAX_POSITIONS = 1024
MAX_BASE_MOVES = 60  # reversible ones, before an irreversible action
NONE = -1
_BASE_POSITION = MAX_POSITIONS  # index of the record at the end of the base's own line
_SCRATCH = MAX_POSITIONS + 1  # index of a record that is free for use
_MOST_ALIKE = 2  # the most candidates that differ only in what was done before the last action
# Steps without progress after which giving up is a candidate too, if the base gives up.
_PATIENCE = 8


class Positions(NamedTuple):
    """The positions that reversible moves lead to.

    Attributes:
        records: STATE[MAX_POSITIONS + 2], the first of them where the search began; the last two are the end of the
            base's own line, and scratch.
        keys: uint64[MAX_POSITIONS], of the positions.
        previous: int64[MAX_POSITIONS], index of the position from which each was found; of no meaning for the first.
        actions: int64[MAX_POSITIONS], the action that leads from that position to it.
        table: uint64[2 * MAX_POSITIONS], a hash table of the keys.
        moves: int64[N_DESTINATIONS + 1], scratch.
        n_found: int64[1], how many positions there are.
    """

    records: np.ndarray
    keys: np.ndarray
    previous: np.ndarray
    actions: np.ndarray
    table: np.ndarray
    moves: np.ndarray
    n_found: np.ndarray

    @classmethod
    def empty(cls) -> Positions:
        """Room for positions."""
        return cls(
            np.zeros(MAX_POSITIONS + 2, dtype=STATE),
            np.zeros(MAX_POSITIONS, dtype=np.uint64),
            np.zeros(MAX_POSITIONS, dtype=np.int64),
            np.zeros(MAX_POSITIONS, dtype=np.int64),
            np.zeros(2 * MAX_POSITIONS, dtype=np.uint64),
            np.zeros(N_DESTINATIONS + 1, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
        )


class Candidates(NamedTuple):
    """The candidates of a decision.

    Attributes:
        positions: int64[MAX_CANDIDATES], the index of the record in which each acts.
        actions: int64[MAX_CANDIDATES]; RESIGN for giving up.
        keys: uint64[MAX_CANDIDATES], equal for candidates that lead to the same possibilities.
        base_line: int64[n], the base's own moves before its candidate, padded with NONE.
        n_found: int64[1], how many candidates there are.
    """

    positions: np.ndarray
    actions: np.ndarray
    keys: np.ndarray
    base_line: np.ndarray
    n_found: np.ndarray

    @classmethod
    def empty(cls) -> Candidates:
        """Room for candidates."""
        return cls(
            np.zeros(MAX_CANDIDATES, dtype=np.int64),
            np.zeros(MAX_CANDIDATES, dtype=np.int64),
            np.zeros(MAX_CANDIDATES, dtype=np.uint64),
            np.zeros(MAX_BASE_MOVES, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
        )


class ListBase(NamedTuple):
    """An agent in compiled code, `collins`, `tuned` or `net`, and the scratch memory that it needs."""

    is_tuned: bool  # `tuned` or `net`
    scoring: Scoring  # of these
    memory: Memory  # of these, with a game and a layout for all
    moved: np.ndarray  # uint8[1], the memory of `collins`
    trial: np.ndarray  # STATE[1]

    @classmethod
    def of(cls, agent: Agent, rules: Rules) -> ListBase:
        """An agent, ready for these rules; `collins` unless it is one of the others."""
        moved, trial = np.zeros(1, dtype=np.uint8), np.zeros(1, dtype=STATE)
        is_tuned = isinstance(agent, TunedAgent)
        scoring = agent.scoring(rules) if isinstance(agent, TunedAgent) else Scoring.of(rules)
        return cls(is_tuned, scoring, Memory.of(1), moved, trial)


class Decision:
    """The candidates of a decision, in buffers that are reused for the next.

    Attributes:
        positions: the positions in which candidates act; the first record, a state or a determinized view, is the
            player's position.
        candidates: the candidates.
    """

    def __init__(self) -> None:
        self.positions, self.candidates = Positions.empty(), Candidates.empty()

    @property
    def n_candidates(self) -> int:
        """How many candidates there are."""
        return int(self.candidates.n_found[0])

    def begin(self, state: np.ndarray) -> None:
        """Begin a decision. state: STATE, the player's position."""
        self.positions.records[0] = self.positions.records[_BASE_POSITION] = state
        self.candidates.base_line[:] = NONE

    def list_legal(self, mask: np.ndarray, base_action: int) -> int:
        """Make the legal actions candidates; return the index of the base's, NONE if it gives up.

        Args:
            mask: int8[313], 1 for legal actions.
            base_action: what the base plays, or RESIGN.
        """
        return list_legal(self.positions.records, mask, base_action, self.candidates)

    def find_irreversible(self, rules: RuleParams, reach: int) -> None:
        """Make candidates of all irreversible actions. reach: 1 where seen talon cards are played directly, else 0."""
        find_irreversible(self.positions, self.candidates, rules, reach)

    def follow(self, k: int, action: int, rules: RuleParams) -> bool:
        """Make an action the base's own move `k`, counted from 0, if it is reversible; return whether it is."""
        return follow(self.positions, self.candidates, k, action, rules)

    def enter_base(self, action: int, rules: RuleParams) -> int:
        """Make the irreversible action at the end of the base's own line a candidate; return its index."""
        return enter_base(self.positions, action, self.candidates, rules)

    def line_to(self, candidate: int) -> list[int]:
        """The actions from the player's position up to and including a candidate's; none for giving up."""
        position, action = int(self.candidates.positions[candidate]), int(self.candidates.actions[candidate])
        if action == RESIGN:
            return []
        actions = [action]
        if position == _BASE_POSITION:
            return [*self.candidates.base_line[self.candidates.base_line != NONE].tolist(), action]
        while position > 0:
            actions.append(int(self.positions.actions[position]))
            position = int(self.positions.previous[position])
        return actions[::-1]


# --- legal actions -----------------------------------------------------------------------------------


@kernel
def add_legal(action: int, candidates: Candidates) -> None:
    """Add an action in the first position."""
    k = candidates.n_found[0]
    candidates.positions[k], candidates.actions[k] = 0, action
    candidates.n_found[0] = k + 1


@kernel
def list_legal(records: np.ndarray, mask: np.ndarray, base_action: int, candidates: Candidates) -> int:
    """See `Decision.list_legal`. Ties go to the first candidate, so the most promising kinds of actions come first."""
    candidates.n_found[0] = 0
    base = NONE
    gives_up = base_action == RESIGN or mask[base_action] == 0
    if gives_up and int(records[0]["since_progress"]) >= _PATIENCE:
        add_legal(RESIGN, candidates)
    for place in range(N_PRIORITIES):
        for action in range(N_ACTIONS):
            if mask[action] and priority(records, 0, action) == place:
                base = candidates.n_found[0] if action == base_action else base
                add_legal(action, candidates)
    return base


# --- irreversible actions ----------------------------------------------------------------------------


@kernel
def is_reversible(states: np.ndarray, i: int, action: int, rules: RuleParams) -> bool:
    """Whether one legal move undoes this legal action."""
    card, destination = action // N_DESTINATIONS, action % N_DESTINATIONS
    column = int(states[i]["place"][card]) if action != STOCK_ACTION else TALON
    if column == TALON:
        return False
    if column == FOUNDATION:
        return True
    if destination == TO_FOUNDATION and not rules.worry_back:
        return False
    row, face_down = int(states[i]["row"][card]), int(states[i]["face_down"][column])
    if row > face_down:
        return True
    is_single = row + 1 == int(states[i]["height"][column])
    return row == 0 and GAP_SETS[rules.gaps] & bit_of(card) != 0 and (is_single or not rules.whole_runs)


@kernel
def send_all_to_foundations(states: np.ndarray, i: int, pinned: int, rules: RuleParams) -> None:
    """Send all cards but the pinned to their foundations if they can come back, so one position stands for many."""
    cards = -1
    while cards != 0:
        cards = column_tops(states, i) & wanted_cards(states, i) & ~pinned
        while cards != 0:
            action = card_of_bit(lowest_bit(cards)) * N_DESTINATIONS + TO_FOUNDATION
            if is_reversible(states, i, action, rules):
                apply(states, i, action, rules)
                break
            cards ^= lowest_bit(cards)


@kernel
def class_key(states: np.ndarray, i: int, rules: RuleParams) -> np.uint64:
    """A key of a position, the same for those that differ from it only in what lies on which of equal hosts."""
    size, waste, redeals = int(states[i]["talon_size"]), int(states[i]["waste_size"]), int(states[i]["redeals_used"])
    if redeals_are_unlimited(rules.redeals):
        waste, redeals = 0 if comes_up(waste, size, rules.draw_count) else waste, 0
    word = waste | redeals << 8
    for suit in range(N_SUITS):
        word |= int(states[i]["foundation"][suit]) << (24 + 4 * suit)
    for column in range(N_COLUMNS):
        word |= int(states[i]["face_down"][column]) << (40 + 3 * column)
    key = mix(np.uint64(word))
    key = mix(key ^ np.uint64(talon_cards(states, i, (1 << size) - 1)))
    if rules.whole_runs:
        return mix(key ^ position_key(states, i, rules))
    key = mix(key ^ np.uint64(states[i]["face_up"]))
    key = mix(key ^ np.uint64(run_heads(states, i)))
    return mix(key ^ np.uint64(floor_cards(states, i)))


@kernel
def key_after(records: np.ndarray, i: int, action: int, rules: RuleParams) -> np.uint64:
    """The key of the possibilities after an action in record `i`, independent of the card that is turned up."""
    records[_SCRATCH] = records[i]
    card = action // N_DESTINATIONS
    source = int(records[_SCRATCH]["place"][card]) if action != STOCK_ACTION else TALON
    before = face_down_total(records, _SCRATCH)
    apply(records, _SCRATCH, action, rules)
    turned = 0
    if face_down_total(records, _SCRATCH) < before:
        turned = bit_of(int(records[_SCRATCH]["columns"][source, int(records[_SCRATCH]["height"][source]) - 1]))
    send_all_to_foundations(records, _SCRATCH, turned, rules)
    return class_key(records, _SCRATCH, rules)


@kernel
def are_alike(action: int, other: int) -> bool:
    """Whether two actions take the same card to its foundation, to a gap, or to a column."""
    same_card = action // N_DESTINATIONS == other // N_DESTINATIONS
    first, second = action % N_DESTINATIONS, other % N_DESTINATIONS
    return (
        same_card and (first == TO_FOUNDATION) == (second == TO_FOUNDATION) and (first == TO_GAP) == (second == TO_GAP)
    )


@kernel
def add_irreversible(positions: Positions, i: int, action: int, candidates: Candidates, rules: RuleParams) -> None:
    """Add an action in position `i`, unless there is an equivalent candidate, enough that are alike, or no room."""
    n = candidates.n_found[0]
    if n == MAX_CANDIDATES:
        return
    key, n_alike = key_after(positions.records, i, action, rules), 0
    for k in range(n):
        if candidates.keys[k] == key:
            return
        n_alike += are_alike(action, candidates.actions[k])
    if n_alike < _MOST_ALIKE:
        candidates.positions[n], candidates.actions[n], candidates.keys[n] = i, action, key
        candidates.n_found[0] = n + 1


@kernel
def add_position(positions: Positions, i: int, action: int, rules: RuleParams) -> None:
    """Add the position after a reversible move in position `i`, unless it is known or there is no room."""
    n = positions.n_found[0]
    if n == MAX_POSITIONS:
        return
    records, card = positions.records, action // N_DESTINATIONS
    key = positions.keys[i] + term(card, will_lie_on(card, action % N_DESTINATIONS))
    key -= term(card, lies_on(records, i, card))
    if insert(positions.table, key):
        records[n] = records[i]
        apply(records, n, action, rules)
        positions.keys[n], positions.previous[n], positions.actions[n] = key, i, action
        positions.n_found[0] = n + 1


@kernel
def find_irreversible(positions: Positions, candidates: Candidates, rules: RuleParams, reach: int) -> None:
    """Find the positions, nearest first, and the candidates; see `Decision.find_irreversible`."""
    positions.table[:] = 0
    positions.keys[0] = position_key(positions.records, 0, rules)
    insert(positions.table, positions.keys[0])
    positions.n_found[0], candidates.n_found[0] = 1, 0
    i = 0
    while i < positions.n_found[0]:
        find_moves(positions.records, i, rules, reach, positions.moves)
        for destination in range(N_DESTINATIONS):
            cards = int(positions.moves[destination])
            while cards != 0:
                bit = lowest_bit(cards)
                cards ^= bit
                action = card_of_bit(bit) * N_DESTINATIONS + destination
                if is_reversible(positions.records, i, action, rules):
                    add_position(positions, i, action, rules)
                else:
                    add_irreversible(positions, i, action, candidates, rules)
        if (
            i == 0
            and not (reach and redeals_are_unlimited(rules.redeals))
            and stock_is_live(positions.records, 0, rules)
        ):
            # Reversible moves can be made after the draw as well, so one candidate is enough.
            add_irreversible(positions, 0, STOCK_ACTION, candidates, rules)
        i += 1


# --- what the base plays -----------------------------------------------------------------------------


@kernel
def base_action(states: np.ndarray, i: int, base: ListBase, rules: RuleParams) -> int:
    """What the list plays, or RESIGN; with unlimited redeals talon cards are played directly.

    There `collins` plays the first card that it would play while drawing through the seen stock.
    """
    base.trial[0] = states[i]  # in a record of its own, whose index is that of the lists' memory: 0
    if base.is_tuned:
        return choose_tuned(base.trial, 0, rules, base.scoring, base.memory)
    reach = redeals_are_unlimited(rules.redeals)
    base.moved[0] = 1
    action = choose(base.trial, 0, rules, base.moved)
    while reach and action == STOCK_ACTION and not draw_or_redeal(base.trial, 0, rules):
        action = choose(base.trial, 0, rules, base.moved)
    return RESIGN if reach and action == STOCK_ACTION else action


@kernel
def first_action(records: np.ndarray, base: ListBase, rules: RuleParams) -> int:
    """What the list plays in the first record, or RESIGN."""
    base.memory.returned[0] = 0
    return base_action(records, 0, base, rules)


@kernel
def follow(positions: Positions, candidates: Candidates, k: int, action: int, rules: RuleParams) -> bool:
    """See `Decision.follow`."""
    if not is_reversible(positions.records, _BASE_POSITION, action, rules):
        return False
    candidates.base_line[k] = action
    apply(positions.records, _BASE_POSITION, action, rules)
    return True


@kernel
def follow_base(positions: Positions, candidates: Candidates, base: ListBase, rules: RuleParams) -> int:
    """Play the list from the player's position to its first irreversible action; return that, RESIGN if it gives up."""
    base.memory.returned[0] = 0
    for k in range(MAX_BASE_MOVES):
        action = base_action(positions.records, _BASE_POSITION, base, rules)
        if action == RESIGN:
            return RESIGN
        if action == STOCK_ACTION and not stock_is_live(positions.records, _BASE_POSITION, rules):
            return RESIGN
        if not follow(positions, candidates, k, action, rules):
            return action
    return RESIGN


@kernel
def enter_base(positions: Positions, action: int, candidates: Candidates, rules: RuleParams) -> int:
    """Replace the candidate with the same key by the base's action, or add that; return its index."""
    key, n, k = key_after(positions.records, _BASE_POSITION, action, rules), candidates.n_found[0], 0
    while k < n and candidates.keys[k] != key:
        k += 1
    k = min(k, MAX_CANDIDATES - 1)
    candidates.n_found[0] = max(n, k + 1)
    candidates.positions[k], candidates.actions[k], candidates.keys[k] = _BASE_POSITION, action, key
    return k
