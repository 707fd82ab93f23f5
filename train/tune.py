"""Find weights for the agent `tuned` by evolution, with fresh deals in each generation.

    python -m train.tune --variant draw3 --minutes 10

The children of a generation are random variations of a centre, and all play the same deals. The centre moves to
the weighted mean of the children that won most, and the variation shrinks. In the end the result is compared, on
validation deals, with the weights in use, and is printed as lines for `agents/tuned/weights.py`.
"""

from __future__ import annotations

import time
from typing import Annotated

import numpy as np
import typer

from klondike_env.agents.lists.list_player import GAME, LAYOUT, NEVER, read_position
from klondike_env.agents.tuned.agent import Scoring, play_out_tuned
from klondike_env.agents.tuned.pair_table import table_for
from klondike_env.agents.tuned.weights import WEIGHTS, weights_for
from klondike_env.deals import TRAINING_DEALS, VALIDATION_DEALS
from klondike_env.engine.jit import kernel
from klondike_env.games import Games
from klondike_env.rules import PRESETS, RuleParams, Rules, preset
from train.console import fail

POPULATION, PARENTS = 32, 8
SHARE_VARIED = 0.3  # of the weights of each child
_LEAST_SPREAD = 300.0  # the initial standard deviation of a weight is at least this
_LAST_SPREAD = 0.06  # the final standard deviation, as a fraction of the initial one


@kernel
def count_wins(states: np.ndarray, rules: RuleParams, scoring: Scoring, games: np.ndarray, layouts: np.ndarray) -> int:
    """Play fresh games by these scores; how many are won. games, layouts: GAME[1] and LAYOUT[1], scratch."""
    wins = 0
    for i in range(len(states)):
        read_position(states, i, games, layouts)
        wins += play_out_tuned(games, 0, layouts, rules, NEVER, scoring)
    return wins


class Arena:
    """Deals fresh games under some rules and measures how many of them scores win."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._scratch = np.zeros(1, dtype=GAME), np.zeros(1, dtype=LAYOUT)

    def deal(self, first: int, n: int) -> np.ndarray:
        """Fresh games of the deals from `first` on, STATE[n]."""
        games = Games(n, self._rules, masks=False)
        games.deal(np.arange(first, first + n))
        return games.states

    def scoring(self, weights: np.ndarray) -> Scoring:
        """Scores by these weights, float64[k] in the order of the fields of WEIGHTS, and by the table in use."""
        return Scoring.by(weights.round().astype(np.int64).view(WEIGHTS), table_for(self._rules))

    def win_rate(self, scoring: Scoring, states: np.ndarray) -> float:
        """The share of the games that is won."""
        return count_wins(states, self._rules.params(), scoring, *self._scratch) / len(states)


def evolve(arena: Arena, centre: np.ndarray, games: int, seconds: float, rng: np.random.Generator) -> np.ndarray:
    """Evolve weights from a centre for some seconds of processor time; int64[k]. games: of each generation."""
    centre = centre.astype(np.float64)
    spread = np.maximum(_LEAST_SPREAD, np.abs(centre) / 8)
    ranks = np.arange(1, PARENTS + 1)
    shares = np.log(PARENTS + 0.5) - np.log(ranks)
    shares /= shares.sum()
    first, start = int(rng.integers(TRAINING_DEALS.start, TRAINING_DEALS.start + 2**40)), time.process_time()
    while (spent := time.process_time() - start) < seconds:
        states = arena.deal(first, games)
        first += games
        varied = rng.random((POPULATION, len(centre))) < SHARE_VARIED
        children = centre + varied * rng.normal(size=varied.shape) * spread * _LAST_SPREAD ** (spent / seconds)
        rates = np.array([arena.win_rate(arena.scoring(child), states) for child in children])
        best = np.argsort(-rates)[:PARENTS]
        centre = shares @ children[best]
        print(f"{first} best {rates[best[0]]:.4f} mean {rates.mean():.4f}", flush=True)
    return centre.round().astype(np.int64)


app = typer.Typer(add_completion=False)


@app.command()
def main(
    variant: Annotated[str, typer.Option(help=", ".join(PRESETS))],
    minutes: Annotated[float, typer.Option(min=0.001, help="processor time to spend")] = 10.0,
    games: Annotated[int, typer.Option(min=1, help="games of each generation; use more where few are won")] = 10_000,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    deals: Annotated[int, typer.Option(min=1, help="validation deals for the comparison in the end")] = 100_000,
) -> None:
    """Find weights for a variant."""
    try:
        rules = preset(variant)
    except ValueError as error:
        fail(error)
    arena = Arena(rules)
    before = weights_for(rules).view(np.int64)
    after = evolve(arena, before, games, 60 * minutes, np.random.default_rng(seed))
    validation = arena.deal(VALIDATION_DEALS.start, deals)
    for name, weights in (("before", before), ("after", after)):
        print(f"{name}: {arena.win_rate(arena.scoring(weights), validation):.2%} of {deals} validation deals")
    for name, weight in zip(WEIGHTS.names or (), after.tolist(), strict=True):
        print(f'    "{name}": {weight},')


if __name__ == "__main__":
    app()
