"""Writing observations: from scratch, or only what a step has changed.

Every value is written multiplied by its scale. Scales are 1 for the forms "cards" and "dict", and 1 / highest value
for "flat". A game has N_VALUES values; values and scales have the same dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from klondike_env.cards import N_CARDS, N_SUITS
from klondike_env.engine.actions import N_DESTINATIONS, STOCK_ACTION
from klondike_env.engine.batch import NO_ACTION
from klondike_env.engine.card_arithmetic import card_at, suit_of
from klondike_env.engine.jit import kernel
from klondike_env.engine.queries import can_pass
from klondike_env.engine.setup import Setup, unpacker
from klondike_env.engine.state import N_COLUMNS, TALON, WON
from klondike_env.engine.talon import draw_stops, draws_for, redeals_are_unlimited
from klondike_env.observation.fields import (
    BYTE,
    CARD_AFTER_REDEAL,
    CARD_BEFORE_REDEAL,
    CARD_CARDS_ABOVE,
    CARD_DRAWS,
    CARD_FACE_DOWN,
    CARD_FOUNDATION,
    CARD_ON_FACE_DOWN,
    CARD_ON_FLOOR,
    CARD_ON_SUIT,
    CARD_PHASE,
    CARD_TABLEAU,
    CARD_TALON,
    CARD_TALON_INDEX,
    CARD_UNDER,
    CARD_UNSEEN,
    CARD_WASTE_TOP,
    N_CARD_FIELDS,
    POINTS_PER_VALUE,
    TABLE_BEST_FOUNDATION,
    TABLE_BUILD,
    TABLE_DRAW_COUNT,
    TABLE_EMPTY_COLUMNS,
    TABLE_FACE_DOWN,
    TABLE_FOUNDATIONS,
    TABLE_GAPS,
    TABLE_REDEALS_LEFT,
    TABLE_SCORE,
    TABLE_SINCE_PROGRESS,
    TABLE_STOCK,
    TABLE_UNLIMITED_REDEALS,
    TABLE_UNSEEN_STOCK,
    TABLE_WASTE,
    TABLE_WHOLE_RUNS,
    TABLE_WORRY_BACK,
)
from klondike_env.rules import RuleParams


class ObserverSetup(NamedTuple):
    """What stays fixed while games are observed; Python passes it packed."""

    setup: Setup
    thoughtful: int  # 1: hidden cards are shown


class Output(NamedTuple):
    """The observation of one game that is being written."""

    values: np.ndarray  # [N_VALUES]
    scales: np.ndarray  # [N_VALUES] of the same dtype: what each value is multiplied by
    thoughtful: int


unpack: Callable[[np.ndarray], ObserverSetup] = unpacker(ObserverSetup)


@kernel
def put(out: Output, k: int, value: int) -> None:
    """Write one value, scaled."""
    out.values[k] = out.scales.dtype.type(value) * out.scales[k]


@kernel
def put_field(out: Output, first: int, field: int, value: int) -> None:
    """Write one value, scaled, of the card whose values start at `first`; the scales of all cards are the same."""
    out.values[first + field] = out.scales.dtype.type(value) * out.scales[field]


@kernel
def begin_card(card: int, place: int, out: Output) -> int:
    """Clear the values of a card and mark where it is; return the index of its first value."""
    first = card * N_CARD_FIELDS
    for k in range(first, first + N_CARD_FIELDS):
        out.values[k] = 0
    put_field(out, first, place, 1)
    return first


@kernel
def encode_foundation(states: np.ndarray, i: int, suit: int, start: int, out: Output) -> None:
    """Write the values of the cards on one foundation, from rank `start` on."""
    for rank in range(start, int(states[i]["foundation"][suit])):
        begin_card(card_at(rank, suit), CARD_FOUNDATION, out)


@kernel
def encode_first(states: np.ndarray, i: int, column: int, row: int, under: int, out: Output) -> None:
    """Write the values of a column card with no face-up card under it; `under` is 1 + the card under it, or 0."""
    card, height = int(states[i]["columns"][column, row]), int(states[i]["height"][column])
    is_down = row < int(states[i]["face_down"][column])
    first = begin_card(card, CARD_FACE_DOWN if is_down else CARD_TABLEAU, out)
    put_field(out, first, CARD_CARDS_ABOVE, height - 1 - row)
    put_field(out, first, CARD_UNDER, under)
    put_field(out, first, CARD_ON_FACE_DOWN, row)
    put_field(out, first, CARD_ON_FLOOR, 1 if row == 0 else 0)


@kernel
def encode_run(states: np.ndarray, i: int, column: int, start: int, out: Output) -> None:
    """Write the values of a column's cards from row `start` on; all of these lie on face-up cards."""
    height = int(states[i]["height"][column])
    below = int(states[i]["columns"][column, start - 1])
    for row in range(start, height):
        card = int(states[i]["columns"][column, row])
        first = begin_card(card, CARD_TABLEAU, out)
        put_field(out, first, CARD_CARDS_ABOVE, height - 1 - row)
        put_field(out, first, CARD_ON_SUIT + suit_of(below), 1)
        put_field(out, first, CARD_UNDER, below + 1)
        below = card


