"""The benchmark, with a trainer and an evaluator that are fakes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from klondike_env.agents.match import PlayedGames, Settings
from klondike_env.engine.state import LOST, WON
from klondike_env.rules import DISTINCT_PRESETS, PRESETS
from train.benchmark import TRAINING_FILE, app, choose_directory, describe_machine, run_benchmark
from train.config import BenchmarkConfig, ConfigError, PpoConfig, load_config
from train.results import BenchmarkResult, CurvePoint, Evaluation, RunResult

DISTINCT = list(DISTINCT_PRESETS)
CHECKOUT = Path(__file__).parents[2]


class Killed(Exception):
    """Stands for a power cut."""


class Trainer:
    """Writes a file instead of training; dies at the variant named, before or after its first checkpoint."""

    def __init__(self, dies_at: str = "", leaves: str = "config.yaml") -> None:
        self.dies_at = dies_at
        self.leaves = leaves
        self.trained: list[str] = []
        self.resumed: list[str] = []
        self.teachers: list[str | None] = []

    def __call__(self, config: PpoConfig, *, resume: bool = False) -> RunResult:
        config.directory.mkdir(parents=True, exist_ok=resume)
        (config.directory / self.leaves).write_text("")
        if config.variant == self.dies_at:
            raise Killed
        self.trained.append(config.variant)
        self.teachers.append(config.teacher)
        if resume:
            self.resumed.append(config.variant)
        curve = [CurvePoint(frames=1000, seconds=1.0, win_rate=0.1, deals=100, play=config.play_modes[0])]
        return RunResult(weights=config.directory / "weights.safetensors", frames=2000, seconds=2.0, curve=curve)


class Evaluator:
    """Makes up games; dies at the variant named."""

    def __init__(self, dies_at: str = "") -> None:
        self.dies_at = dies_at
        self.evaluated: list[tuple[tuple[str, ...], str, int]] = []

    def __call__(self, agents: Sequence[str], variant: str, deals: int, *, file: Path | None = None) -> Evaluation:
        if variant == self.dies_at:
            raise Killed
        self.evaluated.append((tuple(agents), variant, deals))
        rng = np.random.default_rng(0)
        played = {}
        for agent in agents:
            outcome = np.where(rng.random(deals) < 0.3, WON, LOST).astype(np.uint8)
            played[agent] = (PlayedGames(outcome, outcome * 10, outcome * 20, 0.1), Settings())
        return Evaluation.of(variant, PRESETS[variant].to_dict(), range(deals), played)


@pytest.fixture(autouse=True)
def _run_in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "configs").symlink_to(CHECKOUT / "configs")
    monkeypatch.chdir(tmp_path)


def run(config: BenchmarkConfig, trainer: Trainer, evaluator: Evaluator) -> tuple[BenchmarkResult, str]:
    console = Console(width=120)
    with console.capture() as capture:
        result = run_benchmark(config, choose_directory(config), trainer, evaluator, "made by hand", console)
    return result, capture.get()


def small(*overrides: str) -> BenchmarkConfig:
    """A benchmark of networks without a teacher."""
    return load_config(BenchmarkConfig, None, ["name=small", "deals=200", "planners=[]", "networks=[ppo]", *overrides])


def test_a_training_for_each_game_and_one_report() -> None:
    trainer, evaluator = Trainer(), Evaluator()
    result, output = run(small(), trainer, evaluator)
    assert trainer.trained == [variant for _, variant, _ in evaluator.evaluated] == DISTINCT
    assert [variant.variant for variant in result.variants] == DISTINCT
    assert result.seconds == pytest.approx(len(DISTINCT) * 2.0, abs=1)
    assert "Deal 1 is draw 1 under another name." in output
    assert "runs/small/report.md" in output
    assert {file.name for file in Path("runs/small").glob("*.*")} >= {
        "config.yaml",
        "report.md",
        "results.json",
        "win_rates.png",
        "learning_curves.png",
        "strength.png",
    }
    assert BenchmarkResult.model_validate_json(Path("runs/small/results.json").read_text()) == result


def test_all_agents_play_the_same_deals_and_ppo_in_both_modes() -> None:
    evaluator = Evaluator()
    result, _ = run(small("variants=[classic]", "ppo.play_mode=sampled", "agents=[collins]"), Trainer(), evaluator)
    weights = "policy:runs/small/ppo_classic/weights.safetensors"
    assert evaluator.evaluated == [(("collins", f"{weights}@sampled", f"{weights}@argmax"), "classic", 200)]
    assert list(result.variants[0].evaluation.agents) == ["collins", "ppo", "ppo argmax"]


def test_a_network_with_a_teacher_and_one_without() -> None:
    trainer, evaluator = Trainer(), Evaluator()
    result, output = run(small("variants=[classic]", "networks=[taught, ppo]", "agents=[collins]"), trainer, evaluator)
    assert trainer.teachers == ["tuned", None]
    assert list(result.variants[0].evaluation.agents) == ["collins", "taught", "taught sampled", "ppo", "ppo sampled"]
    assert {network: run.weights.parent.name for network, run in result.variants[0].runs.items()} == {
        "taught": "taught_classic",
        "ppo": "ppo_classic",
    }
    assert result.seconds == pytest.approx(2 * 2.0, abs=1)
    assert "Taught PPO is" in output


def test_agents_that_plan_play_fewer_deals_beside_the_baselines() -> None:
    evaluator = Evaluator()
    overrides = "variants=[classic]", "agents=[collins]", "planners=['bandit:samples=10', bandit]", "planner_deals=50"
    result, output = run(small(*overrides), Trainer(), evaluator)
    assert evaluator.evaluated[1:] == [(("collins", "bandit:samples=10", "bandit"), "classic", 50)]
    planning = result.variants[0].planning
    assert planning is not None
    assert planning.deals == 50
    assert "classic: 50 deals (0 to 49)" in output
    assert list(result.variants[0].agents) == ["collins", "bandit:samples=10", "bandit", "ppo", "ppo sampled"]


@pytest.mark.parametrize(
    ("trainer", "evaluator", "trained_later", "resumed"),
    [
        (Trainer(dies_at="draw3"), Evaluator(), ["draw3", "classic"], []),
        (Trainer(dies_at="draw3", leaves=TRAINING_FILE), Evaluator(), ["draw3", "classic"], ["draw3"]),
        (Trainer(), Evaluator(dies_at="draw3"), ["classic"], []),
    ],
    ids=["before the first checkpoint", "in training", "in evaluation"],
)
def test_goes_on_where_it_was_killed(
    trainer: Trainer, evaluator: Evaluator, trained_later: list[str], resumed: list[str]
) -> None:
    config = small("variants=[draw1, draw3, classic]")
    with pytest.raises(Killed):
        run(config, trainer, evaluator)
    again, evaluator_again = Trainer(), Evaluator()
    result, output = run(config, again, evaluator_again)
    assert (again.trained, again.resumed) == (trained_later, resumed)
    assert [variant for _, variant, _ in evaluator_again.evaluated] == ["draw3", "classic"]
    assert "draw 1: finished earlier" in output
    assert result.name == "small"
    assert result.seconds == pytest.approx(3 * 2.0, abs=1)


def test_a_finished_run_is_never_touched() -> None:
    config = small("variants=[draw1]")
    run(config, Trainer(), Evaluator())
    before = {file: file.read_bytes() for file in Path("runs/small").rglob("*") if file.is_file()}
    trainer = Trainer()
    result, _ = run(config, trainer, Evaluator())
    assert result.name == "small-2"
    assert trainer.trained == ["draw1"]
    assert {file: file.read_bytes() for file in Path("runs/small").rglob("*") if file.is_file()} == before
    assert choose_directory(config) == Path("runs/small-3")


def test_an_unfinished_run_of_another_configuration_is_left_alone() -> None:
    with pytest.raises(Killed):
        run(small(), Trainer(dies_at="draw3"), Evaluator())
    assert choose_directory(small()) == Path("runs/small")
    assert choose_directory(small("ppo.seed=9")) == Path("runs/small-2")


def test_a_training_that_cannot_be_used_is_found_before_any_training() -> None:
    trainer = Trainer()
    with pytest.raises(ConfigError, match="ppo of thumb_and_pouch_whole: seed is -1"):
        run(small("per_variant.thumb_and_pouch_whole.seed=-1"), trainer, Evaluator())
    assert trainer.trained == []
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["deal=5"], "configs/benchmark/quick.yaml: no such key: deal; did you mean deals?"),
        (["--config", "none.yaml"], "cannot read none.yaml: No such file or directory"),
        (["--name", "a/b"], "name is 'a/b'; allowed: letters, digits"),
        (["agents=[nobody]"], "no such agent: 'nobody'; known: random, greedy, collins"),
        (["planners=['bandit:depth=1']"], "agent 'bandit:depth=1': no such option: 'depth'"),
    ],
)
def test_mistakes_on_the_command_line_are_explained_without_traceback(arguments: list[str], message: str) -> None:
    outcome = CliRunner().invoke(app, arguments)
    assert outcome.exit_code == 2
    assert message in " ".join(outcome.output.split())
    assert "Traceback" not in outcome.output


def test_a_training_says_by_the_same_file_that_it_can_be_resumed() -> None:
    from train import ppo

    assert ppo.TRAINING_FILE == TRAINING_FILE


def test_machine_names_processor_cores_and_versions() -> None:
    machine = describe_machine()
    assert machine.processor
    assert machine.cores >= 1
    assert {"python", "klondike-env", "torch", "numba"} <= set(machine.versions)
