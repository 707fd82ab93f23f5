"""Learning the table of the agent `tuned`: its plays are tried out, and the table moves to what wins most.

    python -m train.tune_table --variant draw1 --minutes 20 --out tables.npz

In positions of games that the agent plays, with a random play now and then, all plays with close marks are
tried: unseen cards are laid at random many times, and the agent plays on from each play to the end. What a
play wins beyond the agent's own choice is an unbiased estimate, however noisy. The table is learned by
gradient ascent on what the agent would win if it drew its plays from the softmax of their marks, the
policy gradient over all actions (Sutton, Singh, McAllester, 2000, "Comparing policy-gradient algorithms").
In the first round the agent plays by the table in use, in each other by that of the round before, and every
table is learned from all trials so far. What is written takes the place of `agents/tuned/pair_tables.npz`.
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

from klondike_env.agents.lists.list_player import (
    GAME,
    LAYOUT,
    NEVER,
    index_talon,
    is_decided,
    read_game,
    read_layout,
    stock_of,
)
from klondike_env.agents.tuned.agent import (
    MOST_PLAYS,
    Marking,
    best_of,
    choice_of,
    is_none,
    make_play,
    mark_plays,
    play_out_tuned,
)
from klondike_env.agents.tuned.features import N_CELLS, N_PAIRS
from klondike_env.agents.tuned.scores import find_reach
from klondike_env.agents.tuned.weights import most_like, table_for, tables, weights_for
from klondike_env.cards import N_CARDS
from klondike_env.deals import TRAINING_DEALS, VALIDATION_DEALS
from klondike_env.engine.card_sets import bit_of, count_cards, lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import GOLDEN_GAMMA, mix, shuffle
from klondike_env.engine.state import N_COLUMNS
from klondike_env.rules import PRESETS, UNLIMITED, RuleParams, Rules, preset
from train.console import check_can_be_written, fail
from train.files import write_atomically
from train.tune import Judge

SAMPLES, FIRST_SAMPLES = 24, 8  # the latter where all plays have fared the same by then
SHARE_TRIED = 0.3  # of the decisions
SHARE_RANDOM = 0.05  # of the plays
_GAMES_AT_ONCE = 20
BLOCK = 20_000  # decisions
_DEALS_OF_A_THREAD = 2**32
_PLAYS_EACH = 12  # room for so many plays of each decision, on average

TEMPERATURE = 500.0  # of the softmax, in marks
EPOCHS, BATCH = 6, 1024
LEARNING_RATE, DECAY = 10.0, 2e-11  # of a table in marks


class Trials(NamedTuple):
    """Decisions in which all plays were tried out.

    Attributes:
        starts: int64[n + 1], where the plays of each decision start.
        cells: uint16[m, N_PAIRS], of each play.
        marks: int64[m], first marks.
        wins: float32[m], the part of the samples that was won.
    """

    starts: np.ndarray
    cells: np.ndarray
    marks: np.ndarray
    wins: np.ndarray

    @classmethod
    def of_size(cls, decisions: int) -> Trials:
        """Room for so many decisions."""
        plays = decisions * _PLAYS_EACH
        cells = np.zeros((plays, N_PAIRS), dtype=np.uint16)
        return cls(np.zeros(decisions + 1, np.int64), cells, np.zeros(plays, np.int64), np.zeros(plays, np.float32))

    @classmethod
    def together(cls, parts: list[Trials]) -> Trials:
        """All trials of some parts."""
        sizes = np.concatenate([np.diff(part.starts) for part in parts])
        starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
        return cls(starts, *(np.concatenate(arrays) for arrays in list(zip(*parts, strict=True))[1:]))

    def first(self, decisions: int) -> Trials:
        """The first of them."""
        plays = self.starts[decisions]
        return Trials(self.starts[: decisions + 1], self.cells[:plays], self.marks[:plays], self.wins[:plays])


# --- trying plays out --------------------------------------------------------------------------------


@kernel
def lay_again(
    games: np.ndarray,
    g: int,
    layouts: np.ndarray,
    others: np.ndarray,
    seed: np.uint64,
    cards: np.ndarray,
    rules: RuleParams,
) -> int:
    """Lay what the player of a game cannot see at random; the set of talon cards then.

    others: LAYOUT[1], overwritten; cards: uint8[52], scratch.
    """
    others[0] = layouts[0]
    stock = stock_of(int(games[g]["left"]), int(games[g]["waste"])) if rules.redeals != UNLIMITED else 0
    talon, n = int(games[g]["talon"]), 0
    for column in range(N_COLUMNS):
        for row in range(int(games[g]["n_down"][column])):
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
        for row in range(int(games[g]["n_down"][column])):
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
def try_all(
    games: np.ndarray,
    layouts: np.ndarray,
    others: np.ndarray,
    cards: np.ndarray,
    rules: RuleParams,
    marking: Marking,
    judging: Marking,
    n: int,
    random: np.uint64,
    wins: np.ndarray,
) -> bool:
    """Play on from each of the `n` plays that are marked in games[0]; whether it matters.

    games: GAME[2]; judging: the same marks with scratch of its own; wins: float32[n], overwritten.
    """
    for p in range(n):
        wins[p] = 0
    for sample in range(SAMPLES):
        if sample == FIRST_SAMPLES and are_equal(wins, n):
            return False
        talon = lay_again(games, 0, layouts, others, mix(random + np.uint64(sample) * GOLDEN_GAMMA), cards, rules)
        for p in range(n):
            games[1] = games[0]
            games[1]["talon"] = talon
            make_play(games, 1, choice_of(marking.plays, p), others, rules)
            wins[p] += play_out_tuned(games, 1, others, rules, NEVER, judging)
    for p in range(n):
        wins[p] /= SAMPLES
    return True


@kernel
def note_trial(trials: Trials, count: int, n: int, marking: Marking) -> None:
    """Note the marks and cells of a decision in which all plays were tried."""
    start = trials.starts[count]
    for p in range(n):
        trials.marks[start + p] = marking.plays[p]["mark"]
        for pair in range(N_PAIRS):
            trials.cells[start + p, pair] = marking.cells[p, pair]
    trials.starts[count + 1] = start + n


@kernel
def chance(random: np.uint64, share: float) -> bool:
    """Whether a thing that happens so often does."""
    return bool(int(random >> np.uint64(32)) < share * (1 << 32))


@kernel
def try_games(
    states: np.ndarray,
    rules: RuleParams,
    marking: Marking,
    judging: Marking,
    games: np.ndarray,
    layouts: np.ndarray,
    others: np.ndarray,
    cards: np.ndarray,
    trials: Trials,
    count: int,
    random: np.uint64,
) -> int:
    """Play fresh games, and try all plays in some decisions; how many there are now, `count` before.

    scratch are games: GAME[2], layouts and others: LAYOUT[1], cards: uint8[52].
    """
    for i in range(len(states)):
        read_layout(states, i, layouts)
        read_game(states, i, games, 0)
        index_talon(states, i, layouts, games, 0)
        find_reach(games, 0, layouts, rules)
        for _ in range(MOST_PLAYS):
            if is_decided(games, 0, rules, NEVER):
                break
            n = mark_plays(games, 0, layouts, rules, marking)
            choice = best_of(marking.plays, n)
            if is_none(choice):
                break
            if n > 1:
                random = mix(random + GOLDEN_GAMMA)
                start = trials.starts[count]
                has_room = count + 1 < len(trials.starts) and start + n <= len(trials.marks)
                if has_room and chance(random, SHARE_TRIED):
                    wins = trials.wins[start : start + n]
                    if try_all(games, layouts, others, cards, rules, marking, judging, n, random, wins):
                        note_trial(trials, count, n, marking)
                        count += 1
                random = mix(random + GOLDEN_GAMMA)
                if chance(random, SHARE_RANDOM):
                    choice = choice_of(marking.plays, int(random % np.uint64(n)))
            make_play(games, 0, choice, layouts, rules)
    return count


class Trier:
    """Tries out plays under some rules."""

    def __init__(self, rules: Rules, first: int, size: int = BLOCK) -> None:
        self._rules, self._next, self._size = rules, first, size
        self._judge = Judge(rules)

    def block(self, table: np.ndarray, seconds: float) -> Trials:
        """Trials by a table, int16[N_CELLS]: a block of them, or fewer when the time is up."""
        trials, count, stop = Trials.of_size(self._size), 0, time.monotonic() + seconds
        weights = weights_for(self._rules)
        marking = Marking.by(weights, table)
        judging = Marking.by(weights, table if table.any() else table[:0])  # which is the same, and faster
        scratch = np.zeros(2, GAME), np.zeros(1, LAYOUT), np.zeros(1, LAYOUT), np.zeros(N_CARDS, np.uint8)
        while count < self._size and (count == 0 or time.monotonic() < stop):
            states = self._judge.deal(self._next, _GAMES_AT_ONCE)
            seed = np.uint64(self._next)
            count = try_games(states, self._rules.params(), marking, judging, *scratch, trials, count, seed)
            self._next += _GAMES_AT_ONCE
        return without_table(trials.first(count), table)


def without_table(trials: Trials, table: np.ndarray) -> Trials:
    """The same trials with first marks. table: what was added to them."""
    added = table[trials.cells].sum(axis=1, dtype=np.int64)
    return trials._replace(marks=trials.marks - added)


# --- learning ----------------------------------------------------------------------------------------


def softmax(scores: torch.Tensor, decisions: torch.Tensor, n: int) -> torch.Tensor:
    """The softmax of scores, apart for each of `n` decisions."""
    most = torch.full((n,), -torch.inf).scatter_reduce(0, decisions, scores.detach(), "amax")
    parts = torch.exp(scores - most[decisions])
    return parts / torch.zeros(n).scatter_add(0, decisions, parts)[decisions]


def learn(trials: Trials, seed: int) -> np.ndarray:
    """A table, int16[N_CELLS]."""
    sizes = np.diff(trials.starts)
    cells, marks, wins = (torch.from_numpy(array) for array in trials[1:])
    means = np.add.reduceat(trials.wins, trials.starts[:-1]) / sizes
    gains = wins - torch.from_numpy(np.repeat(means, sizes)).float()
    values = torch.zeros(N_CELLS, requires_grad=True)
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
            scores = marks[rows] + values[cells[rows].long()].sum(dim=1)
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
    deals: Annotated[int, typer.Option(min=1, help="validation deals on which each table is judged")] = 100_000,
) -> None:
    """Learn a table for a variant."""
    try:
        rules = preset(variant)
    except ValueError as error:
        fail(error)
    check_can_be_written(out, force)
    judge, weights, table = Judge(rules), weights_for(rules), table_for(rules)
    if len(table) == 0:
        table = np.zeros(N_CELLS, dtype=np.int16)
    validation = judge.deal(VALIDATION_DEALS.start, deals)
    won = judge.win_rate(Marking.by(weights, table), validation)
    print(f"before: {won:.2%} of {deals} validation deals", flush=True)
    rng = np.random.default_rng(seed)
    blocks: list[Trials] = []
    for number in range(1, rounds + 1):
        first = int(rng.integers(TRAINING_DEALS.start, TRAINING_DEALS.start + 2**40))
        blocks += gather(rules, table, 60 * minutes, threads, first)
        table = learn(Trials.together(blocks), seed)
        write_atomically(out, packed({**tables(), most_like(rules): table}))
        won = judge.win_rate(Marking.by(weights, table), validation)
        decisions = sum(len(block.starts) - 1 for block in blocks)
        print(f"round {number}: {won:.2%}, learned from {decisions} decisions", flush=True)


if __name__ == "__main__":
    app()
