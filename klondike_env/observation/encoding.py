"""Writing observations: whole, or only what a step has changed.

Both ways write values scaled by `scales`: ones for the forms of values, one over the highest value for
the flat form. `scales` and `out` have one dtype and N_VALUES places for each game.
"""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_CARDS, N_SUITS
from klondike_env.engine.actions import N_DESTINATIONS, STOCK_ACTION
from klondike_env.engine.batch import NO_ACTION
from klondike_env.engine.card_arithmetic import card_at, suit_of
from klondike_env.engine.jit import kernel
from klondike_env.engine.outcome import Setup, unpack
from klondike_env.engine.state import N_COLUMNS, WON
from klondike_env.engine.state import TALON as IN_TALON
from klondike_env.engine.talon import can_pass, draw_stops, draws_for
from klondike_env.observation.fields import (
    BYTE,
    CARDS_ABOVE,
    FACE_DOWN,
    FOUNDATION,
    N_CARD_FIELDS,
    N_CARD_VALUES,
    NEXT_SWEEP,
    ON_FACE_DOWN,
    ON_FLOOR,
    ON_SUIT,
    PHASE,
    POINTS_PER_VALUE,
    TABLEAU,
    TALON,
    TALON_INDEX,
    TAPS,
    THIS_SWEEP,
    UNDER,
    UNSEEN,
    WASTE_TOP,
    table_start,
)
from klondike_env.rules import BUILDS, UNLIMITED, RuleParams

FACE_DOWN_START = N_CARD_VALUES + table_start("face_down")
RULES_START = N_CARD_VALUES + table_start("draw_count")


@kernel
def put(out: np.ndarray, scales: np.ndarray, k: int, value: int) -> None:
    """Write one value of the table, scaled."""
    out[k] = scales.dtype.type(value) * scales[k]


@kernel
def put_field(out: np.ndarray, scales: np.ndarray, first: int, field: int, value: int) -> None:
    """Write one value of the card whose values start at `first`, scaled; all cards have the scales of the first."""
    out[first + field] = scales.dtype.type(value) * scales[field]


@kernel
def begin_card(card: int, place: int, scales: np.ndarray, out: np.ndarray) -> int:
    """Clear the values of a seen card and mark where it is; the index of its first value."""
    first = card * N_CARD_FIELDS
    for k in range(first, first + N_CARD_FIELDS):
        out[k] = 0
    put_field(out, scales, first, place, 1)
    return first


