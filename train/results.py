"""What is measured, as plain values: games played, agents evaluated, networks trained, benchmarks run.

All of it goes to JSON and back (`model_dump_json`, `model_validate_json`) without loss, except the
per-game arrays of `PlayedGames`, which an `AgentResult` sums up.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from klondike_env.agents.base import PlayMode
from klondike_env.agents.match import PlayedGames, Settings
from klondike_env.engine.state import STALLED, TRUNCATED
from klondike_env.intervals import Interval, wilson_interval
from train.statistics import count_pairs, difference_interval, mcnemar_p_value


class Record(BaseModel):
    """Base of all results: immutable, unknown fields refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AgentResult(Record):
    """One agent over a set of deals; shares and rates are 0 to 1, times are wall time of a worker."""

    win_rate: float
    interval: Interval
    games: int
    wins: int
    foundation_cards: float
    moves: float
    share_stalled: float
    share_truncated: float = 0.0
    ms_per_game: float
    settings: Settings

    @classmethod
    def of(cls, games: PlayedGames, settings: Settings) -> AgentResult:
        """Sum up the games that an agent played under these settings."""
        n, wins = len(games), int(np.count_nonzero(games.won))
        return cls(
            win_rate=wins / n,
            interval=wilson_interval(wins, n),
            games=n,
            wins=wins,
            foundation_cards=float(np.mean(games.foundation_cards)),
            moves=float(np.mean(games.moves)),
            share_stalled=float(np.mean(games.outcome == STALLED)),
            share_truncated=float(np.mean(games.outcome == TRUNCATED)),
            ms_per_game=1000 * games.seconds / n,
            settings=settings,
        )


class Comparison(Record):
    """Two agents on the same deals.

    Attributes:
        first, second: the agents' names.
        only_first, only_second: how many deals only this one of the two won.
        difference: win rate of the first minus that of the second, -1 to 1.
        interval: 95 % interval of that difference.
        p_value: exact McNemar test, two-sided.
    """

    first: str
    second: str
    only_first: int
    only_second: int
    difference: float
    interval: Interval
    p_value: float

    @classmethod
    def of(cls, first: str, first_won: np.ndarray, second: str, second_won: np.ndarray) -> Comparison:
        """Compare two agents by bool[n] arrays of wins over the same deals in the same order."""
        pairs = count_pairs(first_won, second_won)
        return cls(
            first=first,
            second=second,
            only_first=pairs.only_first,
            only_second=pairs.only_second,
            difference=pairs.difference,
            interval=difference_interval(pairs),
            p_value=mcnemar_p_value(pairs),
        )

    def swapped(self) -> Comparison:
        """The same comparison seen from the second agent."""
        return Comparison(
            first=self.second,
            second=self.first,
            only_first=self.only_second,
            only_second=self.only_first,
            difference=-self.difference,
            interval=Interval(-self.interval.high, -self.interval.low),
            p_value=self.p_value,
        )


