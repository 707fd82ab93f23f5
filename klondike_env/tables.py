"""Tables of figures, for a terminal or as Markdown."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # rich comes with the extra `cli`; Markdown does not need it
    import rich.console
    import rich.table

_WIDTH_OF_A_FILE = 150  # characters, if the output is not a terminal


@dataclass(frozen=True)
class Table:
    """Headers of columns, and rows of as many cells; all columns but the first hold figures."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """The table as Markdown."""
        rule = ("---", *["---:"] * (len(self.headers) - 1))
        return "\n".join(f"| {' | '.join(cells)} |" for cells in (self.headers, rule, *self.rows))

    def rich(self, caption: str | None = None) -> rich.table.Table:
        """The table for a terminal."""
        from rich.table import Table as RichTable

        table = RichTable(caption=caption)
        for index, header in enumerate(self.headers):
            table.add_column(header.replace("`", ""), justify="right" if index else "left")
        for row in self.rows:
            table.add_row(*(cell.replace("`", "") for cell in row))
        return table


def table_console() -> rich.console.Console:
    """The standard output, as wide as the terminal, or 150 characters wide if it is not one."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else _WIDTH_OF_A_FILE)
