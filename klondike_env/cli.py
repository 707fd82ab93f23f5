"""The command `klondike`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from gymnasium.error import DependencyNotInstalled
from rich.console import Console
from rich.table import Table

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def main() -> None:
    """Klondike solitaire and its relatives for reinforcement learning."""


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Tell a mistake of the user in one line, and end with exit code 2."""
    try:
        yield
    except (ValueError, DependencyNotInstalled) as error:
        typer.echo(f"klondike: {error}", err=True)
        raise typer.Exit(2) from None


@app.command()
def deal(
    number: Annotated[str | None, typer.Argument(help="deal number; a random training deal without one")] = None,
    to_format: Annotated[
        str, typer.Option("--format", help="board, position, or a deck as rows, columns, solvitaire or shootme")
    ] = "board",
    open_cards: Annotated[bool, typer.Option("--open", help="show the face-down cards and the stock too")] = False,
    source: Annotated[
        str | None, typer.Option("--from", help="a deck or position instead of a number: text, a file, or - for input")
    ] = None,
    from_format: Annotated[
        str, typer.Option(help="its format: auto, position, rows, columns, solvitaire, shootme or pysolfc")
    ] = "auto",
    seed: Annotated[int | None, typer.Option(min=0, help="the random deal that reset(seed=...) draws")] = None,
) -> None:
    """Show a deal or position, or convert it from one format to another.

    The board is what a player sees, unless --open is given.
    All other formats name every card, hidden ones too.
    klondike_env/formats.py and klondike_env/position.py describe them.

    klondike deal 123456

    klondike deal 123456 --format solvitaire > deal.json

    klondike deal --from deal.json --format shootme
    """
    from klondike_env.deal_text import deal_text, read_deal  # imports what compiles

    with errors_in_one_line():
        label, states = read_deal(number, _read_source(source), from_format, seed)
        typer.echo(deal_text(label, states, to_format, open_cards))


def _read_source(source: str | None) -> str | None:
    """The text of standard input, of a file, or what was given itself.

    Raises:
        ValueError: it is a file's name, and there is none that can be read.
    """
    if source is None:
        return None
    if source == "-":
        return sys.stdin.read()
    try:
        return Path(source).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        if ("." in source or "/" in source) and ":" not in source:  # which no deck has in it
            raise ValueError(
                f"cannot read the file {source!r}: {getattr(error, 'strerror', 'it is no text')}"
            ) from None
        return source


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
