"""Tables of figures, for a terminal or as Markdown."""

from __future__ import annotations

from dataclasses import dataclass

import rich.table


@dataclass(frozen=True)
class Table:
    """Headers of columns, and rows of as many cells; figures are in all columns but the first."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """The table as Markdown."""
        rule = ("---", *["---:"] * (len(self.headers) - 1))
        return "\n".join(f"| {' | '.join(cells)} |" for cells in (self.headers, rule, *self.rows))

    def rich(self, caption: str | None = None) -> rich.table.Table:
        """The table for a terminal."""
        table = rich.table.Table(caption=caption)
        for index, header in enumerate(self.headers):
            table.add_column(header.replace("`", ""), justify="right" if index else "left")
        for row in self.rows:
            table.add_row(*(cell.replace("`", "") for cell in row))
        return table
