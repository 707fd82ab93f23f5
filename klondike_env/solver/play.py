"""Help for a game that is being played: completing it, and hints. All of it looks at the hidden cards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np

from klondike_env.engine.actions import STOCK_ACTION
from klondike_env.engine.state import OUTCOME_NAMES, PLAYING, WON
from klondike_env.games import Games
from klondike_env.rules import Rules, rules_of
from klondike_env.solver.solve import Limits, Solution, record_of, solve
from klondike_env.solver.verdicts import SOLVED, UNSOLVABLE


def complete(game: Any, rules: Rules | str | None = None, limits: Limits | None = None) -> Solution:
    """Play a game to a win, if that is still possible.

    Args:
        game: a single environment of this package, wrapped or not, in the middle of a game. A winning line is
            played through `env.step`; if there is none, nothing is played. Or a position, as for
            `klondike_env.solver.solve.solve`; `end_of` returns the record at the end of the line.
        rules: the rules of a position, or a preset's name; "draw1" by default. An environment has its own.
        limits: when to give up; after a minute by default.

    Returns:
        The solution; its `actions` win the game.

    Raises:
        ValueError: no game is being played; options of the environment (`no_repeats`, `stall_limit`,
            `step_limit`) end or forbid the line that was found; rules are given for an environment; or as
            for `solve`.
    """
    if not isinstance(game, gymnasium.Env):
        return solve(game, rules or "draw1", limits)
    if rules is not None:
        raise ValueError(f"rules are {rules!r}, but an environment has its own; leave them out")
    games = game.unwrapped.games  # type: ignore[attr-defined]
    if games.outcomes[0] != PLAYING or games.states["talon_size"][0] + games.states["height"][0].sum() == 0:
        raise ValueError(f"no game is being played (the last one is {OUTCOME_NAMES[games.outcomes[0]]}); call reset()")
    solution = solve(games.states[0], games.rules, limits)
    if solution.verdict != SOLVED:
        return solution
    actions = _playable(games, solution.actions)
    for action in actions:
        game.step(action)
    return replace(solution, actions=actions)


def end_of(position: Any, rules: Rules | str, actions: Sequence[int]) -> np.void:
    """The STATE record at the end of a line of `solve` or `complete`.

    Args:
        position, rules: as for `klondike_env.solver.solve.solve`.
        actions: the line.

    Raises:
        ValueError: as for `solve`.
    """
    rules = rules_of(rules)
    record = record_of(position, rules)
    if not actions:
        return record[0]
    record["outcome"] = PLAYING
    games = Games(1, rules, stall_limit=None, masks=False)
    games.resume(record)
    for action in actions:
        games.step(np.array([action]))
    return games.states[0]


def _playable(games: Games, actions: tuple[int, ...]) -> tuple[int, ...]:
    """The actions of the line that these games offer, up to the win.

    Raises:
        ValueError: the games' options end it early, or forbid an action of it.
    """
    trial, played = games.take([0]), []
    for action in actions:
        if trial.over[0]:
            break
        if action == STOCK_ACTION and not trial.masks[0, action]:
            continue  # with talon="reach" the game makes the draws itself
        trial.step(np.array([action]))
        if trial.illegal[0]:
            raise ValueError("there is a winning line, but no_repeats forbids an action of it")
        played.append(action)
    if trial.outcomes[0] != WON:
        raise ValueError(f"there is a winning line, but the game is {OUTCOME_NAMES[trial.outcomes[0]]} on the way")
    return tuple(played)


def hint(
    position: Any, rules: Rules | str = "draw1", limits: Limits | None = None, *, talon: str = "draw"
) -> dict[int, str]:
    """Find out for each legal action whether the game can still be won after it.

    Args:
        position, rules: as for `klondike_env.solver.solve.solve`.
        limits: of the search after each action; a minute by default.
        talon: how talon cards are offered, "draw" or "reach"; see `klondike_env.games.Games`.

    Returns:
        A mapping of action to "solved", "unsolvable" or "undecided"; empty if the game is over.

    Raises:
        ValueError: as for `solve`.
    """
    rules = rules_of(rules)
    record = record_of(position, rules)
    games = Games(1, rules, talon=talon, stall_limit=None)
    games.resume(record)
    legal = np.flatnonzero(games.masks[0]).tolist()
    after = games.take([0] * len(legal))
    after.step(np.array(legal))
    return {action: _verdict(after, row, limits) for row, action in enumerate(legal)}


def _verdict(games: Games, row: int, limits: Limits | None) -> str:
    if games.outcomes[row] != PLAYING:
        return SOLVED if games.outcomes[row] == WON else UNSOLVABLE
    return solve(games.states[row], games.rules, limits).verdict
