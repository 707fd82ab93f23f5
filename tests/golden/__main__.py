"""Write the golden files again: `make golden`, or `python -m tests.golden`.

If they change, the rules of a game have changed, or there is a mistake. Read the diff before keeping it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.golden import perft
from tests.golden.playthroughs import PLAYTHROUGHS, play_through

FOLDER = Path(__file__).parent

# Each golden file with the function that returns its text.
GOLDEN_FILES: list[tuple[str, Callable[[], str]]] = [
    ("perft.csv", perft.table),
    *((f"playthroughs/{game.name}.txt", partial(play_through, game)) for game in PLAYTHROUGHS),
]


def main() -> None:
    """Write every golden file."""
    for name, text in GOLDEN_FILES:
        (FOLDER / name).write_text(text(), encoding="utf-8", newline="\n")
        print(f"wrote tests/golden/{name}")


if __name__ == "__main__":
    main()
