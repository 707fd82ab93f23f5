"""All measurements, and the machine that they were made on."""

from __future__ import annotations

import platform
from collections.abc import Callable, Collection
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import klondike_env
from benchmarks import solving
from benchmarks.ours import DEFAULT_VARIANT, MEASURES, has_sb3, sb3
from benchmarks.peers import PEERS, is_installed, measure_peer
from benchmarks.soak import soak
from benchmarks.startup import cold_start, startup
from klondike_env.machine import cores, processor

PARTS = (*MEASURES, "sb3", "solver", "startup", "peers")
_PACKAGES = (
    "numba",
    "numpy",
    "gymnasium",
    "stable_baselines3",
    "torch",
    "open_spiel",
    "pgx",
    "jumanji",
    "jax",
    "envpool",
    "rlcard",
    "pyksolve",
)

Say = Callable[[str], None]


def run_bench(
    seconds: float,
    parts: Collection[str] = PARTS,
    *,
    cold: bool = False,
    soak_millions: int = 0,
    say: Say = lambda progress: None,
) -> dict[str, Any]:
    """Measure the speed of our games and of other packages.

    Args:
        seconds: time spent on each rate.
        parts: what to measure, a selection of `PARTS`. Packages that are not installed are left out.
        cold: also measure the first step while nothing is compiled yet, about a minute.
        soak_millions: also play that many million steps and compare the memory before and after.
        say: called with what is being measured.

    Returns:
        A JSON-able dict of what was measured; `benchmarks/ours.py` says how.

        - `machine`: `processor`, `cores`, `versions`; and `seconds`, the argument.
        - `klondike.batched.<variant>`: `steps_per_second` of one core through `Games`, with a mask and
          the flat observation, by random legal actions; ended games are dealt again.
        - `klondike.threaded.<variant>`: `steps_per_second_one_thread`, `steps_per_second_all_threads`
          of wall time and their `ratio`; `threads` is the number of all threads.
        - `klondike.single.<variant>`: `steps_per_second` of one game through `gymnasium.make`, always by the
          last legal action.
        - `klondike.vector.<variant>`: `microseconds_per_frame` through `gymnasium.make_vec`.
        - `klondike.sb3`: `microseconds_per_frame` through the interface of Stable-Baselines3.
        - `solver.klondike_env.<rules>` and `solver.pyksolve.<variant>`: `deals`, `decided`, `median_ms`,
          `mean_ms`, `nodes_per_second`, or the `error`; see `summary` in `benchmarks/solving.py`.
        - `klondike.soak`: `steps`, `megabytes_before`, `megabytes_after`.
        - `startup`: `import_seconds`, `first_step_seconds`, `cold_compile_seconds`.
        - `peers.<name>`: `what` is played, and `steps_per_second` of one core or the `error`.

    Raises:
        ValueError: there is no such measurement, or the system does not report the memory that a soak reads.
    """
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        raise ValueError(f"no such measurement: {unknown[0]!r}; known: {', '.join(PARTS)}")
    ours: dict[str, Any] = {}
    figures: dict[str, Any] = {"machine": describe_machine(), "seconds": seconds, "klondike": ours}
    if soak_millions:
        ours["soak"] = soak(soak_millions, say)
    for name, (measure, variants) in MEASURES.items():
        if name in parts:
            ours[name] = {}
            for variant in variants:
                say(f"{name} {variant}")
                ours[name][variant] = measure(variant, seconds)
    if "sb3" in parts and has_sb3():
        say("sb3")
        ours["sb3"] = sb3(DEFAULT_VARIANT, seconds)
    if "solver" in parts:
        figures["solver"] = _measure_solvers(seconds, say)
    if "startup" in parts or cold:
        figures["startup"] = _measure_startup("startup" in parts, cold, say)
    if "peers" in parts:
        figures["peers"] = _measure_peers(seconds, say)
    return figures


def describe_machine() -> dict[str, Any]:
    """Processor, cores that this process may use, and versions of packages."""
    versions = {"python": platform.python_version(), "klondike_env": klondike_env.__version__}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {"processor": processor(), "cores": cores(), "versions": versions}


def _measure_startup(warm: bool, cold: bool, say: Say) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    if warm:
        say("start-up")
        figures |= startup()
    if cold:
        say("start-up with nothing compiled, about a minute")
        figures |= cold_start()
    return figures


def _measure_solvers(seconds: float, say: Say) -> dict[str, Any]:
    figures: dict[str, Any] = {"klondike_env": {}}
    for rules in solving.RULES:
        say(f"solver {rules}")
        figures["klondike_env"][rules] = solving.measure_ours(rules, seconds)
    if solving.has_peer():
        figures[solving.PEER] = {}
        for rules in solving.PEER_RULES:
            say(f"{solving.PEER} {rules}")
            figures[solving.PEER][rules] = solving.measure_peer(rules, seconds)
    return figures


def _measure_peers(seconds: float, say: Say) -> dict[str, Any]:
    figures = {}
    for name in filter(is_installed, PEERS):
        say(f"peer {name}")
        figures[name] = measure_peer(name, seconds)
    return figures
