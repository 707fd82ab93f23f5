"""Learn the pair table of the agent `tuned`: try its moves out, and shift the table towards those that win most.

    python -m train.tune_table --variant draw1 --minutes 20 --out tables.npz

The agent plays games, with a random move now and then. In some decisions of these games all moves with close scores are
tried: the unseen cards are shuffled many times, and the agent plays on from each move to the end. The share of these
games that are won is a noisy but unbiased estimate of what the move wins.

The table is learned as `train.lessons` says. In the first round the agent plays by the table in use, in each later
round by that of the round before. Every table is learned from all trials so far. The file that this writes can replace
`agents/tuned/pair_tables.npz`.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer

from klondike_env.agents.tuned.agent import Scoring
from klondike_env.agents.tuned.pair_table import (
    MARGIN,
    N_ENTRIES,
    table_for,
    tables,
)
from klondike_env.agents.tuned.weights import most_like, weights_for
from klondike_env.deals import TRAINING_DEALS, VALIDATION_DEALS
from klondike_env.rules import PRESETS, Rules, preset
from train.console import check_can_be_written, fail
from train.files import packed_arrays, write_atomically
from train.lessons import Lessons
from train.trials import Bench, Effort, Trials, entries_of, record
from train.tune import Arena

EFFORT = Effort(MARGIN, 8, 24)
TEMPERATURE = 500.0
BLOCK = 20_000  # decisions in a block of trials
_DEALS_OF_A_BLOCK, _DEALS_OF_A_THREAD = 2**24, 2**32

EPOCHS, BATCH = 6, 1024
LEARNING_RATE, DECAY = 10.0, 2e-11  # of a table in units of a score


def lessons_of(blocks: list[Trials], rules: Rules) -> Lessons:
    """Trials to learn from; moves are described by their entries."""
    return Lessons(blocks, [entries_of(block, rules) for block in blocks], TEMPERATURE)


# --- learning ----------------------------------------------------------------------------------------


def learn(lessons: Lessons, seed: int) -> np.ndarray:
    """Learn a table, int16[N_ENTRIES]."""
    values = torch.zeros(N_ENTRIES, requires_grad=True)
    optimizer = torch.optim.Adam([values], lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.01, EPOCHS * lessons.n_batches(BATCH))
    rng = np.random.default_rng(seed)
    for _ in range(EPOCHS):
        for batch in lessons.batches(BATCH, rng):
            added = values[lessons.descriptions[batch.rows].long()].sum(dim=1)
            loss = lessons.loss(added / TEMPERATURE, batch) + DECAY * (values**2).sum()
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            schedule.step()
    return values.detach().round().clamp(-(2**15), 2**15 - 1).numpy().astype(np.int16)


# --- the command -------------------------------------------------------------------------------------


def gather(rules: Rules, table: np.ndarray, seconds: float, threads: int, first: int) -> list[Trials]:
    """Blocks of trials by a table, in games of the deals from `first` on."""
    stop, weights = time.monotonic() + seconds, weights_for(rules)

    def work(thread: int) -> list[Trials]:
        playing_on = Scoring.by(weights, table if table.any() else table[:0])  # an empty table is faster than zeros
        bench = Bench.of(rules, Scoring.by(weights, table), playing_on, EFFORT)
        blocks: list[Trials] = []
        while not blocks or time.monotonic() < stop:
            deal = first + thread * _DEALS_OF_A_THREAD + len(blocks) * _DEALS_OF_A_BLOCK
            blocks.append(record(rules, bench, deal, BLOCK, stop - time.monotonic()))
        return blocks

    with ThreadPoolExecutor(threads) as pool:
        return [block for blocks in pool.map(work, range(threads)) for block in blocks]


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
        table = learn(lessons_of(blocks, rules), seed)
        write_atomically(out, packed_arrays({**tables(), most_like(rules): table}))
        won = arena.win_rate(Scoring.by(weights, table), validation)
        decisions = sum(len(block.sizes) for block in blocks)
        print(f"round {number}: {won:.2%}, learned from {decisions} decisions", flush=True)


if __name__ == "__main__":
    app()
