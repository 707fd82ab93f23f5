"""Train the network of the agent `net`, which scores the moves of `tuned`, in rounds of trying out and learning.

    python -m train.net --config configs/net/draw3.yaml
    python -m train.net --config configs/net/draw3.yaml "rounds=[{decisions: 1e5}]" run_dir=runs/short
    python -m train.net --resume runs/net_draw3

In a round, all moves of many decisions are tried out in the same determinizations (`train.trials`). Then a network
learns from the trials of all rounds (`train.lessons`). The first round's games are played by `tuned`, those of a later
round by the last network. Who plays on from the moves that are tried out is set for each round.

The run directory holds `config.yaml`, the trials in blocks, the network of each round, and `net.safetensors`, the one
that won most validation deals, which `--agent net:FILE` plays. Everything is written whole or not at all, so an
interrupted run goes on where it stopped. Trials depend on their numbers alone, not on threads or interruptions.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer
from pydantic import BaseModel
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from torch import nn

from klondike_env.agents.lists.list_player import LAYOUT
from klondike_env.agents.tuned.agent import Scoring
from klondike_env.agents.tuned.features import recall
from klondike_env.agents.tuned.inputs import N_ACTIVE, N_INPUTS, Inputs, begin_inputs, list_inputs
from klondike_env.agents.tuned.net import load_network, pack_network
from klondike_env.agents.tuned.network import SCORE_UNIT, Weights
from klondike_env.agents.tuned.scores import look
from klondike_env.agents.tuned.weights import weights_for
from klondike_env.deals import TRAINING_DEALS, VALIDATION_DEALS
from klondike_env.engine.jit import kernel
from klondike_env.rules import RuleParams, Rules
from train.config import CONFIG_FILE, NetConfig, load_run_config, save_config
from train.console import explain_mistakes, explain_resuming
from train.files import claim_run_dir, packed_arrays, write_atomically
from train.lessons import Lessons
from train.trials import Bench, Effort, Trials, record, with_pair_scores
from train.tune import Arena

NET_FILE = "net.safetensors"
RESULTS_FILE = "training.json"
BLOCK = 20_000  # decisions
_SPREAD = 0.1  # standard deviation of the first layer's weights at the start


# A network that learned from noisy trials is too sure of what it learned, so its outputs are scaled down. In draw 3,
# one that had learned from 880,000 decisions won 35.2 % of 40,000 validation deals with its outputs as they were, and
# 35.8 with half of them.
SCALES = (0.1, 0.2, 0.35, 0.5, 0.7)


class Round(BaseModel):
    """What a round has come to.

    Attributes:
        decisions: decisions learned from, those of earlier rounds included.
        scale: the factor of its network's outputs, of SCALES the one that won most validation deals.
        win_rate: the share of validation deals that its network won.
    """

    decisions: int
    scale: float
    win_rate: float


class Results(BaseModel):
    """What a run has come to."""

    before: float  # the share of validation deals that `tuned` won
    rounds: list[Round] = []

    @property
    def best(self) -> int:
        """The index of the round whose network won most."""
        return int(np.argmax([done.win_rate for done in self.rounds]))


# --- learning ----------------------------------------------------------------------------------------


class Learner(nn.Module):
    """The move network as torch trains it; see `klondike_env.agents.tuned.network`."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__()
        self.rows = nn.EmbeddingBag(N_INPUTS, first, mode="sum")
        self.first_bias = nn.Parameter(torch.zeros(first))
        self.second = nn.Linear(first, second)
        self.last = nn.Linear(second, 1, bias=False)
        nn.init.normal_(self.rows.weight, std=_SPREAD)
        nn.init.zeros_(self.last.weight)  # so that learning starts from the scores of `tuned`

    def forward(self, active: torch.Tensor) -> torch.Tensor:
        """int[m, N_ACTIVE], the active inputs of moves -> float32[m], outputs."""
        first = torch.relu(self.rows(active) + self.first_bias)
        outputs: torch.Tensor = self.last(torch.relu(self.second(first)))[:, 0]
        return outputs

    def weights(self) -> Weights:
        """The weights as the agent needs them."""
        tensors = self.rows.weight, self.first_bias, self.second.weight.T, self.second.bias, self.last.weight[0]
        return Weights(*(tensor.detach().cpu().contiguous().numpy() for tensor in tensors))


