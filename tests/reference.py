"""The rules of the Klondike family once more, in slow and plain Python: the reference of the tests.

It is written from the rules alone. It shares with the compiled engine only the numbering of cards, actions and
outcomes. No kernel is called here, so a mistake has to be made twice to stay hidden.

A `Position` is what lies on the table. `play` changes it and returns what happened as a list of events. Moves,
progress and points are all counted from these events. A `Game` is a position with the counters of an episode and
the ways it can end. `game_of` and `record_of` translate from and to records of the engine; `differences` compares
a game with a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from klondike_env.engine.actions import N_DESTINATIONS, ONTO_SUIT, STOCK_ACTION, TO_FOUNDATION, TO_GAP
from klondike_env.engine.state import FOUNDATION, LOST, PLAYING, STALLED, STATE, TALON, TRUNCATED, WON
from klondike_env.rules import Rules

KING = 12
N_COLUMNS = 7

# What can happen within one action.
DRAW = "draw"
REDEAL = "redeal"
WASTE_TO_FOUNDATION = "waste to foundation"
WASTE_TO_COLUMN = "waste to column"
COLUMN_TO_FOUNDATION = "column to foundation"
COLUMN_TO_COLUMN = "column to column"
WORRY_BACK = "foundation to column"
TURN_UP = "turn up"  # a face-down card of a column; belongs to the move before it
FIRST_SEEN = "first seen"  # a draw showed a card of the stock for the first time

NOT_A_MOVE = {TURN_UP, FIRST_SEEN}
TO_FOUNDATION_EVENTS = {WASTE_TO_FOUNDATION, COLUMN_TO_FOUNDATION}
PROGRESS_EVENTS = {TURN_UP, FIRST_SEEN, WASTE_TO_FOUNDATION, WASTE_TO_COLUMN}


def rank(card: int) -> int:
    """Rank 0 (ace) to 12 (king)."""
    return card % 13


def suit(card: int) -> int:
    """Suit 0 to 3: clubs, diamonds, hearts, spades."""
    return card // 13


def red(card: int) -> bool:
    """Whether the card is a diamond or a heart."""
    return suit(card) in (1, 2)


def may_lie_on(upper: int, lower: int, build: str) -> bool:
    """Whether `upper` may be put on `lower` in a column."""
    if rank(upper) + 1 != rank(lower):
        return False
    if build == "alternating_colour":
        return red(upper) != red(lower)
    if build == "same_colour":
        return red(upper) == red(lower)
    if build == "other_suit":
        return suit(upper) != suit(lower)
    if build == "same_suit":
        return suit(upper) == suit(lower)
    assert build == "any_suit"
    return True


@cache
def hosts(card: int, build: str) -> list[int]:
    """All cards on which the card may lie in a column."""
    return [lower for lower in range(52) if may_lie_on(card, lower, build)]


@dataclass
class Position:
    """What lies on the table.

    Attributes:
        columns: seven lists of cards, the bottom card first.
        face_down: how many cards of each column are face down.
        foundation: how many cards each suit's foundation holds.
        talon: the waste from the bottom up, then the stock in order of drawing.
        waste: how many cards of the talon are in the waste.
        seen: the player has seen this many cards of the talon, from its start.
        redeals_used: redeals made so far.
    """

    columns: list[list[int]]
    face_down: list[int]
    foundation: list[int]
    talon: list[int]
    waste: int = 0
    seen: int = 0
    redeals_used: int = 0

    def copy(self) -> Position:
        """A position that can be changed without changing this one."""
        return Position(
            [list(column) for column in self.columns],
            list(self.face_down),
            list(self.foundation),
            list(self.talon),
            self.waste,
            self.seen,
            self.redeals_used,
        )


def deal(deck: Sequence[int]) -> Position:
    """Lay out a deck: 28 cards row by row, the other 24 are the stock."""
    cards = [int(card) for card in deck]
    columns: list[list[int]] = [[] for _ in range(N_COLUMNS)]
    for row in range(N_COLUMNS):
        for column in range(row, N_COLUMNS):
            columns[column].append(cards.pop(0))
    return Position(columns, face_down=[0, 1, 2, 3, 4, 5, 6], foundation=[0, 0, 0, 0], talon=cards)


# The stock.


def redeal_left(position: Position, rules: Rules) -> bool:
    """Whether the rules allow one more redeal."""
    return rules.redeals is None or position.redeals_used < rules.redeals


def stock_is_live(position: Position, rules: Rules) -> bool:
    """Whether the stock action draws or redeals."""
    if position.waste < len(position.talon):
        return True
    return position.waste > 0 and redeal_left(position, rules)


def draw_or_redeal(position: Position, rules: Rules) -> list[str]:
    """Draw, or redeal when the stock is empty."""
    if position.waste == len(position.talon):
        position.waste = 0
        position.redeals_used = min(position.redeals_used + 1, 65535)
        return [REDEAL]
    position.waste = min(position.waste + rules.draw_count, len(position.talon))
    if position.waste <= position.seen:
        return [DRAW]
    position.seen = position.waste
    return [DRAW, FIRST_SEEN]


def reachable(position: Position, rules: Rules) -> dict[int, int]:
    """Talon cards that the stock action brings to the top of the waste without showing an unseen card.

    Returns:
        A dict from each card to the fewest stock actions, in rising order; the top of the waste needs none.
    """
    waste_sizes = [position.waste, *later_waste_sizes(position.waste, position, rules)]
    if redeal_left(position, rules):  # a second redeal would only repeat the first
        waste_sizes += [0, *later_waste_sizes(0, position, rules)]
    draws_to_card: dict[int, int] = {}
    for draws, waste in enumerate(waste_sizes):
        if waste > position.seen:
            break
        if waste > 0:
            draws_to_card.setdefault(position.talon[waste - 1], draws)
    return draws_to_card


def later_waste_sizes(waste: int, position: Position, rules: Rules) -> list[int]:
    """The sizes of the waste after each draw, until the stock is empty."""
    size = len(position.talon)
    return [*range(waste + rules.draw_count, size, rules.draw_count), size] if waste < size else []


def playable_talon_cards(position: Position, rules: Rules, talon: str) -> Iterable[int]:
    """Talon cards that one action may play: the top of the waste, in reach mode all that drawing can reach."""
    if talon == "reach":
        return reachable(position, rules)
    return position.talon[position.waste - 1 : position.waste] if position.waste else []


# Which actions are legal.


def run_heads(column: list[int], face_down: int, rules: Rules) -> list[int]:
    """Cards of a column that may be moved, each with all that lies on it."""
    face_up = column[face_down:]
    if rules.runs == "whole_or_last" and len(face_up) > 1:
        return [face_up[0], face_up[-1]]
    return face_up


def fills_gap(card: int, rules: Rules) -> bool:
    """Whether an empty column takes the card."""
    return rules.gaps == "any" or (rules.gaps == "kings" and rank(card) == KING)


def card_actions(position: Position, rules: Rules, talon_cards: Iterable[int]) -> list[int]:
    """All legal actions except the stock, where `talon_cards` are the talon cards that may be played."""
    tops = {column[-1] for column in position.columns if column}
    to_columns = list(talon_cards)  # cards that may go onto a column
    to_foundation = [*tops, *to_columns]
    not_to_gap = set()
    for column, face_down in zip(position.columns, position.face_down, strict=True):
        to_columns += run_heads(column, face_down, rules)
        if column and face_down == 0:
            not_to_gap.add(column[0])  # the whole column would move, and nothing would change
    if rules.worry_back:
        to_columns += [s * 13 + height - 1 for s, height in enumerate(position.foundation) if height > 0]
    gap = len(tops) < N_COLUMNS

    actions = [
        card * N_DESTINATIONS + TO_FOUNDATION for card in to_foundation if position.foundation[suit(card)] == rank(card)
    ]
    for card in to_columns:
        for host in hosts(card, rules.build):
            if host in tops:
                actions.append(card * N_DESTINATIONS + ONTO_SUIT + suit(host))
        if gap and fills_gap(card, rules) and card not in not_to_gap:
            actions.append(card * N_DESTINATIONS + TO_GAP)
    return actions


def legal_actions(position: Position, rules: Rules, talon: str) -> list[int]:
    """All legal actions, where `talon` is "draw" or "reach"."""
    actions = card_actions(position, rules, playable_talon_cards(position, rules, talon))
    drawing_is_implied = talon == "reach" and rules.redeals is None
    if stock_is_live(position, rules) and not (drawing_is_implied and actions):
        actions.append(STOCK_ACTION)
    return actions


# Playing an action.


def play(position: Position, action: int, rules: Rules) -> list[str]:
    """Play a legal action and the draws that it implies; return what happened, in order."""
    if action == STOCK_ACTION:
        return draw_or_redeal(position, rules)
    card, destination = divmod(action, N_DESTINATIONS)
    if card in position.talon:
        return play_from_talon(position, card, destination, rules)
    if rank(card) < position.foundation[suit(card)]:
        position.foundation[suit(card)] -= 1
        put([card], position, destination)
        return [WORRY_BACK]
    return play_from_column(position, card, destination)


def play_from_talon(position: Position, card: int, destination: int, rules: Rules) -> list[str]:
    """Draw until the card is the top of the waste, and play it."""
    events = []
    for _ in range(reachable(position, rules)[card]):
        events += draw_or_redeal(position, rules)
    position.waste -= 1
    position.seen -= 1
    assert position.talon.pop(position.waste) == card
    put([card], position, destination)
    return [*events, WASTE_TO_FOUNDATION if destination == TO_FOUNDATION else WASTE_TO_COLUMN]


def play_from_column(position: Position, card: int, destination: int) -> list[str]:
    """Move a card of a column with all that lies on it, and turn up the card under it."""
    source = next(i for i, column in enumerate(position.columns) if card in column)
    column = position.columns[source]
    row = column.index(card)
    moved = column[row:]
    put(moved, position, destination)  # before they leave their column, as they must not go to the gap that they leave
    del column[row:]
    events = [COLUMN_TO_FOUNDATION if destination == TO_FOUNDATION else COLUMN_TO_COLUMN]
    if row > 0 and position.face_down[source] == row:
        position.face_down[source] -= 1
        events.append(TURN_UP)
    return events


def put(cards: list[int], position: Position, destination: int) -> None:
    """Put cards, the bottom card first, on their foundation, on the column that fits, or into the leftmost gap."""
    if destination == TO_FOUNDATION:
        position.foundation[suit(cards[0])] += 1
        return
    if destination == TO_GAP:
        target = position.columns.index([])
    else:
        below = (destination - ONTO_SUIT) * 13 + rank(cards[0]) + 1
        target = next(i for i, column in enumerate(position.columns) if column and column[-1] == below)
    position.columns[target] += cards


def can_finish(position: Position, rules: Rules) -> bool:
    """Whether nothing is face down and the talon is empty, or wholly reachable (draw 1, unlimited redeals)."""
    if any(position.face_down):
        return False
    return not position.talon or (rules.draw_count == 1 and rules.redeals is None)


def finish(position: Position, rules: Rules) -> list[str]:
    """Play everything to the foundations: column tops in order of suits, then the nearest talon card."""
    events = []
    position.seen = len(position.talon)
    while sum(position.foundation) < 52:
        wanted = [s * 13 + height for s, height in enumerate(position.foundation) if height < 13]
        tops = [column[-1] for column in position.columns if column]
        ready = [card for card in wanted if card in tops] or [
            card for card in reachable(position, rules) if card in wanted
        ]
        events += play(position, ready[0] * N_DESTINATIONS + TO_FOUNDATION, rules)
    return events


def is_lost(position: Position, rules: Rules) -> bool:
    """Whether every talon card is seen, and no card can be moved now or after any number of draws."""
    if position.seen < len(position.talon) or card_actions(position, rules, []):
        return False
    return not card_actions(position, rules, reachable(position, rules))


def position_key(position: Position, rules: Rules) -> tuple[Any, ...]:
    """A key that is equal for positions that `no_repeats` regards as the same."""
    return (
        tuple(sorted(tuple(column) for column in position.columns)),
        tuple(position.foundation),
        tuple(position.talon),
        position.waste,
        None if rules.redeals is None else position.redeals_used,
    )


# Episodes.


@dataclass(frozen=True)
class Options:
    """How an episode is played; names and defaults are those of the engine's `Games`."""

    talon: str = "draw"
    no_repeats: bool = False
    auto_finish: bool = False
    stall_limit: int | None = 250
    step_limit: int | None = None
    reward: str = "win"


