"""Learn the pair table of the agent `tuned`: try its moves out, and shift the table towards those that win most.

    python -m train.tune_table --variant draw1 --minutes 20 --out tables.npz

The agent plays games, with a random move now and then. In some decisions of these games all moves with close scores are
tried: the unseen cards are shuffled many times, and the agent plays on from each move to the end. The share of these
games that are won is a noisy but unbiased estimate of what the move wins.

The table is learned by gradient ascent on what the agent would win if it drew its moves from the softmax of their
scores. This is the policy gradient over all actions (Sutton, Singh, McAllester, 2000, "Comparing policy-gradient
algorithms"). In the first round the agent plays by the table in use, in each later round by that of the round before.
Every table is learned from all trials so far. The file that this writes can replace `agents/tuned/pair_tables.npz`.
"""

from __future__ import annotations

import io
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch
import typer

from klondike_env.agents.lists.list_player import GAME, LAYOUT, NEVER, is_decided, read_position, stock_of
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
from klondike_env.agents.tuned.pair_table import N_ENTRIES, N_PAIRS, table_for, tables
from klondike_env.agents.tuned.scores import find_reach
from klondike_env.agents.tuned.weights import most_like, weights_for
from klondike_env.cards import N_CARDS
from klondike_env.deals import TRAINING_DEALS, VALIDATION_DEALS
from klondike_env.engine.card_sets import bit_of, count_cards, lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import GOLDEN_GAMMA, mix, shuffle
from klondike_env.engine.state import N_COLUMNS
from klondike_env.engine.talon import redeals_are_unlimited
from klondike_env.rules import PRESETS, RuleParams, Rules, preset
from train.console import check_can_be_written, fail
from train.files import write_atomically
from train.tune import Arena

SAMPLES, FIRST_SAMPLES = 24, 8  # determinizations; only the first 8 if all moves have won equally often by then
SHARE_TRIED = 0.3  # of the decisions, those in which moves are tried out
SHARE_RANDOM = 0.05  # of the decisions, those in which the game goes on with a random move
_GAMES_AT_ONCE = 20
BLOCK = 20_000  # decisions in a block of trials
_DEALS_OF_A_THREAD = 2**32
_MOVES_EACH = 12  # there is room for this many moves of a decision, on average

TEMPERATURE = 500.0  # of the softmax, in units of a score
EPOCHS, BATCH = 6, 1024
LEARNING_RATE, DECAY = 10.0, 2e-11  # of a table in units of a score


class Trials(NamedTuple):
    """Decisions in which all moves were tried out.

    Attributes:
        starts: int64[n + 1], where the moves of each decision start.
        entries: uint16[m, N_PAIRS], indices into the table for each move.
        scores: int64[m], the score of each move without pair scores.
        wins: float32[m], the share of samples that each move won.
    """

    starts: np.ndarray
    entries: np.ndarray
    scores: np.ndarray
    wins: np.ndarray

    @classmethod
    def of_size(cls, decisions: int) -> Trials:
        """Empty arrays with room for this many decisions."""
        moves = decisions * _MOVES_EACH
        entries = np.zeros((moves, N_PAIRS), dtype=np.uint16)
        return cls(np.zeros(decisions + 1, np.int64), entries, np.zeros(moves, np.int64), np.zeros(moves, np.float32))

    @classmethod
    def together(cls, blocks: list[Trials]) -> Trials:
        """The trials of several blocks, joined."""
        sizes = np.concatenate([np.diff(block.starts) for block in blocks])
        starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
        return cls(starts, *(np.concatenate(arrays) for arrays in list(zip(*blocks, strict=True))[1:]))

    def first(self, decisions: int) -> Trials:
        """The trials of the first `decisions` decisions."""
        moves = self.starts[decisions]
        return Trials(self.starts[: decisions + 1], self.entries[:moves], self.scores[:moves], self.wins[:moves])


# --- trying moves out --------------------------------------------------------------------------------


