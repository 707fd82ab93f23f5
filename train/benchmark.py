"""The main job: train networks on every game, let them and the baselines play the same deals, report.

    python -m train.benchmark                                         # configs/benchmark/quick.yaml
    python -m train.benchmark --config configs/benchmark/standard.yaml
    python -m train.benchmark --name small deals=1000 ppo.minutes=0.5

A benchmark is stored in `runs/<name>`. If it is killed and started again with the same configuration, it resumes; a
training resumes at its last checkpoint. A finished benchmark is never changed: the next run of that name goes to
`runs/<name>-2`.
"""

from __future__ import annotations

import platform
import shlex
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Protocol

import typer
from rich.console import Console

from klondike_env.agents.base import PlayMode
from klondike_env.agents.registry import load
from klondike_env.machine import cores, processor
from train.config import CONFIG_FILE, BenchmarkConfig, ConfigError, PpoConfig, load_config, save_config
from train.console import table_console
from train.files import write_atomically
from train.report import RESULTS_FILE, evaluation_table, summary_table, write_report
from train.results import BenchmarkResult, Evaluation, Machine, RunResult, VariantResult
from train.words import headline, minutes, network_sentences, title_of

QUICK = Path("configs/benchmark/quick.yaml")
TRAINING_FILE = "training.json"  # once it exists, the training can be resumed


class Trainer(Protocol):
    """What trains: `train.ppo.train`."""

    def __call__(self, config: PpoConfig, *, resume: bool = False) -> RunResult:
        """Train, or resume the training in `config.directory`."""


class Evaluator(Protocol):
    """What lets agents play: `train.evaluate.evaluate`; results use the names given here."""

    def __call__(self, agents: Sequence[str], variant: str, deals: int, *, file: Path | None = None) -> Evaluation:
        """Let agents play the first test deals; games are written to `file` as they end."""


def run_benchmark(
    config: BenchmarkConfig, directory: Path, trainer: Trainer, evaluator: Evaluator, command: str, console: Console
) -> BenchmarkResult:
    """Train, evaluate and report; resume where an earlier call with this directory stopped.

    Args:
        config: what to run.
        directory: where the run is stored, see `choose_directory`.
        trainer: trains one network.
        evaluator: lets agents play.
        command: the command that the report says made it.
        console: where progress and tables go.

    Raises:
        ConfigError: the configuration of a training cannot be used. Nothing has been trained then.
    """
    trainings: dict[str, dict[str, PpoConfig]] = {
        variant: {network: config.training(variant, network, directory) for network in config.networks}
        for variant in config.variants
    }
    save_config(config, directory / CONFIG_FILE)
    results = [
        _finish_variant(config, variant, trainings[variant], directory, trainer, evaluator, console)
        for variant in config.variants
    ]
    benchmark = BenchmarkResult(
        name=directory.name,
        command=command,
        finished=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        seconds=sum(result.seconds for result in results),
        machine=describe_machine(),
        config=config.model_dump(mode="json"),
        variants=results,
    )
    report = write_report(benchmark, directory)
    _print_summary(benchmark, report, console)
    return benchmark


def choose_directory(config: BenchmarkConfig) -> Path:
    """The directory to use: `runs/<name>`, or the first of `runs/<name>-2`, -3 ... that is new or can be resumed."""
    number = 1
    while True:
        directory = config.directory.with_name(config.name if number == 1 else f"{config.name}-{number}")
        if not directory.exists() or _can_resume(config, directory):
            return directory
        number += 1


def _can_resume(config: BenchmarkConfig, directory: Path) -> bool:
    if (directory / RESULTS_FILE).exists() or not (directory / CONFIG_FILE).exists():
        return False
    try:
        return load_config(BenchmarkConfig, directory / CONFIG_FILE) == config
    except ConfigError:  # written by another version
        return False


def _finish_variant(
    config: BenchmarkConfig,
    variant: str,
    trainings: Mapping[str, PpoConfig],
    directory: Path,
    trainer: Trainer,
    evaluator: Evaluator,
    console: Console,
) -> VariantResult:
    finished = directory / f"{variant}.json"
    if finished.exists():
        console.print(f"{title_of(variant)}: finished earlier")
        return VariantResult.model_validate_json(finished.read_text())
    console.rule(title_of(variant))
    runs = {
        network: _train(training, directory / f"{variant}.{network}.json", trainer, console)
        for network, training in trainings.items()
    }
    start = time.perf_counter()
    evaluation = _evaluate(config, trainings, runs, evaluator)
    planning = _plan(config, variant, directory / f"{variant}.planners.csv", evaluator)
    seconds = sum(run.seconds for run in runs.values()) + time.perf_counter() - start
    result = VariantResult(evaluation=evaluation, runs=runs, seconds=seconds, planning=planning)
    write_atomically(finished, result.model_dump_json(indent=2) + "\n")
    console.print(evaluation_table(evaluation))
    if planning:
        console.print(evaluation_table(planning))
    return result


