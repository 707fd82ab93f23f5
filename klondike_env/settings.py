"""The arguments that the single and the vector environment share, and what they build."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from klondike_env.engine import actions
from klondike_env.engine.batch import NO_ACTION
from klondike_env.engine.games import DEFAULT_STALL_LIMIT, Games
from klondike_env.observation import Observer
from klondike_env.rules import RULE_FIELDS, Rules, preset

ILLEGAL_POLICIES = ("refuse", "raise", "terminate")
RESET_OPTIONS = ("deal", "deck")
_HUGE = 2**31  # actions beyond are as illegal as any other number, and need not fit the kernels


class UnknownKeywordError(TypeError, ValueError):
    """A keyword that no environment knows.

    A `TypeError`, as any function raises it: TorchRL tries out whether an environment takes a keyword.
    A `ValueError`, like all that this package raises for arguments.
    """


@dataclass(frozen=True)
class Settings:
    """How games are offered, observed and rewarded; every value is JSON-able.

    Attributes:
        talon: "draw" or "reach", see `klondike_env.engine.games.Games`.
        no_repeats: mask actions that lead back to a position visited since the last progress.
        auto_finish: end a game as won once it is decided.
        stall_limit: steps in a row without progress that end a game; None for no limit.
        step_limit: steps that truncate a game; None for no limit.
        reward: "win", "progress", "standard" or "vegas", see `klondike_env.reward`.
        observation: "flat", "cards" or "dict", see `klondike_env.observation`.
        thoughtful: show the hidden cards in the observation.
        illegal_action: "refuse" (nothing moves, the step counts as one without progress),
            "raise" (ValueError) or "terminate" (the game ends as lost).
    """

    talon: str = "draw"
    no_repeats: bool = False
    auto_finish: bool = False
    stall_limit: int | None = DEFAULT_STALL_LIMIT
    step_limit: int | None = None
    reward: str = "win"
    observation: str = "flat"
    thoughtful: bool = False
    illegal_action: str = "refuse"

    def __post_init__(self) -> None:
        if self.illegal_action not in ILLEGAL_POLICIES:
            raise ValueError(f"illegal_action is {self.illegal_action!r}; allowed: {', '.join(ILLEGAL_POLICIES)}")
        for field in ("no_repeats", "auto_finish", "thoughtful"):
            if not isinstance(getattr(self, field), bool):
                raise ValueError(f"{field} is {getattr(self, field)!r}; allowed: True or False")

    def games(self, n: int, rules: Rules) -> Games:
        """A batch of `n` games."""
        return Games(
            n,
            rules,
            talon=self.talon,
            no_repeats=self.no_repeats,
            auto_finish=self.auto_finish,
            stall_limit=self.stall_limit,
            step_limit=self.step_limit,
            reward=self.reward,
        )

    def observer(self, games: Games) -> Observer:
        """The observer of these games."""
        return Observer(self.observation, games.setup, thoughtful=self.thoughtful)


SETTING_NAMES = tuple(Settings.__dataclass_fields__)


def split_keywords(variant: str | None, keywords: dict[str, Any]) -> tuple[Rules, Settings]:
    """Rules and settings from an environment's keywords.

    Args:
        variant: a preset's name, or None for rules given by keyword.
        keywords: fields of `Rules` (only without a variant) and of `Settings`.

    Raises:
        UnknownKeywordError: a keyword is unknown.
        ValueError: a keyword has a value that is not allowed.
    """
    for name in keywords:
        if name in RULE_FIELDS and variant is not None:
            raise ValueError(f"{name} is a rule, and the rules of {variant!r} are fixed; use Klondike/Custom-v0")
        if name not in RULE_FIELDS and name not in SETTING_NAMES:
            known = ", ".join((*RULE_FIELDS, *SETTING_NAMES))
            raise UnknownKeywordError(f"unexpected keyword argument {name!r}; known: {known}")
    rule_values = {name: value for name, value in keywords.items() if name in RULE_FIELDS}
    settings = {name: value for name, value in keywords.items() if name in SETTING_NAMES}
    return Rules(**rule_values) if variant is None else preset(variant), Settings(**settings)


def check_reset_options(options: dict[str, Any] | None, also: tuple[str, ...] = ()) -> dict[str, Any]:
    """The options of `reset`, empty for None.

    Raises:
        ValueError: an option is unknown, or both a deal and a deck are given.
    """
    options = dict(options or {})
    for name in options:
        if name not in RESET_OPTIONS + also:
            raise ValueError(f"no such reset option: {name!r}; known: {', '.join(RESET_OPTIONS + also)}")
    if "deal" in options and "deck" in options:
        raise ValueError("reset options name a deal and a deck; give one of them")
    return options


def legible_action(chosen: Any) -> int:
    """An action as a whole number that the kernels can take.

    Raises:
        ValueError: it is no whole number.
    """
    try:
        action = index(chosen)
    except TypeError:
        raise ValueError(f"action is {chosen!r}; allowed: a whole number 0 to {actions.N_ACTIONS - 1}") from None
    return action if abs(action) < _HUGE else actions.RESIGN


def legible_actions(chosen: Any) -> np.ndarray:
    """Several actions, int64[n], each as `legible_action` gives it.

    Raises:
        ValueError: they are no whole numbers.
    """
    array = np.array(chosen)
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"actions are of type {array.dtype}; allowed: whole numbers 0 to {actions.N_ACTIONS - 1}")
    array = array.astype(np.int64)
    array[array == NO_ACTION] = actions.RESIGN
    return array


def check_legal(games: Games, chosen: np.ndarray, rows: np.ndarray) -> None:
    """Make sure that the chosen actions of some rows are legal.

    Raises:
        ValueError: one is not; the message names it and the legal ones.
    """
    for row in rows:
        action = int(chosen[row])
        if not (0 <= action < actions.N_ACTIONS and games.masks[row, action]):
            named = f"{action} ({actions.name(action)})" if 0 <= action < actions.N_ACTIONS else str(action)
            legal = ", ".join(f"{a} ({actions.name(a)})" for a in np.flatnonzero(games.masks[row]).tolist())
            raise ValueError(f"illegal action {named}; legal: {legal}")