@kernel
def encode_column(states: np.ndarray, i: int, column: int, out: Output) -> None:
    """Write the values of a column's face-up cards, and in thoughtful mode of its face-down cards."""
    if int(states[i]["height"][column]) == 0:
        return
    head = int(states[i]["face_down"][column])
    under = 0
    if out.thoughtful:
        for row in range(head):
            encode_first(states, i, column, row, under, out)
            under = int(states[i]["columns"][column, row]) + 1
    encode_first(states, i, column, head, under, out)
    encode_run(states, i, column, head + 1, out)


@kernel
def put_reach(first: int, on_top: int, draws: int, before_redeal: int, after_redeal: int, out: Output) -> None:
    """Write how one talon card can be reached."""
    put_field(out, first, CARD_WASTE_TOP, on_top)
    put_field(out, first, CARD_DRAWS, draws)
    put_field(out, first, CARD_BEFORE_REDEAL, before_redeal)
    put_field(out, first, CARD_AFTER_REDEAL, after_redeal)


@kernel
def encode_reach(states: np.ndarray, i: int, rules: RuleParams, out: Output) -> None:
    """Write which seen talon cards can be reached, and how; like `draws_to`, but for all of them in one loop."""
    size, waste, draw_count = int(states[i]["talon_size"]), int(states[i]["waste_size"]), rules.draw_count
    now = draw_stops(size, waste, draw_count)
    later = draw_stops(size, 0, draw_count) if waste > 0 and can_pass(states, i, rules) else 0
    # Stock actions to the next place where a draw of this pass ends, and to that of the pass after a redeal.
    draws_now, draws_later = 1, draws_for(size - waste, draw_count) + 2
    for place in range(int(states[i]["seen_size"])):
        on_top = 1 if place == waste - 1 else 0
        stops_now, stops_later = (now >> place) & 1, (later >> place) & 1
        only_later = stops_later & ~(stops_now | on_top)
        draws = draws_now if stops_now else (draws_later if only_later else 0)
        first = int(states[i]["talon"][place]) * N_CARD_FIELDS
        put_reach(first, on_top, draws, stops_now | on_top, only_later, out)
        draws_now += stops_now
        draws_later += stops_later


@kernel
def known_talon(states: np.ndarray, i: int, thoughtful: int) -> int:
    """How many talon cards are shown."""
    return int(states[i]["talon_size"]) if thoughtful else int(states[i]["seen_size"])


