"""Finding the weights of the agent `tuned`: an evolution of weights, each generation judged on fresh deals.

    python -m train.tune --variant draw3 --minutes 10

The weights of a generation vary about a centre, all of it plays the same deals, and the centre moves to the
mean of those that won most, while the variation shrinks. In the end the result is compared with the weights
in use on validation deals, and printed as lines for `agents/tuned_weights.py`.
"""

from __future__ import annotations

import time
from typing import Annotated

import numpy as np
import typer

from agents.playout import GAME, LAYOUT, NEVER, index_talon, read_game, read_layout
from agents.tuned import play_out_tuned
from agents.tuned_weights import WEIGHTS, weights_for
from klondike_env.deals import TRAINING_DEALS, VALIDATION_DEALS
from klondike_env.engine.games import Games
from klondike_env.engine.jit import kernel
from klondike_env.rules import PRESETS, RuleParams, Rules, preset

POPULATION, PARENTS = 24, 6
GAMES = 10_000  # of a generation
SHARE_VARIED = 0.35  # of the weights of each child
SHRINKING = 0.985  # of the variation, in each generation
_LEAST_SPREAD = 200.0  # of the variation of a weight, at first


@kernel
def count_wins(
    states: np.ndarray, rules: RuleParams, weights: np.ndarray, games: np.ndarray, layouts: np.ndarray
) -> int:
    """How many fresh games are won with these weights. scratch are games: GAME[1], layouts: LAYOUT[1]."""
    wins = 0
    for i in range(len(states)):
        read_layout(states, i, layouts)
        read_game(states, i, games, 0)
        index_talon(states, i, layouts, games, 0)
        wins += play_out_tuned(games, 0, layouts, rules, NEVER, weights)
    return wins


class Judge:
    """Win rates under some rules."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._scratch = np.zeros(1, dtype=GAME), np.zeros(1, dtype=LAYOUT)

    def deal(self, first: int, n: int) -> np.ndarray:
        """Fresh games of the deals from `first` on, STATE[n]."""
        games = Games(n, self._rules, masks=False)
        games.deal(np.arange(first, first + n))
        return games.states

    def win_rate(self, weights: np.ndarray, states: np.ndarray) -> float:
        """The part of the games that is won. weights: int64[k], as the fields of WEIGHTS."""
        return count_wins(states, self._rules.params(), weights.view(WEIGHTS), *self._scratch) / len(states)


def evolve(judge: Judge, centre: np.ndarray, seconds: float, rng: np.random.Generator) -> np.ndarray:
    """Weights that win more, int64[k], found within a time from those given."""
    centre = centre.astype(np.float64)
    spread = np.maximum(_LEAST_SPREAD, np.abs(centre) / 4)
    ranks = np.arange(1, PARENTS + 1)
    shares = np.log(PARENTS + 0.5) - np.log(ranks)
    shares /= shares.sum()
    first, start = int(rng.integers(TRAINING_DEALS.start, TRAINING_DEALS.start + 2**40)), time.process_time()
    while time.process_time() - start < seconds:
        states = judge.deal(first, GAMES)
        first += GAMES
        varied = rng.random((POPULATION, len(centre))) < SHARE_VARIED
        children = centre + varied * rng.normal(size=varied.shape) * spread
        rates = np.array([judge.win_rate(child.round().astype(np.int64), states) for child in children])
        best = np.argsort(-rates)[:PARENTS]
        centre = shares @ children[best]
        spread *= SHRINKING
        print(f"{first} best {rates[best[0]]:.4f} mean {rates.mean():.4f}", flush=True)
    return centre.round().astype(np.int64)


def main(
    variant: Annotated[str, typer.Option(help=", ".join(PRESETS))],
    minutes: Annotated[float, typer.Option(help="processor time to spend")] = 10.0,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    deals: Annotated[int, typer.Option(help="validation deals for the comparison in the end")] = 100_000,
) -> None:
    """Find weights for a variant."""
    rules = preset(variant)
    judge = Judge(rules)
    before = weights_for(rules).view(np.int64)
    after = evolve(judge, before, 60 * minutes, np.random.default_rng(seed))
    validation = judge.deal(VALIDATION_DEALS.start, deals)
    for name, weights in (("before", before), ("after", after)):
        print(f"{name}: {judge.win_rate(weights, validation):.2%} of {deals} validation deals")
    for name, weight in zip(WEIGHTS.names or (), after.tolist(), strict=True):
        print(f'    "{name}": {weight},')


if __name__ == "__main__":
    typer.run(main)
