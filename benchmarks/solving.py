"""Solving deals with all cards known: our solver beside pyksolve, which wraps Klondike-Solver.

`python -m benchmarks.solving VARIANT DEALS` measures pyksolve and prints its figures as JSON.

Both solve the same deals, numbers 0, 1, 2, ..., on one core, each deal with at most `MOST_POSITIONS` positions.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

from benchmarks.peers import hold_to_one_core
from benchmarks.process import answer_of
from klondike_env.deals import deck_of, format_deck
from klondike_env.rules import PRESETS, Rules
from klondike_env.solver import Limits, solve
from klondike_env.solver.verdicts import UNDECIDED

MOST_POSITIONS = 1_000_000
DEALS_PER_SECOND = 10  # deals to solve per second that a figure may take; about as many as fit
# The rules that are measured; pyksolve supports only the first two.
RULES: dict[str, Rules] = {
    "draw1": PRESETS["draw1"],
    "draw3": PRESETS["draw3"],
    "draw1, no worrying back": Rules(worry_back=False),
    "draw3, no worrying back": Rules(draw_count=3, worry_back=False),
    "classic": PRESETS["classic"],
    "thumb_and_pouch": PRESETS["thumb_and_pouch"],
    "thumb_and_pouch_whole": PRESETS["thumb_and_pouch_whole"],
}
PEER, PEER_RULES = "pyksolve", ("draw1", "draw3")
_WARM_UP = 123456  # an easy deal that is solved first and not counted
_TIMEOUT_PER_DEAL = 60.0  # seconds


class Found(NamedTuple):
    """What a solver says of a deal."""

    decided: bool
    nodes: int | None  # positions visited, if the solver reports them


def summary(solve_deal: Callable[[int], Found], n_deals: int) -> dict[str, Any]:
    """Solve the first `n_deals` deals.

    Returns:
        `deals`, how many there are; `decided`, how many of them were decided; `median_ms` and `mean_ms`, processor
        time per deal; and `nodes_per_second`, None if the solver does not report nodes.
    """
    solve_deal(_WARM_UP)
    found, times = [], []
    for deal in range(n_deals):
        start = time.process_time()
        found.append(solve_deal(deal))
        times.append(time.process_time() - start)
    nodes = [one.nodes for one in found if one.nodes is not None]
    return {
        "deals": n_deals,
        "decided": sum(one.decided for one in found),
        "median_ms": 1e3 * statistics.median(times),
        "mean_ms": 1e3 * statistics.mean(times),
        "nodes_per_second": sum(nodes) / max(sum(times), 1e-9) if nodes else None,
    }


def measure_ours(name: str, seconds: float) -> dict[str, Any]:
    """Measure our solver under the rules of this name."""
    rules, limits = RULES[name], Limits(nodes=MOST_POSITIONS, seconds=None)

    def solve_deal(deal: int) -> Found:
        solution = solve(deal, rules, limits)
        return Found(solution.verdict != UNDECIDED, solution.nodes)

    return summary(solve_deal, n_deals(seconds))


def n_deals(seconds: float) -> int:
    """How many deals are solved for a figure."""
    return math.ceil(DEALS_PER_SECOND * seconds)


def has_peer() -> bool:
    """Whether pyksolve is installed."""
    return find_spec(PEER) is not None


def measure_peer(variant: str, seconds: float) -> dict[str, Any]:
    """Measure pyksolve in a process of its own; the `error` if it fails."""
    deals = n_deals(seconds)
    try:
        return answer_of(["-m", __name__, variant, str(deals)], timeout=_TIMEOUT_PER_DEAL * (1 + deals))
    except (RuntimeError, ValueError) as error:
        return {"error": str(error)}


def main(variant: str, deals: int) -> None:
    """Measure pyksolve in this process, with its fastest search, which looks for any win."""
    hold_to_one_core()
    from pyksolve.solver import Solitaire, SolveResult

    def solve_deal(deal: int) -> Found:
        game = Solitaire()
        game.draw_count = RULES[variant].draw_count
        game.load_solitaire(format_deck(deck_of(deal), "shootme"))
        game.reset_game(RULES[variant].draw_count)
        result = game.solve_fast(max_closed_count=MOST_POSITIONS)
        return Found(result != SolveResult.CouldNotComplete, None)

    print(json.dumps(summary(solve_deal, deals)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
