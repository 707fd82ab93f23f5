"""Results that are kept line by line as they come, so that a run that was killed goes on where it was."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

Row = TypeVar("Row", bound=tuple[Any, ...])


class ResultFile(Generic[Row]):
    """Results as CSV; the first line tells how they were made.

    Args:
        path: the file; made if it does not exist, with its folder.
        about: JSON-able; what all results of the file have in common, such as {"rules": ..., "limits": ...}.
        fields: the names of a row's fields.
        read_row: makes a row of its fields as text; raises ValueError where they are none.

    Raises:
        ValueError: the file exists and tells of something else, or is no such file.
    """

    def __init__(
        self, path: Path, about: dict[str, Any], fields: Sequence[str], read_row: Callable[[list[str]], Row]
    ) -> None:
        self._path, self._read_row = path, read_row
        first_line = f"# {json.dumps(about)}"
        if not path.exists() or path.stat().st_size == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{first_line}\n{','.join(fields)}\n")
        elif path.read_text().splitlines()[0] != first_line:
            raise ValueError(
                f"{path} holds results of other {' or '.join(about)}, or something else; name another file"
            )

    def read(self) -> list[Row]:
        """What is there; a line that was cut off when a program was killed is dropped from the file.

        Raises:
            ValueError: another line is no result.
        """
        text = self._path.read_text()
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self._path.write_text(whole)
        return [self._row(number, line) for number, line in enumerate(whole.splitlines()[2:], 3)]

    def _row(self, number: int, line: str) -> Row:
        try:
            return self._read_row(next(csv.reader([line])))
        except (ValueError, StopIteration):
            raise ValueError(f"{self._path}, line {number}: {line!r} is no result; mend or remove it") from None

    def append(self, rows: Sequence[Row]) -> None:
        """Add results."""
        with self._path.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


def about(path: Path) -> dict[str, Any]:
    """What the first line of a file of results tells.

    Raises:
        ValueError: there is no such file, or it is something else.
    """
    try:
        with path.open() as file:
            told = json.loads(file.readline().removeprefix("# "))
        if isinstance(told, dict):
            return told
    except (OSError, ValueError):
        pass
    raise ValueError(f"{path} is no file of results; name one that was written as results came")
