"""How a game ends: won, lost, stalled or truncated; and playing a decided game to its end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.cards import N_CARDS, N_RANKS, N_SUITS
from klondike_env.engine.actions import N_DESTINATIONS, TO_FOUNDATION
from klondike_env.engine.apply import face_down_total, foundation_total
from klondike_env.engine.card_arithmetic import card_at
from klondike_env.engine.card_sets import bit_of
from klondike_env.engine.jit import kernel
from klondike_env.engine.legal import column_tops, find_card_moves, find_moves, wanted_cards
from klondike_env.engine.scoring import Scheme, play
from klondike_env.engine.state import LOST, PLAYING, STALLED, TRUNCATED, WON
from klondike_env.engine.talon import draws_to, waste_top
from klondike_env.rules import UNLIMITED, RuleParams

NO_LIMIT = -1


class Options(NamedTuple):
    """How games are offered and ended, as plain integers for kernels."""

    reach: int  # 1: every seen talon card that drawing can reach is offered as a direct play
    no_repeats: int  # 1: actions that lead back to a position visited since the last progress are masked
    auto_finish: int  # 1: a decided game is played to its end at once
    stall_limit: int  # steps in a row without progress that end a game, or NO_LIMIT
    step_limit: int  # steps that end a game, or NO_LIMIT


class Setup(NamedTuple):
    """All that stays fixed while games are played.

    From Python it travels as one packed array, because passing nested tuples costs microseconds a call.
    """

    rules: RuleParams
    options: Options
    scheme: Scheme

    def packed(self) -> np.ndarray:
        """All values in order as float64[k]."""
        return np.array([*self.rules, *self.options, *self.scheme], dtype=np.float64)


@kernel
def unpack(packed: np.ndarray) -> Setup:
    """The setup of a packed array; inverse of `Setup.packed`."""
    rules = RuleParams(int(packed[0]), int(packed[1]), int(packed[2]), int(packed[3]), int(packed[4]), int(packed[5]))
    options = Options(int(packed[6]), int(packed[7]), int(packed[8]), int(packed[9]), int(packed[10]))
    k = 11
    scheme = Scheme(
        packed[k],
        packed[k + 1],
        packed[k + 2],
        packed[k + 3],
        packed[k + 4],
        packed[k + 5],
        packed[k + 6],
        packed[k + 7],
        packed[k + 8],
        packed[k + 9],
    )
    return Setup(rules, options, scheme)


@kernel
def is_lost(states: np.ndarray, i: int, rules: RuleParams, moves: np.ndarray) -> bool:
    """Whether no card can be moved with any card that drawing can reach, given that none can be moved now.

    While an unseen card can be drawn the game is not lost, so hidden cards are never read. moves:
    int64[7], used as scratch and left as it was: without moves of cards.
    """
    if int(states[i]["seen_size"]) < int(states[i]["talon_size"]):
        return False
    lost = not find_card_moves(states, i, rules, 1, moves)
    moves[:N_DESTINATIONS] = 0
    return lost


@kernel
def can_finish(states: np.ndarray, i: int, rules: RuleParams) -> bool:
    """Whether the game is decided: nothing is face down and every talon card is free.

    Such a position is won, because the lowest card still out is always free.
    """
    free_talon = rules.draw_count == 1 and rules.redeals == UNLIMITED
    return (int(states[i]["talon_size"]) == 0 or free_talon) and face_down_total(states, i) == 0


@kernel
def nearest_wanted(states: np.ndarray, i: int, wanted: int, rules: RuleParams) -> int:
    """The wanted talon card that takes the fewest draws."""
    size, waste = int(states[i]["talon_size"]), int(states[i]["waste_size"])
    nearest, fewest = N_CARDS, 0
    for place in range(size):
        card = int(states[i]["talon"][place])
        if wanted & bit_of(card):
            draws = draws_to(size, waste, place, rules.draw_count)
            if nearest == N_CARDS or draws < fewest:
                nearest, fewest = card, draws
    return nearest


@kernel
def next_to_finish(states: np.ndarray, i: int, rules: RuleParams) -> int:
    """The card that finishing puts up next: a free one, lowest suit first, else the nearest in the talon."""
    wanted = wanted_cards(states, i)
    for free in (column_tops(states, i) & wanted, waste_top(states, i) & wanted):
        for suit in range(N_SUITS):
            height = int(states[i]["foundation"][suit])
            if height < N_RANKS and free & bit_of(card_at(height, suit)):
                return card_at(height, suit)
    return nearest_wanted(states, i, wanted, rules)


@kernel
def finish(states: np.ndarray, i: int, rules: RuleParams, scheme: Scheme) -> None:
    """Play a decided game to its end; every move of it is counted. The rest of the stock is seen on the way."""
    states[i]["seen_size"] = states[i]["talon_size"]
    while foundation_total(states, i) < N_CARDS:
        card = next_to_finish(states, i, rules)
        play(states, i, card * N_DESTINATIONS + TO_FOUNDATION, rules, scheme)


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
