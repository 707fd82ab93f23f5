"""Win rates of agents on the same deals, with intervals and paired comparisons.

    python -m train.evaluate --variant draw1 --agent collins --agent random --deals 40000 --json result.json

or from Python:

    evaluation = evaluate(["collins", MyAgent()], "draw1", 40_000)
    evaluation.agents["collins"].win_rate

Deals are 0 to N - 1, the first of the public test deals, unless another set or another first deal is named. Choose
between settings or checkpoints on validation deals (`--split validation`), so that test deals stay a test. A game
counts as won once it is decided (`auto_finish`), and as stalled after 250 steps without progress. Agents differ in how
they use the talon (`talon`); results say how.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from gymnasium.error import DependencyNotInstalled
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from klondike_env.agents import Agent, load
from klondike_env.agents.match import DEFAULT_BATCH, AgentError, PlayedGames, Watch, settings_of
from klondike_env.checks import check_choice, check_whole_number
from klondike_env.deals import TEST_DEALS, VALIDATION_DEALS
from klondike_env.engine.state import WON
from klondike_env.rules import PRESETS, Rules, rules_of
from klondike_env.work import WorkerDied
from train.config import read_rules
from train.console import check_can_be_written, fail, table_console
from train.files import write_atomically
from train.results import Evaluation
from train.shared_games import SharedGames
from train.words import describe_time

CUSTOM = "custom"
SPLITS = {"test": TEST_DEALS, "validation": VALIDATION_DEALS}


def evaluate(
    agents: str | Agent | Sequence[str | Agent],
    variant: str | Rules,
    deals: int | Sequence[int] | np.ndarray,
    *,
    batch: int = DEFAULT_BATCH,
    seed: int = 0,
    workers: int = 1,
    backend: str = "processes",
    file: Path | str | None = None,
    progress: bool = True,
) -> Evaluation:
    """Let agents play the same deals.

    Args:
        agents: one agent or several, as names (see `klondike_env.agents.registry`) or instances. Results use the names
            given here, or the `name` of an instance.
        variant: the name of a preset, or rules of your own.
        deals: how many of the test deals to play, 1 to 1,000,000, or deal numbers.
        batch: how many games a worker plays side by side.
        seed: seed of the agents' random choices.
        workers: how many workers share the games. Several workers are separate processes, so a program must call this
            below `if __name__ == "__main__":`.
        backend: "processes" of this machine, or "ray" for a Ray cluster, see `klondike_env.work.share`.
        file: CSV file to which games are written as they end. If it exists, the games that it holds are not played
            again; so the agents must be the same as when it was written.
        progress: whether to show a progress bar.

    Returns:
        Results and paired comparisons of the agents in the order given. For our agents they are the same for any
        `batch`, `workers` and `backend`, apart from times. Networks are an exception: between actions that are equal
        but for rounding, their choice may depend on `batch` and on how the deals are shared. Times are of one worker.

    Raises:
        ValueError: there is no such agent, variant or deal, two agents have the same name, the file holds games
            of other rules or another seed, or an agent cannot be sent to other processes.
        AgentError: a ValueError too; an agent returned something else than legal actions.
        DependencyNotInstalled: Ray is not installed.
        WorkerDied: a worker was killed; what is in the file is kept.
    """
    rules = rules_of(variant)
    name = variant if isinstance(variant, str) else CUSTOM
    how = {"batch": batch, "seed": seed, "workers": workers, "backend": backend}
    players, numbers = _players(agents), _deal_numbers(deals)
    with _progress_bar(progress) as bar:
        games = _games(players, rules, numbers, bar, None if file is None else Path(file), how)
        return _evaluation(players, name, rules, numbers, games.play())


def _games(
    players: dict[str, Agent], rules: Rules, deals: np.ndarray, bar: Progress, file: Path | None, how: dict[str, Any]
) -> SharedGames:
    return SharedGames(players, rules, deals, file=file, watch=lambda name: _watch(bar, name, len(deals)), **how)


def _evaluation(
    players: dict[str, Agent], variant: str, rules: Rules, deals: np.ndarray, games: dict[str, PlayedGames]
) -> Evaluation:
    played = {name: (games[name], settings_of(agent, rules)) for name, agent in players.items()}
    return Evaluation.of(variant, rules.to_dict(), deals, played)


def _players(agents: str | Agent | Sequence[str | Agent]) -> dict[str, Agent]:
    if isinstance(agents, str | Agent):
        agents = [agents]
    players: dict[str, Agent] = {}
    for given in agents:
        name, agent = (given, load(given)) if isinstance(given, str) else (given.name, given)
        if name in players:
            raise ValueError(f"two agents are called {name!r}; give one of them another name")
        players[name] = agent
    if not players:
        raise ValueError("no agent was named; name at least one")
    return players


def _numbers_of(split: str, first: int, deals: int) -> np.ndarray:
    """Deals of a set, from its `first` on."""
    numbers = SPLITS[check_choice("split", split, tuple(SPLITS))]
    check_whole_number("first", first, 0, len(numbers) - 1)
    check_whole_number("deals", deals, 1, len(numbers) - first)
    return np.arange(numbers.start + first, numbers.start + first + deals)


def _deal_numbers(deals: int | Sequence[int] | np.ndarray) -> np.ndarray:
    if isinstance(deals, int | np.integer):
        if not 1 <= deals <= len(TEST_DEALS):
            raise ValueError(f"deals is {deals}; allowed: 1 to {len(TEST_DEALS)}, or a list of deal numbers")
        return np.arange(deals)
    numbers = np.asarray(deals)
    if numbers.ndim != 1 or numbers.size == 0 or not np.issubdtype(numbers.dtype, np.integer):
        raise ValueError("deals is no list of deal numbers; give at least one whole number")
    return numbers.astype(np.int64)


def _progress_bar(shown: bool) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("games, {task.fields[win_rate]:.1%} won, {task.fields[time]} a game"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not shown,
    )


def _watch(bar: Progress, name: str, total: int) -> Watch:
    """Count games and wins on the bar, drawn about 200 times in all: more often would cost playing time."""
    task = bar.add_task(name, total=total, win_rate=0.0, time="-")
    ended = wins = shown = 0

    def watch(outcomes: np.ndarray) -> None:
        nonlocal ended, wins, shown
        ended += len(outcomes)
        wins += int(np.count_nonzero(outcomes == WON))
        if ended - shown >= total / 200 or ended == total:
            shown = ended
            speed = bar.tasks[task].speed
            time = describe_time(1000 / speed) if speed else "-"
            bar.update(task, completed=ended, win_rate=wins / ended, time=time)

    return watch


app = typer.Typer(add_completion=False)


@app.command()
def main(
    variant: Annotated[str, typer.Option(help=", ".join(PRESETS))],
    agent: Annotated[
        list[str],
        typer.Option(help="an agent by name, such as collins, rollout:samples=100, policy:PATH; may be repeated"),
    ],
    deals: Annotated[int, typer.Option(help="how many deals to play")] = 40_000,
    split: Annotated[str, typer.Option(help="test, or validation for choosing between agents")] = "test",
    first: Annotated[int, typer.Option(help="the first of these deals, counted from 0 in its set")] = 0,
    rules: Annotated[str, typer.Option(help="rules that differ, such as draw_count=2,redeals=3")] = "",
    json: Annotated[
        Path | None,
        typer.Option(help="write the results to this file; until then games are stored beside it"),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="draw win rates over time per game into this file, as PNG")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="replace these files if they exist")] = False,
    seed: Annotated[int, typer.Option(min=0, help="seed of the agents' random choices")] = 0,
    batch: Annotated[int, typer.Option(min=1, help="games that a worker plays side by side")] = DEFAULT_BATCH,
    workers: Annotated[int, typer.Option(min=1, help="how many workers share the games")] = 1,
    backend: Annotated[str, typer.Option(help="processes, or ray for the machines of a Ray cluster")] = "processes",
) -> None:
    """Let agents play the same deals, and compare them.

    With --json, an evaluation that was killed resumes when the same command is run again.
    """
    for file in (json, picture):
        if file is not None:
            check_can_be_written(file, force)
    try:
        players, game, numbers = _players(agent), read_rules(variant, rules), _numbers_of(split, first, deals)
    except ValueError as error:
        fail(error)
    name = variant if game == PRESETS[variant] else CUSTOM
    how = {"batch": batch, "seed": seed, "workers": workers, "backend": backend}
    kept = json.with_name(f"{json.name}.games.csv") if json is not None else None
    bar = _progress_bar(shown=True)
    try:
        games = _games(players, game, numbers, bar, kept, how)
    except (ValueError, DependencyNotInstalled) as error:
        fail(error)
    try:
        with bar:
            evaluation = _evaluation(players, name, game, numbers, games.play())
    except (AgentError, WorkerDied) as error:  # any other error of the user's agent keeps its traceback
        fail(error)
    _print(evaluation)
    if json is not None and kept is not None:
        write_atomically(json, evaluation.model_dump_json(indent=2) + "\n")
        kept.unlink()
    if picture is not None:
        from train.pictures import png, strength_figure

        write_atomically(picture, png(strength_figure({evaluation.variant: evaluation.agents})))


def _print(evaluation: Evaluation) -> None:
    from train.report import comparison_table, evaluation_table  # imports matplotlib, which `evaluate` does not need

    console = table_console()
    console.print(evaluation_table(evaluation))
    if evaluation.comparisons:
        console.print(comparison_table(evaluation))


if __name__ == "__main__":
    app()
