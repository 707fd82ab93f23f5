"""Short lines: legal, winning, never longer, short by known figures, and the shortest where that is proved."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from klondike_env.engine.actions import STOCK_ACTION
from klondike_env.rules import PRESETS, Rules
from klondike_env.solver import Limits, Solution, shorten, solve
from klondike_env.solver.columns.column_search import ColumnPruning, ColumnSearch
from klondike_env.solver.lengths import play_line
from klondike_env.solver.shorten.shortening import Shortening
from klondike_env.solver.solve import record_of
from tests.boards import outcome_of
from tests.solver.small_positions import fewest_moves, random_position, random_rules, record

DATA = Path(__file__).parents[1] / "data"
THUMB_AND_POUCH = ["thumb_and_pouch", "thumb_and_pouch_whole"]


def nodes(number: int) -> Limits:
    return Limits(nodes=number, seconds=None)


def rows(file: str) -> list[dict[str, str]]:
    with (DATA / file).open() as lines:
        return list(csv.DictReader(lines))


def solved(columns: str, rules: Rules) -> Solution:
    return solve({"text": columns, "format": "columns"}, rules, nodes(300_000))


def check_line(short: Solution, long: Solution) -> None:
    """A line wins from the same position, is counted right and not longer."""
    assert short.verdict == "solved"
    assert short.start is long.start
    assert not short.actions or outcome_of(short.start, short.rules, short.actions) == "won"
    assert short.moves <= long.moves
    taps = short.actions.count(STOCK_ACTION)
    assert len(short.actions) - taps <= short.moves <= len(short.actions)


def small_solutions(seed: int, count: int) -> Iterator[tuple[Solution, int]]:
    """Solutions of random small positions under random rules, each with the fewest moves by brute force."""
    rng = random.Random(seed)
    while count > 0:
        rules = random_rules(rng)
        position = random_position(rng, rules, rng.choice([1, 2, 2, 3]))
        fewest = fewest_moves(position, rules, 400)
        if fewest is not None:
            count -= 1
            yield solve(record(position, rules), rules), fewest


# Lines.


@pytest.mark.parametrize("variant", THUMB_AND_POUCH)
def test_long_lines_of_thumb_and_pouch_come_out_under_200_moves(variant: str) -> None:
    for row in rows("verdicts.csv")[:12]:
        long = solved(row["columns"], PRESETS[variant])
        short = shorten(long, limits=nodes(15_000))
        check_line(short, long)
        assert short.moves < 200, row["name"]


def test_a_line_of_thousands_of_moves_is_shortened_as_well() -> None:
    rules = PRESETS["thumb_and_pouch"]
    start = record_of({"text": rows("verdicts.csv")[0]["columns"], "format": "columns"}, rules)[0]
    search = ColumnSearch(start, rules, pruning=ColumnPruning(0))
    assert search.run(500_000) == "solved"
    long = Solution("solved", tuple(search.actions()), search.nodes, 0.0, start, rules)
    assert long.moves > 5_000
    short = shorten(long, limits=nodes(15_000))
    check_line(short, long)
    assert short.moves < 200


@pytest.mark.parametrize("variant", ["draw1", "draw3"])
def test_lines_of_klondike_are_near_the_fewest_moves(variant: str) -> None:
    ratios = []
    for row in [row for row in rows("fewest_moves.csv") if row[variant]][:15]:
        long = solved(row["columns"], PRESETS[variant])
        short = shorten(long, limits=nodes(20_000))
        check_line(short, long)
        assert short.moves >= int(row[variant])
        ratios.append(short.moves / int(row[variant]))
    assert median(ratios) < 1.1


@pytest.mark.parametrize(
    "rules",
    [
        PRESETS["classic"],
        Rules(draw_count=3, redeals=2),
        Rules(draw_count=2, redeals=1, worry_back=False, build="same_colour"),
        Rules(draw_count=5, build="any_suit", gaps="none"),
        Rules(build="other_suit", gaps="any", redeals=0, runs="whole_or_last", draw_count=4),
    ],
)
def test_lines_get_shorter_under_any_rules(rules: Rules) -> None:
    lengths = []
    for deal in range(12):
        long = solve(deal, rules, nodes(100_000))
        if long.verdict == "solved":
            short = shorten(long, limits=nodes(3_000))
            check_line(short, long)
            lengths.append((short.moves, long.moves))
    assert lengths
    assert sum(short for short, _ in lengths) < sum(long for _, long in lengths)


def test_positions_in_the_middle_of_a_game_are_starts_too() -> None:
    long = solve(7, "draw3")
    for played in (1, 20, 60):
        end, _ = play_line(long.start, long.rules, long.actions[:played])
        later = solve(end, "draw3")
        check_line(shorten(later, limits=nodes(5_000)), later)


def test_a_limit_of_nodes_always_gives_the_same_line() -> None:
    for variant in ("draw3", "thumb_and_pouch"):
        long = solve(5, variant)
        for number in (1, 777, 5_000):
            one, two = (shorten(long, limits=nodes(number)) for _ in range(2))
            assert one.actions == two.actions
            assert one.nodes == two.nodes <= number


def test_redeals_are_no_moves() -> None:
    ending = "foundations: QC KD KH QS\nwaste: KC\nstock: KS"
    solution = solve(ending, "draw1")
    short = shorten(solution, minimal=True)
    assert short.moves == 3  # the king of clubs, a draw, the king of spades
    turned_over = replace(solution, actions=(*[STOCK_ACTION] * 4, *solution.actions))
    assert turned_over.moves >= 5
    assert shorten(turned_over).actions == short.actions


# Proofs.


def test_what_is_proved_is_the_fewest_moves_of_a_brute_force() -> None:
    for solution, fewest in small_solutions(seed=1, count=40):
        short = shorten(solution, minimal=True, limits=nodes(200_000))
        check_line(short, solution)
        assert short.minimal, solution.rules
        assert short.moves == fewest, solution.rules


def test_the_last_search_alone_finds_the_fewest_moves_too() -> None:
    for solution, fewest in small_solutions(seed=2, count=40):
        search = Shortening(solution.start, solution.rules, solution.actions, nodes(200_000))
        search.prove()
        assert search.proved, solution.rules
        assert replace(solution, actions=search.actions()).moves == fewest, solution.rules


@pytest.mark.parametrize("variant", ["draw1", "draw3"])
def test_proofs_agree_with_a_public_solver(variant: str) -> None:
    proved = 0
    for row in [row for row in rows("fewest_moves.csv") if row[variant]][:4]:
        long = solved(row["columns"], PRESETS[variant])
        short = shorten(long, minimal=True, limits=nodes(400_000))
        check_line(short, long)
        proved += short.minimal
        assert short.moves == int(row[variant]) or not short.minimal
    assert proved >= 1


def test_without_a_proof_the_best_line_known_comes_back() -> None:
    long = solve(7, "draw3")
    for limits in (nodes(50), nodes(30_000), Limits(seconds=1e-9), Limits(nodes=10**6, megabytes=1)):
        short = shorten(long, minimal=True, limits=limits)
        check_line(short, long)
        assert not short.minimal


def test_a_line_with_a_proof_is_left_as_it_is() -> None:
    ending = "foundations: QC KD KH QS\n1: KS\n2: KC"
    short = shorten(solve(ending), minimal=True)
    assert short.minimal
    assert shorten(short) is short


# What is refused.


@pytest.mark.parametrize("verdict", ["undecided", "unsolvable"])
def test_only_lines_are_shortened(verdict: str) -> None:
    message = f"^the solution is '{verdict}'; only the line of one that is 'solved' can be shortened$"
    with pytest.raises(ValueError, match=message):
        shorten(replace(solve(7, "draw3"), verdict=verdict, actions=()))


def test_a_line_must_win_from_a_known_start() -> None:
    solution = solve(7, "draw3")
    with pytest.raises(ValueError, match=r"^the solution does not tell its start and rules; "):
        shorten(Solution("solved", solution.actions, 1, 1.0))
    with pytest.raises(ValueError, match=r"^the actions of the solution do not lead to a win; "):
        shorten(replace(solution, actions=solution.actions[:-1]))
    with pytest.raises(ValueError, match=r"^action 1 of the line, '.* to foundation', is not legal there$"):
        shorten(replace(solution, actions=solution.actions[-1:]))