@kernel
def encode_foundation(states: np.ndarray, i: int, suit: int, start: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the values of the cards on one foundation, from rank `start` on."""
    for rank in range(start, int(states[i]["foundation"][suit])):
        begin_card(card_at(rank, suit), FOUNDATION, scales, out)


@kernel
def encode_first(
    states: np.ndarray, i: int, column: int, row: int, place: int, under: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Write the values of a column card that lies on no face-up card; `under` is 1 + the card it lies on, or 0."""
    card, height = int(states[i]["columns"][column, row]), int(states[i]["height"][column])
    first = begin_card(card, place, scales, out)
    put_field(out, scales, first, CARDS_ABOVE, height - 1 - row)
    put_field(out, scales, first, UNDER, under)
    put_field(out, scales, first, ON_FACE_DOWN, row)
    put_field(out, scales, first, ON_FLOOR, 1 if row == 0 else 0)


@kernel
def encode_run(states: np.ndarray, i: int, column: int, start: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the values of a column's cards from row `start` on, all of which lie on face-up cards."""
    height = int(states[i]["height"][column])
    below = int(states[i]["columns"][column, start - 1])
    for row in range(start, height):
        card = int(states[i]["columns"][column, row])
        first = begin_card(card, TABLEAU, scales, out)
        put_field(out, scales, first, CARDS_ABOVE, height - 1 - row)
        put_field(out, scales, first, ON_SUIT + suit_of(below), 1)
        put_field(out, scales, first, UNDER, below + 1)
        below = card


@kernel
def encode_column(
    states: np.ndarray, i: int, column: int, thoughtful: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Write the values of a column's face-up cards, and in thoughtful mode of those face down."""
    if int(states[i]["height"][column]) == 0:
        return
    head = int(states[i]["face_down"][column])
    under = 0
    if thoughtful:
        for row in range(head):
            encode_first(states, i, column, row, FACE_DOWN, under, scales, out)
            under = int(states[i]["columns"][column, row]) + 1
    encode_first(states, i, column, head, TABLEAU, under, scales, out)
    encode_run(states, i, column, head + 1, scales, out)


@kernel
def put_reach(
    first: int, on_top: bool, taps: int, this_sweep: bool, next_sweep: bool, scales: np.ndarray, out: np.ndarray
) -> None:
    """Write how one talon card can be reached."""
    put_field(out, scales, first, WASTE_TOP, 1 if on_top else 0)
    put_field(out, scales, first, TAPS, taps)
    put_field(out, scales, first, THIS_SWEEP, 1 if on_top or this_sweep else 0)
    put_field(out, scales, first, NEXT_SWEEP, 1 if next_sweep else 0)


@kernel
def encode_reach(states: np.ndarray, i: int, rules: RuleParams, scales: np.ndarray, out: np.ndarray) -> None:
    """Write which of the talon's seen cards can be reached, and how; `draws_to` for all of them in one loop."""
    size, waste, draw_count = int(states[i]["talon_size"]), int(states[i]["waste_size"]), rules.draw_count
    now = draw_stops(size, waste, draw_count)
    later = draw_stops(size, 0, draw_count) if waste > 0 and can_pass(states, i, rules) else 0
    draws_now, draws_later = 1, draws_for(size - waste, draw_count) + 2  # the next draw of this pass, and of the next
    for place in range(int(states[i]["seen_size"])):
        on_top = place == waste - 1
        stops_now, stops_later = (now >> place) & 1, (later >> place) & 1
        only_later = stops_later and not stops_now and not on_top
        draws = draws_now if stops_now else (draws_later if only_later else 0)
        put_reach(int(states[i]["talon"][place]) * N_CARD_FIELDS, on_top, draws, stops_now, only_later, scales, out)
        draws_now += stops_now
        draws_later += stops_later


@kernel
def known_talon(states: np.ndarray, i: int, thoughtful: int) -> int:
    """How many cards of the talon are shown."""
    return int(states[i]["talon_size"]) if thoughtful else int(states[i]["seen_size"])


@kernel
def encode_talon(
    states: np.ndarray, i: int, start: int, stop: int, draw_count: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Write where the talon's cards from index `start` to before `stop` lie."""
    phase = start % draw_count
    under = int(states[i]["talon"][start - 1]) + 1 if start > 0 else 0
    for index in range(start, stop):
        card = int(states[i]["talon"][index])
        first = begin_card(card, TALON, scales, out)
        phase = phase + 1 if phase < draw_count else 1
        put_field(out, scales, first, PHASE, phase)
        put_field(out, scales, first, TALON_INDEX, index + 1)
        put_field(out, scales, first, UNDER, under)
        under = card + 1


@kernel
def encode_face_down(states: np.ndarray, i: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the columns' face-down counts, highest first, and the number of empty columns."""
    gaps = 0
    for column in range(N_COLUMNS):
        count = int(states[i]["face_down"][column])
        gaps += 1 if int(states[i]["height"][column]) == 0 else 0
        place = FACE_DOWN_START
        for other in range(N_COLUMNS):
            rival = int(states[i]["face_down"][other])
            place += 1 if rival > count or (rival == count and other < column) else 0
        put(out, scales, place, count)
    put(out, scales, FACE_DOWN_START + N_COLUMNS, gaps)


@kernel
def encode_table(states: np.ndarray, i: int, setup: Setup, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the values of the table, but for those of columns and rules."""
    rules = setup.rules
    size, waste = int(states[i]["talon_size"]), int(states[i]["waste_size"])
    k = N_CARD_VALUES
    put(out, scales, k, size - waste)
    put(out, scales, k + 1, waste)
    put(out, scales, k + 2, size - int(states[i]["seen_size"]))
    put(out, scales, k + 3, 0 if rules.redeals == UNLIMITED else rules.redeals - int(states[i]["redeals_used"]))
    k = FACE_DOWN_START + N_COLUMNS
    for suit in range(N_SUITS):
        put(out, scales, k + 1 + suit, int(states[i]["foundation"][suit]))
    k += 1 + N_SUITS
    put(out, scales, k, int(states[i]["best_foundation"]))
    put(out, scales, k + 1, min(int(states[i]["since_progress"]), BYTE))
    put(out, scales, k + 2, min(int(states[i]["score"]) // POINTS_PER_VALUE, BYTE) if setup.scheme.floored else 0)


@kernel
def encode_rules(rules: RuleParams, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the values of the rules, the last of TABLE_FIELDS; they are 0 before."""
    k = RULES_START
    put(out, scales, k, rules.draw_count)
    put(out, scales, k + 1, 1 if rules.redeals == UNLIMITED else 0)
    put(out, scales, k + 2, rules.worry_back)
    put(out, scales, k + 3, rules.whole_runs)
    put(out, scales, k + 4 + rules.build, 1)
    put(out, scales, k + 4 + len(BUILDS) + rules.gaps, 1)


@kernel
def encode(states: np.ndarray, i: int, setup: Setup, thoughtful: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the observation of one game. scales, out: [N_VALUES] of one dtype; out is overwritten."""
    out[:] = 0
    for card in range(N_CARDS):
        put_field(out, scales, card * N_CARD_FIELDS, UNSEEN, 1)
    for suit in range(N_SUITS):
        encode_foundation(states, i, suit, 0, scales, out)
    for column in range(N_COLUMNS):
        encode_column(states, i, column, thoughtful, scales, out)
    encode_talon(states, i, 0, known_talon(states, i, thoughtful), setup.rules.draw_count, scales, out)
    encode_reach(states, i, setup.rules, scales, out)
    encode_face_down(states, i, scales, out)
    encode_table(states, i, setup, scales, out)
    encode_rules(setup.rules, scales, out)


@kernel
def encode_games(states: np.ndarray, packed: np.ndarray, thoughtful: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the observations of a batch.

    states: STATE[n]; packed: the packed setup; thoughtful: 0 or 1; scales: [N_VALUES], what a
    value is multiplied with; out: [n, N_VALUES] of the scales' dtype, overwritten.
    """
    setup = unpack(packed)
    for i in range(len(states)):
        encode(states, i, setup, thoughtful, scales, out[i])


@kernel
def follow_talon(
    states: np.ndarray, i: int, tapped: bool, rules: RuleParams, thoughtful: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Write what changed in the talon: a draw may show its cards, a card that left was the one after the waste."""
    waste, draw_count = int(states[i]["waste_size"]), rules.draw_count
    if tapped:
        encode_talon(states, i, max(waste - draw_count, 0), waste, draw_count, scales, out)
    else:
        encode_talon(states, i, waste, known_talon(states, i, thoughtful), draw_count, scales, out)
    encode_reach(states, i, rules, scales, out)


@kernel
def put_cards_above(
    states: np.ndarray, i: int, column: int, stop: int, thoughtful: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Write how many cards lie on a column's cards in the rows before `stop`."""
    height = int(states[i]["height"][column])
    for row in range(0 if thoughtful else int(states[i]["face_down"][column]), stop):
        first = int(states[i]["columns"][column, row]) * N_CARD_FIELDS
        put_field(out, scales, first, CARDS_ABOVE, height - 1 - row)


@kernel
def follow_source(
    states: np.ndarray, i: int, column: int, thoughtful: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Write what changed in a column that cards have left: perhaps a card was turned up, or the column is empty."""
    height = int(states[i]["height"][column])
    if height - int(states[i]["face_down"][column]) > 1:
        put_cards_above(states, i, column, height, thoughtful, scales, out)
    else:
        encode_column(states, i, column, thoughtful, scales, out)
        encode_face_down(states, i, scales, out)


@kernel
def follow_target(
    states: np.ndarray, i: int, column: int, row: int, thoughtful: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Write what changed in a column to which cards have come, from `row` on."""
    if row == 0:
        encode_column(states, i, column, thoughtful, scales, out)
        encode_face_down(states, i, scales, out)
    else:
        put_cards_above(states, i, column, row, thoughtful, scales, out)
        encode_run(states, i, column, row, scales, out)


@kernel
def follow_step(
    states: np.ndarray, i: int, turns: np.ndarray, setup: Setup, thoughtful: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Bring an observation up to date after an accepted action: every card that moved is written at its new place."""
    action, source = turns[i]["action"], turns[i]["source"]
    if source == IN_TALON:
        follow_talon(states, i, action == STOCK_ACTION, setup.rules, thoughtful, scales, out)
    elif source < N_COLUMNS:
        follow_source(states, i, source, thoughtful, scales, out)
    if action == STOCK_ACTION:
        return
    card = action // N_DESTINATIONS
    target = int(states[i]["place"][card])
    if target < N_COLUMNS:
        follow_target(states, i, target, int(states[i]["row"][card]), thoughtful, scales, out)
    else:
        begin_card(card, FOUNDATION, scales, out)


@kernel
def follow_games(
    states: np.ndarray,
    turns: np.ndarray,
    versions: np.ndarray,
    out: np.ndarray,
    packed: np.ndarray,
    thoughtful: int,
    scales: np.ndarray,
) -> None:
    """Bring the observations of a batch up to date.

    states: STATE[n]; turns: TURN[n]; versions: int64[n], the versions of the games that `out` shows,
    overwritten with those of now; the rest as for `encode_games`.
    """
    setup = unpack(packed)
    for i in range(len(states)):
        steps = turns[i]["version"] - versions[i]
        finished = int(states[i]["outcome"]) == WON  # perhaps by more moves than the step's own
        if steps == 1 and not finished:
            if turns[i]["action"] != NO_ACTION:
                follow_step(states, i, turns, setup, thoughtful, scales, out[i])
            encode_table(states, i, setup, scales, out[i])
        elif steps != 0:
            encode(states, i, setup, thoughtful, scales, out[i])
        versions[i] = turns[i]["version"]
