"""What the command lines of this folder share: where tables go, and how a mistake of the user is told."""

from __future__ import annotations

import sys
from typing import NoReturn

import typer
from rich.console import Console

WIDTH_OF_A_FILE = 120  # of tables when the output is no terminal


def table_console() -> Console:
    """Where tables are printed, as wide as the terminal."""
    return Console(width=None if sys.stdout.isatty() else WIDTH_OF_A_FILE)


def fail(message: object) -> NoReturn:
    """Print a message on the standard error stream, and exit with status 2."""
    Console(stderr=True, soft_wrap=True).print(str(message), style="red", markup=False)
    raise typer.Exit(2)