class Bench(NamedTuple):
    """Scores and scratch arrays for trying moves out."""

    scoring: Scoring  # scores the moves that are tried
    playing_on: Scoring  # equal scores, for playing on from these moves
    games: np.ndarray  # GAME[2], the game that is played and the copy that a move is tried in
    layouts: np.ndarray  # LAYOUT[1], of the game that is played
    others: np.ndarray  # LAYOUT[1], of the copy
    cards: np.ndarray  # uint8[52], scratch

    @classmethod
    def of(cls, scoring: Scoring, playing_on: Scoring) -> Bench:
        """A bench for these scores."""
        layouts, others = np.zeros(1, LAYOUT), np.zeros(1, LAYOUT)
        return cls(scoring, playing_on, np.zeros(2, GAME), layouts, others, np.zeros(N_CARDS, np.uint8))


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
    """Play on from each of the `n` moves that are scored in the first game; whether the moves differ in wins.

    wins: float32[n], overwritten with the share of samples that each move won.
    """
    games, others, moves = bench.games, bench.others, bench.scoring.sheet.moves
    for p in range(n):
        wins[p] = 0
    for sample in range(SAMPLES):
        if sample == FIRST_SAMPLES and are_equal(wins, n):
            return False
        talon = shuffle_unseen(bench, mix(random + np.uint64(sample) * GOLDEN_GAMMA), rules)
        for p in range(n):
            games[1] = games[0]
            games[1]["talon"] = talon
            make_move(games, 1, choice_of(moves, p), others, rules)
            wins[p] += play_out_tuned(games, 1, others, rules, NEVER, bench.playing_on)
    for p in range(n):
        wins[p] /= SAMPLES
    return True


@kernel
def record_trial(trials: Trials, count: int, n: int, scoring: Scoring) -> None:
    """Record the scores and entries of a decision in which all moves were tried."""
    start = trials.starts[count]
    for p in range(n):
        trials.scores[start + p] = scoring.sheet.moves[p]["score"]
        for pair in range(N_PAIRS):
            trials.entries[start + p, pair] = scoring.pair_table.entries[p, pair]
    trials.starts[count + 1] = start + n


@kernel
def chance(random: np.uint64, share: float) -> bool:
    """True with probability `share`, given a random number."""
    return bool(int(random >> np.uint64(32)) < share * (1 << 32))


@kernel
def try_decision(bench: Bench, n: int, random: np.uint64, trials: Trials, count: int, rules: RuleParams) -> int:
    """Try the `n` moves of a decision if it is picked and there is room; the new number of decisions recorded."""
    start = trials.starts[count]
    has_room = count + 1 < len(trials.starts) and start + n <= len(trials.scores)
    if not has_room or not chance(random, SHARE_TRIED):
        return count
    if not try_all(bench, n, random, trials.wins[start : start + n], rules):
        return count
    record_trial(trials, count, n, bench.scoring)
    return count + 1


@kernel
def try_games(
    states: np.ndarray, rules: RuleParams, bench: Bench, trials: Trials, count: int, random: np.uint64
) -> int:
    """Play fresh games, and try all moves in some decisions; the new number of decisions recorded, `count` before."""
    games, layouts, moves = bench.games, bench.layouts, bench.scoring.sheet.moves
    for i in range(len(states)):
        read_position(states, i, games, layouts)
        find_reach(games, 0, layouts, rules)
        for _ in range(MOST_MOVES):
            if is_decided(games, 0, rules, NEVER):
                break
            n = find_moves(games, 0, layouts, rules, bench.scoring)
            choice = best_of(moves, n)
            if is_none(choice):
                break
            if n > 1:
                random = mix(random + GOLDEN_GAMMA)
                count = try_decision(bench, n, random, trials, count, rules)
                random = mix(random + GOLDEN_GAMMA)
                if chance(random, SHARE_RANDOM):
                    choice = choice_of(moves, int(random % np.uint64(n)))
            make_move(games, 0, choice, layouts, rules)
    return count


class Trier:
    """Tries out moves under some rules."""

    def __init__(self, rules: Rules, first: int, size: int = BLOCK) -> None:
        self._rules, self._next, self._size = rules, first, size
        self._arena = Arena(rules)

    def block(self, table: np.ndarray, seconds: float) -> Trials:
        """A block of trials by a table, int16[N_ENTRIES]; a shorter one if the time runs out."""
        trials, count, stop = Trials.of_size(self._size), 0, time.monotonic() + seconds
        weights = weights_for(self._rules)
        playing_on = Scoring.by(weights, table if table.any() else table[:0])  # an empty table is faster than zeros
        bench = Bench.of(Scoring.by(weights, table), playing_on)
        while count < self._size and (count == 0 or time.monotonic() < stop):
            states = self._arena.deal(self._next, _GAMES_AT_ONCE)
            count = try_games(states, self._rules.params(), bench, trials, count, np.uint64(self._next))
            self._next += _GAMES_AT_ONCE
        return without_table(trials.first(count), table)


def without_table(trials: Trials, table: np.ndarray) -> Trials:
    """The same trials, with the pair scores of `table` subtracted."""
    added = table[trials.entries].sum(axis=1, dtype=np.int64)
    return trials._replace(scores=trials.scores - added)


# --- learning ----------------------------------------------------------------------------------------


