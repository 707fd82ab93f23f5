"""Limits of memory: they hold, and a search that meets one is undecided."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks import soak
from klondike_env.rules import PRESETS, Rules
from klondike_env.solver import Limits, solve
from klondike_env.solver.classes.search import ClassSearch
from klondike_env.solver.columns.column_search import ColumnSearch
from klondike_env.solver.solve import record_of
from klondike_env.solver.verdicts import UNDECIDED

# Deals that take more memory than a megabyte, which is the least that may be allowed; lost but the last, whose
# lines get long because cards may go back and forth.
HARD = [
    (PRESETS["draw3"], 2_000_004),
    (PRESETS["classic"], 2_000_074),
    (Rules(worry_back=False), 2_000_000),
    (Rules(build="any_suit", gaps="none", draw_count=3, runs="whole_or_last"), 2),
]


@pytest.mark.parametrize(("rules", "deal"), HARD)
def test_without_memory_a_deal_is_undecided(rules, deal):
    solution = solve(deal, rules, Limits(seconds=None, megabytes=1))
    assert (solution.verdict, solution.actions) == ("undecided", ())
    assert solve(deal, rules, Limits(seconds=None, megabytes=1)).nodes == solution.nodes


def test_with_memory_they_are_lost():
    for rules, deal in HARD[:2]:
        assert solve(deal, rules, Limits(seconds=None)).verdict == "unsolvable"


@pytest.mark.parametrize("megabytes", [1, 3])
@pytest.mark.parametrize(("rules", "deal"), HARD)
def test_the_arrays_of_a_search_never_take_more_than_they_may(rules, deal, megabytes):
    limit = megabytes * 1_000_000
    record = record_of(deal, rules)[0]
    search = (
        ClassSearch(record, rules, max_bytes=limit)
        if rules == PRESETS["draw3"]
        else ColumnSearch(record, rules, max_bytes=limit)
    )
    most = 0
    while search.run(500) == UNDECIDED and not search.exhausted:
        most = max(most, _array_bytes(search))
    assert search.exhausted
    assert limit / 4 < most <= limit


def _array_bytes(search):
    """The bytes of all arrays of a search: those of its main search and of the current attempt."""
    if isinstance(search, ClassSearch):
        buffers = search._workspace.buffers
        return buffers.table.nbytes + buffers.frames.nbytes + buffers.line.nbytes
    searches = search._turns.gi_frame.f_locals
    parts = {id(part): part for part in (searches["main"], search._search)}.values()
    buffers = [part.buffers for part in parts]
    return sum(each.frames.nbytes + each.moves.nbytes + each.slots.nbytes for each in buffers)


PROGRAM = """
import sys
from benchmarks.soak import resident_megabytes
from klondike_env.rules import PRESETS
from klondike_env.solver import Limits, solve
from klondike_env.solver.columns.column_search import ColumnSearch
from klondike_env.solver.classes.search import ClassSearch
from klondike_env.solver.solve import record_of

variant, deal, megabytes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
solve(deal, variant, Limits(nodes=10))
kind = ClassSearch if variant == "draw3" else ColumnSearch
search = kind(record_of(deal, PRESETS[variant])[0], PRESETS[variant], max_bytes=megabytes * 1_000_000)
before = most = resident_megabytes()
while search.run(50_000) == "undecided" and not search.exhausted:
    most = max(most, resident_megabytes())
print(search.exhausted, most - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not soak._STATUS.exists(), reason="the system does not tell the resident memory")
@pytest.mark.parametrize(("variant", "deal", "megabytes"), [("draw3", 2_000_143, 40), ("classic", 2_000_074, 10)])
def test_the_process_takes_no_more_memory_than_that(variant, deal, megabytes):
    arguments = [sys.executable, "-c", PROGRAM, variant, str(deal), str(megabytes)]
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    exhausted, grown = done.stdout.split()
    assert exhausted == "True"
    assert megabytes / 4 < float(grown) < megabytes + 4  # a few for the interpreter
