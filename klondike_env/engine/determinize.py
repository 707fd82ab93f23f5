"""Determinization: the unseen cards are put on the unseen places at random.

Unseen cards lie face down in the columns, or in the stock and were never drawn. Deals are uniform, and play depends
only on what was seen. So to the player all orders of the unseen cards are equally likely. A planner that looks
ahead in a copy of the game with these cards shuffled therefore knows no more than it should.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klondike_env.cards import N_CARDS, UNSEEN
from klondike_env.checks import check_generator
from klondike_env.engine.batch import FRESH_START
from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import shuffle
from klondike_env.engine.repeats import layout_key
from klondike_env.engine.state import HIDDEN_PLACE, N_COLUMNS, TALON
from klondike_env.engine.views import hide_unseen


@kernel
def gather_unplaced(states: np.ndarray, i: int, cards: np.ndarray) -> int:
    """Write the cards whose place is unknown, in order of their ids; return how many. cards: uint8[52], overwritten."""
    count = 0
    for card in range(N_CARDS):
        if int(states[i]["place"][card]) == HIDDEN_PLACE:
            cards[count] = card
            count += 1
    return count


@kernel
def fill_unseen(states: np.ndarray, i: int, cards: np.ndarray) -> None:
    """Put the first cards of `cards` on the places that hold UNSEEN, one on each. cards: uint8[52]."""
    count = 0
    for column in range(N_COLUMNS):
        for row in range(int(states[i]["face_down"][column])):
            if int(states[i]["columns"][column, row]) == UNSEEN:
                card = int(cards[count])
                states[i]["columns"][column, row] = card
                states[i]["place"][card] = column
                states[i]["row"][card] = row
                count += 1
    for index in range(int(states[i]["seen_size"]), int(states[i]["talon_size"])):
        if int(states[i]["talon"][index]) == UNSEEN:
            card = int(cards[count])
            states[i]["talon"][index] = card
            states[i]["place"][card] = TALON
            count += 1


@kernel
def determinize_view(states: np.ndarray, i: int, seed: np.uint64, cards: np.ndarray) -> None:
    """Turn a view into a state: shuffle its unseen cards over its unseen places. cards: uint8[52], scratch."""
    shuffle(cards, gather_unplaced(states, i, cards), seed)
    fill_unseen(states, i, cards)


@kernel
def determinize_views(states: np.ndarray, seeds: np.ndarray, cards: np.ndarray) -> None:
    """Turn each view into a state. states: STATE[n], overwritten; seeds: uint64[n]; cards: uint8[52], scratch."""
    for i in range(len(states)):
        determinize_view(states, i, seeds[i], cards)


@kernel
def determinize_games(
    states: np.ndarray,
    turns: np.ndarray,
    visited: np.ndarray,
    rows: np.ndarray,
    seeds: np.ndarray,
    cards: np.ndarray,
) -> None:
    """Shuffle the unseen cards of some games, which may be views; legal moves stay as they are.

    The keys of visited positions all contain the same terms for the face-down cards. These terms are replaced.
    states, turns, visited: as for `klondike_env.engine.batch.step_games`; rows: int64[m]; seeds: uint64[m];
    cards: uint8[52], scratch.
    """
    for k in range(len(rows)):
        i = rows[k]
        before = layout_key(states, i)
        hide_unseen(states, i)
        determinize_view(states, i, seeds[k], cards)
        turns[i]["version"] += FRESH_START
        change = layout_key(states, i) - before
        for index in range(int(turns[i]["visited_count"])):
            visited[i, index] += change


def draw_seeds(rng: Any, n: int) -> np.ndarray:
    """Seeds for the shuffles of `n` games: uint64[n].

    Raises:
        ValueError: `rng` is neither a numpy Generator nor a whole number from 0.
    """
    return check_generator(rng).integers(0, 2**64, n, dtype=np.uint64)


def determinized(views: np.ndarray, rng: Any) -> np.ndarray:
    """One possible state for each view: its unseen cards are shuffled uniformly over the unseen places.

    Args:
        views: STATE[n], as `Games.views` gives them; left as they are.
        rng: a numpy Generator, or a whole number as a seed.

    Returns:
        STATE[n], to play on from with `Games.resume`.

    Raises:
        ValueError: `rng` is neither a numpy Generator nor a whole number from 0.
    """
    states = views.copy()
    determinize_views(states, draw_seeds(rng, len(states)), np.zeros(N_CARDS, dtype=np.uint8))
    return states
