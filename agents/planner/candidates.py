"""What a player can do next, in the large: the positions that moves which can be taken back lead to,
and the arms, which are the plays from these that cannot be taken back.

A move can be taken back if a legal move leads from the position after it to the one before. No card
is turned up by such a move, none leaves the talon, and nothing is drawn.

Arms that lead to positions from which the same can be done count as one, the one that takes the
fewest moves. Not all such pairs are recognised.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.agents.lists.list_player import GAME, LAYOUT
from klondike_env.agents.planner.rollout_search import first_play
from klondike_env.agents.tuned.agent import Marking, choose_tuned
from klondike_env.cards import N_SUITS
from klondike_env.engine.actions import N_DESTINATIONS, RESIGN, STOCK_ACTION, TO_FOUNDATION, TO_GAP
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
    wanted_cards,
)
from klondike_env.engine.repeats import lies_on, position_key, term, will_lie_on
from klondike_env.engine.state import FOUNDATION, N_COLUMNS, STATE, TALON
from klondike_env.rules import UNLIMITED, RuleParams, Rules
from klondike_env.solver.classes.visited import insert

MAX_ARMS = 128
MAX_POSITIONS = 1024
MOST_ALIKE = 2  # arms that differ only in what was done before the last action
_NONE = -1
_MOST_BASE_MOVES = 60


class Base(NamedTuple):
    """The rule list that is trusted without evidence, `tuned` or `collins`, and what it needs."""

    is_tuned: bool
    marking: Marking  # of `tuned`
    games: np.ndarray  # GAME[1]
    layouts: np.ndarray  # LAYOUT[1]
    trial: np.ndarray  # STATE[1]
    moved: np.ndarray  # uint8[1]
    returned: np.ndarray  # int64[1]

    @classmethod
    def of(cls, name: str, rules: Rules) -> Base:
        """The list of a name, ready for these rules."""
        scratch = np.zeros(1, dtype=STATE), np.zeros(1, dtype=np.uint8), np.zeros(1, dtype=np.int64)
        return cls(name == "tuned", Marking.of(rules), np.zeros(1, dtype=GAME), np.zeros(1, dtype=LAYOUT), *scratch)


class Exploration:
    """The buffers of an exploration, used again and again.

    Attributes:
        records: STATE[n], the positions, the first of them where it began; the last two records are scratch.
        ways: int64[n, 2], for each position the one before it and the action that leads from there to it.
        arms: int64[m, 2], for each arm the position and the action.
    """

    def __init__(self) -> None:
        self.records = np.zeros(MAX_POSITIONS + 2, dtype=STATE)
        self.ways = np.zeros((MAX_POSITIONS, 2), dtype=np.int64)
        self.arms = np.zeros((MAX_ARMS, 2), dtype=np.int64)
        self._keys = np.zeros(MAX_POSITIONS, dtype=np.uint64)
        self._arm_keys = np.zeros(MAX_ARMS, dtype=np.uint64)
        self._table = np.zeros(2 * MAX_POSITIONS, dtype=np.uint64)
        self._moves = np.zeros(N_DESTINATIONS + 1, dtype=np.int64)
        self.counts = np.zeros(2, dtype=np.int64)
        self._base_way = np.zeros(_MOST_BASE_MOVES, dtype=np.int64)

    def run(self, rules: RuleParams) -> int:
        """Explore from the first record, a state or a determinized view; how many arms there are."""
        buffers = self.ways, self.arms, self._keys, self._arm_keys, self._table, self._moves, self.counts
        explore(self.records, *buffers, rules)
        return int(self.counts[1])

    def base_arm(self, base: Base, rules: RuleParams) -> int:
        """The arm that the base's list leads to, from now on by its own way; -1 if it gives up."""
        self._base_way[:] = _NONE
        return find_base_arm(self.records, self.arms, self._arm_keys, self._base_way, self.counts, base, rules)

    def way_to(self, arm: int) -> list[int]:
        """The actions that lead from the start to an arm, its own the last."""
        position, action = self.arms[arm].tolist()
        actions = [action]
        if position >= MAX_POSITIONS:
            return [*self._base_way[self._base_way != _NONE].tolist(), action]
        while position > 0:
            position, action = self.ways[position].tolist()
            actions.append(action)
        return actions[::-1]


