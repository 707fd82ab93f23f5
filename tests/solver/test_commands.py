"""`klondike solve` and `klondike hint`."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from klondike_env.cli import app
from klondike_env.engine.actions import name
from klondike_env.solver import Limits, shorten, solve

ENDING = "foundations: KC KD KH QS\n1: KS\n"


def klondike(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_solve_tells_the_verdict_and_the_line():
    solution = solve(123456, "draw3")
    shown = klondike("solve", "123456", "--variant", "draw3")
    assert shown.exit_code == 0, shown.output
    first, second = shown.stdout.splitlines()
    assert re.fullmatch(rf"solved, {solution.visits:,} positions, \d+\.\d+ s", first)
    assert second == f"{len(solution.actions)} actions: {', '.join(map(name, solution.actions))}"


def test_solve_gives_up_at_a_limit():
    assert klondike("solve", "123456", "--visits", "1").stdout.startswith("undecided, 1 positions, ")


def test_solve_makes_the_line_short_if_asked():
    solution = shorten(solve(123456, "draw3"), limits=Limits(visits=3_000, seconds=None))
    shown = klondike("solve", "123456", "--variant", "draw3", "--visits", "3000", "--short").stdout.splitlines()
    assert shown[1] == f"{len(solution.actions)} actions: {', '.join(map(name, solution.actions))}"
    assert shown[2] == f"{solution.moves} moves, redeals not counted"
    ending = klondike("solve", "--from", ENDING.replace("QS", "JS").replace("1: KS", "1: KS\n2: QS"), "--minimal")
    assert ending.stdout.splitlines()[2] == "2 moves, redeals not counted: the fewest possible"


def test_hint_tells_of_each_action():
    shown = klondike("hint", "--from", ENDING)
    assert "KS to foundation: solved\n" in shown.stdout
    assert shown.exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve"], "name a deal by its number, or give a deck or position with --from"),
        (["solve", "x"], "deal is 'x'; allowed: 0 to 9007199254740991; decks are given with --from"),
        (["solve", "1", "--variant", "x"], "no such variant: 'x'; known: draw1, "),
        (["hint", "--from", "foundations: KC KD KH QS\n1: QS"], "line 2"),
    ],
)
def test_a_mistake_is_told_in_one_line(arguments, message):
    shown = klondike(*arguments)
    assert shown.exit_code == 2
    assert shown.stderr.startswith("klondike: ")
    assert message in shown.stderr
    assert shown.stderr.count("\n") == 1
