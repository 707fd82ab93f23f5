"""Solving many deals on all cores, with results that are kept as they come."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from klondike_env.deals import check_deals
from klondike_env.rules import Rules, preset
from klondike_env.solver.solve import Limits, solve
from klondike_env.solver.verdicts import UNDECIDED, VERDICTS

_CHUNK = 20  # deals that a process solves between two reports


class Solved(NamedTuple):
    """What is kept of the search for one deal."""

    deal: int
    verdict: str
    n_actions: int  # of the line that was found, which is not the shortest; 0 without one
    visits: int
    seconds: float


def solve_many(
    deals: Iterable[int],
    rules: Rules | str = "draw1",
    *,
    workers: int = 1,
    limits: Limits | None = None,
    file: Path | str | None = None,
    show_progress: bool = True,
) -> list[Solved]:
    """Solve many deals.

    Args:
        deals: deal numbers, each once.
        rules: the rules, or a preset's name.
        workers: processes that share the work.
        limits: for each deal; a minute by default.
        file: where results are kept as they come, as CSV. If it exists, what it holds is not done again.
        show_progress: whether to show a progress bar.

    Returns:
        The results in the order of the deals.

    Raises:
        ValueError: a deal is no deal number or there twice, or the file holds results of other rules or limits.
    """
    rules = preset(rules) if isinstance(rules, str) else rules
    limits = limits or Limits()
    numbers: list[int] = check_deals(list(deals)).tolist()
    if len(set(numbers)) < len(numbers):
        raise ValueError("a deal is named twice; name each once")
    results = ResultFile(Path(file), rules, limits) if file is not None else None
    done = {row.deal: row for row in (results.read() if results else [])}
    left = [deal for deal in numbers if deal not in done]
    with _progress(show_progress) as progress:
        bar = progress.add_task("", total=len(numbers), completed=len(numbers) - len(left), undecided=0)
        for rows in _solve_chunks(left, rules, limits, workers):
            done.update((row.deal, row) for row in rows)
            if results:
                results.append(rows)
            undecided = sum(row.verdict == UNDECIDED for row in done.values())
            progress.update(bar, advance=len(rows), undecided=undecided)
    return [done[deal] for deal in numbers]


def _progress(visible: bool) -> Progress:
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[undecided]} undecided"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, disable=not visible)


def _solve_chunks(deals: Sequence[int], rules: Rules, limits: Limits, workers: int) -> Iterator[list[Solved]]:
    """Results in chunks, in the order in which they are ready."""
    chunks = (deals[start : start + _CHUNK] for start in range(0, len(deals), _CHUNK))
    if workers == 1:
        yield from (_solve_chunk(chunk, rules, limits) for chunk in chunks)
        return
    with ExitStack() as stack:
        pool = stack.enter_context(ProcessPoolExecutor(workers))
        stack.callback(pool.shutdown, cancel_futures=True)  # on Ctrl-C: do not begin what has not begun
        running: set[Future[list[Solved]]] = set()
        while True:
            for chunk in islice(chunks, 2 * workers - len(running)):
                running.add(pool.submit(_solve_chunk, chunk, rules, limits))
            if not running:
                return
            ready, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in ready)


def _solve_chunk(deals: Sequence[int], rules: Rules, limits: Limits) -> list[Solved]:
    solutions = [(deal, solve(deal, rules, limits)) for deal in deals]
    return [Solved(deal, found.verdict, len(found.actions), found.visits, found.seconds) for deal, found in solutions]


class ResultFile:
    """Results as CSV; the first line tells under which rules and limits they were made.

    Raises:
        ValueError: the file exists and tells of other rules or limits, or is no such file.
    """

    def __init__(self, path: Path, rules: Rules, limits: Limits) -> None:
        self._path = path
        self._first_line = f"# {json.dumps({'rules': rules.to_dict(), 'limits': asdict(limits)})}"
        if not path.exists() or path.stat().st_size == 0:
            path.write_text(f"{self._first_line}\n{','.join(Solved._fields)}\n")
        elif self._lines()[0] != self._first_line:
            raise ValueError(f"{path} holds results of other rules or limits, or something else; name another file")

    def _lines(self) -> list[str]:
        return self._path.read_text().splitlines()

    def read(self) -> list[Solved]:
        """What is there; a line that was cut off when a program was killed is dropped from the file.

        Raises:
            ValueError: another line is no result.
        """
        text = self._path.read_text()
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self._path.write_text(whole)
        return [_row(self._path, number, line) for number, line in enumerate(whole.splitlines()[2:], 3)]

    def append(self, rows: Sequence[Solved]) -> None:
        """Add results."""
        with self._path.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


def _row(path: Path, number: int, line: str) -> Solved:
    try:
        deal, verdict, n_actions, visits, seconds = line.split(",")
        if verdict not in VERDICTS:
            raise ValueError
        return Solved(int(deal), verdict, int(n_actions), int(visits), float(seconds))
    except ValueError:
        raise ValueError(f"{path}, line {number}: {line!r} is no result; mend or remove it") from None