@kernel
def can_take_back(states: np.ndarray, i: int, action: int, rules: RuleParams) -> bool:
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
def put_all_up(states: np.ndarray, i: int, pinned: int, rules: RuleParams) -> None:
    """Put up all cards that can come back, but those of a set: so one position stands for many."""
    cards = -1
    while cards != 0:
        cards = column_tops(states, i) & wanted_cards(states, i) & ~pinned
        while cards != 0:
            action = card_of_bit(lowest_bit(cards)) * N_DESTINATIONS + TO_FOUNDATION
            if can_take_back(states, i, action, rules):
                apply(states, i, action, rules)
                break
            cards ^= lowest_bit(cards)


@kernel
def talon_cards(states: np.ndarray, i: int) -> int:
    """The set of the talon's cards."""
    cards = 0
    for index in range(int(states[i]["talon_size"])):
        cards |= bit_of(int(states[i]["talon"][index]))
    return cards


@kernel
def class_key(states: np.ndarray, i: int, rules: RuleParams) -> np.uint64:
    """A key of a position and of those that differ from it only in what lies on which of equal hosts."""
    waste, redeals = int(states[i]["waste_size"]), int(states[i]["redeals_used"])
    if rules.redeals == UNLIMITED:
        is_pure = waste % rules.draw_count == 0 or waste == int(states[i]["talon_size"])
        waste, redeals = 0 if is_pure else waste, 0
    word = waste | redeals << 8
    for suit in range(N_SUITS):
        word |= int(states[i]["foundation"][suit]) << (24 + 4 * suit)
    for column in range(N_COLUMNS):
        word |= int(states[i]["face_down"][column]) << (40 + 3 * column)
    key = mix(np.uint64(word))
    key = mix(key ^ np.uint64(talon_cards(states, i)))
    if rules.whole_runs:
        return mix(key ^ position_key(states, i, rules))
    key = mix(key ^ np.uint64(states[i]["face_up"]))
    key = mix(key ^ np.uint64(run_heads(states, i)))
    return mix(key ^ np.uint64(floor_cards(states, i)))


@kernel
def key_of_arm(states: np.ndarray, i: int, action: int, rules: RuleParams) -> np.uint64:
    """The key of what an action leads to, whatever card is turned up. The record is changed."""
    card = action // N_DESTINATIONS
    source = int(states[i]["place"][card]) if action != STOCK_ACTION else TALON
    before = face_down_total(states, i)
    apply(states, i, action, rules)
    turned = 0
    if face_down_total(states, i) < before:
        turned = bit_of(int(states[i]["columns"][source, int(states[i]["height"][source]) - 1]))
    put_all_up(states, i, turned, rules)
    return class_key(states, i, rules)


@kernel
def are_alike(action: int, other: int) -> bool:
    """Whether two actions take the same card to its foundation, to a gap, or to a column."""
    same_card = action // N_DESTINATIONS == other // N_DESTINATIONS
    first, second = action % N_DESTINATIONS, other % N_DESTINATIONS
    both_up, both_to_gap = (
        (first == TO_FOUNDATION) == (second == TO_FOUNDATION),
        (first == TO_GAP) == (second == TO_GAP),
    )
    return same_card and both_up and both_to_gap


@kernel
def note_arm(
    records: np.ndarray,
    i: int,
    action: int,
    arms: np.ndarray,
    arm_keys: np.ndarray,
    n_arms: int,
    rules: RuleParams,
) -> int:
    """Add an arm unless there is one like it; how many there are now."""
    if n_arms == len(arms):
        return n_arms
    last = len(records) - 1
    records[last] = records[i]
    key = key_of_arm(records, last, action, rules)
    alike = 0
    for k in range(n_arms):
        if arm_keys[k] == key:
            return n_arms
        alike += are_alike(action, arms[k, 1])
    if alike == MOST_ALIKE:
        return n_arms
    arms[n_arms, 0], arms[n_arms, 1], arm_keys[n_arms] = i, action, key
    return n_arms + 1


