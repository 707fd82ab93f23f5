"""How many moves a line has, counted by the engine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from klondike_env.engine.actions import name
from klondike_env.engine.apply import apply
from klondike_env.engine.jit import kernel
from klondike_env.engine.legal import N_MOVE_SETS, find_moves, is_legal
from klondike_env.engine.restore import index_records
from klondike_env.rules import RuleParams, Rules


@kernel
def play_actions(states: np.ndarray, actions: np.ndarray, rules: RuleParams, moves: np.ndarray) -> int:
    """Play actions as long as they are legal; return how many were.

    Talon cards may be played at once, as with `talon="reach"`, or after the draws that bring them up.

    states: STATE[1], changed in place; actions: int64[n]; moves: int64[7], scratch.
    """
    for count in range(len(actions)):
        action = int(actions[count])
        find_moves(states, 0, rules, 0, moves)
        if not is_legal(moves, action):
            find_moves(states, 0, rules, 1, moves)
            if not is_legal(moves, action):
                return count
        apply(states, 0, action, rules)
    return len(actions)


def play_line(start: np.void, rules: Rules, actions: Sequence[int]) -> tuple[np.void, int]:
    """Play a line; return the record at its end and the number of card moves and draws. Redeals do not count.

    Raises:
        ValueError: an action is not legal.
    """
    states = np.array([start])
    index_records(states)
    line = np.array(actions, dtype=np.int64)
    played = play_actions(states, line, rules.params(), np.empty(N_MOVE_SETS, dtype=np.int64))
    if played < len(line):
        raise ValueError(f"action {played + 1} of the line, {name(actions[played])!r}, is not legal there")
    redeals = int(states["redeals_used"][0]) - int(start["redeals_used"])
    return states[0], int(states["moves"][0]) - int(start["moves"]) - redeals
