"""Decisions in which all moves of `tuned` were tried out: what `train.net` and `train.tune_table` learn from.

Games are played by some scores. In some decisions every move is made in the same determinizations, and each game is
played on to its end by other scores, which do not look at hidden cards. The share of games that a move won is an
unbiased estimate of its value for a player who then plays on in that way, and moves can be compared with few samples
because they all meet the same cards.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from klondike_env.agents.lists.list_player import (
    GAME,
    LAYOUT,
    NEVER,
    is_decided,
    read_position,
    stock_of,
)
from klondike_env.agents.tuned.agent import (
    MOST_MOVES,
    Scoring,
    best_of,
    choice_of,
    find_moves,
    is_none,
    make_move,
    play_out_tuned,
)
from klondike_env.agents.tuned.pair_table import N_PAIRS, PairTable, find_entries, keep_close, table_for
from klondike_env.agents.tuned.scores import MAX_MOVES, MOVE, Sheet, find_reach, look, score_moves
from klondike_env.agents.tuned.weights import weights_for
from klondike_env.cards import N_CARDS
from klondike_env.engine.card_sets import bit_of, count_cards, lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import GOLDEN_GAMMA, mix, shuffle
from klondike_env.engine.state import N_COLUMNS
from klondike_env.engine.talon import redeals_are_unlimited
from klondike_env.rules import RuleParams, Rules
from train.tune import Arena

SHARE_TRIED = 0.12  # of the decisions, those in which moves are tried out
SHARE_RANDOM = 0.05  # of the decisions, those in which the game goes on with a random move
_GAMES_AT_ONCE = 20
_MOVES_EACH = 14  # there is room for this many moves of a decision, on average


class Effort(NamedTuple):
    """Which moves of a decision are tried out, and in how many determinizations."""

    margin: int  # moves whose scores are at most this far below the best
    first: int  # determinizations at least
    all: int  # determinizations if the moves have not won equally often by then


class Trials(NamedTuple):
    """Decisions in which all moves were tried out.

    Attributes:
        starts: int64[n + 1], where the moves of each decision start.
        games: GAME[n], the positions.
        layouts: LAYOUT[n], their cards.
        moves: MOVE[m], the moves that were tried, with their scores by the weights of `tuned` alone.
        wins: float32[m], the share of samples that each move won.
    """

    starts: np.ndarray
    games: np.ndarray
    layouts: np.ndarray
    moves: np.ndarray
    wins: np.ndarray

    @classmethod
    def of_size(cls, decisions: int) -> Trials:
        """Room for this many decisions."""
        moves = decisions * _MOVES_EACH + MAX_MOVES
        games, layouts = np.zeros(decisions, GAME), np.zeros(decisions, LAYOUT)
        return cls(
            np.zeros(decisions + 1, np.int64), games, layouts, np.zeros(moves, MOVE), np.zeros(moves, np.float32)
        )

    @classmethod
    def load(cls, file: Path) -> Trials:
        """The trials in a file that `save` wrote."""
        with np.load(file) as arrays:  # which forgets how records are aligned
            return cls(
                arrays["starts"],
                arrays["games"].view(GAME),
                arrays["layouts"].view(LAYOUT),
                arrays["moves"].view(MOVE),
                arrays["wins"],
            )

    def first(self, decisions: int) -> Trials:
        """The trials of the first `decisions` decisions."""
        moves = self.starts[decisions]
        starts, games, layouts = self.starts[: decisions + 1], self.games[:decisions], self.layouts[:decisions]
        return Trials(starts, games, layouts, self.moves[:moves], self.wins[:moves])

    @property
    def sizes(self) -> np.ndarray:
        """How many moves each decision has: int64[n]."""
        return np.diff(self.starts)


class Bench(NamedTuple):
    """Scores and scratch arrays for trying moves out."""

    visiting: Scoring  # plays the games, and says which moves are tried
    playing_on: Scoring  # plays on from these moves
    effort: Effort
    sheet: Sheet  # all moves, with scores by the weights alone
    games: np.ndarray  # GAME[2], the game that is played and the copy that a move is tried in
    layouts: np.ndarray  # LAYOUT[1], of the game that is played
    others: np.ndarray  # LAYOUT[1], of the copy
    cards: np.ndarray  # uint8[52], scratch

    @classmethod
    def of(cls, rules: Rules, visiting: Scoring, playing_on: Scoring, effort: Effort) -> Bench:
        """A bench for these scores and this effort."""
        sheet = Sheet(weights_for(rules), np.zeros(MAX_MOVES, dtype=MOVE))
        games, layouts, others = np.zeros(2, GAME), np.zeros(1, LAYOUT), np.zeros(1, LAYOUT)
        return cls(visiting, playing_on, effort, sheet, games, layouts, others, np.zeros(N_CARDS, np.uint8))


@kernel
def shuffle_unseen(bench: Bench, seed: np.uint64, rules: RuleParams) -> int:
    """Lay out the second game as a determinization of the first; returns the set of talon cards in it.

    This must agree with `klondike_env.engine.determinize`.
    """
    games, layouts, others, cards = bench.games, bench.layouts, bench.others, bench.cards
    others[0] = layouts[0]
    left, waste = int(games[0]["left"]), int(games[0]["waste"])
    stock = 0 if redeals_are_unlimited(rules.redeals) else stock_of(left, waste)
    talon, n = int(games[0]["talon"]), 0
    for column in range(N_COLUMNS):
        for row in range(int(games[0]["n_down"][column])):
            cards[n] = layouts[0]["face_down"][column, row]
            n += 1
    rest = stock
    while rest != 0:
        cards[n] = layouts[0]["talon"][count_cards(lowest_bit(rest) - 1)]
        talon &= ~bit_of(int(cards[n]))
        rest &= rest - 1
        n += 1
    shuffle(cards, n, seed)
    n = 0
    for column in range(N_COLUMNS):
        for row in range(int(games[0]["n_down"][column])):
            others[0]["face_down"][column, row] = cards[n]
            n += 1
    while stock != 0:
        index = count_cards(lowest_bit(stock) - 1)
        others[0]["talon"][index] = cards[n]
        others[0]["index"][cards[n]] = index
        talon |= bit_of(int(cards[n]))
        stock &= stock - 1
        n += 1
    return talon


@kernel
def are_equal(numbers: np.ndarray, n: int) -> bool:
    """Whether the first `n` numbers are the same."""
    for k in range(1, n):
        if numbers[k] != numbers[0]:
            return False
    return True


@kernel
def try_all(bench: Bench, n: int, random: np.uint64, wins: np.ndarray, rules: RuleParams) -> bool:
    """Play on from each of the `n` moves that are close; whether the moves differ in wins.

    wins: float32[n], overwritten with the share of samples that each move won.
    """
    games, others, moves, effort = bench.games, bench.others, bench.visiting.sheet.moves, bench.effort
    for p in range(n):
        wins[p] = 0
    for sample in range(effort.all):
        if sample == effort.first and are_equal(wins, n):
            return False
        talon = shuffle_unseen(bench, mix(random + np.uint64(sample) * GOLDEN_GAMMA), rules)
        for p in range(n):
            games[1] = games[0]
            games[1]["talon"] = talon
            make_move(games, 1, choice_of(moves, p), others, rules)
            wins[p] += play_out_tuned(games, 1, others, rules, NEVER, bench.playing_on)
    for p in range(n):
        wins[p] /= effort.all
    return True


@kernel
def chance(random: np.uint64, share: float) -> bool:
    """True with probability `share`, given a random number."""
    return bool(int(random >> np.uint64(32)) < share * (1 << 32))


@kernel
def record_decision(bench: Bench, trials: Trials, count: int, n: int, rules: RuleParams) -> None:
    """Record the position, and the `n` moves that were tried, with their scores by the weights alone."""
    trials.games[count] = bench.games[0]
    trials.layouts[count] = bench.layouts[0]
    tried, moves, start, q = bench.visiting.sheet.moves, bench.sheet.moves, trials.starts[count], 0
    score_moves(look(bench.games, 0, bench.layouts, rules), bench.sheet)
    for p in range(n):  # both list the moves in the same order
        while moves[q]["kind"] != tried[p]["kind"] or moves[q]["what"] != tried[p]["what"]:
            q += 1
        trials.moves[start + p] = moves[q]
    trials.starts[count + 1] = start + n


@kernel
def try_decision(bench: Bench, n: int, trials: Trials, count: int, random: np.uint64, rules: RuleParams) -> int:
    """Try the `n` moves that are close if there is room; the new number of decisions recorded."""
    start = trials.starts[count]
    if count + 1 == len(trials.starts) or start + n > len(trials.wins):
        return count
    if not try_all(bench, n, random, trials.wins[start : start + n], rules):
        return count
    record_decision(bench, trials, count, n, rules)
    return count + 1


@kernel
def try_games(
    states: np.ndarray, bench: Bench, trials: Trials, count: int, random: np.uint64, rules: RuleParams
) -> int:
    """Play fresh games, and try all moves in some decisions; the new number of decisions recorded, `count` before."""
    games, layouts, visiting = bench.games, bench.layouts, bench.visiting
    for i in range(len(states)):
        read_position(states, i, games, layouts)
        find_reach(games, 0, layouts, rules)
        for _ in range(MOST_MOVES):
            if is_decided(games, 0, rules, NEVER):
                break
            n = find_moves(games, 0, layouts, rules, visiting)
            choice = best_of(visiting.sheet.moves, n)
            if is_none(choice):
                break
            n = keep_close(visiting.sheet.moves, n, bench.effort.margin)
            random = mix(random + GOLDEN_GAMMA)
            if n > 1 and chance(random, SHARE_TRIED):
                count = try_decision(bench, n, trials, count, random, rules)
            random = mix(random + GOLDEN_GAMMA)
            if chance(random, SHARE_RANDOM):
                choice = choice_of(visiting.sheet.moves, int(random % np.uint64(n)))
            make_move(games, 0, choice, layouts, rules)
    return count


def record(rules: Rules, bench: Bench, first: int, decisions: int, seconds: float = np.inf) -> Trials:
    """Record decisions in games of the deals from `first` on.

    Args:
        rules: the rules of the games.
        bench: who plays; its scratch arrays are used.
        first: the first deal.
        decisions: how many to record.
        seconds: stop after this time with those recorded so far, at least one.
    """
    arena, trials, count, stop = Arena(rules), Trials.of_size(decisions), 0, time.monotonic() + seconds
    while count < decisions and trials.starts[count] + MAX_MOVES <= len(trials.wins):
        if count > 0 and time.monotonic() > stop:
            break
        states = arena.deal(first, _GAMES_AT_ONCE)
        count = try_games(states, bench, trials, count, np.uint64(first), rules.params())
        first += _GAMES_AT_ONCE
    return trials.first(count)


# --- pair scores -------------------------------------------------------------------------------------


@kernel
def find_all_entries(
    trials: Trials, rules: RuleParams, pair_table: PairTable, layouts: np.ndarray, entries: np.ndarray
) -> None:
    """Find the entries of all moves. layouts: LAYOUT[1], scratch; entries: uint16[m, N_PAIRS], overwritten."""
    for i in range(len(trials.games)):
        layouts[0] = trials.layouts[i]
        start, stop = trials.starts[i], trials.starts[i + 1]
        find_entries(look(trials.games, i, layouts, rules), trials.moves[start:stop], stop - start, pair_table)
        for p in range(start, stop):
            for pair in range(N_PAIRS):
                entries[p, pair] = pair_table.entries[p - start, pair]


def entries_of(trials: Trials, rules: Rules) -> np.ndarray:
    """Where in a pair table each move is looked up: uint16[m, N_PAIRS]."""
    entries = np.zeros((len(trials.moves), N_PAIRS), dtype=np.uint16)
    pair_table = PairTable.of(np.empty(0, dtype=np.int16))
    find_all_entries(trials, rules.params(), pair_table, np.zeros(1, dtype=LAYOUT), entries)
    return entries


def with_pair_scores(trials: Trials, rules: Rules) -> Trials:
    """The same trials, with the scores of `tuned`: those of its weights and of its table, if it has one."""
    table, moves = table_for(rules), trials.moves.copy()
    if len(table) > 0:
        moves["score"] += table[entries_of(trials, rules)].sum(axis=1, dtype=np.int64)
    return trials._replace(moves=moves)
