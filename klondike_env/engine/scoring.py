"""What an action earns: points and shaping, both computed from what has changed on the table."""

from __future__ import annotations

import numpy as np

from klondike_env.engine.apply import apply
from klondike_env.engine.jit import kernel
from klondike_env.engine.queries import face_down_total, foundation_total
from klondike_env.engine.setup import Scheme
from klondike_env.engine.state import N_FACE_DOWN
from klondike_env.rules import RuleParams


@kernel
def potential(states: np.ndarray, i: int, scheme: Scheme) -> float:
    """The shaping potential of a position."""
    if scheme.foundation_potential == 0.0 and scheme.face_up_potential == 0.0:
        return 0.0
    turned = N_FACE_DOWN - face_down_total(states, i)
    return scheme.foundation_potential * foundation_total(states, i) + scheme.face_up_potential * turned


@kernel
def add_points(states: np.ndarray, i: int, points: float, scheme: Scheme) -> None:
    """Add points to the running score."""
    score = int(states[i]["score"]) + int(points)
    states[i]["score"] = max(score, 0) if scheme.floored else score


@kernel
def pay_stake(states: np.ndarray, i: int, scheme: Scheme) -> None:
    """Pay the stake unless it was paid before. A paid score is never 0 again, because 52 is not a multiple of 5."""
    if scheme.stake != 0.0 and int(states[i]["score"]) == 0:
        add_points(states, i, scheme.stake, scheme)


@kernel
def play(states: np.ndarray, i: int, action: int, rules: RuleParams, scheme: Scheme) -> bool:
    """Play a legal action and add its points; return whether it is progress.

    If the action implies a redeal, the points of the redeal are added first.
    """
    if scheme.to_foundation == 0.0:  # the scheme has no points
        return apply(states, i, action, rules)
    pay_stake(states, i, scheme)
    foundation, face_down = foundation_total(states, i), face_down_total(states, i)
    talon, redeals = int(states[i]["talon_size"]), int(states[i]["redeals_used"])
    progress = apply(states, i, action, rules)
    raised = foundation_total(states, i) - foundation
    turned = face_down - face_down_total(states, i)
    left_talon = talon - int(states[i]["talon_size"])
    if rules.draw_count == 1:
        add_points(states, i, scheme.redeal * (int(states[i]["redeals_used"]) - redeals), scheme)
    points = scheme.turn_up * turned
    points += scheme.to_foundation * raised if raised > 0 else -scheme.worry_back * raised
    if left_talon > 0 and raised == 0:
        points += scheme.waste_to_column
    add_points(states, i, points, scheme)
    return progress
