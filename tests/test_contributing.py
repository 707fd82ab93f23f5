"""CONTRIBUTING.md: the tests that it names exist, and they fail if an addition leaves out a step."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from klondike_env.agents.registry import BASELINES, PLANNERS, POLICY_PREFIX
from klondike_env.games import Games
from klondike_env.observation import Observer
from klondike_env.reward import SCHEMES
from klondike_env.rules import RULE_FIELDS, Rules
from tests.engine.test_against_reference import random_rules

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
AGENTS = [*BASELINES, *PLANNERS, POLICY_PREFIX.rstrip(":")]


@pytest.mark.parametrize("named", sorted(set(re.findall(r"`(tests/\S+?\.py)(?:::(\w+))?`", CONTRIBUTING))))
def test_every_test_named_exists(named):
    file, test = named
    assert (ROOT / file).exists()
    assert f"def {test}" in (ROOT / file).read_text()


def test_every_path_named_exists():
    for path in re.findall(r"`((?:klondike_env|agents|train|benchmarks|docs|tests)/[\w./]*)`", CONTRIBUTING):
        assert (ROOT / path).exists(), path


def rules_that_differ_in(field: str) -> tuple[Rules, Rules]:
    """Two random rules, equal except for one field; StopIteration if all random rules have the same value there."""
    samples = [random_rules(random.Random(seed)) for seed in range(60)]
    other = next(sample for sample in samples if getattr(sample, field) != getattr(samples[0], field))
    return samples[0], Rules(**{**samples[0].to_dict(), field: getattr(other, field)})


@pytest.mark.parametrize("field", RULE_FIELDS)
def test_every_rule_is_told_to_kernels_players_the_reference_and_readers(field):
    pair = rules_that_differ_in(field)
    assert len({rules.params() for rules in pair}) == 2
    tables = set()
    for rules in pair:
        games = Games(1, rules)
        games.deal([0])
        tables.add(Observer("cards", games.setup).values(games.views()).tobytes())
    assert len(tables) == 2
    assert f"rules.{field}" in (ROOT / "tests" / "reference.py").read_text()
    assert f"`{field}`" in README


@pytest.mark.parametrize("name", SCHEMES)
def test_every_reward_is_described_to_readers(name):
    (row,) = re.findall(r"^\| `reward` .*$", README, re.MULTILINE)
    assert f'`"{name}"`' in row


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_is_described_to_readers(name):
    assert re.search(rf"^\|[^|]*`{name}[`:]", README, re.MULTILINE)
    assert re.search(rf"\*\*`{name}[`:]", (ROOT / "agents" / "README.md").read_text(), re.MULTILINE)
