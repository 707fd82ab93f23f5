"""What makes a record impossible, with reasons.

Only records without a fault are safe to play on: kernels do not check what they read.
"""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_CARDS, N_RANKS, N_SUITS, SUIT_NAMES, UNSEEN, card_text
from klondike_env.engine.card_sets import FULL_SUIT, SUIT_WIDTH, bit_of, count_cards, may_lie_on
from klondike_env.engine.jit import kernel
from klondike_env.engine.queries import foundation_total
from klondike_env.engine.state import MAX_HEIGHT, N_COLUMNS, OUTCOME_NAMES, TALON_SIZE
from klondike_env.engine.talon import redeals_are_unlimited
from klondike_env.rules import RuleParams, Rules

_MESSAGES: list[str] = []


def _fault(message: str) -> int:
    """Register a kind of fault and return its number. The message is filled in with a pile and two values."""
    _MESSAGES.append(message)
    return len(_MESSAGES) - 1


_COLUMN_HEIGHT = _fault("column {column} has {value} cards; at most {other} can lie there")
_FACE_DOWN = _fault("column {column} has {value} face-down cards; only {other} were dealt so")
_LAST_FACE_DOWN = _fault("the last card of column {column} is face down")
_FOUNDATION_HEIGHT = _fault("the foundation of {suit} has {value} cards; at most {other} can lie there")
_TALON_SIZE = _fault("waste and stock have {value} cards; at most {other} were dealt there")
_WASTE_SIZE = _fault("the waste has {value} cards, but waste and stock have {other} together")
_SEEN_SIZE = _fault("{value} cards of waste and stock have been seen; after {pile} redeals it must be {other}")
_REDEALS = _fault("{value} redeals were used; the rules allow {other}")
_BEST_FOUNDATION = _fault("the foundations hold {other} cards now, but at most {value} in the game so far")
_COUNTER = _fault("{counter} is {value}; allowed: a whole number from 0")
_OUTCOME = _fault("outcome is {value}; allowed: 0 to {other}")
_UNKNOWN_IN_COLUMN = _fault("column {column} holds a card that is unknown")
_UNKNOWN_IN_TALON = _fault("waste or stock hold a card that is unknown")
_NO_CARD_IN_COLUMN = _fault("column {column} holds card {value}; allowed: 0 to 51")
_NO_CARD_IN_TALON = _fault("waste or stock hold card {value}; allowed: 0 to 51")
_UNKNOWN = _fault("{value} cards are unknown, but {other} are missing")
_TWICE = _fault("{card} is there twice")
_MISSING = _fault("{card} is missing")
_RUN = _fault("{card} lies on {below} in column {column}, which the rules do not allow")

_MOST_IN_COLUMN = MAX_HEIGHT - 1
_N_OUTCOMES = len(OUTCOME_NAMES)
_COUNTERS = ("moves", "steps", "since_progress")
_ROOM = 64


@kernel
def add_fault(faults: np.ndarray, count: int, code: int, pile: int, value: int, other: int) -> int:
    """Add a fault if there is room; return how many there are now."""
    if count == len(faults):
        return count
    faults[count, 0] = code
    faults[count, 1] = pile
    faults[count, 2] = value
    faults[count, 3] = other
    return count + 1


@kernel
def find_size_faults(states: np.ndarray, i: int, faults: np.ndarray) -> int:
    """Find piles of impossible sizes; reading such a pile could go beyond its array."""
    count = 0
    for column in range(N_COLUMNS):
        height, face_down = int(states[i]["height"][column]), int(states[i]["face_down"][column])
        if height > _MOST_IN_COLUMN:
            count = add_fault(faults, count, _COLUMN_HEIGHT, column, height, _MOST_IN_COLUMN)
        if face_down > column:
            count = add_fault(faults, count, _FACE_DOWN, column, face_down, column)
        if face_down >= max(height, 1):
            count = add_fault(faults, count, _LAST_FACE_DOWN, column, 0, 0)
    for suit in range(N_SUITS):
        height = int(states[i]["foundation"][suit])
        if height > N_RANKS:
            count = add_fault(faults, count, _FOUNDATION_HEIGHT, suit, height, N_RANKS)
    size, waste = int(states[i]["talon_size"]), int(states[i]["waste_size"])
    if size > TALON_SIZE:
        count = add_fault(faults, count, _TALON_SIZE, 0, size, TALON_SIZE)
    if waste > size:
        count = add_fault(faults, count, _WASTE_SIZE, 0, waste, size)
    return count


@kernel
def find_counter_faults(states: np.ndarray, i: int, rules: RuleParams, faults: np.ndarray, count: int) -> int:
    """Find impossible counters. A redeal shows the whole talon, so the player has seen all of it or only the waste."""
    redeals, seen = int(states[i]["redeals_used"]), int(states[i]["seen_size"])
    known = int(states[i]["talon_size"]) if redeals > 0 else int(states[i]["waste_size"])
    if seen != known:
        count = add_fault(faults, count, _SEEN_SIZE, redeals, seen, known)
    if redeals > rules.redeals and not redeals_are_unlimited(rules.redeals):
        count = add_fault(faults, count, _REDEALS, 0, redeals, rules.redeals)
    total, best = foundation_total(states, i), int(states[i]["best_foundation"])
    if best < total or best > N_CARDS:
        count = add_fault(faults, count, _BEST_FOUNDATION, 0, best, total)
    if int(states[i]["moves"]) < 0:
        count = add_fault(faults, count, _COUNTER, 0, int(states[i]["moves"]), 0)
    if int(states[i]["steps"]) < 0:
        count = add_fault(faults, count, _COUNTER, 1, int(states[i]["steps"]), 0)
    if int(states[i]["since_progress"]) < 0:
        count = add_fault(faults, count, _COUNTER, 2, int(states[i]["since_progress"]), 0)
    outcome = int(states[i]["outcome"])
    if outcome >= _N_OUTCOMES:
        count = add_fault(faults, count, _OUTCOME, 0, outcome, _N_OUTCOMES - 1)
    return count


