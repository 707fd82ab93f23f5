"""Random positions in which cards have to come back from the foundations more often than in deals."""

from __future__ import annotations

import random

import numpy as np

from klondike_env.engine.restore import index_records
from klondike_env.engine.state import new_states
from tests.reference import may_lie_on

BUILD = "alternating_colour"


def random_start(rng: random.Random, lowest: int, highest: int) -> np.void:
    """A record with all foundations about `lowest` to `highest` cards high and long face-up runs."""
    base = rng.randint(lowest, highest)
    foundation = [min(13, max(0, base + rng.randint(-4, 4))) for _ in range(4)]
    cards = [13 * suit + rank for suit in range(4) for rank in range(foundation[suit], 13)]
    rng.shuffle(cards)
    talon = [cards.pop() for _ in range(min(24, int(len(cards) * rng.choice([0, 0.1, 0.3]))))]
    columns: list[list[int]] = [[] for _ in range(7)]
    face_down = [0] * 7
    for column in rng.sample(range(7), 7):
        if cards:
            face_down[column] = min(rng.randint(0, column), len(cards) - 1)
            columns[column] = [cards.pop() for _ in range(face_down[column] + 1)]
            _lengthen(rng, columns[column], cards)
    while cards and len(talon) < 24:
        talon.append(cards.pop())
    return _record(columns, face_down, foundation, talon, rng) if not cards else random_start(rng, lowest, highest)


def _lengthen(rng: random.Random, column: list[int], cards: list[int]) -> None:
    """Lay cards that fit on a column, until there are none or a random draw ends it."""
    fitting = [card for card in cards if may_lie_on(card, column[-1], BUILD)]
    while fitting and rng.random() < 0.9:
        cards.remove(fitting[0])
        column.append(fitting[0])
        fitting = [card for card in cards if may_lie_on(card, column[-1], BUILD)]


def _record(
    columns: list[list[int]], face_down: list[int], foundation: list[int], talon: list[int], rng: random.Random
) -> np.void:
    states = new_states(1)
    record = states[0]
    for number, column in enumerate(columns):
        record["columns"][number, : len(column)] = column
        record["height"][number] = len(column)
    record["face_down"] = face_down
    record["foundation"] = foundation
    record["best_foundation"] = sum(foundation)
    record["talon"][: len(talon)] = talon
    record["talon_size"] = record["seen_size"] = len(talon)
    record["waste_size"] = rng.randint(0, len(talon))
    record["redeals_used"] = 1
    index_records(states)
    return states[0]
