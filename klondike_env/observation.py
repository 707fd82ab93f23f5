"""The observation: everything a player with perfect memory knows, and nothing else.

An observation is a row of codes, uint8: `N_CARD_FIELDS` for each of the 52 cards in order of their
ids, then those of `TABLE_FIELDS`. It comes in three forms:

- "flat": float32[N_CODES] in [0, 1], every code divided by its highest value;
- "cards": {"cards": uint8[52, N_CARD_FIELDS], "table": uint8[N_TABLE_CODES]};
- "dict": the same with "action_mask": int8[313].

The tables of fields below are the one description of the codes; spaces and documentation come from
them. With `thoughtful` the hidden cards are shown too ("thoughtful solitaire"); masks do not change.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from klondike_env.cards import N_CARDS, N_RANKS, N_SUITS, SUIT_NAMES, card_at, suit_of
from klondike_env.engine.actions import N_ACTIONS
from klondike_env.engine.jit import kernel
from klondike_env.engine.outcome import Setup, unpack
from klondike_env.engine.state import MAX_HEIGHT, N_COLUMNS, TALON_SIZE
from klondike_env.engine.stock import can_pass, next_stop
from klondike_env.rules import BUILDS, GAPS, MAX_DRAW_COUNT, MAX_REDEALS, UNLIMITED, RuleParams

FORMS = ("flat", "cards", "dict")
_BYTE = 255
_POINTS_PER_CODE = 5


class Field(NamedTuple):
    """One or more codes of the observation."""

    name: str
    high: int  # highest value; the lowest is 0
    meaning: str
    size: int = 1


CARD_FIELDS = (
    Field("unseen", 1, "the player does not know where the card is"),
    Field("foundation", 1, "on its foundation"),
    Field("waste_top", 1, "the top of the waste"),
    Field("talon", 1, "seen and in the talon (waste or stock), the waste's top included"),
    Field("tableau", 1, "face up in a column"),
    Field("face_down", 1, "face down in a column; shown in thoughtful mode only"),
    *(Field(f"on_{suit}", 1, f"lies on the next higher card of {suit}") for suit in SUIT_NAMES),
    Field("on_floor", 1, "in a column with no card under it"),
    Field("on_face_down", N_COLUMNS - 1, "face-down cards under it, if it lies right on them"),
    Field("cards_above", MAX_HEIGHT - 1, "cards that lie on it in its column"),
    Field("taps", 2 * TALON_SIZE + 1, "stock taps that make it the waste's top, if it can be reached over seen cards"),
    Field("this_sweep", 1, "the waste's top, or to be reached by drawing without a redeal"),
    Field("next_sweep", 1, "to be reached only after a redeal"),
    Field("talon_index", TALON_SIZE, "1 + its place in the talon in order of drawing"),
    Field("phase", MAX_DRAW_COUNT, "1 + its place in the talon modulo the draw count"),
    Field("under", N_CARDS, "1 + the card right under it in its column or in the talon, if that was seen"),
)

TABLE_FIELDS = (
    Field("stock", TALON_SIZE, "cards in the stock"),
    Field("waste", TALON_SIZE, "cards in the waste"),
    Field("unseen_stock", TALON_SIZE, "cards in the stock that were never turned"),
    Field("redeals_left", MAX_REDEALS, "redeals left; 0 where they are unlimited"),
    Field("face_down", N_COLUMNS - 1, "face-down cards of the columns, highest count first", N_COLUMNS),
    Field("empty_columns", N_COLUMNS, "empty columns"),
    Field("foundations", N_RANKS, "cards on the foundations of clubs, diamonds, hearts, spades", N_SUITS),
    Field("best_foundation", N_CARDS, "the most cards that the foundations have held in this game"),
    Field("since_progress", _BYTE, "steps in a row without progress, at most 255"),
    Field("score", _BYTE, "running total of the standard reward in units of 5 points, at most 255; else 0"),
    Field("draw_count", MAX_DRAW_COUNT, "rule: cards turned at once"),
    Field("unlimited_redeals", 1, "rule: redeals are unlimited"),
    Field("worry_back", 1, "rule: foundation cards may return"),
    Field("whole_runs", 1, "rule: only whole runs or single cards move"),
    Field("build", 1, f"rule: one-hot of {', '.join(BUILDS)}", len(BUILDS)),
    Field("gaps", 1, f"rule: one-hot of what an empty column takes: {', '.join(GAPS)}", len(GAPS)),
)

_CARD_NAMES = [field.name for field in CARD_FIELDS]
N_CARD_FIELDS = len(CARD_FIELDS)
N_CARD_CODES = N_CARDS * N_CARD_FIELDS
N_TABLE_CODES = sum(field.size for field in TABLE_FIELDS)
N_CODES = N_CARD_CODES + N_TABLE_CODES

CARD_HIGHS = np.array([field.high for field in CARD_FIELDS], dtype=np.uint8)
TABLE_HIGHS = np.concatenate([np.full(field.size, field.high, dtype=np.uint8) for field in TABLE_FIELDS])
HIGHS = np.concatenate([np.tile(CARD_HIGHS, N_CARDS), TABLE_HIGHS])
# What a code is multiplied with: nothing changes in the forms of codes, and the flat form is 0 to 1.
_CODE_SCALES = np.ones(N_CODES, dtype=np.uint8)
_FLAT_SCALES = (1.0 / HIGHS).astype(np.float32)

_UNSEEN = _CARD_NAMES.index("unseen")
_FOUNDATION = _CARD_NAMES.index("foundation")
_WASTE_TOP = _CARD_NAMES.index("waste_top")
_TALON = _CARD_NAMES.index("talon")
_TABLEAU = _CARD_NAMES.index("tableau")
_FACE_DOWN = _CARD_NAMES.index("face_down")
_ON_SUIT = _CARD_NAMES.index(f"on_{SUIT_NAMES[0]}")
_ON_FLOOR = _CARD_NAMES.index("on_floor")
_ON_FACE_DOWN = _CARD_NAMES.index("on_face_down")
_CARDS_ABOVE = _CARD_NAMES.index("cards_above")
_TAPS = _CARD_NAMES.index("taps")
_THIS_SWEEP = _CARD_NAMES.index("this_sweep")
_NEXT_SWEEP = _CARD_NAMES.index("next_sweep")
_TALON_INDEX = _CARD_NAMES.index("talon_index")
_PHASE = _CARD_NAMES.index("phase")
_UNDER = _CARD_NAMES.index("under")


def table_start(name: str) -> int:
    """Index of a table field's first code among the table codes."""
    names = [field.name for field in TABLE_FIELDS]
    return sum(field.size for field in TABLE_FIELDS[: names.index(name)])