@kernel
def encode_talon(states: np.ndarray, i: int, start: int, stop: int, draw_count: int, out: Output) -> None:
    """Write where the talon cards from index `start` up to, but not including, `stop` lie."""
    phase = start % draw_count
    under = int(states[i]["talon"][start - 1]) + 1 if start > 0 else 0
    for index in range(start, stop):
        card = int(states[i]["talon"][index])
        first = begin_card(card, CARD_TALON, out)
        phase = phase + 1 if phase < draw_count else 1
        put_field(out, first, CARD_PHASE, phase)
        put_field(out, first, CARD_TALON_INDEX, index + 1)
        put_field(out, first, CARD_UNDER, under)
        under = card + 1


@kernel
def encode_face_down(states: np.ndarray, i: int, out: Output) -> None:
    """Write the columns' face-down counts, highest first, and the number of empty columns."""
    gaps = 0
    for column in range(N_COLUMNS):
        count = int(states[i]["face_down"][column])
        gaps += 1 if int(states[i]["height"][column]) == 0 else 0
        ahead = 0
        for other in range(N_COLUMNS):
            rival = int(states[i]["face_down"][other])
            ahead += 1 if rival > count or (rival == count and other < column) else 0
        put(out, TABLE_FACE_DOWN + ahead, count)
    put(out, TABLE_EMPTY_COLUMNS, gaps)