def scaled(weights: Weights, scale: float) -> Weights:
    """The network whose outputs are those of another times a factor."""
    return weights._replace(last=(scale * weights.last).astype(np.float32))


@kernel
def list_all_inputs(trials: Trials, rules: RuleParams, inputs: Inputs, layouts: np.ndarray, active: np.ndarray) -> None:
    """List the active inputs of all moves. layouts: LAYOUT[1], scratch; active: int16[m, N_ACTIVE], overwritten."""
    for i in range(len(trials.games)):
        layouts[0] = trials.layouts[i]
        scene = look(trials.games, i, layouts, rules)
        known = recall(scene)
        begin_inputs(scene, known, inputs)
        for p in range(trials.starts[i], trials.starts[i + 1]):
            list_inputs(scene, known, int(trials.moves[p]["kind"]), int(trials.moves[p]["what"]), inputs)
            for place in range(N_ACTIVE):
                active[p, place] = inputs.active[place]


def lessons_of(blocks: list[Trials], rules: Rules) -> Lessons:
    """Trials to learn from; moves are described by their active inputs."""
    descriptions = [np.zeros((len(block.moves), N_ACTIVE), dtype=np.int16) for block in blocks]
    inputs, layouts = Inputs.of(rules), np.zeros(1, dtype=LAYOUT)
    for block, active in zip(blocks, descriptions, strict=True):
        list_all_inputs(block, rules.params(), inputs, layouts, active)
    return Lessons([with_pair_scores(block, rules) for block in blocks], descriptions, SCORE_UNIT)