@kernel
def is_unseen(states: np.ndarray, i: int, pile: int, index: int) -> bool:
    """Whether the player has not seen the card at an index of a column or, as pile 7, of the talon."""
    if pile < N_COLUMNS:
        return index < int(states[i]["face_down"][pile])
    return index >= int(states[i]["seen_size"])


@kernel
def find_missing(found: int, unknown: int, faults: np.ndarray, count: int) -> int:
    """Find missing cards; if some are unknown, only check that as many cards are missing as are unknown."""
    missing = N_CARDS - count_cards(found)
    if unknown > 0:
        return add_fault(faults, count, _UNKNOWN, 0, unknown, missing) if unknown != missing else count
    for card in range(N_CARDS):
        if not found & bit_of(card):
            count = add_fault(faults, count, _MISSING, 0, card, 0)
    return count


@kernel
def find_card_faults(states: np.ndarray, i: int, may_hide: bool, faults: np.ndarray, count: int) -> int:
    """Find cards that are missing, duplicate or unknown; with `may_hide`, cards in unseen places may be unknown."""
    found, unknown, misplaced = 0, 0, 0
    for suit in range(N_SUITS):
        found |= (FULL_SUIT >> (N_RANKS - int(states[i]["foundation"][suit]))) << (SUIT_WIDTH * suit)
    for pile in range(N_COLUMNS + 1):
        in_column = pile < N_COLUMNS
        size = int(states[i]["height"][pile]) if in_column else int(states[i]["talon_size"])
        for index in range(size):
            card = int(states[i]["columns"][pile, index]) if in_column else int(states[i]["talon"][index])
            if card < N_CARDS:
                if found & bit_of(card):
                    count = add_fault(faults, count, _TWICE, 0, card, 0)
                found |= bit_of(card)
            elif card == UNSEEN and may_hide and is_unseen(states, i, pile, index):
                unknown += 1
            elif card == UNSEEN:
                misplaced += 1
                count = add_fault(faults, count, _UNKNOWN_IN_COLUMN if in_column else _UNKNOWN_IN_TALON, pile, 0, 0)
            else:
                misplaced += 1
                count = add_fault(faults, count, _NO_CARD_IN_COLUMN if in_column else _NO_CARD_IN_TALON, pile, card, 0)
    return count if misplaced > 0 else find_missing(found, unknown, faults, count)


@kernel
def find_run_faults(states: np.ndarray, i: int, rules: RuleParams, faults: np.ndarray, count: int) -> int:
    """Find face-up cards that may not lie on the card under them."""
    for column in range(N_COLUMNS):
        for row in range(int(states[i]["face_down"][column]) + 1, int(states[i]["height"][column])):
            card, below = int(states[i]["columns"][column, row]), int(states[i]["columns"][column, row - 1])
            if not may_lie_on(card, below, rules.build):
                count = add_fault(faults, count, _RUN, column, card, below)
    return count


@kernel
def find_faults(states: np.ndarray, i: int, rules: RuleParams, may_hide: bool, faults: np.ndarray) -> int:
    """Write what makes a record impossible; return how many faults there are. faults: int64[m, 4], overwritten.

    may_hide: whether cards that the player has not seen may be unknown, as in a view. `place`, `row` and
    `face_up` are ignored, because they follow from the piles.
    """
    count = find_size_faults(states, i, faults)
    if count > 0:
        return count
    count = find_card_faults(states, i, may_hide, faults, count)
    if count == 0:
        count = find_run_faults(states, i, rules, faults, count)
    return find_counter_faults(states, i, rules, faults, count)


def faults_of(record: np.ndarray | np.void, rules: Rules, *, may_hide: bool = False) -> list[str]:
    """What makes a record impossible under the rules, in words; an empty list if nothing does.

    Args:
        record: one STATE record; `place`, `row` and `face_up` are ignored.
        rules: the rules of its game.
        may_hide: whether cards that the player has not seen may be unknown, as in a view.
    """
    faults = np.empty((_ROOM, 4), dtype=np.int64)
    count = find_faults(np.atleast_1d(np.asarray(record)), 0, rules.params(), may_hide, faults)
    return [_in_words(*fault) for fault in faults[:count].tolist()]


def check_record(record: np.ndarray | np.void, rules: Rules, *, may_hide: bool = False) -> None:
    """Make sure that a record is possible under the rules; the arguments are those of `faults_of`.

    Raises:
        ValueError: it is impossible; the message gives all reasons.
    """
    faults = faults_of(record, rules, may_hide=may_hide)
    if faults:
        raise ValueError(f"the position is not possible: {'; '.join(faults)}")


def _in_words(code: int, pile: int, value: int, other: int) -> str:
    return _MESSAGES[code].format(
        column=pile + 1,
        suit=SUIT_NAMES[pile % N_SUITS],
        counter=_COUNTERS[pile % len(_COUNTERS)],
        pile=pile,
        value=value,
        other=other,
        card=card_text(value) if 0 <= value <= UNSEEN else value,
        below=card_text(other) if 0 <= other <= UNSEEN else other,
    )
