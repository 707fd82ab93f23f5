"""`klondike solve`, `klondike hint` and `klondike complete`; `klondike analyse` is tested with `analyse`."""

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
    assert re.fullmatch(rf"solved, {solution.nodes:,} positions, \d+\.\d+ s", first)
    assert second == f"{len(solution.actions)} actions: {', '.join(map(name, solution.actions))}"


def test_solve_gives_up_at_a_limit():
    assert klondike("solve", "123456", "--nodes", "1").stdout.startswith("undecided, 1 positions, ")


def test_solve_makes_the_line_short_if_asked():
    solution = shorten(solve(123456, "draw3"), limits=Limits(nodes=3_000, seconds=None))
    shown = klondike("solve", "123456", "--variant", "draw3", "--nodes", "3000", "--short").stdout.splitlines()
    assert shown[1] == f"{len(solution.actions)} actions: {', '.join(map(name, solution.actions))}"
    assert shown[2] == f"{solution.moves} moves, redeals not counted"
    ending = klondike("solve", "--from", ENDING.replace("QS", "JS").replace("1: KS", "1: KS\n2: QS"), "--minimal")
    assert ending.stdout.splitlines()[2] == "2 moves, redeals not counted: the fewest possible"


def test_hint_tells_of_each_action():
    shown = klondike("hint", "--from", ENDING)
    assert "KS to foundation: solved\n" in shown.stdout
    assert shown.exit_code == 0


def test_complete_shows_the_actions_and_the_board_at_the_end():
    solution = solve(ENDING, "draw3")
    shown = klondike("complete", "--from", ENDING, "--variant", "draw3")
    assert shown.exit_code == 0, shown.output
    line, blank, board = shown.stdout.split("\n", 2)
    assert (line, blank) == (f"{len(solution.actions)} actions: {', '.join(map(name, solution.actions))}", "")
    assert board.startswith("KC KD KH KS    stock 0, waste 0: --\n")
    assert board.endswith(f"\nmoves {len(solution.actions)}, foundations 52 of 52, won\n")


def test_complete_plays_a_deal_from_its_start():
    shown = klondike("complete", "123456", "--variant", "draw3")
    assert shown.stdout.splitlines()[0].startswith(f"{len(solve(123456, 'draw3').actions)} actions: ")
    assert shown.stdout.endswith("foundations 52 of 52, won\n")


def test_complete_says_that_a_game_is_lost_or_undecided():
    lost = next(deal for deal in range(100) if solve(deal, "draw3").verdict == "unsolvable")
    assert klondike("complete", str(lost), "--variant", "draw3").stdout == (
        "lost: no way of playing on wins this game\n"
    )
    undecided = klondike("complete", "2000143", "--variant", "draw3", "--seconds", "0.001")
    assert re.fullmatch(
        r"undecided: [\d,]+ positions in \S+ s showed neither a win nor that there is none\n", undecided.stdout
    )
    assert undecided.exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve"], "name a deal by its number, or give a deck or position with --from"),
        (["solve", "x"], "deal is 'x'; allowed: 0 to 9007199254740991; decks are given with --from"),
        (["solve", "1", "--variant", "x"], "no such variant: 'x'; known: draw1, "),
        (["complete"], "name a deal by its number, or give a deck or position with --from"),
        (["complete", "1", "--variant", "x"], "no such variant: 'x'; known: draw1, "),
        (["hint", "--from", "foundations: KC KD KH QS\n1: QS"], "line 2"),
    ],
)
def test_a_mistake_is_told_in_one_line(arguments, message):
    shown = klondike(*arguments)
    assert shown.exit_code == 2
    assert shown.stderr.startswith("klondike: ")
    assert message in shown.stderr
    assert shown.stderr.count("\n") == 1
