"""The column search, for any rules: its verdicts, its lines, and what it promises to callers."""

from __future__ import annotations

import csv
import random
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from klondike_env.deals import parse
from klondike_env.engine.actions import parse as parse_action
from klondike_env.engine.state import OUTCOME_NAMES
from klondike_env.games import Games
from klondike_env.rules import BUILDS, PRESETS, Rules
from klondike_env.solver.columns.card_numbering import BETWEEN_RANKS, BUILDERS, suits_of
from klondike_env.solver.columns.column_search import ALL, ColumnPruning, ColumnSearch
from tests.boards import board, outcome_of
from tests.reference import Position
from tests.solver.small_positions import random_position, random_rules, record, verdict

RULES = {
    "draw1": PRESETS["draw1"],
    "draw3": PRESETS["draw3"],
    "draw1_no_worry_back": Rules(worry_back=False),
    "draw3_no_worry_back": Rules(draw_count=3, worry_back=False),
    "classic": PRESETS["classic"],
    "thumb_and_pouch": PRESETS["thumb_and_pouch"],
    "thumb_and_pouch_whole": PRESETS["thumb_and_pouch_whole"],
}
DATA = Path(__file__).parents[1] / "data"


def rows(file: str) -> list[dict[str, str]]:
    with (DATA / file).open() as lines:
        return list(csv.DictReader(lines))


def dealt(columns: str, rules: Rules) -> np.void:
    games = Games(1, rules)
    games.deal_decks(np.array([parse(columns, format="columns")]))
    return games.states[0].copy()


# Verdicts.


@pytest.mark.parametrize("name", [name for name in RULES if name != "thumb_and_pouch_whole"])
def test_verdicts_agree_with_those_of_public_solvers(name: str) -> None:
    decided = 0
    for row in rows("verdicts.csv"):
        found = ColumnSearch(dealt(row["columns"], RULES[name]), RULES[name]).run(300_000)
        decided += found != "undecided"
        assert found == row[name] or "undecided" in (found, row[name] or "undecided"), row["name"]
    assert decided >= 80


@pytest.mark.parametrize("name", ["thumb_and_pouch", "thumb_and_pouch_whole"])
def test_thumb_and_pouch_is_won_within_few_nodes(name: str) -> None:
    for row in rows("verdicts.csv"):
        assert ColumnSearch(dealt(row["columns"], RULES[name]), RULES[name]).run(50_000) == "solved", row["name"]


def test_deals_on_which_other_solvers_were_wrong_are_won() -> None:
    named = {row["name"]: row["columns"] for row in rows("deals.csv")}
    for name, rules in [
        ("worry_back_to_same_column", "draw1"),
        ("worry_back_to_same_column", "draw3"),
        ("worry_back_draw3", "draw3"),
        ("draw1_only", "draw1"),
        ("long_draw", "draw1"),
    ]:
        search = ColumnSearch(dealt(named[name], RULES[rules]), RULES[rules])
        assert search.run(20_000_000) == "solved", (name, rules)
        search.actions()
    assert ColumnSearch(dealt(named["draw1_only"], RULES["draw3"]), RULES["draw3"]).run(20_000_000) == "unsolvable"


def test_small_positions_have_the_verdict_of_trying_everything() -> None:
    rng, decided = random.Random(1), {"solved": 0, "unsolvable": 0, "undecided": 0}
    for _ in range(250):
        rules = random_rules(rng)
        position = random_position(rng, rules, rng.choice([2, 3, 3, 4]))
        expected = verdict(position.copy(), rules, 600)
        decided[expected] += 1
        if expected != "undecided":
            search = ColumnSearch(record(position, rules), rules)
            assert search.run(1_000_000) == expected, (rules, position)
    assert decided["solved"] > 100
    assert decided["unsolvable"] > 5


@pytest.mark.parametrize("off", list(ColumnPruning))
def test_prunings_change_no_verdict(off: ColumnPruning) -> None:
    rng, decided = random.Random(off.value), 0
    for _ in range(300):
        rules = random_rules(rng)
        start = record(random_position(rng, rules, rng.choice([4, 5, 6, 7, 9])), rules)
        found = [ColumnSearch(start, rules, pruning=flags).run(20_000) for flags in (ALL, ALL & ~off, ColumnPruning(0))]
        assert len(set(found) - {"undecided"}) <= 1, (rules, start, found)
        decided += found.count("undecided") < 2
    assert decided > 200


PARKING = [
    # The only win begins with a move of a built card to a gap, to free the card under it for its foundation.
    Position(
        [[], [], [38, 50, 36, 48, 21, 46], [51, 37, 49, 35, 47], [25], [45, 24], [42, 22, 43, 44, 23]],
        [0, 0, 0, 0, 0, 1, 4],
        [13, 8, 9, 3],
        [],
    ),
    Position(
        [[], [], [38, 50, 36, 9, 34, 46, 32, 5], [12, 37, 10, 35, 8, 33, 6], [51], [3, 11], [7, 4, 48, 47, 49]],
        [0, 0, 0, 0, 0, 1, 4],
        [3, 13, 6, 7],
        [],
    ),
]


@pytest.mark.parametrize("position", PARKING)
def test_built_cards_go_to_gaps_where_only_that_wins(position: Position) -> None:
    rules = Rules(gaps="any", worry_back=False)
    start = record(position, rules)
    search = ColumnSearch(start, rules)
    assert search.run(100_000) == "solved"
    assert outcome_of(start, rules, search.actions()) == "won"


def test_more_redeals_never_lose_a_win() -> None:
    for row in rows("verdicts.csv")[:25]:
        won = []
        for redeals in (0, 1, 2, None):
            rules = Rules(draw_count=3, redeals=redeals)
            won.append(ColumnSearch(dealt(row["columns"], rules), rules).run(200_000) == "solved")
        assert won == sorted(won), row["name"]


