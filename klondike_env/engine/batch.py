"""One step of every game of a batch."""

from __future__ import annotations

import numpy as np

from klondike_env.engine.actions import N_DESTINATIONS, STOCK_ACTION
from klondike_env.engine.dealing import lay_out, open_talon
from klondike_env.engine.finish import finish
from klondike_env.engine.jit import kernel
from klondike_env.engine.legal import N_MOVE_SETS, find_moves, is_legal, write_mask
from klondike_env.engine.outcome import settle
from klondike_env.engine.queries import is_decided
from klondike_env.engine.repeats import position_key, prune_repeats, remember
from klondike_env.engine.scoring import play, potential
from klondike_env.engine.setup import Scheme, Setup, unpack
from klondike_env.engine.state import PLAYING, TALON, WON

NO_ACTION = -(2**62)  # a game with this action is left alone; far from any number that an agent may return
FRESH_START = 2  # added to the version of a game that was dealt, restored, copied or shuffled instead of stepped

# What one game needs between steps besides its state, and the results of its last step.
TURN = np.dtype(
    [
        ("moves", np.int64, (N_MOVE_SETS,)),  # the legal moves, see klondike_env.engine.legal
        # Grows by 1 with a step and by FRESH_START otherwise. It belongs to the row and is never copied to another.
        ("version", np.int64),
        ("action", np.int64),  # the last step's action, or NO_ACTION if it was refused
        ("source", np.int64),  # the place its card came from, see klondike_env.engine.state; TALON for the stock action
        ("visited_count", np.int32),  # positions visited since the last progress
        ("reward", np.float32),  # of the last step
        ("illegal", np.bool_),  # whether the last step's action was refused
    ],
    align=True,
)


@kernel
def offer(states: np.ndarray, i: int, turns: np.ndarray, visited: np.ndarray, progress: bool, setup: Setup) -> None:
    """Where repeats are forbidden, remember the position and remove the moves that repeat one, unless all do."""
    if setup.options.no_repeats and int(states[i]["outcome"]) == PLAYING:
        count = 0 if progress else int(turns[i]["visited_count"])
        history = remember(visited, i, count, position_key(states, i, setup.rules))
        turns[i]["visited_count"] = history.size
        if not prune_repeats(states, i, setup.rules, history, turns[i]["moves"]):
            find_moves(states, i, setup.rules, setup.options.reach, turns[i]["moves"])


@kernel
def record_event(states: np.ndarray, i: int, turns: np.ndarray, action: int) -> None:
    """Record the step that is about to be played, for an observer that follows the games step by step."""
    turns[i]["version"] += 1
    turns[i]["action"] = action
    turns[i]["source"] = states[i]["place"][action // N_DESTINATIONS] if 0 <= action < STOCK_ACTION else TALON


@kernel
def advance(states: np.ndarray, i: int, action: int, setup: Setup) -> bool:
    """Play a legal action, and with `auto_finish` the rest of a decided game; return whether it is progress."""
    progress = play(states, i, action, setup.rules, setup.scheme)
    if setup.options.auto_finish and is_decided(states, i, setup.rules):
        finish(states, i, setup.rules, setup.scheme)
    return progress


@kernel
def shaping(states: np.ndarray, i: int, scheme: Scheme) -> float:
    """What the end of the game, or else the potential of the position, adds to the reward of the last step."""
    outcome = int(states[i]["outcome"])
    if outcome == PLAYING:
        return potential(states, i, scheme)
    return scheme.win if outcome == WON else 0.0


@kernel
def step_game(states: np.ndarray, i: int, turns: np.ndarray, visited: np.ndarray, action: int, setup: Setup) -> None:
    """Play one environment step of a game that is still in play; an illegal action moves nothing and earns nothing."""
    legal = is_legal(turns[i]["moves"], action)
    turns[i]["illegal"] = not legal
    record_event(states, i, turns, action if legal else NO_ACTION)
    before, score = potential(states, i, setup.scheme), int(states[i]["score"])
    progress = legal and advance(states, i, action, setup)
    states[i]["steps"] += 1
    states[i]["since_progress"] = 0 if progress else int(states[i]["since_progress"]) + 1
    settle(states, i, setup, turns[i]["moves"])
    earned = int(states[i]["score"]) - score + shaping(states, i, setup.scheme) - before
    turns[i]["reward"] = earned if legal else 0.0
    offer(states, i, turns, visited, progress, setup)


@kernel
def step_games(
    states: np.ndarray,
    turns: np.ndarray,
    visited: np.ndarray,
    masks: np.ndarray,
    actions: np.ndarray,
    packed: np.ndarray,
) -> int:
    """Step every game of a batch; return how many ended.

    Games that have ended, or whose action is NO_ACTION, are left alone. states: STATE[n]; turns: TURN[n];
    visited: uint64[n, capacity], capacity 0 unless repeats are forbidden; masks: int8[n, 313], overwritten, or
    int8[0, 313] for none; actions: int64[n]; packed: the packed setup.
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
def deal_games(states: np.ndarray, turns: np.ndarray, rows: np.ndarray, decks: np.ndarray, packed: np.ndarray) -> None:
    """Lay out a fresh game in each of the rows, for `open_games`. rows: int64[m]; decks: uint8[m, 52]."""
    setup = unpack(packed)
    for k in range(len(rows)):
        i = rows[k]
        lay_out(states, i, decks[k])
        if setup.options.reach:
            open_talon(states, i, setup.rules)
        turns[i]["reward"] = 0.0
        turns[i]["illegal"] = False
        turns[i]["visited_count"] = 0


@kernel
def open_games(
    states: np.ndarray,
    turns: np.ndarray,
    visited: np.ndarray,
    masks: np.ndarray,
    rows: np.ndarray,
    packed: np.ndarray,
) -> None:
    """Find the legal moves of games that were not stepped: they were dealt, or go on from a record.

    rows: int64[m]; the rest as for `step_games`. The first `visited_count` positions still count as visited.
    """
    setup = unpack(packed)
    for k in range(len(rows)):
        i = rows[k]
        turns[i]["version"] += FRESH_START
        find_moves(states, i, setup.rules, setup.options.reach, turns[i]["moves"])
        offer(states, i, turns, visited, False, setup)
        if len(masks) > 0:
            show_mask(states, i, turns, masks)
