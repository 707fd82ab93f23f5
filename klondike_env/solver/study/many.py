"""Solving many deals, on many cores or machines. Results are kept as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from klondike_env.deals import check_deals
from klondike_env.result_file import ResultFile
from klondike_env.rules import Rules, rules_of
from klondike_env.solver.solve import Limits, solve
from klondike_env.solver.verdicts import UNDECIDED, VERDICTS
from klondike_env.work import share

_CHUNK = 20  # deals that a worker solves between two reports


class Solved(NamedTuple):
    """The result of one deal, as a file keeps it."""

    deal: int
    verdict: str
    n_actions: int  # of the line that was found, which is seldom the shortest; 0 if there is none
    nodes: int
    seconds: float


def solve_many(
    deals: Iterable[int],
    rules: Rules | str = "draw1",
    *,
    workers: int = 1,
    backend: str = "processes",
    limits: Limits | None = None,
    file: Path | str | None = None,
    show_progress: bool = True,
) -> list[Solved]:
    """Solve many deals.

    Args:
        deals: deal numbers, none of them twice.
        rules: the rules, or a preset's name.
        workers: how many share the work. If there are several, each runs in a process of its own, so a program must
            call this below `if __name__ == "__main__":`.
        backend: where they run: "processes" of this machine, or "ray": a Ray cluster, see `klondike_env.work.share`.
        limits: for each deal; a minute by default. Without a time limit verdicts are the same everywhere.
        file: a CSV file in which results are kept as they come. Deals whose results it holds are not solved again.
        show_progress: whether to show a progress bar, where rich is installed.

    Returns:
        The results in the order of the deals.

    Raises:
        ValueError: a deal is not a deal number or is named twice, the file holds results of other rules or limits,
            or workers or backend is not allowed.
        DependencyNotInstalled: Ray is not installed, or cloudpickle, which several workers need.
        WorkerDied: a worker was killed; the file keeps the results so far.
    """
    rules = rules_of(rules)
    limits = limits or Limits()
    numbers: list[int] = check_deals(list(deals)).tolist()
    if len(set(numbers)) < len(numbers):
        raise ValueError("a deal is named twice; name each once")
    results = result_file(Path(file), rules, limits) if file is not None else None
    done = {row.deal: row for row in (results.read() if results else [])}
    left = [deal for deal in numbers if deal not in done]
    chunks = (left[start : start + _CHUNK] for start in range(0, len(left), _CHUNK))
    solve_chunk = partial(_solve_chunk, rules=rules, limits=limits)
    n_solved, undecided = len(numbers) - len(left), _count_undecided(done.values())
    with _progress(len(numbers), show_progress) as show:
        show(n_solved, undecided)
        for rows in share(solve_chunk, chunks, workers=workers, backend=backend):
            done.update((row.deal, row) for row in rows)
            if results:
                results.append(rows)
            n_solved, undecided = n_solved + len(rows), undecided + _count_undecided(rows)
            show(n_solved, undecided)
    return [done[deal] for deal in numbers]


def _count_undecided(rows: Iterable[Solved]) -> int:
    return sum(row.verdict == UNDECIDED for row in rows)


@contextmanager
def _progress(total: int, visible: bool) -> Iterator[Callable[[int, int], None]]:
    """A progress bar over `total` deals; yields a function that updates it with how many are solved and undecided."""
    if not visible or find_spec("rich") is None:
        yield lambda n_solved, undecided: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    undecided_column = TextColumn("{task.fields[undecided]} undecided")
    columns = (BarColumn(), MofNCompleteColumn(), undecided_column, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("", total=total, undecided=0)
        yield lambda n_solved, undecided: progress.update(bar, completed=n_solved, undecided=undecided)


def _solve_chunk(deals: Sequence[int], rules: Rules, limits: Limits) -> list[Solved]:
    solutions = [(deal, solve(deal, rules, limits)) for deal in deals]
    return [Solved(deal, found.verdict, len(found.actions), found.nodes, found.seconds) for deal, found in solutions]


def result_file(path: Path, rules: Rules, limits: Limits) -> ResultFile[Solved]:
    """The file of results under these rules and limits.

    Raises:
        ValueError: the file exists and holds results under other rules or limits, or something else.
    """
    return ResultFile(path, {"rules": rules.to_dict(), "limits": asdict(limits)}, Solved._fields, _solved)


def _solved(fields: list[str]) -> Solved:
    deal, verdict, n_actions, nodes, seconds = fields
    if verdict not in VERDICTS:
        raise ValueError
    return Solved(int(deal), verdict, int(n_actions), int(nodes), float(seconds))
