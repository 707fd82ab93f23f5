"""Learning the pair table of the agent `tuned`: its moves are tried out, and the table shifts to what wins most.

    python -m train.tune_table --variant draw1 --minutes 20 --out tables.npz

In positions of games that the agent plays, with a random move now and then, all moves with close scores are tried:
unseen cards are shuffled many times, and the agent plays on from each move to the end. What a move wins beyond the
agent's own choice is an unbiased estimate, however noisy. The table is learned by gradient ascent on what the agent
would win if it drew its moves from the softmax of their scores, the policy gradient over all actions (Sutton, Singh,
McAllester, 2000, "Comparing policy-gradient algorithms"). In the first round the agent plays by the table in use, in
each other by that of the round before, and every table is learned from all trials so far. What is written takes the
place of `agents/tuned/pair_tables.npz`.
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

SAMPLES, FIRST_SAMPLES = 24, 8  # the latter where all moves have fared the same by then
SHARE_TRIED = 0.3  # of the decisions
SHARE_RANDOM = 0.05  # of the moves
_GAMES_AT_ONCE = 20
BLOCK = 20_000  # decisions
_DEALS_OF_A_THREAD = 2**32
_MOVES_EACH = 12  # room for so many moves of each decision, on average

TEMPERATURE = 500.0  # of the softmax, in scores
EPOCHS, BATCH = 6, 1024
LEARNING_RATE, DECAY = 10.0, 2e-11  # of a table in scores


class Trials(NamedTuple):
    """Decisions in which all moves were tried out.

    Attributes:
        starts: int64[n + 1], where the moves of each decision start.
        entries: uint16[m, N_PAIRS], of each move, in the table.
        scores: int64[m], without pair scores.
        wins: float32[m], the share of the samples that was won.
    """

    starts: np.ndarray
    entries: np.ndarray
    scores: np.ndarray
    wins: np.ndarray

    @classmethod
    def of_size(cls, decisions: int) -> Trials:
        """Room for so many decisions."""
        moves = decisions * _MOVES_EACH
        entries = np.zeros((moves, N_PAIRS), dtype=np.uint16)
        return cls(np.zeros(decisions + 1, np.int64), entries, np.zeros(moves, np.int64), np.zeros(moves, np.float32))

    @classmethod
    def together(cls, blocks: list[Trials]) -> Trials:
        """All trials of some blocks."""
        sizes = np.concatenate([np.diff(block.starts) for block in blocks])
        starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
        return cls(starts, *(np.concatenate(arrays) for arrays in list(zip(*blocks, strict=True))[1:]))

    def first(self, decisions: int) -> Trials:
        """The first of them."""
        moves = self.starts[decisions]
        return Trials(self.starts[: decisions + 1], self.entries[:moves], self.scores[:moves], self.wins[:moves])


# --- trying moves out --------------------------------------------------------------------------------


class Bench(NamedTuple):
    """What it takes to try moves out."""

    scoring: Scoring  # of the moves that are tried
    playing_on: Scoring  # the same, for the games that go on from them
    games: np.ndarray  # GAME[2], the game that is played and the one that is tried
    layouts: np.ndarray  # LAYOUT[1], of the first
    others: np.ndarray  # LAYOUT[1], of the second
    cards: np.ndarray  # uint8[52], scratch

    @classmethod
    def of(cls, scoring: Scoring, playing_on: Scoring) -> Bench:
        """A bench for these scores."""
        layouts, others = np.zeros(1, LAYOUT), np.zeros(1, LAYOUT)
        return cls(scoring, playing_on, np.zeros(2, GAME), layouts, others, np.zeros(N_CARDS, np.uint8))


@kernel
def shuffle_unseen(bench: Bench, seed: np.uint64, rules: RuleParams) -> int:
    """Shuffle what the player of the first game cannot see, for the second; the set of talon cards then.

    The authority is `klondike_env.engine.determinize`.
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
    """Play on from each of the `n` moves that are scored in the first game; whether it matters.

    wins: float32[n], overwritten.
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
    """Whether a thing that happens so often does."""
    return bool(int(random >> np.uint64(32)) < share * (1 << 32))


@kernel
def try_decision(bench: Bench, n: int, random: np.uint64, trials: Trials, count: int, rules: RuleParams) -> int:
    """Try the `n` moves of a decision, if it is picked and there is room; how many trials there are now."""
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
    """Play fresh games, and try all moves in some decisions; how many there are now, `count` before."""
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
        """Trials by a table, int16[N_ENTRIES]: a block of them, or fewer when the time is up."""
        trials, count, stop = Trials.of_size(self._size), 0, time.monotonic() + seconds
        weights = weights_for(self._rules)
        playing_on = Scoring.by(weights, table if table.any() else table[:0])  # which is the same, and faster
        bench = Bench.of(Scoring.by(weights, table), playing_on)
        while count < self._size and (count == 0 or time.monotonic() < stop):
            states = self._arena.deal(self._next, _GAMES_AT_ONCE)
            count = try_games(states, self._rules.params(), bench, trials, count, np.uint64(self._next))
            self._next += _GAMES_AT_ONCE
        return without_table(trials.first(count), table)


def without_table(trials: Trials, table: np.ndarray) -> Trials:
    """The same trials without pair scores. table: by which these were added."""
    added = table[trials.entries].sum(axis=1, dtype=np.int64)
    return trials._replace(scores=trials.scores - added)


# --- learning ----------------------------------------------------------------------------------------


def softmax(scores: torch.Tensor, decisions: torch.Tensor, n: int) -> torch.Tensor:
    """The softmax of scores, apart for each of `n` decisions."""
    most = torch.full((n,), -torch.inf).scatter_reduce(0, decisions, scores.detach(), "amax")
    parts = torch.exp(scores - most[decisions])
    return parts / torch.zeros(n).scatter_add(0, decisions, parts)[decisions]


def learn(trials: Trials, seed: int) -> np.ndarray:
    """A table, int16[N_ENTRIES]."""
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
    """Blocks of trials by a table, from games of the deals from `first` on."""
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
    out: Annotated[Path, typer.Option(help="file for all tables, written after each round, .npz")],
    force: Annotated[bool, typer.Option("--force", help="replace this file if it exists")] = False,
    minutes: Annotated[float, typer.Option(min=0.001, help="for the trials of a round")] = 10.0,
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
