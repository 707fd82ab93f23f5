"""Positions written as a player would write them, and tables to play them on.

The same tests run on an `EngineTable` and on a `ReferenceTable`, so both are checked against every rule.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from klondike_env.cards import card_text, parse_card
from klondike_env.engine import actions
from klondike_env.engine.state import FOUNDATION, HIDDEN_PLACE, OUTCOME_NAMES, PLAYING, STATE, TALON
from klondike_env.games import Games
from klondike_env.rules import Rules
from tests.reference import Game, Options, card_set, game_of, new_game, record_of


def board(
    *columns: str,
    foundations: str = "",
    waste: str = "",
    stock: str = "",
    stock_seen: bool = False,
    **counters: int,
) -> np.void:
    """The record of a position; cards that are not named are not in the game.

    Args:
        columns: up to seven texts, cards from the bottom up; those left of a bar are face down: "4C TD | KS QH".
        foundations: the top card of each foundation that is not empty.
        waste: from the bottom up.
        stock: in order of drawing.
        stock_seen: whether the player has seen the stock in an earlier pass.
        counters: other fields of the record.
    """
    record = np.zeros(1, dtype=STATE)[0]
    record["place"] = HIDDEN_PLACE
    for column, text in enumerate(columns):
        face_down, _, face_up = text.rpartition("|")
        _lay_column(record, column, _cards(face_down), _cards(face_up))
    for top in _cards(foundations):
        suit, rank = divmod(top, 13)
        record["foundation"][suit] = rank + 1
        record["place"][top - rank : top + 1] = FOUNDATION
    talon = _cards(waste) + _cards(stock)
    record["talon"][: len(talon)] = talon
    record["place"][talon] = TALON
    record["talon_size"] = len(talon)
    record["waste_size"] = len(_cards(waste))
    record["seen_size"] = len(talon) if stock_seen else record["waste_size"]
    record["best_foundation"] = record["foundation"].sum()
    for name, value in counters.items():
        record[name] = value
    return record


def _lay_column(record: np.void, column: int, face_down: list[int], face_up: list[int]) -> None:
    cards = face_down + face_up
    record["columns"][column, : len(cards)] = cards
    record["height"][column] = len(cards)
    record["face_down"][column] = len(face_down)
    record["place"][cards] = column
    record["row"][cards] = range(len(cards))
    record["face_up"] += card_set(face_up)


def _cards(text: str) -> list[int]:
    return [parse_card(word) for word in text.split()]


def _text(cards: Sequence[int]) -> str:
    return " ".join(card_text(int(card)) for card in cards)


class Table(ABC):
    """A game that is played and read in the terms of a player."""

    @abstractmethod
    def __init__(self, start: Any, rules: Rules, **options: Any) -> None:
        """Start from a deck of 52 cards or from a record."""

    @property
    @abstractmethod
    def record(self) -> np.void: ...

    @property
    @abstractmethod
    def legal_ids(self) -> set[int]: ...

    @property
    @abstractmethod
    def reward(self) -> float: ...

    @property
    @abstractmethod
    def illegal(self) -> bool: ...

    @abstractmethod
    def step(self, action: int) -> None: ...

    def play(self, *names: str) -> Self:
        """Play actions by name; each must be legal."""
        for name in names:
            assert self.record["outcome"] == PLAYING, f"the game has ended before {name}"
            self.step(actions.parse(name))
            assert not self.illegal, f"{name} was refused"
        return self

    def refuse(self, name: str) -> Self:
        """Try an action that must be refused."""
        self.step(actions.parse(name))
        assert self.illegal, f"{name} was accepted"
        return self

    @property
    def legal(self) -> set[str]:
        """Names of the legal actions."""
        assert self.record["outcome"] == PLAYING, "the game has ended"
        return {actions.name(action) for action in self.legal_ids}

    @property
    def outcome(self) -> str:
        return OUTCOME_NAMES[self.record["outcome"]]

    @property
    def columns(self) -> list[str]:
        """The columns as `board` takes them, with a bar only if cards are face down."""
        texts = []
        for cards, height, face_down in zip(
            self.record["columns"], self.record["height"], self.record["face_down"], strict=True
        ):
            hidden = f"{_text(cards[:face_down])} | " if face_down else ""
            texts.append(hidden + _text(cards[face_down:height]))
        return texts

    @property
    def foundations(self) -> str:
        """The top card of each foundation that is not empty, in order of suits."""
        return _text([suit * 13 + int(height) - 1 for suit, height in enumerate(self.record["foundation"]) if height])

    @property
    def waste(self) -> str:
        return _text(self.record["talon"][: self.record["waste_size"]])

    @property
    def stock(self) -> str:
        return _text(self.record["talon"][self.record["waste_size"] : self.record["talon_size"]])

    def __getitem__(self, field: str) -> int:
        return int(self.record[field])


class EngineTable(Table):
    """A table played by the engine."""

    def __init__(self, start: Any, rules: Rules, **options: Any) -> None:
        self.games = Games(1, rules, **options)
        if start.dtype == STATE:
            self.games.resume(start)
        else:
            self.games.deal_decks(start[None])

    @property
    def record(self) -> np.void:
        return self.games.states[0]

    @property
    def legal_ids(self) -> set[int]:
        return set(np.flatnonzero(self.games.masks[0]).tolist())

    @property
    def reward(self) -> float:
        return float(self.games.rewards[0])

    @property
    def illegal(self) -> bool:
        return bool(self.games.illegal[0])

    def step(self, action: int) -> None:
        self.games.step(np.array([action]))


class ReferenceTable(Table):
    """A table played by the slow reference."""

    def __init__(self, start: Any, rules: Rules, **options: Any) -> None:
        self.game: Game
        if start.dtype == STATE:
            self.game = game_of(start, rules, Options(**options))
        else:
            self.game = new_game(start, rules, Options(**options))

    @property
    def record(self) -> np.void:
        return record_of(self.game)

    @property
    def legal_ids(self) -> set[int]:
        return set(self.game.legal)

    @property
    def reward(self) -> float:
        return self.game.reward

    @property
    def illegal(self) -> bool:
        return self.game.illegal

    def step(self, action: int) -> None:
        self.game.step(action)


def outcome_of(start: np.void, rules: Rules, actions: Sequence[int]) -> str:
    """The outcome of a game after these actions by the reference; each action must be legal."""
    table = ReferenceTable(start, rules, stall_limit=None)
    for action in actions:
        assert action in table.legal_ids
        table.step(action)
    return table.outcome
