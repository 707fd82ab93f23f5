"""How a game ends: won, lost, stalled or truncated."""

from __future__ import annotations

import numpy as np

from klondike_env.cards import N_CARDS
from klondike_env.engine.actions import N_DESTINATIONS
from klondike_env.engine.jit import kernel
from klondike_env.engine.legal import find_card_moves, find_moves
from klondike_env.engine.queries import foundation_total
from klondike_env.engine.setup import NO_LIMIT, Setup
from klondike_env.engine.state import LOST, PLAYING, STALLED, TRUNCATED, WON
from klondike_env.rules import RuleParams


@kernel
def is_lost(states: np.ndarray, i: int, rules: RuleParams, moves: np.ndarray) -> bool:
    """Whether drawing reaches no card that can be moved; the caller knows that no card can be moved now.

    A game with an unseen card in the stock is not lost, so hidden cards are never read. moves: int64[7], used as
    scratch; its sets of cards are empty before and after.
    """
    if int(states[i]["seen_size"]) < int(states[i]["talon_size"]):
        return False
    lost = not find_card_moves(states, i, rules, 1, moves)
    moves[:N_DESTINATIONS] = 0
    return lost


@kernel
def settle(states: np.ndarray, i: int, setup: Setup, moves: np.ndarray) -> None:
    """Find the legal moves after a step, and whether the game has ended. moves: int64[7], overwritten."""
    options = setup.options
    movable = find_moves(states, i, setup.rules, options.reach, moves)
    outcome = PLAYING
    if foundation_total(states, i) == N_CARDS:
        outcome = WON
    elif not movable and is_lost(states, i, setup.rules, moves):
        outcome = LOST
    elif options.stall_limit != NO_LIMIT and int(states[i]["since_progress"]) >= options.stall_limit:
        outcome = STALLED
    elif options.step_limit != NO_LIMIT and int(states[i]["steps"]) >= options.step_limit:
        outcome = TRUNCATED
    states[i]["outcome"] = outcome
