"""Results that are saved line by line as they come, so that a killed run can be resumed."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

Row = TypeVar("Row", bound=tuple[Any, ...])

# Keys that older files use: old name -> current name.
_RENAMED = {"visits": "nodes"}


class ResultFile(Generic[Row]):
    """Results as CSV; the first line says how they were produced.

    Args:
        path: the file; it and its folder are created if they do not exist.
        about: JSON-able; what all results of the file have in common, such as {"rules": ..., "limits": ...}.
        fields: the names of a row's fields.
        read_row: turns the fields of a row from text into a row; raises ValueError if it cannot.

    Raises:
        ValueError: the file exists and holds results produced in another way, or is not a file of results.
    """

    def __init__(
        self, path: Path, about: dict[str, Any], fields: Sequence[str], read_row: Callable[[list[str]], Row]
    ) -> None:
        self._path, self._read_row = path, read_row
        if not path.exists() or path.stat().st_size == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {json.dumps(about)}\n{','.join(fields)}\n")
        elif _told(path) != about:
            raise ValueError(
                f"{path} holds results of other {' or '.join(about)}, or something else; name another file"
            )

    def read(self) -> list[Row]:
        """All results so far. A last line that was cut off when a program was killed is dropped from the file.

        Raises:
            ValueError: another line is not a result.
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
            raise ValueError(f"{self._path}, line {number}: {line!r} is not a result; correct or remove it") from None

    def append(self, rows: Sequence[Row]) -> None:
        """Add results."""
        with self._path.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


def about(path: Path) -> dict[str, Any]:
    """What the first line of a file of results says about all results.

    Raises:
        ValueError: the file does not exist, or is not a file of results.
    """
    told = _told(path)
    if told is None:
        raise ValueError(f"{path} is not a file of results; name one that was written as results came")
    return told


def _told(path: Path) -> dict[str, Any] | None:
    """What the first line says; None if it cannot be read."""
    try:
        with path.open() as file:
            told = read_about(file.readline().removeprefix("# "))
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) else None


def read_about(text: str) -> Any:
    """What a file says about its results, from JSON; old keys are replaced by the current ones.

    Raises:
        ValueError: it is not JSON.
    """
    return json.loads(text, object_pairs_hook=lambda pairs: {_RENAMED.get(key, key): value for key, value in pairs})
