"""Rules as a value: its fields, its checks, its presets."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import numpy as np
import pytest

from klondike_env.rules import (
    ALIASES,
    BUILDS,
    DISTINCT_PRESETS,
    GAPS,
    GYM_IDS,
    MAX_REDEALS,
    PRESETS,
    RUNS,
    UNLIMITED,
    Rules,
    aliases_of,
    preset,
    rules_of,
)


def test_the_default_is_draw_one() -> None:
    assert Rules() == PRESETS["draw1"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"build": "up"},
            "build is 'up'; allowed: alternating_colour, other_suit, same_suit, same_colour, any_suit",
        ),
        ({"gaps": None}, "gaps is None; allowed: kings, any, none"),
        ({"runs": "single"}, "runs is 'single'; allowed: any_tail, whole_or_last"),
        ({"draw_count": 0}, "draw_count is 0; allowed: a whole number from 1 to 24"),
        ({"draw_count": 25}, "draw_count is 25; allowed: a whole number from 1 to 24"),
        ({"draw_count": 3.0}, "draw_count is 3.0; allowed: a whole number from 1 to 24"),
        ({"draw_count": True}, "draw_count is True; allowed: a whole number from 1 to 24"),
        ({"draw_count": "3"}, "draw_count is '3'; allowed: a whole number from 1 to 24"),
        ({"redeals": -1}, "redeals is -1; allowed: a whole number from 0 to 99 or None for unlimited"),
        ({"redeals": 100}, "redeals is 100; allowed: a whole number from 0 to 99 or None for unlimited"),
        ({"worry_back": 1}, "worry_back is 1; allowed: True or False"),
    ],
)
def test_a_wrong_field_is_named_with_its_value_and_what_is_allowed(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Rules(**fields)


def test_rules_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Rules().draw_count = 3  # type: ignore[misc]


@pytest.mark.parametrize("name", PRESETS)
def test_rules_survive_json(name: str) -> None:
    rules = PRESETS[name]
    assert Rules(**json.loads(json.dumps(rules.to_dict()))) == rules


def test_equal_rules_are_one_key() -> None:
    assert len({Rules(), Rules(draw_count=1), PRESETS["deal1"]}) == 1


def test_params_are_the_same_rules_as_numbers() -> None:
    rules = Rules(build="same_suit", gaps="none", draw_count=7, redeals=2, worry_back=False, runs="whole_or_last")
    params = rules.params()
    assert (BUILDS[params.build], GAPS[params.gaps], RUNS[params.whole_runs]) == (rules.build, rules.gaps, rules.runs)
    assert (params.draw_count, params.redeals, params.worry_back) == (7, 2, 0)


def test_params_of_any_tail_are_zero() -> None:
    assert Rules(runs="any_tail").params().whole_runs == 0


@pytest.mark.parametrize("draw_count", [np.int64(3), np.uint8(3)])
def test_fields_are_kept_as_numbers_that_json_knows(draw_count: Any) -> None:
    rules = Rules(draw_count=draw_count, redeals=np.int32(2), worry_back=np.bool_(True))
    assert json.loads(json.dumps(rules.to_dict())) == Rules(draw_count=3, redeals=2).to_dict()


def test_rules_are_found_by_value_or_by_name() -> None:
    assert rules_of(Rules(draw_count=2)) == Rules(draw_count=2)
    assert rules_of("classic") == PRESETS["classic"]


def test_params_write_unlimited_as_a_number() -> None:
    assert UNLIMITED not in range(MAX_REDEALS + 1)
    assert Rules(redeals=None).params().redeals == UNLIMITED
    assert Rules(redeals=0).params().redeals == 0


def test_preset_finds_rules_by_name() -> None:
    assert preset("draw3") == Rules(draw_count=3)


def test_preset_lists_the_names_when_there_is_none() -> None:
    with pytest.raises(ValueError, match=r"^no such variant: 'spider'; known: draw1, draw3, deal1, classic, "):
        preset("spider")


def test_an_alias_is_the_same_game_under_another_name() -> None:
    assert {name: PRESETS[name] for name in DISTINCT_PRESETS} == DISTINCT_PRESETS
    assert len(set(DISTINCT_PRESETS.values())) == len(DISTINCT_PRESETS)
    assert set(PRESETS) - set(DISTINCT_PRESETS) == set(ALIASES)
    for alias, name in ALIASES.items():
        assert PRESETS[alias] == DISTINCT_PRESETS[name]
        assert alias in aliases_of(name)


def test_redeals_run_out_unless_they_are_unlimited() -> None:
    assert [Rules(redeals=2).redeals_left(used) for used in (0, 1, 2)] == [2, 1, 0]
    assert Rules(redeals=None).redeals_left(7) is None


def test_auto_reaches_into_the_talon_where_looking_through_it_is_free() -> None:
    assert Rules(redeals=None).auto_talon == "reach"
    assert Rules(redeals=3).auto_talon == "draw"


def test_every_preset_has_an_id() -> None:
    assert set(GYM_IDS) == set(PRESETS)
