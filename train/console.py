"""Shared by the command lines of this folder: printing tables, reporting mistakes, and not overwriting files."""

from __future__ import annotations

import sys
from pathlib import Path
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


def check_can_be_written(file: Path, force: bool) -> None:
    """Fail if a file cannot be written, or exists and is not to be replaced."""
    if file.is_dir() or any(parent.is_file() for parent in file.parents):
        fail(f"{file} cannot be written: it is a directory, or lies below a file; name another file")
    if file.exists() and not force:
        fail(f"{file} exists; name another file, or pass --force to replace it")
