"""Searching for a win under any rules."""

from __future__ import annotations

from enum import IntFlag

import numpy as np

from klondike_env.cards import N_CARDS, N_RANKS, N_SUITS
from klondike_env.engine.state import N_COLUMNS
from klondike_env.engine.actions import ONTO_SUIT, TO_FOUNDATION, TO_GAP
from klondike_env.engine.games import Games
from klondike_env.engine.state import PLAYING
from klondike_env.rules import Rules
from klondike_env.solver import tails, wholes
from klondike_env.solver.lines import ONTO_ANY, Line
from klondike_env.solver.sets import ALL_CARDS, KINGS, set_bit


class Pruning(IntFlag):
    SAFE = 1
    IDLE = 2
    PARKING = 4
    EXCHANGE = 8


ALL = Pruning.SAFE | Pruning.IDLE | Pruning.PARKING | Pruning.EXCHANGE

CARD_OF = [index % N_SUITS * N_RANKS + index // N_SUITS for index in range(N_CARDS)]


class ColumnSearch:
    def __init__(self, record, rules: Rules, *, pruning: Pruning = ALL, max_bytes: int = 500_000_000) -> None:
        self.record = np.atleast_1d(np.asarray(record)).copy()
        self.rules = rules
        self.pruning = pruning
        self.max_bytes = max_bytes
        self.visits = 0
        self.exhausted = False
        self.verdict = "undecided"
        self._prepare()

    def _prepare(self) -> None:
        record, rules = self.record[0], self.rules
        params = rules.params()
        self._explicit = params.whole_runs or Pruning.EXCHANGE not in self.pruning
        self._search = wholes.search_wholes if self._explicit else tails.search_tails
        cards = np.zeros((4, 64), dtype=np.int64)
        words = np.zeros(wholes.N_WHOLE_WORDS if self._explicit else tails.N_WORDS, dtype=np.int64)
        for column in range(N_COLUMNS):
            face_down, height = int(record["face_down"][column]), int(record["height"][column])
            indices = [set_bit(int(card)) for card in record["columns"][column, :height]]
            for row in range(face_down + 1 if height else 0):
                cards[1, indices[row]] = column
                cards[2, indices[row]] = indices[row - 1] if row else 0
            for row in range(face_down, height):
                words[tails.FACE_UP] |= 1 << indices[row]
                if self._explicit:
                    words[wholes.COLUMNS + column] |= 1 << indices[row]
            if height:
                words[tails.HEADS if face_down else tails.FLOOR] |= 1 << indices[face_down]
            words[tails.DEPTHS] |= face_down << (3 * column)
        for suit in range(N_SUITS):
            words[tails.NEXT] |= 1 << (N_SUITS * int(record["foundation"][suit]) + suit)
        size = int(record["talon_size"])
        for place in range(size):
            index = set_bit(int(record["talon"][place]))
            cards[0, index], cards[3, place] = place, index
            words[tails.TALON] |= 1 << index
        words[tails.LEFT] = (1 << size) - 1
        words[tails.BORDER] = int(record["waste_size"])
        left = size if rules.redeals is None else max(rules.redeals - int(record["redeals_used"]), 0)
        words[tails.REDEALS] = left
        tails.settle_talon(words, rules.draw_count)
        redeals = int(words[tails.REDEALS])
        latest = 1 if redeals == tails.ENOUGH else 2 + redeals * 25 + 24
        game = tails.Game(
            build=params.build,
            gap_cards=(KINGS, ALL_CARDS, 0)[params.gaps],
            draw_count=params.draw_count,
            worry_back=params.worry_back,
            redeals=redeals,
            time_bits=latest.bit_length(),
            safe=int(Pruning.SAFE in self.pruning),
            idle=int(Pruning.IDLE in self.pruning),
            parking=int(Pruning.PARKING in self.pruning),
            whole_runs=params.whole_runs,
        )
        self._packed = np.array(game, dtype=np.int64)
        self._cards = cards
        self._frames = np.zeros((256, len(words)), dtype=np.int64)
        self._frames[0] = words
        self._moves = np.zeros(4096, dtype=np.int64)
        self._slots = np.zeros(1 << 12, dtype=np.uint64)
        self._counters = np.zeros(tails.N_COUNTERS, dtype=np.int64)
        self._counters[tails.DEPTH] = -1

    def run(self, visits: int) -> str:
        if self.verdict != "undecided" or self.exhausted:
            return self.verdict
        counters = self._counters
        counters[tails.LIMIT] = counters[tails.VISITS] + visits
        while True:
            status = self._search(self._frames, self._moves, self._slots, counters, self._cards, self._packed)
            if status == tails.MORE_FRAMES:
                self._frames = np.concatenate([self._frames, np.zeros_like(self._frames)])
            elif status == tails.MORE_MOVES:
                self._moves = np.concatenate([self._moves, np.zeros_like(self._moves)])
            elif status == tails.MORE_SLOTS:
                if not self._grow_slots():
                    break
            else:
                break
        self.visits = int(counters[tails.VISITS])
        if status == tails.SOLVED:
            self.verdict = "solved"
        elif status == tails.UNSOLVABLE:
            self.verdict = "unsolvable"
        elif status == tails.MORE_SLOTS:
            self.exhausted = True
        return self.verdict

    def _grow_slots(self) -> bool:
        if 3 * self._slots.nbytes > self.max_bytes:
            return False
        slots = np.zeros(2 * len(self._slots), dtype=np.uint64)
        tails.enter_all(self._slots, slots, int(self._packed[5]))
        self._slots = slots
        return True

    def actions(self) -> list[int]:
        line = Line(self.record[0], self.rules)
        whole = self._explicit
        for move in self._frames[1 : int(self._counters[tails.DEPTH]) + 1, tails.MOVE].tolist():
            index, target = divmod(move, 8 if whole else 4)
            if target == 0:
                destination = TO_FOUNDATION
            elif target == (wholes.GAP if whole else tails.GAP):
                destination = TO_GAP
            else:
                destination = target - wholes.ONTO + ONTO_SUIT if whole else ONTO_ANY
            line.play(CARD_OF[index], destination)
        self._check(line.actions)
        return line.actions

    def _check(self, actions: list[int]) -> None:
        games = Games(1, self.rules, stall_limit=None, masks=False)
        record = self.record.copy()
        record["outcome"] = PLAYING
        games.resume(record)
        for action in actions:
            games.step(np.array([action]))
            assert not games.illegal[0], f"the line found is not legal at action {action}"
        assert not actions or games.outcomes[0] == 1, "the line found does not win"
