"""The observation: everything a player with perfect memory knows, and nothing else.

An observation is a row of uint8 values: `N_CARD_FIELDS` values for each of the 52 cards in order of their
ids, then the values of `TABLE_FIELDS`. It comes in three forms:

- "flat": float32[N_VALUES] in [0, 1], every value divided by its highest value;
- "cards": {"cards": uint8[52, N_CARD_FIELDS], "table": uint8[N_TABLE_VALUES]};
- "dict": the same with "action_mask": int8[313].

The tables in `fields` define the values. Spaces and documentation are generated from them, and `describe(index)`
tells what a value of the flat form means. With `thoughtful` the hidden cards are shown too ("thoughtful
solitaire"); masks do not change.
"""

from klondike_env.observation.fields import (
    CARD_FIELDS,
    HIGHS,
    N_CARD_FIELDS,
    N_CARD_VALUES,
    N_TABLE_VALUES,
    N_VALUES,
    TABLE_FIELDS,
    Field,
    describe,
    table_start,
)
from klondike_env.observation.observer import FORMS, Observer, single_space

__all__ = [
    "CARD_FIELDS",
    "FORMS",
    "HIGHS",
    "N_CARD_FIELDS",
    "N_CARD_VALUES",
    "N_TABLE_VALUES",
    "N_VALUES",
    "TABLE_FIELDS",
    "Field",
    "Observer",
    "describe",
    "single_space",
    "table_start",
]
