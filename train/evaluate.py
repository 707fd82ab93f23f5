"""How often agents win: the same deals for all of them, intervals, and a comparison deal by deal.

    python -m train.evaluate --variant draw1 --agent collins --agent random --deals 40000 --json result.json

or from Python

    evaluation = evaluate(["collins", MyAgent()], "draw1", 40_000)
    evaluation.agents["collins"].win_rate

Deals are 0 to N - 1, the first of the public test deals. Every figure counts a game as won once
nothing is face down and the talon is free (`auto_finish`), and as stalled after 250 steps without
progress. Each agent meets the game in its own talon mode, which results state.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from agents import Agent, load
from klondike_env.deals import TEST_DEALS
from klondike_env.engine.state import WON
from klondike_env.rules import PRESETS, Rules, preset
from train.files import write_atomically
from train.play import DEFAULT_BATCH, AgentError, Watch, play_games, settings_of
from train.results import Evaluation

CUSTOM = "custom"
WIDTH_OF_A_FILE = 120  # of tables when the output is no terminal


def evaluate(
    agents: str | Agent | Sequence[str | Agent],
    variant: str | Rules,
    deals: int | Sequence[int] | np.ndarray,
    *,
    batch: int = DEFAULT_BATCH,
    seed: int = 0,
    progress: bool = True,
) -> Evaluation:
    """Let agents play the same deals.

    Args:
        agents: one agent or several, as names (see `agents.registry`) or instances. Results call them by
            the names given here, or by the instance's `name`.
        variant: the name of a preset, or rules of your own.
        deals: how many of the test deals to play, 1 to 1,000,000, or deal numbers.
        batch: how many games are played side by side.
        seed: of the agents' chance.
        progress: whether to show a progress bar.

    Returns:
        Results and paired comparisons of the agents in the order given.

    Raises:
        ValueError: there is no such agent, variant or deal, or two agents have the same name.
        AgentError: a ValueError too; an agent returned something else than legal actions.
    """
    rules = preset(variant) if isinstance(variant, str) else variant
    name = variant if isinstance(variant, str) else CUSTOM
    return _compete(_players(agents), name, rules, _deal_numbers(deals), batch, seed, progress)


def _compete(
    players: dict[str, Agent], variant: str, rules: Rules, deals: np.ndarray, batch: int, seed: int, progress: bool
) -> Evaluation:
    played = {}
    with _progress_bar(progress) as bar:
        for name, agent in players.items():
            # The clock is to measure play, so what is not compiled yet is compiled before it starts.
            play_games(agent, rules, deals[:1], batch=batch, seed=seed)
            games = play_games(agent, rules, deals, batch=batch, seed=seed, watch=_watch(bar, name, len(deals)))
            played[name] = (games, settings_of(agent, rules))
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
        TextColumn("games, {task.fields[win_rate]:.1%} won, {task.fields[per_second]:,.0f} games/s"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not shown,
    )


def _watch(bar: Progress, name: str, total: int) -> Watch:
    """Count games and wins on the bar, about 200 times in all: drawing it more often would cost playing time."""
    task = bar.add_task(name, total=total, win_rate=0.0, per_second=0.0)
    ended = wins = shown = 0

    def watch(outcomes: np.ndarray) -> None:
        nonlocal ended, wins, shown
        ended += len(outcomes)
        wins += int(np.count_nonzero(outcomes == WON))
        if ended - shown >= total / 200 or ended == total:
            shown = ended
            speed = bar.tasks[task].speed or 0.0
            bar.update(task, completed=ended, win_rate=wins / ended, per_second=speed)

    return watch


app = typer.Typer(add_completion=False)


@app.command()
def main(
    variant: Annotated[str, typer.Option(help=", ".join(PRESETS))],
    agent: Annotated[
        list[str],
        typer.Option(help="an agent by name, such as collins, rollout:samples=100, policy:PATH; may be repeated"),
    ],
    deals: Annotated[int, typer.Option(help="play the test deals 0 to N - 1")] = 40_000,
    json: Annotated[Path | None, typer.Option(help="write the results to this file")] = None,
    force: Annotated[bool, typer.Option("--force", help="replace that file if it exists")] = False,
    seed: Annotated[int, typer.Option(min=0, help="of the agents' chance")] = 0,
    batch: Annotated[int, typer.Option(min=1, help="games played side by side")] = DEFAULT_BATCH,
) -> None:
    """Let agents play the same deals, and compare them."""
    if json is not None and (json.is_dir() or any(parent.is_file() for parent in json.parents)):
        _fail(f"{json} cannot be written: it is a directory, or lies below a file; name another file")
    if json is not None and json.exists() and not force:
        _fail(f"{json} exists; name another file, or pass --force to replace it")
    try:
        players, rules, numbers = _players(agent), preset(variant), _deal_numbers(deals)
    except ValueError as error:
        _fail(error)
    try:
        evaluation = _compete(players, variant, rules, numbers, batch, seed, progress=True)
    except AgentError as error:  # any other error of the user's agent keeps its traceback
        _fail(error)
    _print(evaluation)
    if json is not None:
        write_atomically(json, evaluation.model_dump_json(indent=2) + "\n")


def _print(evaluation: Evaluation) -> None:
    from train.report import comparison_table, evaluation_table  # brings matplotlib, which `evaluate` does not need

    console = Console(width=None if sys.stdout.isatty() else WIDTH_OF_A_FILE)
    console.print(evaluation_table(evaluation))
    if evaluation.comparisons:
        console.print(comparison_table(evaluation))


def _fail(message: object) -> NoReturn:
    Console(stderr=True, soft_wrap=True).print(str(message), style="red", markup=False)
    raise typer.Exit(2)


if __name__ == "__main__":
    app()
