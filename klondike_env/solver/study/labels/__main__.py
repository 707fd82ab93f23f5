"""Pack files of results into this folder, named by their rules: `python -m klondike_env.solver.study.labels FILE...`.

Of a file with gaps only the deals before the first gap are taken.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from klondike_env.result_file import about
from klondike_env.rules import Rules
from klondike_env.solver.solve import Limits
from klondike_env.solver.study import labels
from klondike_env.solver.study.many import Solved, result_file
from klondike_env.solver.study.winnability import name_of


def pack_file(path: Path, folder: Path) -> str:
    """Pack a file of `solve_many` into a folder; return a sentence that says what was done.

    Raises:
        ValueError: it is not such a file, or holds no result.
    """
    header = about(path)
    if set(header) != {"rules", "limits"}:
        raise ValueError(f"{path} holds no results of solving deals; name files of `solve_many` or `klondike study`")
    rules, limits = Rules(**header["rules"]), Limits(**header["limits"])
    rows = result_file(path, rules, limits).read()
    taken = consecutive(rows)
    target = folder / f"{name_of(rules)}.npz"
    labels.pack(taken, rules, limits, target)
    left_out = f", {len(rows) - len(taken)} after a gap left out" if len(rows) > len(taken) else ""
    return f"{path}: {len(taken)} deals in {target}{left_out}"


def consecutive(rows: Iterable[Solved]) -> list[Solved]:
    """The results of consecutive deals from the lowest on."""
    by_deal = {row.deal: row for row in rows}
    taken: list[Solved] = []
    deal = min(by_deal, default=0)
    while deal in by_deal:
        taken.append(by_deal[deal])
        deal += 1
    return taken


def main(files: list[str]) -> None:
    """Pack the files."""
    if not files:
        sys.exit("name the files of results to pack")
    for file in files:
        try:
            print(pack_file(Path(file), labels.FOLDER))
        except ValueError as error:
            sys.exit(f"{file}: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
