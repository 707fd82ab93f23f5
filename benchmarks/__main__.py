"""Measure the speed of random play and of the solver: `python -m benchmarks`, in a checkout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.report import markdown_of, notes_of, tables_of
from benchmarks.suite import PARTS, run_bench
from klondike_env.tables import table_console

app = typer.Typer(add_completion=False)


@app.command()
def main(
    seconds: Annotated[float, typer.Option(min=0.01, help="time spent on each figure")] = 3.0,
    json_file: Annotated[Path | None, typer.Option("--json", help="write the figures to this file")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="print the tables as Markdown")] = False,
    only: Annotated[
        list[str] | None, typer.Option(help=f"measure only this: {', '.join(PARTS)}; may be repeated")
    ] = None,
    cold: Annotated[
        bool, typer.Option("--cold", help="also time the first step while nothing is compiled yet: about a minute")
    ] = False,
    soak: Annotated[
        int, typer.Option(min=0, help="also play this many million steps and compare the memory before and after")
    ] = 0,
) -> None:
    """Measure the speed of random play and of the solver, and that of other packages if they are installed.

    Rates are per second of processor time on one core, which other work on the machine disturbs least.
    benchmarks/suite.py says what each figure is.

    python -m benchmarks --only batched --only peers --json figures.json

    python -m benchmarks --soak 100
    """
    progress = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    try:
        _check_can_be_written(json_file)
        with progress.status("measuring") as status:
            say = status.update if progress.is_terminal else progress.print
            figures = run_bench(seconds, only or PARTS, cold=cold, soak_millions=soak, say=say)
    except ValueError as error:
        typer.echo(f"benchmarks: {error}", err=True)
        raise typer.Exit(2) from None
    if json_file is not None:
        json_file.write_text(json.dumps(figures, indent=2) + "\n")
    for note in notes_of(figures):
        progress.print(note)
    if markdown:
        typer.echo(markdown_of(figures))
        return
    console = table_console()
    for table in tables_of(figures):
        console.print(table.rich())
    console.print(figures["machine"])


def _check_can_be_written(file: Path | None) -> None:
    """Make sure that a file can be written without replacing one.

    Raises:
        ValueError: it exists, or its folder does not.
    """
    if file is not None and file.exists():
        raise ValueError(f"{file} exists; name another file")
    if file is not None and not file.parent.is_dir():
        raise ValueError(f"there is no folder {file.parent} to write {file.name} to; make it first")


if __name__ == "__main__":
    app(prog_name="python -m benchmarks")
