"""Turning the line of a search into the actions of a game, played on real columns."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from klondike_env.cards import N_RANKS, N_SUITS, card_at, rank_of, suit_of
from klondike_env.engine.actions import N_DESTINATIONS, ONTO_SUIT, STOCK_ACTION, TO_FOUNDATION, TO_GAP
from klondike_env.rules import Rules
from klondike_env.solver.sets import BUILDERS

ONTO_ANY = -1  # for a destination: any card that the rules allow

Arrangement = tuple[int, ...]  # for each host the card built on it, or -1


class Line:
    """A game in plain lists that collects its actions.

    Attributes:
        actions: the ids of the actions played so far.
    """

    def __init__(self, record: np.void, rules: Rules) -> None:
        heights, self._face_down = record["height"].tolist(), record["face_down"].tolist()
        self._columns = [
            cards[:height] for cards, height in zip(record["columns"].tolist(), heights, strict=True)
        ]
        self._talon: list[int] = record["talon"][: int(record["talon_size"])].tolist()
        self._waste = int(record["waste_size"])
        self._draw_count = rules.draw_count
        self._builders: list[int] = BUILDERS[rules.params().build].tolist()
        self.actions: list[int] = []

    def play(self, card: int, destination: int) -> None:
        """Play a card, after the draws and the exchanges of runs that it takes.

        Args:
            card: 0..51; with a column card go all that lie on it.
            destination: as in `klondike_env.engine.actions`, or ONTO_ANY.
        """
        self._draw_to(card)
        if destination == ONTO_ANY:
            hosts, arrangement = self._arrange(
                rank_of(card) + 1, lambda hosts, built: self._bare_for(card, hosts, built) is not None
            )
            destination = ONTO_SUIT + suit_of(hosts[self._bare_for(card, hosts, arrangement) or 0])
        elif destination == TO_FOUNDATION:
            self._arrange(
                rank_of(card), lambda hosts, built: card not in hosts or built[hosts.index(card)] < 0
            )
        self._act(card, destination)

    def _draw_to(self, card: int) -> None:
        """Tap the stock until a card of the talon is on top of the waste."""
        if card in self._talon:
            while self._waste == 0 or self._talon[self._waste - 1] != card:
                size = len(self._talon)
                self._waste = 0 if self._waste == size else min(self._waste + self._draw_count, size)
                self.actions.append(STOCK_ACTION)

    def _bare_for(self, card: int, hosts: list[int], built: Arrangement) -> int | None:
        """The index of a host that a card may be laid on."""
        for i, host in enumerate(hosts):
            if built[i] < 0 and self._may_lie(card, host):
                return i
        return None

    def _may_lie(self, card: int, host: int) -> bool:
        return bool(self._builders[suit_of(host)] >> suit_of(card) & 1)

    def _hosts(self, rank: int) -> tuple[list[int], Arrangement]:
        """The face-up column cards of a rank, and what is built on each."""
        hosts, built = [], []
        for column, face_down in zip(self._columns, self._face_down, strict=True):
            for row in range(face_down, len(column)):
                if rank_of(column[row]) == rank:
                    hosts.append(column[row])
                    built.append(column[row + 1] if row + 1 < len(column) else -1)
        return hosts, tuple(built)

    def _arrange(
        self, rank: int, fits: Callable[[list[int], Arrangement], bool]
    ) -> tuple[list[int], Arrangement]:
        """Exchange the runs on the hosts of a rank, with the fewest moves, until it fits."""
        hosts, start = self._hosts(rank)
        came_from: dict[Arrangement, tuple[Arrangement, int, int] | None] = {start: None}
        waiting = deque([start])
        while not fits(hosts, waiting[0]):
            built = waiting.popleft()
            for source, card in enumerate(built):
                for target, host in enumerate(hosts):
                    if card >= 0 and built[target] < 0 and self._may_lie(card, host):
                        after = list(built)
                        after[source], after[target] = -1, card
                        if tuple(after) not in came_from:
                            came_from[tuple(after)] = built, card, host
                            waiting.append(tuple(after))
        moves, step = [], came_from[waiting[0]]
        while step is not None:
            moves.append(step[1:])
            step = came_from[step[0]]
        for card, host in reversed(moves):
            self._act(card, ONTO_SUIT + suit_of(host))
        return hosts, waiting[0]

    def _act(self, card: int, destination: int) -> None:
        """Make one action that is possible as things lie."""
        self.actions.append(card * N_DESTINATIONS + destination)
        run = self._take(card)
        if destination == TO_GAP:
            self._columns[self._columns.index([])] += run
        elif destination != TO_FOUNDATION:
            host = card_at(rank_of(card) + 1, destination - ONTO_SUIT)
            next(column for column in self._columns if column and column[-1] == host).extend(run)

    def _take(self, card: int) -> list[int]:
        """Take a card, and all that lies on it, from where it is."""
        if card in self._talon:
            self._waste = self._talon.index(card)
            del self._talon[self._waste]
            return [card]
        for number, column in enumerate(self._columns):
            if card in column[self._face_down[number] :]:
                row = column.index(card)
                run = column[row:]
                del column[row:]
                self._face_down[number] = min(self._face_down[number], max(row - 1, 0))
                return run
        return [card]  # from its foundation
