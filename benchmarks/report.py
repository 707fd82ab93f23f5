"""The figures of the benchmarks as tables, for a terminal or as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks import solving
from benchmarks.ours import DEFAULT_VARIANT
from benchmarks.peers import PEERS
from klondike_env.rules import GYM_IDS
from klondike_env.tables import Table


def tables_of(figures: dict[str, Any]) -> list[Table]:
    """What was measured: rates of one core beside those of peers, solvers, then all else."""
    return [table for table in (_rates(figures), _solvers(figures), _others(figures)) if table.rows]


def markdown_of(figures: dict[str, Any]) -> str:
    """The tables as Markdown, and a sentence about the machine."""
    machine = figures["machine"]
    versions = ", ".join(f"{package} {number}" for package, number in machine["versions"].items())
    sentence = f"{machine['processor']}, {machine['cores']} cores; {versions}."
    return "\n\n".join([*(table.markdown() for table in tables_of(figures)), sentence])


def notes_of(figures: dict[str, Any]) -> Iterator[str]:
    """A line for each peer that failed, and one for those that are not installed."""
    peers = figures.get("peers", {})
    solved = figures.get("solver", {}).get(solving.PEER, {})
    for name, peer in [*peers.items(), *((f"{solving.PEER} {rules}", row) for rules, row in solved.items())]:
        if "error" in peer:
            yield f"{name} failed: {peer['error']}"
    missing = [name for name in PEERS if name not in peers] if "peers" in figures else []
    if "solver" in figures and not solved:
        missing.append(solving.PEER)
    if missing:
        yield f"not installed, so left out: {', '.join(missing)}"


def _rates(figures: dict[str, Any]) -> Table:
    batched, single, vector = (figures["klondike"].get(part, {}) for part in ("batched", "single", "vector"))
    peers = figures.get("peers", {})
    open_spiel = peers.get("open_spiel", {}).get("steps_per_second")
    rows = []
    for variant in batched | single | vector:
        rate, single_rate = (part.get(variant, {}).get("steps_per_second") for part in (batched, single))
        vector_rate = 1e6 / vector[variant]["microseconds_per_frame"] if variant in vector else None
        cells = (_count(rate), _times(rate, open_spiel), _count(single_rate), _count(vector_rate))
        rows.append((f"`{GYM_IDS[variant]}`", *cells))
    for peer in peers.values():
        rate = peer.get("steps_per_second")
        rows.append((peer["what"], _count(rate) if rate else "failed", _times(rate, open_spiel), "", ""))
    headers = ("steps per second of one core", "batched", "times OpenSpiel", "`gymnasium.make`", "`gymnasium.make_vec`")
    return Table(headers, tuple(rows))


def _solvers(figures: dict[str, Any]) -> Table:
    rows = [
        (f"{solver}, {rules}", *_solver_cells(row))
        for solver, measured in figures.get("solver", {}).items()
        for rules, row in measured.items()
    ]
    headers = ("solving, all cards known, on one core", "deals", "decided", "median, ms", "mean, ms", "positions/s")
    return Table(headers, tuple(rows))


def _solver_cells(row: dict[str, Any]) -> tuple[str, ...]:
    if "error" in row:
        return ("", "failed", "", "", "")
    times = (f"{row[key]:.3g}" if row[key] < 100 else f"{row[key]:,.0f}" for key in ("median_ms", "mean_ms"))
    return (str(row["deals"]), str(row["decided"]), *times, _count(row["nodes_per_second"]))


def _others(figures: dict[str, Any]) -> Table:
    return Table(
        ("", "measured"),
        (*_of_interfaces(figures["klondike"]), *_of_startup(figures.get("startup", {})), *_of_soak(figures)),
    )


def _of_interfaces(ours: dict[str, Any]) -> Iterator[tuple[str, str]]:
    vector = ours.get("vector", {}).get(DEFAULT_VARIANT)
    if vector:
        yield f"`gymnasium.make_vec`, {vector['batch']} games, `{GYM_IDS[DEFAULT_VARIANT]}`", _frame(vector)
    if "sb3" in ours:
        sb3 = ours["sb3"]
        yield f"Stable-Baselines3, {sb3['batch']} games with masks, `{GYM_IDS[sb3['variant']]}`", _frame(sb3)
    for variant, threaded in ours.get("threaded", {}).items():
        yield (
            f"{threaded['threads']} threads, {threaded['batch']:,} games, `{GYM_IDS[variant]}`",
            f"{_count(threaded['steps_per_second_all_threads'])} steps/s, {threaded['ratio']:.2f} times one thread",
        )


def _of_startup(startup: dict[str, float]) -> Iterator[tuple[str, str]]:
    names = {
        "import_seconds": "`import klondike_env`",
        "first_step_seconds": "imports and first step of a game",
        "cold_compile_seconds": "imports and first step ever, with compilation",
    }
    for key, name in names.items():
        if key in startup:
            yield name, f"{startup[key]:.3g} s"


def _of_soak(figures: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "soak" in figures["klondike"]:
        soak = figures["klondike"]["soak"]
        yield (
            f"resident memory before and after {_count(soak['steps'])} steps",
            f"{soak['megabytes_before']:.1f} MB, {soak['megabytes_after']:.1f} MB",
        )


def _count(number: float | None) -> str:
    """A number with at least three digits, in thousands or millions if large; "" for None."""
    if number is None:
        return ""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if number >= size:
            digits = max(0, 3 - len(str(int(number / size))))
            return f"{number / size:,.{digits}f} {unit}"
    return f"{number:.0f}"


def _times(rate: float | None, base: float | None) -> str:
    if rate is None or base is None:
        return ""
    return f"{rate / base:.0f}" if rate >= 10 * base else f"{rate / base:.2g}"


def _frame(figures: dict[str, Any]) -> str:
    return f"{figures['microseconds_per_frame']:.2f} µs per step of a game"
