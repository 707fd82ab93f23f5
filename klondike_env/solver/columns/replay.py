"""Turning the moves of the column search into actions of the environment, played on real columns."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from klondike_env.cards import card_at, rank_of, suit_of
from klondike_env.engine.actions import N_DESTINATIONS, ONTO_SUIT, STOCK_ACTION, TO_FOUNDATION, TO_GAP
from klondike_env.rules import Rules
from klondike_env.solver.columns.card_numbering import BUILDERS, CARDS
from klondike_env.solver.columns.nodes import TARGETS

_NOTHING = -1
Arrangement = tuple[int, ...]  # for each host the card built on it, or _NOTHING


class Replay:
    """A game in plain lists, with its actions.

    Args:
        record: the STATE record that it starts from.
        rules: the rules of the game.
        by_columns: whether a move names the card that it leads onto.

    Attributes:
        actions: the ids of the actions played so far.
    """

    def __init__(self, record: np.void, rules: Rules, by_columns: bool) -> None:
        heights, self._face_down = record["height"].tolist(), record["face_down"].tolist()
        self._columns = [cards[:height] for cards, height in zip(record["columns"].tolist(), heights, strict=True)]
        self._talon: list[int] = record["talon"][: int(record["talon_size"])].tolist()
        self._waste = int(record["waste_size"])
        self._draw_count = rules.draw_count
        self._builders: list[int] = BUILDERS[rules.params().build].tolist()
        self._by_columns = by_columns
        self.actions: list[int] = []

    def play(self, move: int) -> None:
        """Play a move of a search, with the draws and the exchanges of runs that it needs."""
        number, destination = divmod(move, TARGETS)
        card = CARDS[number]
        if card in self._talon:
            self._draw_to(card)
        if destination == TO_FOUNDATION:
            self._uncover(card)
        elif destination != TO_GAP and not self._by_columns:
            destination = ONTO_SUIT + suit_of(self._free_host(card))
        self._act(card, destination)

    def _draw_to(self, card: int) -> None:
        """Draw until a card is on top of the waste."""
        size = len(self._talon)
        while self._waste == 0 or self._talon[self._waste - 1] != card:
            self._waste = 0 if self._waste == size else min(self._waste + self._draw_count, size)
            self.actions.append(STOCK_ACTION)

    def _uncover(self, card: int) -> None:
        """Make a column card free. Cards elsewhere are free already."""
        hosts, start = self._hosts(rank_of(card))
        if card in hosts:
            place = hosts.index(card)
            self._arrange(hosts, start, lambda built: built[place] == _NOTHING)

    def _free_host(self, card: int) -> int:
        """Uncover a card that `card` may lie on; return it."""
        hosts, start = self._hosts(rank_of(card) + 1)

        def free(built: Arrangement) -> list[int]:
            pairs = zip(hosts, built, strict=True)
            return [host for host, on_it in pairs if on_it == _NOTHING and self._may_lie(card, host)]

        return free(self._arrange(hosts, start, lambda built: bool(free(built))))[0]

    def _may_lie(self, card: int, host: int) -> bool:
        return bool(self._builders[suit_of(host)] >> suit_of(card) & 1)

    def _hosts(self, rank: int) -> tuple[list[int], Arrangement]:
        """The face-up column cards of a rank, and what lies on each."""
        hosts, built = [], []
        for column, face_down in zip(self._columns, self._face_down, strict=True):
            for row in range(face_down, len(column)):
                if rank_of(column[row]) == rank:
                    hosts.append(column[row])
                    built.append(column[row + 1] if row + 1 < len(column) else _NOTHING)
        return hosts, tuple(built)

    def _arrange(self, hosts: list[int], start: Arrangement, fits: Callable[[Arrangement], bool]) -> Arrangement:
        """Move runs from host to host, as few as possible, until their arrangement fits; return it."""
        ways: dict[Arrangement, list[tuple[int, int]]] = {start: []}
        waiting = deque([start])
        while not fits(waiting[0]):
            built = waiting.popleft()
            for after, card, host in self._exchanges(hosts, built):
                if after not in ways:
                    ways[after] = [*ways[built], (card, host)]
                    waiting.append(after)
        for card, host in ways[waiting[0]]:
            self._act(card, ONTO_SUIT + suit_of(host))
        return waiting[0]

    def _exchanges(self, hosts: list[int], built: Arrangement) -> list[tuple[Arrangement, int, int]]:
        """The arrangements after one move of a run from host to host, each with the run's card and its new host."""
        found = []
        for target, host in enumerate(hosts):
            for source, card in enumerate(built):
                if built[target] == _NOTHING and card != _NOTHING and self._may_lie(card, host):
                    after = list(built)
                    after[source], after[target] = _NOTHING, card
                    found.append((tuple(after), card, host))
        return found

    def _act(self, card: int, destination: int) -> None:
        """Play one action, which is legal as the cards lie now."""
        self.actions.append(card * N_DESTINATIONS + destination)
        run = self._take(card)
        if destination == TO_GAP:
            self._columns[self._columns.index([])] += run
        elif destination != TO_FOUNDATION:
            host = card_at(rank_of(card) + 1, destination - ONTO_SUIT)
            next(column for column in self._columns if column and column[-1] == host).extend(run)

    def _take(self, card: int) -> list[int]:
        """Take a card, with all that lies on it, from where it is."""
        if card in self._talon:
            self._waste = self._talon.index(card)
            del self._talon[self._waste]
        for number, column in enumerate(self._columns):
            if card in column:
                row = column.index(card)
                run = column[row:]
                del column[row:]
                self._face_down[number] = min(self._face_down[number], max(row - 1, 0))
                return run
        return [card]
