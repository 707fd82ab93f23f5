"""Labels: verdicts on consecutive deals that were solved once, all cards known, and are kept for later use.

Every file NAME.npz of this folder belongs to one set of rules and holds

    about     str, JSON: {"first": deal number, "rules": fields of Rules, "limits": fields of Limits}
    verdicts  uint8[n], of the deals first, first + 1, ...: an index into `VERDICTS`
    nodes     uint32[n], the nodes of each search; older files call them visits

`make labels` writes them from files of `klondike_env.solver.study.many.solve_many`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np

from klondike_env.result_file import read_about
from klondike_env.rules import Rules
from klondike_env.solver.solve import Limits
from klondike_env.solver.verdicts import VERDICTS

FOLDER = Path(__file__).parent


class Row(Protocol):
    """The part of a result that is packed, such as a `klondike_env.solver.study.many.Solved`."""

    @property
    def deal(self) -> int:
        """The deal number."""

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`."""

    @property
    def nodes(self) -> int:
        """Nodes searched."""


@dataclass(frozen=True, eq=False)
class Labels:
    """The verdicts on consecutive deals under one set of rules.

    Attributes:
        rules: the rules.
        limits: when a search gave up.
        first: the first deal number.
        verdicts: uint8[n], read-only; each an index into `VERDICTS`.
        nodes: uint32[n], read-only; the nodes of each search.
    """

    rules: Rules
    limits: Limits
    first: int
    verdicts: np.ndarray
    nodes: np.ndarray

    def __post_init__(self) -> None:
        self.verdicts.setflags(write=False)
        self.nodes.setflags(write=False)

    @property
    def deals(self) -> range:
        """The deal numbers that have a verdict."""
        return range(self.first, self.first + len(self.verdicts))

    def deals_with(self, verdict: str) -> np.ndarray:
        """The deal numbers with this verdict, int64[m], ascending.

        Raises:
            ValueError: there is no such verdict.
        """
        if verdict not in VERDICTS:
            raise ValueError(f"verdict is {verdict!r}; allowed: {', '.join(VERDICTS)}")
        return self.first + np.flatnonzero(self.verdicts == VERDICTS.index(verdict)).astype(np.int64)


def pack(rows: Iterable[Row], rules: Rules, limits: Limits, path: Path | str) -> None:
    """Write verdicts to a file.

    Args:
        rows: the results of consecutive deals, in any order.
        rules: under which they were made.
        limits: under which they were made.
        path: of the file, NAME.npz; overwritten.

    Raises:
        ValueError: there is no result, a deal is missing or occurs twice, or the path does not end in .npz.
    """
    path = Path(path)
    if path.suffix != ".npz":
        raise ValueError(f"the file is {str(path)!r}; its name must end in .npz")
    ordered = sorted(rows, key=lambda row: row.deal)
    if not ordered:
        raise ValueError("there are no results; solve deals first")
    for place, row in enumerate(ordered, ordered[0].deal):
        if row.deal != place:
            fault = f"deal {place} is missing" if row.deal > place else f"deal {row.deal} is there twice"
            raise ValueError(f"{fault}; labels need consecutive deals, each once")
    about = {"first": ordered[0].deal, "rules": rules.to_dict(), "limits": asdict(limits)}
    np.savez_compressed(
        path,
        about=np.array(json.dumps(about)),
        verdicts=np.array([VERDICTS.index(row.verdict) for row in ordered], dtype=np.uint8),
        nodes=np.array([row.nodes for row in ordered], dtype=np.uint32),
    )


def read_labels(path: Path | str) -> Labels:
    """The labels of a file that `pack` wrote, also of an older one in which nodes are called visits."""
    with np.load(path, allow_pickle=False) as file:
        about = read_about(str(file["about"]))
        rules, limits = Rules(**about["rules"]), Limits(**about["limits"])
        nodes = file["nodes" if "nodes" in file else "visits"]
        return Labels(rules, limits, about["first"], file["verdicts"], nodes)


@cache
def kept_labels() -> dict[Rules, Labels]:
    """All labels that come with the package, by their rules."""
    every = [read_labels(path) for path in sorted(FOLDER.glob("*.npz"))]
    return {labels.rules: labels for labels in every}


def labels_of(rules: Rules) -> Labels | None:
    """The labels that come with the package for these rules, if there are any."""
    return kept_labels().get(rules)
