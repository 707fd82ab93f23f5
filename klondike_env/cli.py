"""The command `klondike`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def main() -> None:
    """Klondike solitaire and its relatives for reinforcement learning."""


@app.command()
def bench(
    seconds: Annotated[float, typer.Option(min=0.01, help="processor time spent on each figure")] = 3.0,
    json_file: Annotated[Path | None, typer.Option("--json", help="write the figures to this file")] = None,
) -> None:
    """Measure random play in steps per second of one core, beside peers that are installed."""
    from klondike_env.bench import run_bench  # imports what compiles, which the other commands need not wait for

    console = Console()
    if json_file is not None and json_file.exists():
        console.print(f"{json_file} exists; remove it or name another file")
        raise typer.Exit(2)
    console.print("measuring; the first run compiles, which takes about a minute")
    figures = run_bench(seconds)
    table = Table("steps per second, one core", "batched, mask and observation", "gymnasium.make")
    ours = figures["klondike"]
    for variant, rate in ours["batched"].items():
        single = ours["single"][variant]["steps_per_second"]
        table.add_row(variant, f"{rate['steps_per_second']:,.0f}", f"{single:,.0f}")
    for name, rate in figures["peers"].items():
        table.add_row(name, f"{rate['steps_per_second']:,.0f}", "")
    console.print(table)
    console.print(figures["machine"])
    if json_file is not None:
        json_file.write_text(json.dumps(figures, indent=2) + "\n")
