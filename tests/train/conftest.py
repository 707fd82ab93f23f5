"""Results made up for the tests, so that none of them trains or plays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from klondike_env.agents.match import PlayedGames, Settings
from klondike_env.engine.state import LOST, STALLED, WON
from klondike_env.rules import PRESETS
from train.results import (
    BenchmarkResult,
    CurvePoint,
    Evaluation,
    Machine,
    RunResult,
    VariantResult,
)

DEALS = 2000
REACH = Settings(talon="reach", no_repeats=True)
NAMES = ("random", "greedy", "collins", "taught", "taught sampled", "ppo", "ppo sampled")
RATES = {  # of these agents
    "draw1": (0.10, 0.44, 0.535, 0.63, 0.60, 0.41, 0.43),
    "draw3": (0.036, 0.14, 0.165, 0.25, 0.23, 0.08, 0.07),
    "classic": (0.0005, 0.02, 0.039, 0.02, 0.01, 0.008, 0.006),
    "thumb_and_pouch": (0.33, 0.16, 0.83, 0.87, 0.84, 0.70, 0.66),
    "thumb_and_pouch_whole": (0.30, 0.15, 0.80, 0.80, 0.78, 0.81, 0.72),
}


def games_won_at(rate: float, seed: int, deals: int = DEALS) -> PlayedGames:
    """Games of which a share near `rate` is won; one in fifty of the others is stalled."""
    rng = np.random.default_rng(seed)
    outcome = np.where(rng.random(deals) < 0.02, STALLED, LOST)
    outcome[rng.random(deals) < rate] = WON
    cards = np.where(outcome == WON, 52, rng.integers(0, 30, deals))
    return PlayedGames(outcome.astype(np.uint8), rng.integers(40, 250, deals), cards, seconds=0.3)


def evaluation_of(variant: str, rates: tuple[float, ...]) -> Evaluation:
    settings = [REACH, REACH, Settings(), *[replace(REACH, play="argmax"), replace(REACH, play="sampled")] * 2]
    played = {
        name: (games_won_at(rate, seed), how)
        for seed, (name, rate, how) in enumerate(zip(NAMES, rates, settings, strict=True))
    }
    return Evaluation.of(variant, PRESETS[variant].to_dict(), range(DEALS), played)


def planning_of(variant: str, rate: float) -> Evaluation:
    """The baselines and two agents that plan, on fewer deals."""
    played = {"collins": (games_won_at(rate, 7, 500), Settings())}
    for seed, (samples, gain) in enumerate(((10, 1.1), (100, 1.2))):
        games = games_won_at(min(rate * gain, 0.99), 8 + seed, 500)
        slow = PlayedGames(games.outcome, games.moves, games.foundation_cards, seconds=0.5 * samples)
        played[f"bandit:samples={samples}"] = (slow, REACH)
    return Evaluation.of(variant, PRESETS[variant].to_dict(), range(500), played)


def run_of(variant: str, rate: float) -> RunResult:
    curve = [
        CurvePoint(frames=200_000 * n, seconds=8.0 * n, win_rate=rate * (1 - 0.7**n), deals=500) for n in range(1, 10)
    ]
    return RunResult(
        weights=Path(f"runs/quick/ppo_{variant}/weights.safetensors"), frames=1_800_000, seconds=84.0, curve=curve
    )


def variant_of(variant: str) -> VariantResult:
    rates = RATES[variant]
    return VariantResult(
        evaluation=evaluation_of(variant, rates),
        planning=planning_of(variant, rates[2]),
        runs={network: run_of(variant, rates[NAMES.index(network)]) for network in ("taught", "ppo")},
        seconds=95.0,
    )


@pytest.fixture
def benchmark() -> BenchmarkResult:
    """Five variants."""
    return BenchmarkResult(
        name="quick",
        command="python -m train.benchmark",
        finished="2026-01-02 03:04 UTC",
        seconds=475.0,
        machine=Machine(
            processor="Test processor",
            cores=2,
            system="Linux",
            device="CPU",
            versions={"python": "3.11"},
        ),
        config={"name": "quick"},
        variants=[variant_of(name) for name in RATES],
    )
