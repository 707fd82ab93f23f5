"""Shared by the command lines of this folder: printing tables, reporting mistakes, and not overwriting files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import typer
from rich.console import Console

from train.config import ConfigError

WIDTH_OF_A_FILE = 120  # of tables when the output is no terminal


def table_console() -> Console:
    """Where tables are printed, as wide as the terminal."""
    return Console(width=None if sys.stdout.isatty() else WIDTH_OF_A_FILE)


def fail(message: object) -> NoReturn:
    """Print a message on the standard error stream, and exit with status 2."""
    Console(stderr=True, soft_wrap=True).print(str(message), style="red", markup=False)
    raise typer.Exit(2)


@contextmanager
def explain_mistakes(console: Console) -> Iterator[None]:
    """Print mistakes in a configuration or a path without a traceback, and exit with status 2."""
    try:
        yield
    except (ConfigError, OSError) as error:
        console.print(str(error), style="red", markup=False, highlight=False)
        raise typer.Exit(2) from None


@contextmanager
def explain_resuming(console: Console, module: str, directory: Path) -> Iterator[None]:
    """If a training is interrupted, say how to go on with it, and exit with status 130."""
    try:
        yield
    except KeyboardInterrupt:
        console.print(f"Stopped and saved; resume with: python -m {module} --resume {directory}")
        raise typer.Exit(130) from None


def check_can_be_written(file: Path, force: bool) -> None:
    """Fail if a file cannot be written, or exists and is not to be replaced."""
    if file.is_dir() or any(parent.is_file() for parent in file.parents):
        fail(f"{file} cannot be written: it is a directory, or lies below a file; name another file")
    if file.exists() and not force:
        fail(f"{file} exists; name another file, or pass --force to replace it")
