"""Advice for a player: how likely a win is after each legal action, given what the player can know.

The unseen cards are shuffled many times. In each of these determinizations every action is tried, and the agent `tuned`
plays on to the end. A better player would win more often, so the shares are meant to be compared with each other. Once
at most one card is unseen, the solver decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from klondike_env.agents.planner.agent import Options, Planner
from klondike_env.agents.planner.endgame import n_unseen
from klondike_env.agents.tuned.agent import TunedAgent
from klondike_env.checks import check_whole_number, whole_number
from klondike_env.engine.actions import RESIGN
from klondike_env.engine.state import OUTCOME_NAMES, PLAYING
from klondike_env.games import Games
from klondike_env.intervals import Interval, wilson_interval
from klondike_env.position import read_position
from klondike_env.rules import Rules, rules_of
from klondike_env.solver.play import hint
from klondike_env.solver.solve import Limits
from klondike_env.solver.verdicts import SOLVED, UNDECIDED

DEFAULT_SAMPLES = 1000
_LIMITS = Limits(nodes=200_000, seconds=None)  # of the solver, for each action


@dataclass(frozen=True)
class Advice:
    """What one action is worth.

    Attributes:
        action: the action, see `klondike_env.engine.actions`.
        chance: the share of games that were won after it, 0 to 1.
        interval: the 95 % interval of that share; of width 0 where the solver has decided.
    """

    action: int
    chance: float
    interval: Interval


def advise(
    game: Any,
    rules: Rules | str = "draw1",
    *,
    samples: int = DEFAULT_SAMPLES,
    talon: str = "draw",
    seed: int = 0,
) -> list[Advice]:
    """Estimate how likely a win is after each legal action. Hidden cards are not looked at.

    Args:
        game: a single environment in the middle of a game; else a deal number, a position as text or a STATE record.
        rules: the rules, or a preset's name; those of the environment where one is given.
        samples: determinizations in which each action is tried.
        talon: the talon mode, "draw" or "reach"; that of the environment where one is given.
        seed: of the random numbers.

    Returns:
        One entry for each legal action, the best first.

    Raises:
        ValueError: an argument is not allowed, the position is not possible, or the game is over.
    """
    samples = check_whole_number("samples", samples, 1)
    seed = check_whole_number("seed", seed, 0)
    games = _games_of(game, rules_of(rules), talon, seed)
    views = games.views()
    solved = _by_solver(games) if n_unseen(views)[0] <= 1 else []
    return solved or _by_rollouts(views, games, samples, seed)


def _games_of(game: Any, rules: Rules, talon: str, seed: int) -> Games:
    """The game that a user names, as a batch of one.

    Raises:
        ValueError: as for `advise`.
    """
    if hasattr(game, "unwrapped"):
        games: Games = game.unwrapped.games.take([0])
        if games.outcomes[0] != PLAYING:
            raise ValueError(f"the game is over ({OUTCOME_NAMES[games.outcomes[0]]}); call reset()")
        return games
    games = Games(1, rules, talon=talon, stall_limit=None)
    if whole_number(game) is not None:
        games.deal([game])
    else:
        games.start_positions(read_position(game, rules, np.random.default_rng(seed)))
    return games


def _by_solver(games: Games) -> list[Advice]:
    """Advice by the solver for a game in which all cards can be inferred; none where an action is undecided."""
    known = games.take([0])
    known.shuffle_unseen(0)  # a single unseen card can lie in one place only
    verdicts = hint(known.states[0], games.rules, _LIMITS, talon="reach" if games.setup.options.reach else "draw")
    if UNDECIDED in verdicts.values():
        return []
    chances = {action: float(verdict == SOLVED) for action, verdict in verdicts.items()}
    return _best_first([Advice(action, chance, Interval(chance, chance)) for action, chance in chances.items()])


def rollout_planner(rules: Rules, samples: int, reach: bool, seed: int) -> Planner:
    """A planner whose `wins` counts the games that `tuned` wins after each legal action, without the solver."""
    options = Options("legal", samples, inf, nodes=1, blind=1.0, z=0.0)
    return Planner(options, TunedAgent(), rules, reach, seed)


def _by_rollouts(views: np.ndarray, games: Games, samples: int, seed: int) -> list[Advice]:
    planner = rollout_planner(games.rules, samples, bool(games.setup.options.reach), seed)
    won, n = planner.wins(views, games.masks[0])
    return _best_first(
        [Advice(action, wins / n, wilson_interval(wins, n)) for action, wins in won.items() if action != RESIGN]
    )


def _best_first(advice: list[Advice]) -> list[Advice]:
    return sorted(advice, key=lambda one: (-one.chance, one.action))
