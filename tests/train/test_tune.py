"""The evolution of weights."""

from __future__ import annotations

import numpy as np
from typer.testing import CliRunner

from klondike_env.agents.tuned.agent import Scoring
from klondike_env.agents.tuned.weights import WEIGHTS, weights_for
from klondike_env.deals import VALIDATION_DEALS
from klondike_env.rules import PRESETS
from train.tune import Arena, app, evolve


def test_weights_that_win_more_are_found() -> None:
    arena = Arena(PRESETS["draw1"])
    validation = arena.deal(VALIDATION_DEALS.start, 1000)
    start = -weights_for(PRESETS["draw1"]).view(np.int64) // 8  # the best move comes last
    arena.win_rate(arena.scoring(start), validation[:1])  # compile before the clock starts
    found = evolve(arena, start, 200, 3.0, np.random.default_rng(1))
    assert arena.win_rate(arena.scoring(found), validation) > arena.win_rate(arena.scoring(start), validation) + 0.05


def test_win_rates_are_those_of_the_weights() -> None:
    arena = Arena(PRESETS["draw1"])
    states = arena.deal(0, 500)
    kept = states.copy()
    assert 0.6 < arena.win_rate(Scoring.of(PRESETS["draw1"]), states) < 0.73
    assert np.array_equal(states, kept)


def test_prints_lines_for_the_table_of_weights() -> None:
    outcome = CliRunner().invoke(app, ["--variant", "draw1", "--minutes", "0.001", "--games", "10", "--deals", "50"])
    assert outcome.exit_code == 0, outcome.output
    for name in WEIGHTS.names or ():
        assert f'"{name}": ' in outcome.output


def test_an_unknown_variant_is_told_without_traceback() -> None:
    outcome = CliRunner().invoke(app, ["--variant", "draw9"])
    assert outcome.exit_code == 2
    assert "no such variant: 'draw9'" in outcome.output
    assert "Traceback" not in outcome.output