@pytest.mark.parametrize("build", range(len(BUILDS)), ids=BUILDS)
def test_free_moves_reach_exactly_what_the_table_says(build: int) -> None:
    for hosts in range(16):
        for built in range(16):
            cards = suits_of(built)
            for order in permutations(suits_of(hosts), len(cards)):
                start = dict(zip(order, cards, strict=True))
                if all(BUILDERS[build, host] >> card & 1 for host, card in start.items()):
                    assert reached(start, hosts, built, build) == BETWEEN_RANKS[build, 16 * hosts + built]


def reached(start: dict[int, int], hosts: int, built: int, build: int) -> int:
    """The hosts that moves between hosts can uncover, and the suits that can land, as in the table."""
    found, waiting, seen = 0, [start], [start]
    while waiting:
        on_hosts = waiting.pop()
        for host in set(suits_of(hosts)) - on_hosts.keys():
            found |= 1 << host | (int(BUILDERS[build, host]) & ~built) << 4
            for source, card in on_hosts.items():
                after = {other: lying for other, lying in on_hosts.items() if other != source} | {host: card}
                if BUILDERS[build, host] >> card & 1 and after not in seen:
                    seen.append(after)
                    waiting.append(after)
    return found


# Lines.


@pytest.mark.parametrize("name", list(RULES))
def test_lines_win_by_the_rules(name: str) -> None:
    for row in rows("verdicts.csv")[:12]:
        start = dealt(row["columns"], RULES[name])
        search = ColumnSearch(start, RULES[name])
        if search.run(100_000) == "solved":
            assert outcome_of(start, RULES[name], search.actions()) == "won"


def test_lines_start_in_the_middle_of_games_too() -> None:
    rng, won = random.Random(3), 0
    for number in range(60):
        rules = replace(random_rules(rng), gaps="any")
        games = Games(1, rules, stall_limit=None)
        games.deal([number])
        generator = np.random.default_rng(number)
        for _ in range(rng.randrange(80)):
            games.step(games.random_actions(generator))
        search = ColumnSearch(games.states[0], rules)
        if OUTCOME_NAMES[games.outcomes[0]] == "playing" and search.run(20_000) == "solved":
            won += 1
            assert outcome_of(games.states[0].copy(), rules, search.actions()) == "won"
    assert won > 20


def test_lines_win_without_the_exchange_of_runs() -> None:
    for row in rows("verdicts.csv")[:5]:
        start = dealt(row["columns"], RULES["draw1"])
        search = ColumnSearch(start, RULES["draw1"], pruning=ALL & ~ColumnPruning.EXCHANGES)
        if search.run(100_000) == "solved":
            assert outcome_of(start, RULES["draw1"], search.actions()) == "won"


def test_a_run_is_exchanged_to_free_the_card_that_goes_up() -> None:
    rules = Rules(gaps="none")
    start = board("KC QH JS", "KS QD", "KD", "JC JD TS | KH", "QS", "QC", foundations="TC TD JH 9S")
    search = ColumnSearch(start, rules)
    assert search.run(1000) == "solved"
    actions = search.actions()
    assert parse_action("JS onto QD") in actions
    assert outcome_of(start, rules, actions) == "won"


def test_a_won_position_needs_no_action() -> None:
    search = ColumnSearch(board(foundations="KC KD KH KS"), RULES["draw1"])
    assert search.run(1) == "solved"
    assert search.actions() == []


# Promises to callers.


def test_a_search_in_pieces_is_the_same_search() -> None:
    start = dealt(rows("verdicts.csv")[96]["columns"], RULES["classic"])
    whole, pieces = ColumnSearch(start, RULES["classic"]), ColumnSearch(start, RULES["classic"])
    expected = whole.run(100_000)
    for _ in range(100):
        pieces.run(999)
    assert pieces.run(100) == expected
    assert pieces.nodes == whole.nodes == 100_000 or expected != "undecided"
    assert pieces.nodes == whole.nodes


def test_a_search_says_when_its_memory_is_used_up() -> None:
    start = dealt(rows("verdicts.csv")[15]["columns"], RULES["classic"])
    search = ColumnSearch(start, RULES["classic"], max_bytes=1_000_000)
    assert search.run(10_000_000) == "undecided"
    assert search.exhausted
    nodes = search.nodes
    assert search.run(10) == "undecided"
    assert search.nodes == nodes


def test_a_search_never_has_more_nodes_than_it_may() -> None:
    start = dealt(rows("verdicts.csv")[15]["columns"], RULES["classic"])
    search = ColumnSearch(start, RULES["classic"])
    assert search.run(7) == "undecided"
    assert search.nodes == 7
    assert not search.exhausted


def test_lines_are_given_only_after_a_win_is_found() -> None:
    search = ColumnSearch(dealt(rows("verdicts.csv")[0]["columns"], RULES["draw1"]), RULES["draw1"])
    with pytest.raises(ValueError, match="there is no line to a win"):
        search.actions()


def test_a_view_with_unseen_cards_is_refused() -> None:
    games = Games(1, RULES["draw1"])
    games.deal([7])
    with pytest.raises(ValueError, match="the position is not possible"):
        ColumnSearch(games.views()[0], RULES["draw1"])


@pytest.mark.parametrize("nodes", [0, -1, 1.5])
def test_nodes_are_positive_whole_numbers(nodes: float) -> None:
    search = ColumnSearch(dealt(rows("verdicts.csv")[0]["columns"], RULES["draw1"]), RULES["draw1"])
    with pytest.raises(ValueError, match="nodes"):
        search.run(nodes)  # type: ignore[arg-type]
