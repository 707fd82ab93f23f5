"""The arms that are found, against a slow and plain search."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from klondike_env.agents.planner.candidates import Base, Exploration
from klondike_env.engine.actions import N_DESTINATIONS, STOCK_ACTION, TO_FOUNDATION, TO_GAP, name
from klondike_env.rules import PRESETS, Rules
from tests.boards import board
from tests.reference import Position, deal, legal_actions, play, position_key
from tests.solver.small_positions import random_position, random_rules, record

MOST_POSITIONS = 12  # of a test; the slow search is slow


def talon_of(rules: Rules) -> str:
    return "reach" if rules.redeals is None else "draw"


def after(position: Position, action: int, rules: Rules) -> Position:
    position = position.copy()
    play(position, action, rules)
    return position


def key(position: Position, rules: Rules) -> Any:
    return position_key(position, rules), tuple(position.talon), tuple(sorted(position.face_down)), position.seen


def takes_back(position: Position, action: int, rules: Rules) -> bool:
    """Whether a legal action leads back to the position."""
    there = after(position, action, rules)
    ways_back = legal_actions(there, rules, talon_of(rules))
    return any(key(after(there, way, rules), rules) == key(position, rules) for way in ways_back)


def closure(position: Position, rules: Rules) -> dict[Any, Position]:
    """All positions that moves which can be taken back lead to."""
    found = {key(position, rules): position}
    waiting = [position]
    while waiting:
        here = waiting.pop()
        for action in legal_actions(here, rules, talon_of(rules)):
            there = after(here, action, rules)
            if key(there, rules) not in found and action != STOCK_ACTION and takes_back(here, action, rules):
                found[key(there, rules)] = there
                waiting.append(there)
    return found


def kind(action: int) -> tuple[int, int]:
    """The card, and whether it goes to its foundation, to a gap or to a column."""
    card, destination = divmod(action, N_DESTINATIONS)
    return card, destination if destination in (TO_FOUNDATION, TO_GAP) else 1


def class_of(position: Position, rules: Rules) -> Any:
    """The same for all positions that can be reached from each other."""
    return min(map(repr, closure(position, rules)))


def check(position: Position, rules: Rules) -> int:
    """Compare the arms at a position; how many there are, 0 if it is too large for that."""
    exploration = Exploration()
    exploration.records[0] = record(position, rules)
    n_arms = exploration.run(rules.params())
    if exploration.counts[0] > MOST_POSITIONS:
        return 0
    kinds, classes = set(), set()
    for arm in range(n_arms):
        *before, last = exploration.way_to(arm)
        here = position
        for action in before:
            assert action in legal_actions(here, rules, talon_of(rules))
            assert takes_back(here, action, rules)
            here = after(here, action, rules)
        assert last in legal_actions(here, rules, talon_of(rules))
        assert last == STOCK_ACTION or not takes_back(here, last, rules)
        kinds.add(kind(last))
        classes.add(class_of(after(here, last, rules), rules))
    positions = closure(position, rules)
    assert len(positions) == exploration.counts[0]
    for here in positions.values():
        for action in legal_actions(here, rules, talon_of(rules)):
            if action == STOCK_ACTION and rules.redeals is None:
                continue
            if kind(action) not in kinds and not takes_back(here, action, rules):
                assert class_of(after(here, action, rules), rules) in classes, name(action)
    return n_arms


def test_finds_the_arms_of_a_slow_search_in_random_positions() -> None:
    chance, total = random.Random(11), 0
    for _ in range(60):
        rules = random_rules(chance)
        position = random_position(chance, rules, chance.randint(3, 5))
        position.seen = len(position.talon) if rules.redeals is None else position.seen
        total += check(position, rules)
    assert total > 70


@pytest.mark.parametrize("variant", ["draw1", "draw3", "classic", "thumb_and_pouch", "thumb_and_pouch_whole"])
def test_finds_the_arms_of_a_slow_search_in_games(variant: str) -> None:
    chance, rules, total = random.Random(12), PRESETS[variant], 0
    for _ in range(8):
        position = deal(chance.sample(range(52), 52))
        position.seen = len(position.talon) if rules.redeals is None else position.seen
        for _ in range(40):
            legal = legal_actions(position, rules, talon_of(rules))
            if not legal or (legal == [STOCK_ACTION] and rules.redeals is None):
                break
            play(position, chance.choice(legal), rules)
            total += check(position, rules) if chance.random() < 0.2 else 0
    assert total > 30


def test_a_way_begins_with_moves_that_can_be_taken_back() -> None:
    exploration = Exploration()
    exploration.records[0] = board("2C 9H | 5S", "5C 4H", "6H", foundations="3D 3H")
    exploration.run(PRESETS["draw1"].params())
    ways = {tuple(name(action) for action in exploration.way_to(arm)) for arm in range(int(exploration.counts[1]))}
    assert ("5S onto 6H",) in ways
    assert all(len(way) == 1 or way[-1].startswith(("5S", "5C", "6H", "4H")) for way in ways)


def test_numbers_of_positions_do_not_carry_over_to_the_next_exploration() -> None:
    exploration, rules = Exploration(), PRESETS["draw1"]
    record_of_game = board("5C 4H", "6H", foundations="3H")
    counts = []
    for _ in range(2):
        exploration.records[0] = record_of_game
        exploration.run(rules.params())
        counts.append(exploration.counts.tolist())
    assert counts[0] == counts[1]
    assert np.all(np.array(counts) > 0)


def test_the_base_writes_only_to_what_is_its_own() -> None:
    rules, guarded = PRESETS["draw3"], np.full(4096, -7)
    base = Base.of("tuned", rules)._replace(returned=guarded[:1])
    exploration = Exploration()
    exploration.records[0] = record(deal(list(range(52))), rules)
    exploration.run(rules.params())
    exploration.base_arm(base, rules.params())
    assert np.all(guarded[1:] == -7)