def softmax(scores: torch.Tensor, decisions: torch.Tensor, n: int) -> torch.Tensor:
    """The softmax of scores, separately for each of `n` decisions."""
    most = torch.full((n,), -torch.inf).scatter_reduce(0, decisions, scores.detach(), "amax")
    parts = torch.exp(scores - most[decisions])
    return parts / torch.zeros(n).scatter_add(0, decisions, parts)[decisions]


def learn(trials: Trials, seed: int) -> np.ndarray:
    """Learn a table, int16[N_ENTRIES], from trials."""
    sizes = np.diff(trials.starts)
    entries, first_scores, wins = (torch.from_numpy(array) for array in trials[1:])
    means = np.add.reduceat(trials.wins, trials.starts[:-1]) / sizes
    gains = wins - torch.from_numpy(np.repeat(means, sizes)).float()
    values = torch.zeros(N_ENTRIES, requires_grad=True)
    optimizer = torch.optim.Adam([values], lr=LEARNING_RATE)
    batch = min(BATCH, len(sizes))
    steps = EPOCHS * (len(sizes) // batch)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.01, steps)
    rng = np.random.default_rng(seed)
    for _ in range(EPOCHS):
        order = rng.permutation(len(sizes))
        for chosen in order[: len(order) // batch * batch].reshape(-1, batch):
            decisions = torch.from_numpy(np.repeat(np.arange(batch), sizes[chosen]))
            rows = np.concatenate([np.arange(trials.starts[k], trials.starts[k + 1]) for k in chosen])
            scores = first_scores[rows] + values[entries[rows].long()].sum(dim=1)
            shares = softmax(scores / TEMPERATURE, decisions, batch)
            loss = -(shares * gains[rows]).sum() / batch + DECAY * (values**2).sum()
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            schedule.step()
    return values.detach().round().clamp(-(2**15), 2**15 - 1).numpy().astype(np.int16)


# --- the command -------------------------------------------------------------------------------------


def gather(rules: Rules, table: np.ndarray, seconds: float, threads: int, first: int) -> list[Trials]:
    """Blocks of trials by a table, in games of the deals from `first` on."""
    stop = time.monotonic() + seconds

    def work(thread: int) -> list[Trials]:
        trier = Trier(rules, first + thread * _DEALS_OF_A_THREAD)
        blocks: list[Trials] = []
        while not blocks or time.monotonic() < stop:
            blocks.append(trier.block(table, stop - time.monotonic()))
        return blocks

    with ThreadPoolExecutor(threads) as pool:
        return [block for blocks in pool.map(work, range(threads)) for block in blocks]


def packed(tables: dict[str, np.ndarray]) -> bytes:
    """Tables as the bytes of an .npz file."""
    file = io.BytesIO()
    np.savez_compressed(file, **tables)  # type: ignore[arg-type]
    return file.getvalue()


app = typer.Typer(add_completion=False)


@app.command()
def main(
    variant: Annotated[str, typer.Option(help=", ".join(PRESETS))],
    out: Annotated[Path, typer.Option(help="file for the tables (.npz), written after each round")],
    force: Annotated[bool, typer.Option("--force", help="replace this file if it exists")] = False,
    minutes: Annotated[float, typer.Option(min=0.001, help="time for the trials of a round")] = 10.0,
    rounds: Annotated[int, typer.Option(min=1)] = 2,
    threads: Annotated[int, typer.Option(min=1)] = 1,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    deals: Annotated[int, typer.Option(min=1, help="validation deals on which each table is evaluated")] = 100_000,
) -> None:
    """Learn a table for a variant."""
    try:
        rules = preset(variant)
    except ValueError as error:
        fail(error)
    check_can_be_written(out, force)
    arena, weights, table = Arena(rules), weights_for(rules), table_for(rules)
    if len(table) == 0:
        table = np.zeros(N_ENTRIES, dtype=np.int16)
    validation = arena.deal(VALIDATION_DEALS.start, deals)
    won = arena.win_rate(Scoring.by(weights, table), validation)
    print(f"before: {won:.2%} of {deals} validation deals", flush=True)
    rng = np.random.default_rng(seed)
    blocks: list[Trials] = []
    for number in range(1, rounds + 1):
        first = int(rng.integers(TRAINING_DEALS.start, TRAINING_DEALS.start + 2**40))
        blocks += gather(rules, table, 60 * minutes, threads, first)
        table = learn(Trials.together(blocks), seed)
        write_atomically(out, packed({**tables(), most_like(rules): table}))
        won = arena.win_rate(Scoring.by(weights, table), validation)
        decisions = sum(len(block.starts) - 1 for block in blocks)
        print(f"round {number}: {won:.2%}, learned from {decisions} decisions", flush=True)


if __name__ == "__main__":
    app()
