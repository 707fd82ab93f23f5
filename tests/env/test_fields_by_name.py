"""No field is found by its position: with more fields in the middle of every record and tuple, all stays the same.

A copy of the package with such fields plays the same game as this one, both without compilation.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.package_copy import ROOT, copy_package, run_with_package

# File, the line before which a field is inserted, and that field.
INSERTIONS = {
    "RuleParams": ("rules.py", "    redeals: int  # 0 to 99", "    inserted: int\n"),
    "RuleParams' value": ("rules.py", "            redeals=UNLIMITED if", "            inserted=7,\n"),
    "Options": ("engine/setup.py", "    auto_finish: int", "    inserted: int\n"),
    "Options' value": ("games.py", "                auto_finish=int(", "                inserted=7,\n"),
    "Scheme": ("engine/setup.py", "    to_foundation: float", "    inserted: float = 7.5\n"),
    "STATE": ("engine/state.py", '        ("face_down", np.uint8', '        ("inserted", np.uint16, (3,)),\n'),
    "TURN": ("engine/batch.py", '        ("source", np.int64)', '        ("inserted", np.int64),\n'),
    "CARD_FIELDS": ("observation/fields.py", '    Field("tableau"', '    Field("inserted", 9, "nothing"),\n'),
    "TABLE_FIELDS": ("observation/fields.py", '    Field("foundations"', '    Field("inserted", 9, "nothing", 2),\n'),
}

PLAY = """
import json
import numpy as np
from klondike_env.engine.batch import TURN
from klondike_env.engine.setup import pack, unpack
from klondike_env.engine.state import STATE
from klondike_env.games import Games
from klondike_env.observation import CARD_FIELDS, N_CARD_FIELDS, N_CARD_VALUES, TABLE_FIELDS, Observer, table_start
from klondike_env.rules import Rules

def named(record):
    return {name: record[name].tolist() for name in record.dtype.names if name != "inserted"}

def observed(values):
    cards, table = values[:N_CARD_VALUES].reshape(-1, N_CARD_FIELDS), values[N_CARD_VALUES:]
    said = {field.name: cards[:, k].tolist() for k, field in enumerate(CARD_FIELDS)}
    for field in TABLE_FIELDS:
        start = table_start(field.name)
        said["table " + field.name] = table[start : start + field.size].tolist()
    return {name: value for name, value in said.items() if "inserted" not in name}

rules = Rules(gaps="any", build="other_suit", draw_count=3, redeals=2)
games = Games(2, rules, talon="reach", no_repeats=True, auto_finish=True, step_limit=60, reward="standard")
assert unpack(pack(games.setup)) == games.setup
observer, rng, story = Observer("cards", games.setup, thoughtful=True), np.random.default_rng(5), []
games.deal([3, 4])
while not games.over.all():
    games.step(games.random_actions(rng))
    story.append([named(games.states[0]), named(games.turns[1]), observed(observer.follow(games)[0])])
    story.append(games.masks.sum(axis=1).tolist())
    assert (observer.follow(games) == observer.values(games.states)).all()
    if not games.over.any():
        games.shuffle_unseen(7)
        games.set_state(games.get_state(0), 0)
        observer.follow(games)
fields = {"inserted" in names for names in (STATE.names, TURN.names, games.setup.rules._fields)}
print(json.dumps({"story": story, "inserted": sorted(fields)}))
"""


@pytest.fixture(scope="module")
def copy_with_more_fields(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package where every record and tuple has one field more, in the middle."""
    folder = tmp_path_factory.mktemp("inserted")
    package = copy_package(folder)
    for name, line, field in INSERTIONS.values():
        file = package / name
        text = file.read_text(encoding="utf-8")
        assert text.count(line) == 1, f"{name} no longer has one line {line!r}"
        file.write_text(text.replace(line, field + line), encoding="utf-8")
    return folder


def test_a_field_more_in_the_middle_of_every_record_changes_nothing(copy_with_more_fields: Path) -> None:
    here, there = run_with_package(ROOT, PLAY), run_with_package(copy_with_more_fields, PLAY)
    assert (here["inserted"], there["inserted"]) == ([False], [True])
    assert len(here["story"]) > 50
    assert there["story"] == here["story"]