@dataclass
class Game:
    """A position with the counters of an episode.

    Attributes:
        staked: whether an action has been accepted, and so any stake paid.
        visited: keys of the positions since the last progress.
        legal: the ids of the legal actions, in no particular order; every id after the end.
    """

    position: Position
    rules: Rules
    options: Options
    outcome: int = PLAYING
    best_foundation: int = 0
    since_progress: int = 0
    moves: int = 0
    steps: int = 0
    score: int = 0
    illegal: bool = False
    reward: float = 0.0
    staked: bool = False
    visited: set[tuple[Any, ...]] = field(default_factory=set, repr=False)
    legal: list[int] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        if self.options.no_repeats:
            self.visited.add(position_key(self.position, self.rules))
        self.legal = self._legal()

    def step(self, action: int) -> None:
        """Play one step of the episode; a refused action changes only the counters of steps."""
        assert self.outcome == PLAYING, "the game has ended"
        self.illegal = action not in self.legal
        potential = self._potential()
        events = [] if self.illegal else play(self.position, action, self.rules)
        if events and self.options.auto_finish and can_finish(self.position, self.rules):
            events += finish(self.position, self.rules)
        self._count(events)
        self.outcome = self._judge()
        self.reward = 0.0 if self.illegal else self._reward(events, potential)
        if self.options.no_repeats:
            self.visited.add(position_key(self.position, self.rules))
        self.legal = self._legal()

    def _count(self, events: list[str]) -> None:
        total = sum(self.position.foundation)
        progress = total > self.best_foundation or any(event in PROGRESS_EVENTS for event in events)
        self.best_foundation = max(self.best_foundation, total)
        self.steps += 1
        self.moves += sum(event not in NOT_A_MOVE for event in events)
        self.since_progress = 0 if progress else self.since_progress + 1
        if progress:
            self.visited.clear()

    def _judge(self) -> int:
        if sum(self.position.foundation) == 52:
            return WON
        if is_lost(self.position, self.rules):
            return LOST
        if self.options.stall_limit is not None and self.since_progress >= self.options.stall_limit:
            return STALLED
        if self.options.step_limit is not None and self.steps >= self.options.step_limit:
            return TRUNCATED
        return PLAYING

    def _legal(self) -> list[int]:
        if self.outcome != PLAYING:
            return list(range(STOCK_ACTION + 1))
        actions = legal_actions(self.position, self.rules, self.options.talon)
        if not self.options.no_repeats:
            return actions
        return [action for action in actions if not self._repeats(action)] or actions

    def _repeats(self, action: int) -> bool:
        trial = self.position.copy()
        play(trial, action, self.rules)
        return position_key(trial, self.rules) in self.visited

    def _potential(self) -> float:
        if self.outcome != PLAYING:
            return 0.0
        return 0.01 * sum(self.position.foundation) + 0.02 * (21 - sum(self.position.face_down))

    def _reward(self, events: list[str], potential: float) -> float:
        scheme = self.options.reward
        won = float(self.outcome == WON)
        if scheme == "win":
            return won
        if scheme == "progress":
            return won + self._potential() - potential
        before = self.score
        if scheme == "standard":
            for event in events:
                self.score = max(0, self.score + standard_points(event, self.rules))
        else:
            assert scheme == "vegas"
            stake = 0 if self.staked else -52
            self.staked = True
            self.score += stake + sum(vegas_points(event) for event in events)
        return float(self.score - before)


