"""Writing observations: whole, or only the piles that changed.

Both ways write codes scaled by `scales`: ones for the forms of codes, one over the highest value for
the flat form. `scales` and `out` have one dtype and N_CODES places for each game.
"""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_CARDS, N_SUITS, card_at, suit_of
from klondike_env.engine.jit import kernel
from klondike_env.engine.outcome import Setup, unpack
from klondike_env.engine.state import COLUMN_ROOM, N_COLUMNS, TALON_SIZE
from klondike_env.engine.stock import can_pass, may_redeal, next_stop
from klondike_env.observation.fields import (
    BYTE,
    CARDS_ABOVE,
    FACE_DOWN,
    FOUNDATION,
    N_CARD_CODES,
    N_CARD_FIELDS,
    NEXT_SWEEP,
    ON_FACE_DOWN,
    ON_FLOOR,
    ON_SUIT,
    PHASE,
    POINTS_PER_CODE,
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

FACE_DOWN_START = N_CARD_CODES + table_start("face_down")
RULES_START = N_CARD_CODES + table_start("draw_count")
WORDS_OF_A_COLUMN = COLUMN_ROOM // 8


@kernel
def put(out: np.ndarray, scales: np.ndarray, k: int, value: int) -> None:
    """Write one code, scaled."""
    out[k] = value * scales[k]


@kernel
def place_card(card: int, place: int, scales: np.ndarray, out: np.ndarray) -> int:
    """Mark where a seen card is; the index of the card's first code."""
    first = card * N_CARD_FIELDS
    out[first + UNSEEN] = 0
    put(out, scales, first + place, 1)
    return first


@kernel
def encode_foundation(states: np.ndarray, i: int, suit: int, start: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the codes of the cards on one foundation, from rank `start` on."""
    for rank in range(start, int(states[i]["foundation"][suit])):
        place_card(card_at(rank, suit), FOUNDATION, scales, out)


@kernel
def encode_first(
    states: np.ndarray, i: int, column: int, row: int, place: int, under: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Write the codes of a column card that lies on no face-up card; `under` is 1 + the card it lies on, or 0."""
    card, height = int(states[i]["columns"][column, row]), int(states[i]["height"][column])
    first = place_card(card, place, scales, out)
    put(out, scales, first + CARDS_ABOVE, height - 1 - row)
    put(out, scales, first + UNDER, under)
    put(out, scales, first + ON_FACE_DOWN, row)
    put(out, scales, first + ON_FLOOR, 1 if row == 0 else 0)


@kernel
def encode_run(states: np.ndarray, i: int, column: int, start: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the codes of a column's cards from row `start` on, all of which lie on face-up cards."""
    height = int(states[i]["height"][column])
    below = int(states[i]["columns"][column, start - 1])
    for row in range(start, height):
        card = int(states[i]["columns"][column, row])
        first = place_card(card, TABLEAU, scales, out)
        put(out, scales, first + CARDS_ABOVE, height - 1 - row)
        put(out, scales, first + ON_SUIT + suit_of(below), 1)
        put(out, scales, first + UNDER, below + 1)
        below = card


@kernel
def encode_column(
    states: np.ndarray, i: int, column: int, thoughtful: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Write the codes of a column's face-up cards, and in thoughtful mode of those face down."""
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
def encode_sweep(
    states: np.ndarray, i: int, waste: int, taps: int, draw_count: int, field: int, scales: np.ndarray, out: np.ndarray
) -> int:
    """Write taps and `field` for the cards that drawing from a waste of `waste` cards reaches; the taps in all."""
    stop = next_stop(states, i, waste, draw_count)
    while stop > 0:
        taps += 1
        first = int(states[i]["talon"][stop - 1]) * N_CARD_FIELDS
        if out[first + THIS_SWEEP] == 0:
            put(out, scales, first + field, 1)
            put(out, scales, first + TAPS, taps)
        stop = next_stop(states, i, stop, draw_count)
    return taps


@kernel
def encode_reach(states: np.ndarray, i: int, rules: RuleParams, scales: np.ndarray, out: np.ndarray) -> None:
    """Write which talon cards can be reached, and how; these codes are 0 before."""
    waste = int(states[i]["waste_size"])
    if waste > 0:
        first = int(states[i]["talon"][waste - 1]) * N_CARD_FIELDS
        put(out, scales, first + WASTE_TOP, 1)
        put(out, scales, first + THIS_SWEEP, 1)
    taps = encode_sweep(states, i, waste, 0, rules.draw_count, THIS_SWEEP, scales, out)
    if waste > 0 and can_pass(states, i, rules):
        encode_sweep(states, i, 0, taps + 1, rules.draw_count, NEXT_SWEEP, scales, out)


@kernel
def encode_talon(
    states: np.ndarray, i: int, start: int, rules: RuleParams, thoughtful: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Write where the talon's seen cards lie, from index `start` on, and in thoughtful mode those of all."""
    phase = start % rules.draw_count
    under = int(states[i]["talon"][start - 1]) + 1 if start > 0 else 0
    for index in range(start, int(states[i]["talon_size"]) if thoughtful else int(states[i]["seen_size"])):
        card = int(states[i]["talon"][index])
        first = place_card(card, TALON, scales, out)
        phase = phase + 1 if phase < rules.draw_count else 1
        put(out, scales, first + PHASE, phase)
        put(out, scales, first + TALON_INDEX, index + 1)
        put(out, scales, first + UNDER, under)
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
    """Write the codes of the table, but for those of columns and rules."""
    rules = setup.rules
    size, waste = int(states[i]["talon_size"]), int(states[i]["waste_size"])
    k = N_CARD_CODES
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
    put(out, scales, k + 2, min(int(states[i]["score"]) // POINTS_PER_CODE, BYTE) if setup.scheme.floored else 0)


@kernel
def encode_rules(rules: RuleParams, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the codes of the rules, the last of TABLE_FIELDS; they are 0 before."""
    k = RULES_START
    put(out, scales, k, rules.draw_count)
    put(out, scales, k + 1, 1 if rules.redeals == UNLIMITED else 0)
    put(out, scales, k + 2, rules.worry_back)
    put(out, scales, k + 3, rules.whole_runs)
    put(out, scales, k + 4 + rules.build, 1)
    put(out, scales, k + 4 + len(BUILDS) + rules.gaps, 1)


@kernel
def encode(states: np.ndarray, i: int, setup: Setup, thoughtful: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the observation of one game. scales, out: [N_CODES] of one dtype; out is overwritten."""
    out[:] = 0
    for card in range(N_CARDS):
        put(out, scales, card * N_CARD_FIELDS + UNSEEN, 1)
    for suit in range(N_SUITS):
        encode_foundation(states, i, suit, 0, scales, out)
    for column in range(N_COLUMNS):
        encode_column(states, i, column, thoughtful, scales, out)
    encode_talon(states, i, 0, setup.rules, thoughtful, scales, out)
    encode_reach(states, i, setup.rules, scales, out)
    encode_face_down(states, i, scales, out)
    encode_table(states, i, setup, scales, out)
    encode_rules(setup.rules, scales, out)


@kernel
def encode_games(states: np.ndarray, packed: np.ndarray, thoughtful: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the observations of a batch.

    states: STATE[n]; packed: the packed setup; thoughtful: 0 or 1; scales: [N_CODES], what a
    code is multiplied with; out: [n, N_CODES] of the scales' dtype, overwritten.
    """
    setup = unpack(packed)
    for i in range(len(states)):
        encode(states, i, setup, thoughtful, scales, out[i])


@kernel
def wipe_card(card: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Mark a card as unseen."""
    first = card * N_CARD_FIELDS
    for k in range(first, first + N_CARD_FIELDS):
        out[k] = 0
    put(out, scales, first + UNSEEN, 1)


@kernel
def changed_columns(states: np.ndarray, known: np.ndarray, words: np.ndarray, known_words: np.ndarray, i: int) -> int:
    """The columns that are not as they were known, a bit each."""
    changed = 0
    for column in range(N_COLUMNS):
        first = WORDS_OF_A_COLUMN * column
        difference = words[i, first] ^ known_words[i, first]
        difference |= words[i, first + 1] ^ known_words[i, first + 1]
        difference |= words[i, first + 2] ^ known_words[i, first + 2]
        difference |= np.uint64(states[i]["height"][column] ^ known[i]["height"][column])
        difference |= np.uint64(states[i]["face_down"][column] ^ known[i]["face_down"][column])
        changed |= 0 if difference == 0 else 1 << column
    return changed


@kernel
def first_new_row(states: np.ndarray, known: np.ndarray, i: int, column: int) -> int:
    """The first face-up row of a column that is not as it was known; the column's head where face-down cards differ."""
    row = int(states[i]["face_down"][column])
    if row != int(known[i]["face_down"][column]):
        return min(row, int(known[i]["face_down"][column]))
    height = min(int(states[i]["height"][column]), int(known[i]["height"][column]))
    while row < height and int(states[i]["columns"][column, row]) == int(known[i]["columns"][column, row]):
        row += 1
    return row


@kernel
def update_column(states: np.ndarray, i: int, column: int, start: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the codes of a column's cards from row `start` on, and how many cards lie on those before it."""
    head, height = int(states[i]["face_down"][column]), int(states[i]["height"][column])
    if start <= head:
        encode_column(states, i, column, 0, scales, out)
        return
    for row in range(head, start):
        put(out, scales, int(states[i]["columns"][column, row]) * N_CARD_FIELDS + CARDS_ABOVE, height - 1 - row)
    encode_run(states, i, column, start, scales, out)


@kernel
def update_columns(
    states: np.ndarray, known: np.ndarray, i: int, changed: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Forget the cards that have left the changed columns, then write the codes of those that have come."""
    for column in range(N_COLUMNS):
        if changed & (1 << column):
            for row in range(first_new_row(states, known, i, column), int(known[i]["height"][column])):
                if row >= int(known[i]["face_down"][column]):
                    wipe_card(int(known[i]["columns"][column, row]), scales, out)
    for column in range(N_COLUMNS):
        if changed & (1 << column):
            update_column(states, i, column, first_new_row(states, known, i, column), scales, out)
    if changed:
        encode_face_down(states, i, scales, out)


@kernel
def common_talon(states: np.ndarray, known: np.ndarray, i: int) -> int:
    """How many of the seen talon cards, from the first on, are as they were known."""
    index = 0
    seen = min(int(states[i]["seen_size"]), int(known[i]["seen_size"]))
    while index < seen and int(states[i]["talon"][index]) == int(known[i]["talon"][index]):
        index += 1
    return index


@kernel
def same_talon(states: np.ndarray, known: np.ndarray, i: int, rules: RuleParams) -> bool:
    """Whether the seen talon, and what can be reached in it, is as it was known."""
    difference = 0
    for index in range(TALON_SIZE):
        difference |= int(states[i]["talon"][index]) ^ int(known[i]["talon"][index])
    difference |= int(states[i]["talon_size"]) ^ int(known[i]["talon_size"])
    difference |= int(states[i]["waste_size"]) ^ int(known[i]["waste_size"])
    difference |= int(states[i]["seen_size"]) ^ int(known[i]["seen_size"])
    return difference == 0 and may_redeal(states, i, rules) == may_redeal(known, i, rules)


@kernel
def forget_reach(known: np.ndarray, i: int, out: np.ndarray) -> None:
    """Clear what was known of how to reach the talon's cards."""
    for index in range(int(known[i]["seen_size"])):
        first = int(known[i]["talon"][index]) * N_CARD_FIELDS
        out[first + WASTE_TOP] = 0
        out[first + TAPS] = 0
        out[first + THIS_SWEEP] = 0
        out[first + NEXT_SWEEP] = 0


@kernel
def forget_talon(known: np.ndarray, i: int, common: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Forget how to reach the talon's cards, and where those after the first `common` lay."""
    forget_reach(known, i, out)
    for index in range(common, int(known[i]["seen_size"])):
        wipe_card(int(known[i]["talon"][index]), scales, out)


@kernel
def forget_foundations(states: np.ndarray, known: np.ndarray, i: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Forget the cards that have left the foundations."""
    for suit in range(N_SUITS):
        for rank in range(int(states[i]["foundation"][suit]), int(known[i]["foundation"][suit])):
            wipe_card(card_at(rank, suit), scales, out)


@kernel
def update(
    states: np.ndarray, known: np.ndarray, i: int, changed: int, setup: Setup, scales: np.ndarray, out: np.ndarray
) -> None:
    """Bring one observation up to date: all that has left its place is forgotten before anything is written.

    `changed` has a bit for each column that is not as it was known.
    """
    rules = setup.rules
    talon_changed = not same_talon(states, known, i, rules)
    common = common_talon(states, known, i) if talon_changed else 0
    if talon_changed:
        forget_talon(known, i, common, scales, out)
    forget_foundations(states, known, i, scales, out)
    update_columns(states, known, i, changed, scales, out)
    for suit in range(N_SUITS):
        encode_foundation(states, i, suit, int(known[i]["foundation"][suit]), scales, out)
    if talon_changed:
        encode_talon(states, i, common, rules, 0, scales, out)
        encode_reach(states, i, rules, scales, out)
    encode_table(states, i, setup, scales, out)


@kernel
def update_games(
    states: np.ndarray,
    known: np.ndarray,
    words: np.ndarray,
    known_words: np.ndarray,
    packed: np.ndarray,
    scales: np.ndarray,
    out: np.ndarray,
) -> None:
    """Bring the observations of a batch up to date.

    states: STATE[n]; known: STATE[n], the records that `out` shows, overwritten with `states`; words,
    known_words: uint64[n, k], the same two arrays seen as words; the rest as for `encode_games`.
    """
    setup = unpack(packed)
    for i in range(len(states)):
        changed = changed_columns(states, known, words, known_words, i)
        update(states, known, i, changed, setup, scales, out[i])
        known[i] = states[i]