class Evaluation(Record):
    """Agents that played the same deals of one variant.

    Attributes:
        variant: preset name, or "custom".
        rules: the fields of `klondike_env.rules.Rules`.
        deals: how many deals each agent played.
        deal_numbers: which deals, in words, such as "0 to 39999".
        agents: name -> result, in the order they were named.
        comparisons: every pair of agents, earlier agent first.
    """

    variant: str
    rules: dict[str, Any]
    deals: int
    deal_numbers: str
    agents: dict[str, AgentResult]
    comparisons: list[Comparison]

    @classmethod
    def of(
        cls,
        variant: str,
        rules: dict[str, Any],
        deals: Sequence[int] | np.ndarray,
        played: dict[str, tuple[PlayedGames, Settings]],
    ) -> Evaluation:
        """Sum up and compare agents, given the games each of them played on `deals` in that order."""
        return cls(
            variant=variant,
            rules=rules,
            deals=len(deals),
            deal_numbers=describe_deals(deals),
            agents={name: AgentResult.of(games, settings) for name, (games, settings) in played.items()},
            comparisons=[
                Comparison.of(first, played[first][0].won, second, played[second][0].won)
                for first, second in combinations(played, 2)
            ],
        )

    def renamed(self, names: dict[str, str]) -> Evaluation:
        """The same evaluation with agents called by other names, old name -> new name."""
        return self.model_copy(
            update={
                "agents": {names.get(name, name): result for name, result in self.agents.items()},
                "comparisons": [
                    comparison.model_copy(
                        update={
                            "first": names.get(comparison.first, comparison.first),
                            "second": names.get(comparison.second, comparison.second),
                        }
                    )
                    for comparison in self.comparisons
                ],
            }
        )

    def compare(self, first: str, second: str) -> Comparison:
        """The comparison of two agents, whichever was named first.

        Raises:
            KeyError: these two were not compared.
        """
        for comparison in self.comparisons:
            if (comparison.first, comparison.second) == (first, second):
                return comparison
            if (comparison.first, comparison.second) == (second, first):
                return comparison.swapped()
        raise KeyError(f"{first!r} and {second!r} were not compared; agents: {', '.join(self.agents)}")


def describe_deals(deals: Sequence[int] | np.ndarray) -> str:
    """Deal numbers in words: "0 to 39999" if consecutive, else how many there are and their bounds."""
    numbers = np.asarray(deals)
    low, high = int(numbers.min()), int(numbers.max())
    if len(numbers) == 1:
        return str(low)
    if np.array_equal(numbers, np.arange(low, high + 1)):
        return f"{low} to {high}"
    return f"{len(numbers)} deals between {low} and {high}"


class CurvePoint(Record):
    """One evaluation during training: the win rate on `deals` validation deals after `frames` and `seconds`.

    `play` is how the network played, see `PpoConfig.play_mode`.
    """

    frames: int
    seconds: float
    win_rate: float
    deals: int
    play: PlayMode = "argmax"


def best_of(curve: Sequence[CurvePoint]) -> CurvePoint:
    """The point with the highest win rate, the last of equals."""
    return max(reversed(curve), key=lambda point: point.win_rate)


class RunResult(Record):
    """What training left behind: `weights`, which `policy` agents load, are those of the best validation."""

    weights: Path
    frames: int
    seconds: float
    curve: list[CurvePoint]

    @property
    def best(self) -> CurvePoint:
        """The validation of the weights."""
        return best_of(self.curve)


class VariantResult(Record):
    """One line of the benchmark: a variant, its trainings and its evaluation.

    Attributes:
        evaluation: networks and baselines on the same test deals.
        planning: agents that think for longer and the baselines, on some of these deals; None if there are none.
        runs: network -> its training.
        seconds: wall time of training and evaluation.
    """

    evaluation: Evaluation
    runs: dict[str, RunResult]
    seconds: float
    planning: Evaluation | None = None

    @property
    def variant(self) -> str:
        """Name of the variant."""
        return self.evaluation.variant

    @property
    def agents(self) -> dict[str, AgentResult]:
        """Results of all agents by name; of an agent evaluated twice, the result with more deals."""
        return {**(self.planning.agents if self.planning else {}), **self.evaluation.agents}


class Machine(Record):
    """Where it ran: processor, cores that the process may use, system, training device, versions of packages."""

    processor: str
    cores: int
    system: str
    device: str
    versions: dict[str, str]


class BenchmarkResult(Record):
    """A whole benchmark.

    Attributes:
        name: name of the run.
        command: the command that makes it again.
        finished: date and time, UTC.
        seconds: wall time of all training and evaluation, set-up not counted.
        machine: where it ran.
        config: the resolved configuration.
        variants: in the order of the configuration.
    """

    name: str
    command: str
    finished: str
    seconds: float
    machine: Machine
    config: dict[str, Any]
    variants: list[VariantResult]