def learn(lessons: Lessons, config: NetConfig, progress: Progress) -> Weights:
    """Train a network from scratch."""
    torch.manual_seed(config.seed)
    learner, rng = Learner(*config.hidden_sizes), np.random.default_rng(config.seed)
    optimizer = torch.optim.AdamW(learner.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
    steps = config.epochs * lessons.n_batches(config.batch_size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, config.learning_rate, steps, cycle_momentum=False)
    bar = progress.add_task("learning", total=steps)
    for _ in range(config.epochs):
        for batch in lessons.batches(config.batch_size, rng):
            loss = lessons.loss(learner(lessons.descriptions[batch.rows].int()), batch)
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            schedule.step()
            progress.advance(bar)
    return learner.weights()


# --- a run -------------------------------------------------------------------------------------------


class Run:
    """A training in its directory.

    Args:
        config: what to train.
        progress: where progress is shown.
    """

    def __init__(self, config: NetConfig, progress: Progress) -> None:
        self.config, self.rules, self.directory = config, config.game, config.directory
        self.progress = progress
        self._arena = Arena(self.rules)
        self._validation = self._arena.deal(VALIDATION_DEALS.start, config.deals)

    def finish(self) -> Results:
        """Do what is left to do."""
        results = self._load_results()
        for number in range(len(results.rounds), len(self.config.rounds)):
            blocks = [block for earlier in range(number + 1) for block in self._trials(earlier)]
            lessons = lessons_of(blocks, self.rules)
            learned = learn(lessons, self.config, self.progress)
            rates = {scale: self._win_rate(self._scoring(scaled(learned, scale))) for scale in SCALES}
            scale = max(rates, key=rates.__getitem__)
            weights = scaled(learned, scale)
            results.rounds.append(Round(decisions=len(lessons), scale=scale, win_rate=rates[scale]))
            config = self.config.model_dump(mode="json", exclude={"run_dir"})
            about = {"config": config, "results": results.model_dump()}
            packed = pack_network(weights, variant=self.config.variant, rules=self.rules.to_dict(), **about)
            write_atomically(self._network_file(number), packed)
            if results.best == number:
                write_atomically(self.directory / NET_FILE, packed)
            write_atomically(self.directory / RESULTS_FILE, results.model_dump_json(indent=2) + "\n")
        return results

    def _load_results(self) -> Results:
        file = self.directory / RESULTS_FILE
        if file.exists():
            return Results.model_validate_json(file.read_text())
        return Results(before=self._win_rate(Scoring.of(self.rules)))

    def _win_rate(self, scoring: Scoring) -> float:
        return self._arena.win_rate(scoring, self._validation)

    def _scoring(self, weights: Weights) -> Scoring:
        return Scoring.by_network(weights, self.rules)

    def _network_file(self, number: int) -> Path:
        return self.directory / f"round_{number + 1}.safetensors"

    def _trials(self, number: int) -> list[Trials]:
        """The trials of a round, recorded now unless they were before."""
        blocks = range(-(-self.config.rounds[number].decisions // BLOCK))
        last = load_network(self._network_file(number - 1)) if number > 0 else None
        bar = self.progress.add_task(f"round {number + 1}: trying out, blocks of {BLOCK:,}", total=len(blocks))

        def load(block: int) -> Trials:
            trials = self._block(number, block, last)
            self.progress.advance(bar)
            return trials

        with ThreadPoolExecutor(self.config.threads) as pool:
            return list(pool.map(load, blocks))

    def _block(self, number: int, block: int, last: Weights | None) -> Trials:
        file = self.directory / "trials" / f"{number + 1}_{block + 1}.npz"
        if not file.exists():
            seed = np.random.SeedSequence([self.config.seed, number, block]).generate_state(1, np.uint64)[0]
            first = TRAINING_DEALS.start + int(seed) % ((TRAINING_DEALS.stop - TRAINING_DEALS.start) // 2)
            decisions = min(BLOCK, self.config.rounds[number].decisions - block * BLOCK)
            trials = record(self.rules, self._bench(number, last), first, decisions)
            write_atomically(file, packed_arrays(trials._asdict()))
        return Trials.load(file)

    def _bench(self, number: int, last: Weights | None) -> Bench:
        """Who plays the games of a round, and who plays on. last: the network of the round before."""
        config = self.config
        visiting, playing_on = self._player("net", last), self._player(config.rounds[number].plays_on, last)
        return Bench.of(self.rules, visiting, playing_on, Effort(config.margin, config.first_samples, config.samples))

    def _player(self, name: str, last: Weights | None) -> Scoring:
        """The scores of a player, see `RoundConfig`; where there is no network yet, `tuned` is in its place."""
        if name == "weights":
            return Scoring.by(weights_for(self.rules), np.empty(0, dtype=np.int16))
        return Scoring.of(self.rules) if name == "tuned" or last is None else self._scoring(last)


# --- the command -------------------------------------------------------------------------------------

app = typer.Typer(add_completion=False)


@app.command()
def main(
    overrides: Annotated[
        list[str] | None, typer.Argument(help="key=value, such as epochs=2", metavar="[KEY=VALUE]...")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="YAML file of overrides")] = None,
    resume: Annotated[Path | None, typer.Option(help="directory of a run to resume")] = None,
) -> None:
    """Train the network of the agent `net` for a variant."""
    console = Console()
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with explain_mistakes(console):
        settings = load_run_config(NetConfig, config, overrides or [], resume)
        if resume is None:
            claim_run_dir(settings.directory)
            save_config(settings, settings.directory / CONFIG_FILE)
        torch.set_num_threads(settings.threads)
        with (
            explain_resuming(console, "train.net", settings.directory),
            Progress(*columns, console=console) as progress,
        ):
            results = Run(settings, progress).finish()
    print(f"tuned: {results.before:.2%} of {settings.deals} validation deals")
    for number, done in enumerate(results.rounds, 1):
        print(f"round {number}: {done.win_rate:.2%}, learned from {done.decisions} decisions")
    print(f"the network of round {results.best + 1} is in {settings.directory / NET_FILE}")


if __name__ == "__main__":
    app()