@kernel
def put(out: np.ndarray, scales: np.ndarray, k: int, value: int) -> None:
    """Write one code, scaled."""
    out[k] = value * scales[k]


@kernel
def place_card(card: int, place: int, scales: np.ndarray, out: np.ndarray) -> int:
    """Mark where a seen card is; the index of the card's first code."""
    first = card * N_CARD_FIELDS
    out[first + _UNSEEN] = 0
    put(out, scales, first + place, 1)
    return first


@kernel
def encode_foundations(states: np.ndarray, i: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the codes of the cards on the foundations."""
    for suit in range(N_SUITS):
        for rank in range(int(states[i]["foundation"][suit])):
            place_card(card_at(rank, suit), _FOUNDATION, scales, out)


@kernel
def encode_first(
    states: np.ndarray, i: int, column: int, row: int, place: int, under: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Write the codes of a column card that lies on no face-up card; `under` is 1 + the card it lies on, or 0."""
    card, height = int(states[i]["columns"][column, row]), int(states[i]["height"][column])
    first = place_card(card, place, scales, out)
    put(out, scales, first + _CARDS_ABOVE, height - 1 - row)
    put(out, scales, first + _UNDER, under)
    put(out, scales, first + _ON_FACE_DOWN, row)
    put(out, scales, first + _ON_FLOOR, 1 if row == 0 else 0)


@kernel
def encode_column(states: np.ndarray, i: int, column: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the codes of the cards that lie on face-up cards of a column."""
    height, face_down = int(states[i]["height"][column]), int(states[i]["face_down"][column])
    below = int(states[i]["columns"][column, face_down])
    for row in range(face_down + 1, height):
        card = int(states[i]["columns"][column, row])
        first = place_card(card, _TABLEAU, scales, out)
        put(out, scales, first + _CARDS_ABOVE, height - 1 - row)
        put(out, scales, first + _ON_SUIT + suit_of(below), 1)
        put(out, scales, first + _UNDER, below + 1)
        below = card


@kernel
def encode_columns(states: np.ndarray, i: int, thoughtful: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the codes of the columns' face-up cards, and in thoughtful mode of those face down."""
    for column in range(N_COLUMNS):
        if int(states[i]["height"][column]) > 0:
            head = int(states[i]["face_down"][column])
            under = 0
            if thoughtful:
                for row in range(head):
                    encode_first(states, i, column, row, _FACE_DOWN, under, scales, out)
                    under = int(states[i]["columns"][column, row]) + 1
            encode_first(states, i, column, head, _TABLEAU, under, scales, out)
            encode_column(states, i, column, scales, out)


@kernel
def encode_sweep(
    states: np.ndarray, i: int, waste: int, taps: int, draw_count: int, field: int, scales: np.ndarray, out: np.ndarray
) -> int:
    """Write taps and `field` for the cards that drawing from a waste of `waste` cards reaches; the taps in all."""
    stop = next_stop(states, i, waste, draw_count)
    while stop > 0:
        taps += 1
        first = int(states[i]["talon"][stop - 1]) * N_CARD_FIELDS
        if out[first + _THIS_SWEEP] == 0:
            put(out, scales, first + field, 1)
            put(out, scales, first + _TAPS, taps)
        stop = next_stop(states, i, stop, draw_count)
    return taps


@kernel
def encode_talon(
    states: np.ndarray, i: int, rules: RuleParams, thoughtful: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Write the codes of the talon's seen cards, and in thoughtful mode of all."""
    size, waste = int(states[i]["talon_size"]), int(states[i]["waste_size"])
    phase = under = 0
    for index in range(size if thoughtful else int(states[i]["seen_size"])):
        card = int(states[i]["talon"][index])
        first = place_card(card, _TALON, scales, out)
        phase = phase + 1 if phase < rules.draw_count else 1
        put(out, scales, first + _PHASE, phase)
        put(out, scales, first + _TALON_INDEX, index + 1)
        put(out, scales, first + _UNDER, under)
        under = card + 1
    if waste > 0:
        first = int(states[i]["talon"][waste - 1]) * N_CARD_FIELDS
        put(out, scales, first + _WASTE_TOP, 1)
        put(out, scales, first + _THIS_SWEEP, 1)
    taps = encode_sweep(states, i, waste, 0, rules.draw_count, _THIS_SWEEP, scales, out)
    if waste > 0 and can_pass(states, i, rules):
        encode_sweep(states, i, 0, taps + 1, rules.draw_count, _NEXT_SWEEP, scales, out)


@kernel
def encode_face_down(states: np.ndarray, i: int, k: int, scales: np.ndarray, out: np.ndarray) -> None:
    """Write the columns' face-down counts from code k on, highest first."""
    for column in range(N_COLUMNS):
        count = int(states[i]["face_down"][column])
        place = k
        for other in range(N_COLUMNS):
            rival = int(states[i]["face_down"][other])
            place += 1 if rival > count or (rival == count and other < column) else 0
        put(out, scales, place, count)


@kernel
def encode_table(
    states: np.ndarray, i: int, rules: RuleParams, floored: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Write the codes of the whole table, in the order of TABLE_FIELDS."""
    size, waste = int(states[i]["talon_size"]), int(states[i]["waste_size"])
    k = N_CARD_CODES
    put(out, scales, k, size - waste)
    put(out, scales, k + 1, waste)
    put(out, scales, k + 2, size - int(states[i]["seen_size"]))
    put(out, scales, k + 3, 0 if rules.redeals == UNLIMITED else rules.redeals - int(states[i]["redeals_used"]))
    encode_face_down(states, i, k + 4, scales, out)
    k += 4 + N_COLUMNS
    gaps = 0
    for column in range(N_COLUMNS):
        gaps += 1 if int(states[i]["height"][column]) == 0 else 0
    put(out, scales, k, gaps)
    for suit in range(N_SUITS):
        put(out, scales, k + 1 + suit, int(states[i]["foundation"][suit]))
    k += 1 + N_SUITS
    put(out, scales, k, int(states[i]["best_foundation"]))
    put(out, scales, k + 1, min(int(states[i]["since_progress"]), _BYTE))
    put(out, scales, k + 2, min(int(states[i]["score"]) // _POINTS_PER_CODE, _BYTE) if floored else 0)
    put(out, scales, k + 3, rules.draw_count)
    put(out, scales, k + 4, 1 if rules.redeals == UNLIMITED else 0)
    put(out, scales, k + 5, rules.worry_back)
    put(out, scales, k + 6, rules.whole_runs)
    put(out, scales, k + 7 + rules.build, 1)
    put(out, scales, k + 7 + len(BUILDS) + rules.gaps, 1)


@kernel
def encode(
    states: np.ndarray, i: int, rules: RuleParams, floored: int, thoughtful: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Write the observation of one game. scales, out: [N_CODES] of one dtype; out is overwritten."""
    out[:] = 0
    for card in range(N_CARDS):
        put(out, scales, card * N_CARD_FIELDS + _UNSEEN, 1)
    encode_foundations(states, i, scales, out)
    encode_columns(states, i, thoughtful, scales, out)
    encode_talon(states, i, rules, thoughtful, scales, out)
    encode_table(states, i, rules, floored, scales, out)


@kernel
def encode_games(
    states: np.ndarray, packed: np.ndarray, floored: int, thoughtful: int, scales: np.ndarray, out: np.ndarray
) -> None:
    """Write the observations of a batch.

    states: STATE[n]; packed: the packed setup; floored, thoughtful: 0 or 1; scales: [N_CODES], what a
    code is multiplied with; out: [n, N_CODES] of the scales' dtype, overwritten.
    """
    rules = unpack(packed).rules
    for i in range(len(states)):
        encode(states, i, rules, floored, thoughtful, scales, out[i])


def single_space(form: str) -> spaces.Space[Any]:
    """The observation space of one game.

    Raises:
        ValueError: there is no such form.
    """
    if form not in FORMS:
        raise ValueError(f"observation is {form!r}; allowed: {', '.join(FORMS)}")
    if form == "flat":
        return spaces.Box(0.0, 1.0, (N_CODES,), np.float32)
    fields: dict[str, spaces.Space[Any]] = {
        "cards": spaces.Box(0, np.tile(CARD_HIGHS, (N_CARDS, 1)), (N_CARDS, N_CARD_FIELDS), np.uint8),
        "table": spaces.Box(0, TABLE_HIGHS, (N_TABLE_CODES,), np.uint8),
    }
    if form == "dict":
        fields["action_mask"] = spaces.MultiBinary(N_ACTIONS)
    return spaces.Dict(fields)


class Observer:
    """Writes the observations of a batch in one form.

    Args:
        form: "flat", "cards" or "dict".
        setup: that of the games; the running score is shown where the reward scheme needs it.
        thoughtful: whether hidden cards are shown.

    Raises:
        ValueError: there is no such form.
    """

    def __init__(self, form: str, setup: Setup, *, thoughtful: bool = False) -> None:
        self.form = form
        self.space = single_space(form)
        self._packed = setup.packed()
        self._floored = int(setup.scheme.floored)
        self._thoughtful = int(thoughtful)

    def flat(self, states: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """The flat form of a batch: float32[n, N_CODES], written to `out` if given."""
        out = np.empty((len(states), N_CODES), dtype=np.float32) if out is None else out
        encode_games(states, self._packed, self._floored, self._thoughtful, _FLAT_SCALES, out)
        return out

    def codes(self, states: np.ndarray) -> np.ndarray:
        """The codes of a batch: uint8[n, N_CODES], a fresh array."""
        codes = np.empty((len(states), N_CODES), dtype=np.uint8)
        encode_games(states, self._packed, self._floored, self._thoughtful, _CODE_SCALES, codes)
        return codes

    def batch(self, states: np.ndarray, masks: np.ndarray) -> Any:
        """The observations of a batch in this observer's form, in fresh arrays; `masks`: int8[n, 313]."""
        if self.form == "flat":
            return self.flat(states)
        codes = self.codes(states)
        observation = {
            "cards": codes[:, :N_CARD_CODES].reshape(-1, N_CARDS, N_CARD_FIELDS),
            "table": codes[:, N_CARD_CODES:],
        }
        if self.form == "dict":
            observation["action_mask"] = masks.copy()
        return observation

    def single(self, states: np.ndarray, masks: np.ndarray) -> Any:
        """The observation of the one game of a batch of one, in fresh arrays."""
        batch = self.batch(states, masks)
        return batch[0] if self.form == "flat" else {name: part[0] for name, part in batch.items()}
