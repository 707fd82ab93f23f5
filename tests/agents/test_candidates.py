"""The candidates that are found, compared with those of a slow and simple search."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from klondike_env.agents.planner.candidates import Decision, ListBase, follow_base
from klondike_env.agents.tuned.agent import TunedAgent
from klondike_env.engine.actions import (
    N_ACTIONS,
    N_DESTINATIONS,
    RESIGN,
    STOCK_ACTION,
    TO_FOUNDATION,
    TO_GAP,
    name,
    parse,
)
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
    returns = legal_actions(there, rules, talon_of(rules))
    return any(key(after(there, action, rules), rules) == key(position, rules) for action in returns)


def closure(position: Position, rules: Rules) -> dict[Any, Position]:
    """All positions that reversible moves lead to."""
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
    """The card of an action, and whether it goes to its foundation, to a gap or to a column."""
    card, destination = divmod(action, N_DESTINATIONS)
    return card, destination if destination in (TO_FOUNDATION, TO_GAP) else 1


def class_of(position: Position, rules: Rules) -> Any:
    """A key that is the same for all positions that can be reached from each other."""
    return min(map(repr, closure(position, rules)))


def decide(state: np.void, rules: Rules) -> Decision:
    """The irreversible candidates in a state."""
    decision = Decision()
    decision.begin(state)
    decision.find_irreversible(rules.params(), int(rules.redeals is None))
    return decision


def check(position: Position, rules: Rules) -> int:
    """Compare the candidates in a position; return how many there are, 0 if there are too many positions to compare."""
    decision = decide(record(position, rules), rules)
    if decision.positions.n_found[0] > MOST_POSITIONS:
        return 0
    kinds, classes = set(), set()
    for candidate in range(decision.n_candidates):
        *before, last = decision.line_to(candidate)
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
    assert len(positions) == decision.positions.n_found[0]
    for here in positions.values():
        for action in legal_actions(here, rules, talon_of(rules)):
            if action == STOCK_ACTION and rules.redeals is None:
                continue
            if kind(action) not in kinds and not takes_back(here, action, rules):
                assert class_of(after(here, action, rules), rules) in classes, name(action)
    return decision.n_candidates


def test_finds_the_candidates_of_a_slow_search_in_random_positions() -> None:
    chance, total = random.Random(11), 0
    for _ in range(60):
        rules = random_rules(chance)
        position = random_position(chance, rules, chance.randint(3, 5))
        position.seen = len(position.talon) if rules.redeals is None else position.seen
        total += check(position, rules)
    assert total > 70


@pytest.mark.parametrize("variant", ["draw1", "draw3", "classic", "thumb_and_pouch", "thumb_and_pouch_whole"])
def test_finds_the_candidates_of_a_slow_search_in_games(variant: str) -> None:
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


def test_a_line_begins_with_reversible_moves() -> None:
    decision = decide(board("2C 9H | 5S", "5C 4H", "6H", foundations="3D 3H"), PRESETS["draw1"])
    lines = {tuple(map(name, decision.line_to(candidate))) for candidate in range(decision.n_candidates)}
    assert ("5S onto 6H",) in lines
    assert all(len(line) == 1 or line[-1].startswith(("5S", "5C", "6H", "4H")) for line in lines)


def test_one_decision_leaves_nothing_to_the_next() -> None:
    decision, rules, counts = Decision(), PRESETS["draw1"], []
    for _ in range(2):
        decision.begin(board("5C 4H", "6H", foundations="3H"))
        decision.find_irreversible(rules.params(), 1)
        counts.append((int(decision.positions.n_found[0]), decision.n_candidates))
    assert counts[0] == counts[1]
    assert min(counts[0]) > 0


def test_legal_actions_come_in_the_order_of_their_promise() -> None:
    game = board("2C 9H | 5S", "5C 4H", "6H", foundations="3D 3H")
    mask = np.zeros(N_ACTIONS, dtype=np.int8)
    legal = [parse(text) for text in ("4H onto 5S", "5S onto 6H", "4H to foundation", "3D onto 4C")]
    mask[legal] = 1
    decision = Decision()
    decision.begin(game)
    assert decision.list_legal(mask, legal[0]) == 3
    found = [decision.line_to(k)[0] for k in range(decision.n_candidates)]
    assert found == [legal[2], legal[1], legal[3], legal[0]]


@pytest.mark.parametrize(("since_progress", "gives_up"), [(7, False), (8, True)])
def test_giving_up_competes_where_the_base_gives_up_and_nothing_moves_forward(
    since_progress: int, gives_up: bool
) -> None:
    mask = np.zeros(N_ACTIONS, dtype=np.int8)
    mask[STOCK_ACTION] = 1
    for base_action in (RESIGN, STOCK_ACTION):
        decision = Decision()
        decision.begin(board("5C 4H", "6H", foundations="3H", since_progress=since_progress))
        base = decision.list_legal(mask, base_action)
        lines = [decision.line_to(candidate) for candidate in range(decision.n_candidates)]
        if base_action == RESIGN:
            assert base == -1
            assert lines == ([[]] if gives_up else []) + [[STOCK_ACTION]]
        else:
            assert base == 0
            assert lines == [[STOCK_ACTION]]


def test_the_base_writes_only_to_what_is_its_own() -> None:
    rules, guarded = PRESETS["draw3"], np.full(4096, -7)
    base = ListBase.of(TunedAgent(), rules)
    base = base._replace(memory=base.memory._replace(returned=guarded[:1]))
    decision = decide(record(deal(list(range(52))), rules), rules)
    follow_base(decision.positions, decision.candidates, base, rules.params())
    assert np.all(guarded[1:] == -7)
