"""The agent `greedy`: the priority list of Bjarnason, Fern and Tadepalli, Lower Bounding Klondike
Solitaire with Monte-Carlo Planning (ICAPS 2009).

    0  column to foundation, turning a card up
    1  any other card to its foundation
    2  column to column, turning a card up
    3  talon to column
    4  foundation to column
    5  column to column, turning nothing up
    6  the stock (only where drawing is an action at all: the paper plays talon cards directly)

Ties are broken at random. Actions that lead back to a visited position are ruled out, here by the
mask (`no_repeats`). Once no card is face down the same list plays on to the end.
"""

from __future__ import annotations

import numpy as np

from klondike_env.agents.base import KernelAgent
from klondike_env.agents.chance import roll
from klondike_env.engine.actions import N_ACTIONS, N_DESTINATIONS, RESIGN, STOCK_ACTION, TO_FOUNDATION
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import N_COLUMNS, PLAYING, TALON

STOCK_PRIORITY = 6
N_PRIORITIES = STOCK_PRIORITY + 1


@kernel
def turns_up(views: np.ndarray, i: int, card: int) -> bool:
    """Whether moving this column card, with all that lies on it, turns a face-down card up."""
    column = int(views[i]["place"][card])
    face_down = int(views[i]["face_down"][column])
    return face_down > 0 and int(views[i]["row"][card]) == face_down


@kernel
def priority(views: np.ndarray, i: int, action: int) -> int:
    """The place of a legal action in the list, 0 (first choice) to 6."""
    if action == STOCK_ACTION:
        return STOCK_PRIORITY
    card, destination = action // N_DESTINATIONS, action % N_DESTINATIONS
    place = int(views[i]["place"][card])
    if destination == TO_FOUNDATION:
        return 0 if place < N_COLUMNS and turns_up(views, i, card) else 1
    if place < N_COLUMNS:
        return 2 if turns_up(views, i, card) else 5
    return 3 if place == TALON else 4


@kernel
def choose(views: np.ndarray, i: int, masks: np.ndarray, seed: int) -> int:
    """A legal action of record `i` of the best priority on offer; RESIGN when none is legal."""
    best, ties = N_PRIORITIES, 0
    for action in range(N_ACTIONS):
        if masks[i, action]:
            place = priority(views, i, action)
            if place < best:
                best, ties = place, 0
            ties += place == best
    if ties == 0:
        return RESIGN
    skip = roll(views, i, seed, ties)
    for action in range(N_ACTIONS):
        if masks[i, action] and priority(views, i, action) == best:
            if skip == 0:
                return action
            skip -= 1
    return RESIGN


@kernel
def choose_all(views: np.ndarray, masks: np.ndarray, seed: int, actions: np.ndarray) -> None:
    """`choose` for every game in play; actions: int64[n], overwritten there."""
    for i in range(views.shape[0]):
        if views[i]["outcome"] == PLAYING:
            actions[i] = choose(views, i, masks, seed)


class GreedyAgent(KernelAgent):
    """Takes the most promising kind of action on offer, ties at random."""

    name = "greedy"
    choose_all = staticmethod(choose_all)