def standard_points(event: str, rules: Rules) -> int:
    """The points of an event under standard scoring."""
    if event == REDEAL:
        return -100 if rules.draw_count == 1 else 0
    points = {WASTE_TO_COLUMN: 5, WASTE_TO_FOUNDATION: 10, COLUMN_TO_FOUNDATION: 10, TURN_UP: 5, WORRY_BACK: -15}
    return points.get(event, 0)


def vegas_points(event: str) -> int:
    """The points of an event under Vegas scoring, without the stake."""
    return 5 if event in TO_FOUNDATION_EVENTS else -5 if event == WORRY_BACK else 0


def new_game(deck: Sequence[int], rules: Rules, options: Options) -> Game:
    """A fresh game; in reach mode with unlimited redeals the talon has been looked through once."""
    position = deal(deck)
    moves = 0
    if options.talon == "reach" and rules.redeals is None:
        while position.redeals_used == 0:
            draw_or_redeal(position, rules)
            moves += 1
    return Game(position, rules, options, moves=moves)


# Translating from and to records of the engine.


def game_of(record: np.void, rules: Rules, options: Options) -> Game:
    """A game that plays on from the record; no earlier position counts as visited."""
    value = {name: record[name].tolist() for name in STATE.names or ()}
    position = Position(
        columns=[cards[:height] for cards, height in zip(value["columns"], value["height"], strict=True)],
        face_down=value["face_down"],
        foundation=value["foundation"],
        talon=value["talon"][: value["talon_size"]],
        waste=value["waste_size"],
        seen=value["seen_size"],
        redeals_used=value["redeals_used"],
    )
    counters = ("outcome", "best_foundation", "since_progress", "moves", "steps", "score")
    return Game(position, rules, options, staked=value["steps"] > 0, **{name: value[name] for name in counters})


