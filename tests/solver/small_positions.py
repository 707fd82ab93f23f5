"""Random positions with few cards left to play, and a slow and simple search that decides them."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import numpy as np

from klondike_env.engine.actions import STOCK_ACTION
from klondike_env.rules import BUILDS, GAPS, RUNS, Rules
from tests.reference import Game, Options, Position, legal_actions, may_lie_on, play, record_of


def random_rules(rng: random.Random) -> Rules:
    """Random rules."""
    return Rules(
        build=rng.choice(BUILDS),
        gaps=rng.choice(GAPS),
        draw_count=rng.choice([1, 1, 2, 3, 4]),
        redeals=rng.choice([None, 0, 0, 1, 2]),
        worry_back=rng.random() < 0.5,
        runs=rng.choice(RUNS),
    )


def random_position(rng: random.Random, rules: Rules, ranks: int) -> Position:
    """A position in which about the `ranks` highest ranks are not up yet, in 4 to 7 columns and a talon."""
    foundation = [min(13, max(0, 13 - ranks + rng.choice([0, 0, 0, 1, -1, 2]))) for _ in range(4)]
    cards = [13 * suit + rank for suit in range(4) for rank in range(foundation[suit], 13)]
    rng.shuffle(cards)
    talon = [cards.pop() for _ in range(rng.randint(0, min(len(cards), rng.choice([3, 6, 10]))))]
    columns: list[list[int]] = [[] for _ in range(7)]
    open_columns = columns[: rng.choice([4, 5, 6, 7, 7])]
    for number, card in enumerate(cards):
        column = open_columns[number % len(open_columns)] if rng.random() < 0.7 else rng.choice(open_columns)
        column.append(card)
    piles = sorted((_hide(rng, column, rules), column) for column in columns)
    for number, (face_down, column) in enumerate(piles):
        excess = max(face_down - number, 0)  # a column is dealt no more face-down cards than lie left of it
        talon += column[:excess]
        piles[number] = face_down - excess, column[excess:]
    if len(talon) > 24:
        return random_position(rng, rules, ranks)
    rng.shuffle(talon)
    waste = rng.choice([0, rng.randint(0, len(talon))])
    face_down_counts, kept = [face_down for face_down, _ in piles], [column for _, column in piles]
    return Position(kept, face_down_counts, foundation, talon, waste, seen=waste)


def _hide(rng: random.Random, column: list[int], rules: Rules) -> int:
    """How many cards of a column to turn face down: mostly as few as leave a run of the others."""
    row = max(len(column) - 1, 0)
    while row > 0 and rng.random() < 0.8 and may_lie_on(column[row], column[row - 1], rules.build):
        row -= 1
    return row


def record(position: Position, rules: Rules) -> np.void:
    """A position as a record of the engine."""
    return record_of(Game(position, rules, Options(), best_foundation=sum(position.foundation)))


def _key(position: Position) -> tuple[Any, ...]:
    columns = zip(position.columns, position.face_down, strict=True)
    piles = sorted((tuple(column), face_down) for column, face_down in columns)
    return *piles, tuple(position.foundation), tuple(position.talon), position.waste, position.redeals_used


def verdict(position: Position, rules: Rules, most_positions: int, talon: str = "draw") -> str:
    """The verdict on a position, by trying all lines; "undecided" when there are too many positions.

    `talon` says whether draws are actions of their own ("draw") or implied ("reach").
    """
    seen, waiting = {_key(position)}, [position]
    while waiting:
        position = waiting.pop()
        if sum(position.foundation) == 52:
            return "solved"
        if len(seen) > most_positions:
            return "undecided"
        for action in reversed(legal_actions(position, rules, talon)):  # so that foundations come first
            after = position.copy()
            play(after, action, rules)
            if rules.redeals is None:
                after.redeals_used = 0
            if _key(after) not in seen:
                seen.add(_key(after))
                waiting.append(after)
    return "unsolvable"


def fewest_moves(position: Position, rules: Rules, most_positions: int) -> int | None:
    """The fewest card moves and draws to a win, by trying all lines; None if there is no win or too many positions.

    A redeal costs nothing, so it is tried before all positions that wait.
    """
    best, waiting = {_key(position): 0}, deque([(0, position)])
    while waiting:
        moves, position = waiting.popleft()
        if moves > best[_key(position)]:
            continue
        if sum(position.foundation) == 52:
            return moves
        if len(best) > most_positions:
            return None
        for action in legal_actions(position, rules, "draw"):
            after = position.copy()
            play(after, action, rules)
            if rules.redeals is None:
                after.redeals_used = 0
            is_redeal = action == STOCK_ACTION and after.waste == 0
            if best.get(_key(after), moves + 2) > moves + (not is_redeal):
                best[_key(after)] = moves + (not is_redeal)
                (waiting.appendleft if is_redeal else waiting.append)((best[_key(after)], after))
    return None
