"""Looking back on a game: after which of its actions it could still be won, and which action lost it.

A game can be saved as JSON, see `parse_game`:

    {"deal": 123456, "variant": "draw3", "talon": "draw", "actions": ["6C onto 7H", "stock", 312]}
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from klondike_env.checks import check_choice, check_whole_number, whole_number
from klondike_env.engine import actions as action_names
from klondike_env.engine.actions import N_ACTIONS
from klondike_env.engine.state import LOST, OUTCOME_NAMES, STATE, WON
from klondike_env.games import TALON_MODES, Games, check_legal
from klondike_env.position import format_position
from klondike_env.rules import RULE_FIELDS, Rules, preset, rules_of
from klondike_env.solver.solve import Limits, given_deck, given_record, record_of, solve
from klondike_env.solver.verdicts import SOLVED, UNDECIDED, UNSOLVABLE

_STARTS = ("deal", "deck", "position")
_KEYS = (*_STARTS, "variant", "rules", "talon", "actions")


@dataclass(frozen=True)
class PlayedGame:
    """A game, finished or not.

    Attributes:
        start: its first position, as `klondike_env.solver.solve.solve` takes it.
        actions: the actions played, each 0 to 312; see `klondike_env.engine.actions`.
        talon: how talon cards were offered, "draw" or "reach"; see `klondike_env.games.Games`.

    Raises:
        ValueError: an action is not a number from 0 to 312, or `talon` is neither "draw" nor "reach".
    """

    start: Any
    actions: Sequence[int]
    talon: str = "draw"

    def __post_init__(self) -> None:
        check_choice("talon", self.talon, TALON_MODES)
        if isinstance(self.actions, str) or not np.iterable(self.actions):
            raise ValueError(f"actions are {self.actions!r}; allowed: a list of actions")
        numbers = [
            check_whole_number(f"action {place}", action, 0, N_ACTIONS - 1)
            for place, action in enumerate(self.actions, 1)
        ]
        object.__setattr__(self, "actions", tuple(numbers))


@dataclass(frozen=True)
class Analysis:
    """Whether a game could be won after each of its actions.

    Attributes:
        start: whether it could be won at its start: "solved", "unsolvable" or "undecided".
        verdicts: the same after each action.
        losing: the index from 0 of the action that lost the game: the game could be won before it, but not after
            it. None if there is no such action, or if too many verdicts are undecided to tell.
        searches: how many positions were given to the solver.
        nodes: positions searched, of all searches together.
    """

    start: str
    verdicts: tuple[str, ...]
    losing: int | None
    searches: int
    nodes: int

    def summary(self, played: PlayedGame) -> str:
        """The result for the game that was analysed, in one line."""
        last = self.verdicts[-1] if self.verdicts else self.start
        if self.losing is not None:
            return f"action {self.losing + 1} ({action_names.name(played.actions[self.losing])}) lost the game"
        if self.start == UNSOLVABLE:
            return "the game could not be won from its start"
        if last == SOLVED:
            return "no action lost the game"
        if last == UNSOLVABLE and self.start == SOLVED:
            return "one of the undecided actions lost the game; longer searches may tell which"
        return "it is undecided whether an action lost the game; longer searches may tell"


def analyse(played: PlayedGame, rules: Rules | str = "draw1", limits: Limits | None = None) -> Analysis:
    """Find out for each action of a game whether the game could still be won after it, all cards known.

    A game that can be won after an action could be won before it, and a lost game stays lost. So this is a binary
    search: each verdict halves the number of positions that are still open.

    Args:
        played: the game.
        rules: its rules, or a preset's name.
        limits: when to give up, for each search; after a minute by default.

    Raises:
        ValueError: as for `solve`; or an action is illegal, or comes after the end of the game.
    """
    rules = rules_of(rules)
    states = _positions(played, rules)
    n_actions = len(played.actions)
    low = n_actions if states["outcome"][-1] == WON else -1  # the last position known to be winnable
    high = n_actions if states["outcome"][-1] == LOST else n_actions + 1  # the first known not to be
    undecided: set[int] = set()
    searches = nodes = 0
    while open_positions := [place for place in range(low + 1, high) if place not in undecided]:
        middle = open_positions[len(open_positions) // 2]
        solution = solve(states[middle], rules, limits)
        searches, nodes = searches + 1, nodes + solution.nodes
        if solution.verdict == SOLVED:
            low = middle + _steps_in_common(solution.actions, played.actions[middle:])
        elif solution.verdict == UNSOLVABLE:
            high = middle
        else:
            undecided.add(middle)
    verdicts = [SOLVED] * (low + 1) + [UNDECIDED] * (high - low - 1) + [UNSOLVABLE] * (n_actions + 1 - high)
    losing = low if 0 <= low < n_actions and high == low + 1 else None
    return Analysis(verdicts[0], tuple(verdicts[1:]), losing, searches, nodes)


def _positions(played: PlayedGame, rules: Rules) -> np.ndarray:
    """The positions of a game from its start to its end: STATE[actions + 1].

    Raises:
        ValueError: the start is not a position, an action is illegal, or it comes after the end of the game.
    """
    games = Games(1, rules, talon=played.talon, stall_limit=None)
    record = given_record(played.start)
    if record is None:
        games.deal_decks([given_deck(played.start)])
    else:
        games.start_positions(record_of(record, rules))
    states = np.empty(len(played.actions) + 1, dtype=STATE)
    states[0] = games.states[0]
    for place, action in enumerate(played.actions, 1):
        if games.over[0]:
            outcome = OUTCOME_NAMES[games.outcomes[0]]
            raise ValueError(f"the game is over ({outcome}) before action {place} of {len(played.actions)}")
        chosen = np.array([action])
        try:
            check_legal(games, chosen, np.array([0]))
        except ValueError as error:
            raise ValueError(f"action {place} of {len(played.actions)}: {error}") from None
        games.step(chosen)
        states[place] = games.states[0]
    return states


def _steps_in_common(line: Sequence[int], actions: Sequence[int]) -> int:
    """How many of their first actions two games have in common."""
    for count, (one, other) in enumerate(zip(line, actions, strict=False)):
        if one != other:
            return count
    return min(len(line), len(actions))


def parse_game(text: str) -> tuple[PlayedGame, Rules]:
    """A game and its rules, read from JSON.

    Args:
        text: an object with "deal" (a number), "deck" (see `klondike_env.formats.read_deck`) or "position"
            (see `klondike_env.position`); "variant" (a preset's name) or "rules" (an object of fields of
            `Rules`), "draw1" if both are missing; "talon", "draw" if missing; and "actions", their numbers
            or names.

    Raises:
        ValueError: it is not such a game; the message says why.
    """
    try:
        game = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"the game is no JSON: {error}") from None
    if not isinstance(game, dict):
        raise ValueError(f"the game is {game!r}; allowed: a JSON object with the keys {', '.join(_KEYS)}")
    for key in game:
        if key not in _KEYS:
            raise ValueError(f"the game has the key {key!r}; known: {', '.join(_KEYS)}")
    starts = [key for key in _STARTS if key in game]
    if len(starts) != 1:
        raise ValueError(f"the game has {len(starts)} of the keys {', '.join(_STARTS)}; give one of them")
    if not isinstance(game.get("actions"), list):
        raise ValueError("the game has no list 'actions'; give the actions that were played")
    start = check_whole_number("deal", game["deal"], 0) if starts == ["deal"] else game[starts[0]]
    if starts == ["position"] and (not isinstance(start, str) or given_record(start) is None):
        raise ValueError(f"position is {start!r}; allowed: a text with lines such as '1: QS JD'")
    actions = [_read_action(place, action) for place, action in enumerate(game["actions"], 1)]
    return PlayedGame(start, actions, game.get("talon", "draw")), _read_rules(game)


def _read_action(place: int, action: Any) -> int:
    if not isinstance(action, str):
        return check_whole_number(f"action {place}", action, 0, N_ACTIONS - 1, " or a name")
    try:
        return action_names.parse(action)
    except ValueError as error:
        raise ValueError(f"action {place}: {error}") from None


def _read_rules(game: Mapping[str, Any]) -> Rules:
    if "variant" in game and "rules" in game:
        raise ValueError("the game has a variant and rules; give one of them")
    if "rules" not in game:
        return preset(game.get("variant", "draw1"))
    fields = game["rules"]
    if not isinstance(fields, dict) or not set(fields) <= set(RULE_FIELDS):
        raise ValueError(f"rules are {fields!r}; allowed: an object with any of {', '.join(RULE_FIELDS)}")
    return Rules(**fields)


def format_game(played: PlayedGame, rules: Rules | str = "draw1") -> str:
    """A game as JSON, the inverse of `parse_game`; a record is written as a position.

    Raises:
        ValueError: the start is not a position.
    """
    rules = rules_of(rules)
    deal = whole_number(played.start)
    record = given_record(played.start)
    if deal is not None:
        start: dict[str, Any] = {"deal": deal}
    elif record is not None:
        start = {"position": format_position(record_of(record, rules)[0])}
    else:
        start = {"deck": given_deck(played.start).tolist()}
    names = [action_names.name(action) for action in played.actions]
    return json.dumps({**start, "rules": rules.to_dict(), "talon": played.talon, "actions": names})