@kernel
def encode_table(states: np.ndarray, i: int, setup: Setup, out: Output) -> None:
    """Write the values of the table, except for those of the columns and the rules."""
    rules = setup.rules
    size, waste = int(states[i]["talon_size"]), int(states[i]["waste_size"])
    unlimited = redeals_are_unlimited(rules.redeals)
    put(out, TABLE_STOCK, size - waste)
    put(out, TABLE_WASTE, waste)
    put(out, TABLE_UNSEEN_STOCK, size - int(states[i]["seen_size"]))
    put(out, TABLE_REDEALS_LEFT, 0 if unlimited else rules.redeals - int(states[i]["redeals_used"]))
    for suit in range(N_SUITS):
        put(out, TABLE_FOUNDATIONS + suit, int(states[i]["foundation"][suit]))
    put(out, TABLE_BEST_FOUNDATION, int(states[i]["best_foundation"]))
    put(out, TABLE_SINCE_PROGRESS, min(int(states[i]["since_progress"]), BYTE))
    points = min(int(states[i]["score"]) // POINTS_PER_VALUE, BYTE)
    put(out, TABLE_SCORE, points if setup.scheme.floored else 0)


@kernel
def encode_rules(rules: RuleParams, out: Output) -> None:
    """Write the values of the rules; they must be 0 before."""
    put(out, TABLE_DRAW_COUNT, rules.draw_count)
    put(out, TABLE_UNLIMITED_REDEALS, 1 if redeals_are_unlimited(rules.redeals) else 0)
    put(out, TABLE_WORRY_BACK, rules.worry_back)
    put(out, TABLE_WHOLE_RUNS, rules.whole_runs)
    put(out, TABLE_BUILD + rules.build, 1)
    put(out, TABLE_GAPS + rules.gaps, 1)


@kernel
def encode(states: np.ndarray, i: int, setup: Setup, out: Output) -> None:
    """Write the whole observation of one game."""
    out.values[:] = 0
    for card in range(N_CARDS):
        put_field(out, card * N_CARD_FIELDS, CARD_UNSEEN, 1)
    for suit in range(N_SUITS):
        encode_foundation(states, i, suit, 0, out)
    for column in range(N_COLUMNS):
        encode_column(states, i, column, out)
    encode_talon(states, i, 0, known_talon(states, i, out.thoughtful), setup.rules.draw_count, out)
    encode_reach(states, i, setup.rules, out)
    encode_face_down(states, i, out)
    encode_table(states, i, setup, out)
    encode_rules(setup.rules, out)


@kernel
def encode_games(states: np.ndarray, packed: np.ndarray, scales: np.ndarray, values: np.ndarray) -> None:
    """Write the observations of a batch.

    states: STATE[n]; packed: a packed `ObserverSetup`; scales: [N_VALUES], what a value is multiplied
    by; values: [n, N_VALUES] of the scales' dtype, overwritten.
    """
    setup, thoughtful = unpack(packed)
    for i in range(len(states)):
        encode(states, i, setup, Output(values[i], scales, thoughtful))


@kernel
def follow_talon(states: np.ndarray, i: int, drawn: bool, rules: RuleParams, out: Output) -> None:
    """Write what changed in the talon: a draw may show cards; when a card left, it had been next after the waste."""
    waste, draw_count = int(states[i]["waste_size"]), rules.draw_count
    if drawn:
        encode_talon(states, i, max(waste - draw_count, 0), waste, draw_count, out)
    else:
        encode_talon(states, i, waste, known_talon(states, i, out.thoughtful), draw_count, out)
    encode_reach(states, i, rules, out)


@kernel
def put_cards_above(states: np.ndarray, i: int, column: int, stop: int, out: Output) -> None:
    """Write how many cards lie on a column's cards in the rows before `stop`."""
    height = int(states[i]["height"][column])
    for row in range(0 if out.thoughtful else int(states[i]["face_down"][column]), stop):
        first = int(states[i]["columns"][column, row]) * N_CARD_FIELDS
        put_field(out, first, CARD_CARDS_ABOVE, height - 1 - row)


@kernel
def follow_source(states: np.ndarray, i: int, column: int, out: Output) -> None:
    """Write what changed in a column that cards have left; a card may have been turned up, or the column be empty."""
    height = int(states[i]["height"][column])
    if height - int(states[i]["face_down"][column]) > 1:
        put_cards_above(states, i, column, height, out)
    else:
        encode_column(states, i, column, out)
        encode_face_down(states, i, out)


@kernel
def follow_target(states: np.ndarray, i: int, column: int, row: int, out: Output) -> None:
    """Write what changed in a column that cards were moved to; they begin at `row`."""
    if row == 0:
        encode_column(states, i, column, out)
        encode_face_down(states, i, out)
    else:
        put_cards_above(states, i, column, row, out)
        encode_run(states, i, column, row, out)


@kernel
def follow_step(states: np.ndarray, i: int, turns: np.ndarray, setup: Setup, out: Output) -> None:
    """Update an observation after an accepted action: every card that moved is written at its new place."""
    action, source = turns[i]["action"], turns[i]["source"]
    if source == TALON:
        follow_talon(states, i, action == STOCK_ACTION, setup.rules, out)
    elif source < N_COLUMNS:
        follow_source(states, i, source, out)
    if action == STOCK_ACTION:
        return
    card = action // N_DESTINATIONS
    target = int(states[i]["place"][card])
    if target < N_COLUMNS:
        follow_target(states, i, target, int(states[i]["row"][card]), out)
    else:
        begin_card(card, CARD_FOUNDATION, out)


@kernel
def follow_games(
    states: np.ndarray,
    turns: np.ndarray,
    versions: np.ndarray,
    packed: np.ndarray,
    scales: np.ndarray,
    values: np.ndarray,
) -> None:
    """Update the observations of a batch.

    states: STATE[n]; turns: TURN[n]; versions: int64[n], the versions of the games that `values` show,
    overwritten with the current ones; the rest as for `encode_games`.
    """
    setup, thoughtful = unpack(packed)
    for i in range(len(states)):
        out = Output(values[i], scales, thoughtful)
        steps = turns[i]["version"] - versions[i]
        finished = int(states[i]["outcome"]) == WON  # with `auto_finish` by more moves than the action's own
        if steps == 1 and not finished:
            if turns[i]["action"] != NO_ACTION:
                follow_step(states, i, turns, setup, out)
            encode_table(states, i, setup, out)
        elif steps != 0:
            encode(states, i, setup, out)
        versions[i] = turns[i]["version"]
