"""One step of every game of a batch."""

from __future__ import annotations

import numpy as np

from klondike_env.engine.dealing import lay_out, open_talon
from klondike_env.engine.jit import kernel
from klondike_env.engine.legal import N_MOVE_SETS, find_moves, is_legal, write_mask
from klondike_env.engine.outcome import Setup, can_finish, finish, settle, unpack
from klondike_env.engine.repeats import position_key, prune_repeats, remember
from klondike_env.engine.scoring import play, potential
from klondike_env.engine.state import PLAYING, WON

NO_ACTION = -(2**62)  # a row with this action is left alone; far from any number an agent may return

# What one game needs between steps beside its state, and what its last step gave.
TURN = np.dtype(
    [
        ("moves", np.int64, (N_MOVE_SETS,)),  # the legal moves, see klondike_env.engine.legal
        ("visited_count", np.int32),  # positions visited since the last progress
        ("reward", np.float32),  # of the last step
        ("illegal", np.bool_),  # whether the last step's action was refused
    ],
    align=True,
)


@kernel
def open_game(states: np.ndarray, i: int, turns: np.ndarray, visited: np.ndarray, setup: Setup) -> None:
    """Prepare the first decision of a game that has just been dealt."""
    turns[i]["reward"] = 0.0
    turns[i]["illegal"] = False
    turns[i]["visited_count"] = 0
    find_moves(states, i, setup.rules, setup.options.reach, turns[i]["moves"])
    offer(states, i, turns, visited, True, setup)


@kernel
def offer(states: np.ndarray, i: int, turns: np.ndarray, visited: np.ndarray, progress: bool, setup: Setup) -> None:
    """Where repeats are forbidden, note the position and take the repeating moves out, unless all repeat."""
    if setup.options.no_repeats and int(states[i]["outcome"]) == PLAYING:
        key = position_key(states, i, setup.rules)
        count = remember(visited, i, 0 if progress else int(turns[i]["visited_count"]), key)
        turns[i]["visited_count"] = count
        if not prune_repeats(states, i, setup.rules, key, visited, count, turns[i]["moves"]):
            find_moves(states, i, setup.rules, setup.options.reach, turns[i]["moves"])


@kernel
def refuse(states: np.ndarray, i: int, turns: np.ndarray, visited: np.ndarray, setup: Setup) -> None:
    """Answer an illegal action: nothing moves, but the step counts as one without progress."""
    states[i]["since_progress"] += 1
    turns[i]["reward"] = 0.0
    settle(states, i, setup, turns[i]["moves"])
    offer(states, i, turns, visited, False, setup)


@kernel
def accept(states: np.ndarray, i: int, turns: np.ndarray, visited: np.ndarray, action: int, setup: Setup) -> None:
    """Play a legal action and all that follows from it."""
    scheme = setup.scheme
    before, score = potential(states, i, scheme), int(states[i]["score"])
    progress = play(states, i, action, setup.rules, scheme)
    states[i]["since_progress"] = 0 if progress else int(states[i]["since_progress"]) + 1
    if setup.options.auto_finish and can_finish(states, i, setup.rules):
        finish(states, i, setup.rules, scheme)
    settle(states, i, setup, turns[i]["moves"])
    outcome = int(states[i]["outcome"])
    reward = int(states[i]["score"]) - score - before
    if outcome == PLAYING:
        reward += potential(states, i, scheme)
    elif outcome == WON:
        reward += scheme.win
    turns[i]["reward"] = reward
    offer(states, i, turns, visited, progress, setup)


@kernel
def step_game(states: np.ndarray, i: int, turns: np.ndarray, visited: np.ndarray, action: int, setup: Setup) -> None:
    """One environment step of one game that is still being played."""
    legal = is_legal(turns[i]["moves"], action)
    turns[i]["illegal"] = not legal
    states[i]["steps"] += 1
    if legal:
        accept(states, i, turns, visited, action, setup)
    else:
        refuse(states, i, turns, visited, setup)


@kernel
def step_games(
    states: np.ndarray,
    turns: np.ndarray,
    visited: np.ndarray,
    masks: np.ndarray,
    actions: np.ndarray,
    packed: np.ndarray,
) -> int:
    """Step every game of a batch; how many ended. Rows that have ended, or whose action is NO_ACTION, are left alone.

    states: STATE[n]; turns: TURN[n]; visited: uint64[n, capacity], capacity 0 unless repeats are
    forbidden; masks: int8[n, 313], overwritten, or int8[0, 313] for none; actions: int64[n];
    packed: the packed setup.
    """
    setup = unpack(packed)
    ended = 0
    for i in range(len(states)):
        if int(states[i]["outcome"]) == PLAYING and actions[i] != NO_ACTION:
            step_game(states, i, turns, visited, actions[i], setup)
            ended += 1 if int(states[i]["outcome"]) != PLAYING else 0
            if len(masks) > 0:
                show_mask(states, i, turns, masks)
    return ended


@kernel
def show_mask(states: np.ndarray, i: int, turns: np.ndarray, masks: np.ndarray) -> None:
    """Write the mask of one game: its legal actions, or all ones after its end."""
    if int(states[i]["outcome"]) == PLAYING:
        write_mask(turns[i]["moves"], masks[i])
    else:
        masks[i, :] = 1


@kernel
def deal_games(
    states: np.ndarray,
    turns: np.ndarray,
    visited: np.ndarray,
    masks: np.ndarray,
    rows: np.ndarray,
    decks: np.ndarray,
    packed: np.ndarray,
) -> None:
    """Start a fresh game in each of the rows. rows: int64[m]; decks: uint8[m, 52]; the rest as for `step_games`."""
    setup = unpack(packed)
    for k in range(len(rows)):
        i = rows[k]
        lay_out(states, i, decks[k])
        if setup.options.reach:
            open_talon(states, i, setup.rules)
        open_game(states, i, turns, visited, setup)
        if len(masks) > 0:
            show_mask(states, i, turns, masks)