@kernel
def explore(
    records: np.ndarray,
    ways: np.ndarray,
    arms: np.ndarray,
    keys: np.ndarray,
    arm_keys: np.ndarray,
    table: np.ndarray,
    moves: np.ndarray,
    counts: np.ndarray,
    rules: RuleParams,
) -> None:
    """Find the positions, nearest first, and the arms; see `Exploration`. counts: int64[2], how many of each."""
    table[:] = 0
    keys[0] = position_key(records, 0, rules)
    ways[0, 0], ways[0, 1] = _NONE, _NONE
    insert(table, keys[0])
    n, n_arms, i = 1, 0, 0
    reach = 1 if rules.redeals == UNLIMITED else 0
    while i < n:
        find_moves(records, i, rules, reach, moves)
        for destination in range(N_DESTINATIONS):
            cards = int(moves[destination])
            while cards != 0:
                bit = lowest_bit(cards)
                cards ^= bit
                card = card_of_bit(bit)
                action = card * N_DESTINATIONS + destination
                if not can_take_back(records, i, action, rules):
                    n_arms = note_arm(records, i, action, arms, arm_keys, n_arms, rules)
                elif n < len(ways):
                    key = keys[i] + term(card, will_lie_on(card, destination)) - term(card, lies_on(records, i, card))
                    if insert(table, key):
                        records[n] = records[i]
                        apply(records, n, action, rules)
                        keys[n], ways[n, 0], ways[n, 1] = key, i, action
                        n += 1
        if i == 0 and reach == 0 and stock_is_live(records, 0, rules):
            # What can be taken back can be done after the draw as well, so one arm is enough.
            n_arms = note_arm(records, 0, STOCK_ACTION, arms, arm_keys, n_arms, rules)
        i += 1
    counts[0], counts[1] = n, n_arms


@kernel
def enter_base_arm(
    arms: np.ndarray, arm_keys: np.ndarray, position: int, action: int, key: np.uint64, counts: np.ndarray
) -> int:
    """Let an arm take the place of that with the same key, or come last; where it is."""
    k = 0
    while k < counts[1] and arm_keys[k] != key:
        k += 1
    k = min(k, len(arms) - 1)
    counts[1] = max(int(counts[1]), k + 1)
    arms[k, 0], arms[k, 1], arm_keys[k] = position, action, key
    return k


@kernel
def base_play(states: np.ndarray, i: int, base: Base, rules: RuleParams) -> int:
    """What the base plays, or RESIGN; with redeals without limit talon cards are played directly."""
    if base.is_tuned:
        base.trial[0] = states[i]  # of which there is one, as of what the list remembers
        return choose_tuned(base.trial, 0, rules, base.marking, base.returned, base.games, base.layouts)
    reach = 1 if rules.redeals == UNLIMITED else 0
    action = first_play(states, i, rules, reach, base.trial, base.moved)
    return RESIGN if reach and action == STOCK_ACTION else action


@kernel
def find_base_arm(
    records: np.ndarray,
    arms: np.ndarray,
    arm_keys: np.ndarray,
    way: np.ndarray,
    counts: np.ndarray,
    base: Base,
    rules: RuleParams,
) -> int:
    """Play the base's list up to what cannot be taken back; see `Exploration.base_arm`.

    way: int64[n], overwritten with the moves before that.
    """
    last = len(records) - 1
    position = last - 1
    records[position] = records[0]
    base.returned[0] = 0
    for count in range(len(way)):
        action = base_play(records, position, base, rules)
        if action == RESIGN or (action == STOCK_ACTION and not stock_is_live(records, position, rules)):
            return _NONE
        if not can_take_back(records, position, action, rules):
            records[last] = records[position]
            key = key_of_arm(records, last, action, rules)
            return enter_base_arm(arms, arm_keys, position, action, key, counts)
        way[count] = action
        apply(records, position, action, rules)
    return _NONE
