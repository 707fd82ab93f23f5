"""Labels: what is packed can be read again, and what comes with the package is consistent."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from klondike_env.rules import PRESETS, Rules
from klondike_env.solver import Limits
from klondike_env.solver.study import labels
from klondike_env.solver.study.labels import Labels, labels_of, pack, read_labels
from klondike_env.solver.study.many import Solved

RULES, LIMITS = Rules(draw_count=5, redeals=2), Limits(nodes=7, seconds=None, megabytes=9)
ROWS = [
    Solved(102, "undecided", 0, 7, 0.1),
    Solved(100, "solved", 120, 4_000_000_000, 0.1),
    Solved(101, "unsolvable", 0, 5, 0.1),
    Solved(103, "solved", 99, 6, 0.1),
]


def test_what_is_packed_is_read_again(tmp_path):
    pack(ROWS, RULES, LIMITS, tmp_path / "some.npz")
    read = read_labels(tmp_path / "some.npz")
    assert (read.rules, read.limits, read.first, read.deals) == (RULES, LIMITS, 100, range(100, 104))
    assert read.verdicts.tolist() == [0, 1, 2, 0]
    assert read.nodes.tolist() == [4_000_000_000, 5, 7, 6]
    assert (read.verdicts.dtype, read.nodes.dtype) == (np.uint8, np.uint32)
    assert not read.verdicts.flags.writeable
    assert not read.nodes.flags.writeable


def test_the_same_results_make_the_same_file(tmp_path):
    for name in ("one.npz", "two.npz"):
        pack(ROWS, RULES, LIMITS, tmp_path / name)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_files_that_call_nodes_visits_are_read(tmp_path):
    limits = {"visits": 7, "seconds": None, "megabytes": 9}
    about = json.dumps({"first": 100, "rules": RULES.to_dict(), "limits": limits})
    verdicts, visits = np.array([0, 1], dtype=np.uint8), np.array([30, 5], dtype=np.uint32)
    np.savez_compressed(tmp_path / "old.npz", about=np.array(about), verdicts=verdicts, visits=visits)
    read = read_labels(tmp_path / "old.npz")
    assert (read.rules, read.limits, read.first) == (RULES, LIMITS, 100)
    assert (read.verdicts.tolist(), read.nodes.tolist()) == ([0, 1], [30, 5])


def test_deals_are_found_by_their_verdict():
    some = Labels(RULES, LIMITS, 100, np.array([0, 1, 2, 0], np.uint8), np.zeros(4, np.uint32))
    assert some.deals_with("solved").tolist() == [100, 103]
    assert some.deals_with("undecided").tolist() == [102]
    with pytest.raises(ValueError, match="verdict is 'won'; allowed: solved, unsolvable, undecided"):
        some.deals_with("won")


@pytest.mark.parametrize(
    ("rows", "name", "message"),
    [
        ([], "a.npz", "there are no results; solve deals first"),
        ([ROWS[0], ROWS[2], ROWS[0]], "a.npz", "deal 102 is there twice"),
        (ROWS[:2], "a.npz", "deal 101 is missing; labels need consecutive deals, each once"),
        (ROWS, "a.csv", "its name must end in .npz"),
    ],
)
def test_what_cannot_be_packed_is_refused(rows, name, message, tmp_path):
    with pytest.raises(ValueError, match=re.escape(message)):
        pack(rows, RULES, LIMITS, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_labels_are_found_by_their_rules(tmp_path, monkeypatch):
    pack(ROWS, RULES, LIMITS, tmp_path / "some.npz")
    monkeypatch.setattr(labels, "FOLDER", tmp_path)
    labels.kept_labels.cache_clear()
    try:
        assert labels_of(Rules(draw_count=5, redeals=2)).first == 100
        assert labels_of(PRESETS["draw1"]) is None
    finally:
        labels.kept_labels.cache_clear()