def card_set(cards: Iterable[int]) -> int:
    """A set of cards as the engine writes it: 16 bits for each suit, the ace lowest."""
    return sum(2 ** (16 * suit(card) + rank(card)) for card in cards)


def fields_of(game: Game) -> dict[str, Any]:
    """The fields of the game's record; `columns` and `talon` without their unused places."""
    position = game.position
    place = [FOUNDATION] * 52
    row = [0] * 52
    for i, column in enumerate(position.columns):
        for j, card in enumerate(column):
            place[card] = i
            row[card] = j
    for card in position.talon:
        place[card] = TALON
    face_up = [
        card
        for column, face_down in zip(position.columns, position.face_down, strict=True)
        for card in column[face_down:]
    ]
    return {
        "columns": position.columns,
        "height": [len(column) for column in position.columns],
        "face_down": position.face_down,
        "foundation": position.foundation,
        "talon": position.talon,
        "talon_size": len(position.talon),
        "waste_size": position.waste,
        "seen_size": position.seen,
        "place": place,
        "row": row,
        "face_up": card_set(face_up),
        "outcome": game.outcome,
        "best_foundation": game.best_foundation,
        "redeals_used": position.redeals_used,
        "since_progress": game.since_progress,
        "moves": game.moves,
        "steps": game.steps,
        "score": game.score,
    }


def record_of(game: Game) -> np.void:
    """The game as a record of the engine; unused places are 0."""
    record = np.zeros(1, dtype=STATE)[0]
    for name, value in fields_of(game).items():
        if name == "columns":
            for i, column in enumerate(value):
                record["columns"][i, : len(column)] = column
        elif name == "talon":
            record["talon"][: len(value)] = value
        else:
            record[name] = value
    return record


def differences(game: Game, fields: dict[str, Any]) -> list[str]:
    """How a record's fields, as lists and ints, differ from the game; empty if they agree."""
    expected = fields_of(game)
    actual = dict(fields)
    actual["columns"] = [cards[:height] for cards, height in zip(actual["columns"], actual["height"], strict=True)]
    actual["talon"] = actual["talon"][: actual["talon_size"]]
    return [
        f"{name}: engine {actual[name]}, reference {value}" for name, value in expected.items() if actual[name] != value
    ]
