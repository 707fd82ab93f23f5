"""What an action earns: game scores and shaping, from what changed on the table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.engine.apply import apply, face_down_total, foundation_total
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import N_FACE_DOWN
from klondike_env.rules import RuleParams


class Scheme(NamedTuple):
    """A reward scheme: what is paid for what. All are floats so that kernels see one type."""

    win: float = 0.0  # once, when the game is won
    foundation_potential: float = 0.0  # shaping potential of each card on the foundations
    face_up_potential: float = 0.0  # shaping potential of each of the 21 face-down cards that was turned up
    waste_to_column: float = 0.0  # points for a card from the waste to a column
    to_foundation: float = 0.0  # points for a card to a foundation; 0 only where there are no points at all
    turn_up: float = 0.0  # points for turning a card up
    worry_back: float = 0.0  # points for a card taken back from a foundation
    redeal: float = 0.0  # points for a redeal when cards are drawn one at a time
    stake: float = 0.0  # points paid once, on the first accepted action
    floored: float = 0.0  # 1.0 when the total of the points never falls below 0


@kernel
def potential(states: np.ndarray, i: int, scheme: Scheme) -> float:
    """The shaping potential of a position."""
    if scheme.foundation_potential == 0.0 and scheme.face_up_potential == 0.0:
        return 0.0
    turned = N_FACE_DOWN - face_down_total(states, i)
    return scheme.foundation_potential * foundation_total(states, i) + scheme.face_up_potential * turned


@kernel
def book(states: np.ndarray, i: int, points: float, scheme: Scheme) -> None:
    """Add points to the running score."""
    score = int(states[i]["score"]) + int(points)
    states[i]["score"] = max(score, 0) if scheme.floored else score


@kernel
def book_stake(states: np.ndarray, i: int, scheme: Scheme) -> None:
    """Pay the stake, unless it has been paid: a score of 0 cannot recur, for no multiple of 5 makes up 52."""
    if scheme.stake != 0.0 and int(states[i]["score"]) == 0:
        book(states, i, scheme.stake, scheme)


@kernel
def play(states: np.ndarray, i: int, action: int, rules: RuleParams, scheme: Scheme) -> bool:
    """Play a legal action and book its points; whether it is progress.

    Redeals that the action implies are booked before what it earns.
    """
    if scheme.to_foundation == 0.0:  # no game score at all
        return apply(states, i, action, rules)
    book_stake(states, i, scheme)
    foundation, face_down = foundation_total(states, i), face_down_total(states, i)
    talon, redeals = int(states[i]["talon_size"]), int(states[i]["redeals_used"])
    progress = apply(states, i, action, rules)
    raised = foundation_total(states, i) - foundation
    turned = face_down - face_down_total(states, i)
    left_talon = talon - int(states[i]["talon_size"])
    if rules.draw_count == 1:
        book(states, i, scheme.redeal * (int(states[i]["redeals_used"]) - redeals), scheme)
    points = scheme.turn_up * turned
    points += scheme.to_foundation * raised if raised > 0 else -scheme.worry_back * raised
    if left_talon > 0 and raised == 0:
        points += scheme.waste_to_column
    book(states, i, points, scheme)
    return progress