def _train(training: PpoConfig, finished: Path, trainer: Trainer, console: Console) -> RunResult:
    if finished.exists():
        return RunResult.model_validate_json(finished.read_text())
    resume = (training.directory / TRAINING_FILE).exists()
    if resume:
        console.print(f"Resuming the training in {training.directory}")
    elif training.directory.exists():
        console.print(f"Removing {training.directory}, a training that was killed before its first checkpoint")
        shutil.rmtree(training.directory)
    run = trainer(training, resume=resume)
    write_atomically(finished, run.model_dump_json(indent=2) + "\n")
    return run


def _evaluate(
    config: BenchmarkConfig,
    trainings: Mapping[str, PpoConfig],
    runs: Mapping[str, RunResult],
    evaluator: Evaluator,
) -> Evaluation:
    """The baselines and each network in both play modes; its bare name is the mode of its best validation."""
    names: dict[str, str] = {}
    for network in trainings:
        mode = runs[network].best.play
        other: PlayMode = "sampled" if mode == "argmax" else "argmax"
        names[f"policy:{runs[network].weights}@{mode}"] = network
        names[f"policy:{runs[network].weights}@{other}"] = f"{network} {other}"
    [variant] = {training.variant for training in trainings.values()}
    return evaluator([*config.agents, *names], variant, config.deals).renamed(names)


def _plan(config: BenchmarkConfig, variant: str, file: Path, evaluator: Evaluator) -> Evaluation | None:
    """The agents that plan, and the baselines, on the same deals."""
    if not config.planners:
        return None
    return evaluator([*config.agents, *config.planners], variant, config.planner_deals, file=file)


def _print_summary(benchmark: BenchmarkResult, report: Path, console: Console) -> None:
    console.print()
    console.print(summary_table(benchmark.variants))
    for result in benchmark.variants:
        for sentence in network_sentences(result.evaluation):
            console.print(sentence)
    console.print(f"\n[bold]{headline(benchmark.variants)}[/bold]")
    console.print(f"Training and evaluation took {minutes(benchmark.seconds)}. The report, with pictures: {report}")


def describe_machine() -> Machine:
    """The machine, the training device and the versions of the packages that results and speed depend on."""
    import torch

    packages = ("klondike-env", "gymnasium", "numba", "numpy", "sb3-contrib", "stable-baselines3", "torch")
    return Machine(
        processor=processor(),
        cores=cores(),
        system=f"{platform.system()} {platform.machine()}",
        device=torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU",
        versions={"python": platform.python_version(), **{name: version(name) for name in packages}},
    )


app = typer.Typer(add_completion=False)


@app.command()
def main(
    overrides: Annotated[
        list[str] | None, typer.Argument(help="key=value, such as deals=1000 or ppo.minutes=0.5", show_default=False)
    ] = None,
    config: Annotated[Path, typer.Option(help="YAML file of a benchmark")] = QUICK,
    name: Annotated[str | None, typer.Option(help="name of the run, in place of the name in the file")] = None,
) -> None:
    """Train networks on every game, let them and the baselines play the same deals, and report."""
    console = table_console()
    try:
        benchmark = load_config(BenchmarkConfig, config, [*(overrides or []), *([f"name={name}"] if name else [])])
        for agent in (*benchmark.agents, *benchmark.planners):
            load(agent)  # an unknown name is an error now, not after hours of training
        from train.evaluate import evaluate
        from train.ppo import train  # torch is slow to import, an error in the command line need not wait for it

        directory = choose_directory(benchmark)
        console.print(f"Benchmark {benchmark.name}, kept in {directory}")
        run_benchmark(benchmark, directory, train, evaluate, _command(), console)
    except (ValueError, FileExistsError) as error:
        console.print(str(error), style="red", markup=False)
        raise typer.Exit(2) from error


def _command() -> str:
    return shlex.join(["python", "-m", "train.benchmark", *sys.argv[1:]])


if __name__ == "__main__":
    app()
