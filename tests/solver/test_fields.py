"""Fields are found by name, not by position: with one more in the middle the searches do the same.

The copies with the inserted fields run as plain Python, since compiling them would take longer than searching.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.package_copy import copy_package, run_with_package

PROGRAM = """
import json
from klondike_env.solver import Limits, shorten, solve
from klondike_env.rules import PRESETS

found = []
for variant, deal in [("draw1", 2), ("draw3", 1), ("thumb_and_pouch", 2), ("thumb_and_pouch_whole", 2)]:
    solution = solve(deal, variant, Limits(nodes=400, seconds=None))
    found.append([solution.verdict, solution.nodes, *solution.actions])
short = shorten(solution, limits=Limits(nodes=20, seconds=None))
print(json.dumps([*found, [short.nodes, *short.actions]]))
"""


def insert(text: str, pattern: str, addition: str) -> str:
    """The text with an addition before every match of a pattern, of which there is one at least."""
    changed, count = re.subn(f"(?={pattern})", addition, text)
    assert count, pattern
    return changed


def insert_fields(folder: Path) -> None:
    """Insert fields into the tuples, words and frames of both searches; their values would do harm anywhere else."""
    for name in ("moves", "pruning", "search"):
        file = folder / f"classes/{name}.py"
        text = file.read_text()
        text = re.sub(r"(?<!class )\bNode\(", "Node(inserted=7, ", text)
        text = re.sub(r"(?<!class )\bMoveSets\(", "MoveSets(inserted=0, ", text)
        file.write_text(text)
    moves = folder / "classes/moves.py"
    text = insert(moves.read_text(), r"    wanted: int", "    inserted: int\n")
    text = insert(text, r"    talon_to_foundation: int", "    inserted: int\n")
    text = insert(text, r"    _TALON_BIT,", "    _INSERTED,\n").replace(") = range(7)", ") = range(8)")
    moves.write_text(text)
    nodes = folder / "columns/nodes.py"
    text = insert(nodes.read_text(), r"    whole_runs: int", "    inserted: int\n")
    text = insert(text, r"    NEXT,  #", "    INSERTED,\n").replace(") = range(12)", ") = range(13)")
    text = insert(text, r"    UNDER,  #", "    INSERTED_ROW,\n").replace(") = range(5)", ") = range(6)")
    nodes.write_text(text)
    pruning = folder / "columns/pruning.py"
    pruning.write_text(pruning.read_text().replace("Game(", "Game(inserted=7, "))
    depth_first = folder / "columns/depth_first.py"
    depth_first.write_text(insert(depth_first.read_text(), r'        \("nodes"', '        ("inserted", np.int64),\n'))


def test_a_field_more_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    package = copy_package(tmp_path)
    expected = run_with_package(tmp_path, PROGRAM)
    insert_fields(package / "solver")
    assert run_with_package(tmp_path, PROGRAM) == expected
    assert [found[0] for found in expected[:-1]] == ["solved"] * 4
