"""Results are summed up correctly and survive JSON."""

from __future__ import annotations

import numpy as np
import pytest

from klondike_env.agents.match import PlayedGames, Settings
from klondike_env.engine.state import LOST, STALLED, TRUNCATED, WON
from train.results import AgentResult, BenchmarkResult, Comparison, Evaluation, describe_deals

GAMES = PlayedGames(
    outcome=np.array([WON, LOST, STALLED, TRUNCATED], dtype=np.uint8),
    moves=np.array([100, 50, 40, 10]),
    foundation_cards=np.array([52, 8, 4, 0]),
    seconds=0.5,
)


def test_agent_result_sums_up_games() -> None:
    result = AgentResult.of(GAMES, Settings())
    assert (result.games, result.wins, result.win_rate) == (4, 1, 0.25)
    assert (result.moves, result.foundation_cards) == (50, 16)
    assert (result.share_stalled, result.share_truncated) == (0.25, 0.25)
    assert result.ms_per_game == 125
    assert result.interval.low < 0.25 < result.interval.high


def test_played_games_refuse_no_games_and_uneven_arrays() -> None:
    empty = np.zeros(0)
    with pytest.raises(ValueError, match="no games were played"):
        PlayedGames(empty, empty, empty, 0.0)
    with pytest.raises(ValueError, match="moves has 3 entries; outcome has 4"):
        PlayedGames(np.zeros(4), np.zeros(3), np.zeros(4), 0.0)


def test_comparison_and_its_mirror_image() -> None:
    first, second = np.array([True, True, False, True]), np.array([True, False, True, False])
    comparison = Comparison.of("a", first, "b", second)
    assert (comparison.only_first, comparison.only_second, comparison.difference) == (2, 1, 0.25)
    assert comparison.swapped() == Comparison.of("b", second, "a", first)
    assert comparison.swapped().swapped() == comparison


def test_evaluation_compares_every_pair_in_either_direction() -> None:
    evaluation = Evaluation.of("draw1", {}, range(4), {name: (GAMES, Settings()) for name in "abc"})
    assert [(pair.first, pair.second) for pair in evaluation.comparisons] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert evaluation.compare("c", "a") == evaluation.compare("a", "c").swapped()
    with pytest.raises(KeyError, match="'a' and 'd' were not compared; agents: a, b, c"):
        evaluation.compare("a", "d")


def test_renamed_agents_keep_results_and_comparisons() -> None:
    evaluation = Evaluation.of("draw1", {}, range(4), {name: (GAMES, Settings()) for name in "ab"})
    renamed = evaluation.renamed({"b": "ppo"})
    assert list(renamed.agents) == ["a", "ppo"]
    assert renamed.agents["ppo"] == evaluation.agents["b"]
    assert renamed.compare("a", "ppo").only_first == evaluation.compare("a", "b").only_first


@pytest.mark.parametrize(
    ("deals", "words"), [(range(40_000), "0 to 39999"), ([7], "7"), ([3, 1, 2], "3 deals between 1 and 3")]
)
def test_deals_in_words(deals: range | list[int], words: str) -> None:
    assert describe_deals(deals) == words


def test_results_survive_json(benchmark: BenchmarkResult) -> None:
    assert BenchmarkResult.model_validate_json(benchmark.model_dump_json()) == benchmark
