"""The arguments that the single and the vector environment share, and what they build."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from klondike_env.checks import check_choice, check_flag, whole_number
from klondike_env.deal_sets import DealSource, read_deal_set
from klondike_env.difficulty import GRADES, UNWINNABLE, graded_source
from klondike_env.engine import actions
from klondike_env.games import DEFAULT_STALL_LIMIT, Games, check_limit
from klondike_env.observation import Observer
from klondike_env.rules import RULE_FIELDS, Rules, preset

ILLEGAL_POLICIES = ("refuse", "raise", "terminate")
RESET_OPTIONS = ("deal", "deck", "position")


class UnknownKeywordError(TypeError, ValueError):
    """A keyword that no environment knows.

    It is a `TypeError`, as for any function, because TorchRL tries whether an environment takes a keyword.
    It is also a `ValueError`, like all errors that this package raises for arguments.
    """


@dataclass(frozen=True)
class Settings:
    """How games are dealt, played, observed and rewarded; every value is JSON-able.

    Attributes:
        talon: "draw" or "reach", see `klondike_env.games.Games`.
        no_repeats: mask actions that lead back to a position visited since the last progress.
        auto_finish: end a game as won once it is decided.
        stall_limit: steps in a row without progress that end a game; None for no limit.
        step_limit: steps that truncate a game; None for no limit.
        reward: "win", "progress", "standard" or "vegas", see `klondike_env.reward`.
        observation: "flat", "cards" or "dict", see `klondike_env.observation`.
        thoughtful: show the hidden cards in the observation.
        illegal_action: "refuse" (nothing moves, the step counts as one without progress),
            "raise" (ValueError) or "terminate" (the game ends as lost).
        deals: what `reset()` draws from: a list of deal numbers, a range such as "2000000-2009999" or the
            path of a file, see `klondike_env.deal_sets`; None for all training deals.
        winnable_only: deal only games that a player who knows all cards can win.
        difficulty: deal only games of one grade, "easy", "medium", "hard" (all of them winnable) or
            "unsolvable", see `klondike_env.difficulty`; None for all games.
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
    deals: str | list[int] | None = None
    winnable_only: bool = False
    difficulty: str | None = None

    def __post_init__(self) -> None:
        check_choice("illegal_action", self.illegal_action, ILLEGAL_POLICIES)
        for field in ("no_repeats", "auto_finish", "thoughtful", "winnable_only"):
            object.__setattr__(self, field, check_flag(field, getattr(self, field)))
        for field in ("stall_limit", "step_limit"):
            object.__setattr__(self, field, check_limit(field, getattr(self, field)))
        if self.difficulty is not None:
            check_choice("difficulty", self.difficulty, GRADES)
        if self.winnable_only and self.difficulty == UNWINNABLE:
            raise ValueError(f"difficulty is {self.difficulty!r}, of which no deal is winnable; drop winnable_only")

    def games(self, n: int, rules: Rules, threads: int = 1) -> Games:
        """A batch of `n` games that `threads` threads step."""
        return Games(
            n,
            rules,
            talon=self.talon,
            no_repeats=self.no_repeats,
            auto_finish=self.auto_finish,
            stall_limit=self.stall_limit,
            step_limit=self.step_limit,
            reward=self.reward,
            threads=threads,
        )

    def observer(self, games: Games) -> Observer:
        """The observer of these games."""
        return Observer(self.observation, games.setup, thoughtful=self.thoughtful)

    def deal_source(self, rules: Rules) -> DealSource:
        """What `reset()` draws from."""
        deals = None if self.deals is None else read_deal_set(self.deals)
        if self.winnable_only or self.difficulty is not None:
            return graded_source(deals, self.difficulty, rules)
        return DealSource(read_deal_set(None) if deals is None else deals)


SETTING_NAMES = tuple(Settings.__dataclass_fields__)


def split_keywords(variant: str | None, keywords: dict[str, Any], also: tuple[str, ...] = ()) -> tuple[Rules, Settings]:
    """Rules and settings from an environment's keywords.

    Args:
        variant: a preset's name, or None for rules given by keyword.
        keywords: fields of `Rules` (only without a variant) and of `Settings`.
        also: keywords that the caller has handled itself, to be listed in the message about an unknown one.

    Raises:
        UnknownKeywordError: a keyword is unknown.
        ValueError: a keyword has a value that is not allowed.
    """
    for name in keywords:
        if name in RULE_FIELDS and variant is not None:
            raise ValueError(f"{name} is a rule, and the rules of {variant!r} are fixed; use Klondike/Custom-v0")
        if name not in RULE_FIELDS and name not in SETTING_NAMES:
            raise UnknownKeywordError(_unknown(name, (*also, *SETTING_NAMES, *RULE_FIELDS)))
    rule_values = {name: value for name, value in keywords.items() if name in RULE_FIELDS}
    settings = {name: value for name, value in keywords.items() if name in SETTING_NAMES}
    return Rules(**rule_values) if variant is None else preset(variant), Settings(**settings)


def _unknown(name: str, known: tuple[str, ...]) -> str:
    """The message about an unknown keyword."""
    close = get_close_matches(name, known, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else ";"
    return f"unexpected keyword argument {name!r}{guess} known: {', '.join(known)}"


def check_reset_options(options: dict[str, Any] | None, also: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the options of `reset` as a dict, empty for None.

    Raises:
        ValueError: they are not a dict, one is unknown, or more than one says which game to start.
    """
    if not isinstance(options, Mapping | None):
        raise ValueError(f"options is {options!r}; allowed: a dict with any of {', '.join(RESET_OPTIONS + also)}")
    options = dict(options or {})
    for name in options:
        if name not in RESET_OPTIONS + also:
            raise ValueError(f"no such reset option: {name!r}; known: {', '.join(RESET_OPTIONS + also)}")
    games = [name for name in RESET_OPTIONS if name in options]
    if len(games) > 1:
        raise ValueError(f"reset options name a {' and a '.join(games)}; give one of them")
    return options


def read_action(chosen: Any) -> int:
    """An action as a Python int.

    Raises:
        ValueError: it is not a whole number from 0 to 312.
    """
    action = chosen if type(chosen) is int else whole_number(chosen)
    if action is None or not 0 <= action < actions.N_ACTIONS:
        raise ValueError(f"action is {chosen!r}; allowed: a whole number from 0 to {actions.N_ACTIONS - 1}")
    return action


def read_actions(chosen: Any) -> np.ndarray:
    """Several actions, int64[n].

    Raises:
        ValueError: they are not whole numbers from 0 to 312.
    """
    try:
        array = np.array(chosen)
    except ValueError:  # lists of unequal lengths
        array = np.array(chosen, dtype=object)
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"actions are of type {array.dtype}; allowed: whole numbers 0 to {actions.N_ACTIONS - 1}")
    wrong = (array < 0) | (array >= actions.N_ACTIONS)
    if wrong.any():
        raise ValueError(f"actions hold {array[wrong][0]}; allowed: whole numbers 0 to {actions.N_ACTIONS - 1}")
    return array.astype(np.int64)
