"""The generated pages of the documentation agree with the code."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

from klondike_env import CUSTOM_ID
from klondike_env.observation import CARD_FIELDS, N_CARD_VALUES, TABLE_FIELDS, describe, table_start
from klondike_env.reward import SCHEMES
from klondike_env.rules import GYM_IDS, RULE_FIELDS
from klondike_env.settings import SETTING_NAMES
from klondike_env.solver.study.labels import kept_labels
from klondike_env.solver.study.winnability import name_of
from train.words import percent, rate_with_margin, title_of

ROOT = Path(__file__).parents[1]
SECTIONS = [
    "Description",
    "Action space",
    "Observation space",
    "Rewards",
    "Starting state",
    "Episode end",
    "Information",
    "Arguments",
    "Version history",
]


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SITE = load("pages")
PAGES = SITE.pages()


@pytest.mark.parametrize(("variant", "gym_id"), [*GYM_IDS.items(), ("custom", CUSTOM_ID)])
def test_every_environment_has_a_page_in_the_form_of_gymnasium(variant, gym_id):
    page = PAGES[f"environments/{variant}.md"]
    assert page.startswith(f"# {gym_id}\n")
    assert re.findall("^## (.*)$", page, re.MULTILINE) == SECTIONS
    for field in (*CARD_FIELDS, *TABLE_FIELDS):
        assert f" | `{field.name}` | {field.size} | 0 | {field.high} | {field.meaning} |" in page
    for k, field in enumerate(CARD_FIELDS):
        assert describe(k).startswith(f"{k}: AC {field.name},")
        assert f"| `card * {len(CARD_FIELDS)} + {k}` | `{field.name}` |" in page
    for field in TABLE_FIELDS:
        first = N_CARD_VALUES + table_start(field.name)
        indices = f"{first}" if field.size == 1 else f"{first} to {first + field.size - 1}"
        assert f"| {indices} | `{field.name}` |" in page
    for name in SETTING_NAMES:
        assert re.search(rf"^\| `{name}` \| `.*` \| \S.* \|$", page, re.MULTILINE)
    for name in SCHEMES:
        assert f"- `{name}`: " in page


def test_rules_are_told_in_words_or_as_keywords():
    assert "| cards drawn at once | 3 |" in PAGES["environments/draw3.md"]
    assert "| redeals | none |" in PAGES["environments/classic.md"]
    assert (
        "| runs that move | the whole face-up run, or its last card |" in PAGES["environments/thumb_and_pouch_whole.md"]
    )
    for name in RULE_FIELDS:
        assert f"| `{name}` | `" in PAGES["environments/custom.md"]
        assert f"| `{name}` | `" not in PAGES["environments/draw1.md"].split("## Arguments")[1]


def test_the_study_is_made_from_the_verdicts_that_come_with_the_package():
    for rules, labels in kept_labels().items():
        assert f"| {name_of(rules)} | {len(labels.verdicts):,} | " in PAGES["study.md"]


def test_the_strength_of_agents_is_told_from_kept_results():
    kept = [json.loads(file.read_text()) for file in (ROOT / "docs" / "strength").glob("*.json")]
    kept.sort(key=lambda evaluation: evaluation["deals"])
    best = {(evaluation["variant"], name): agent for evaluation in kept for name, agent in evaluation["agents"].items()}
    sections = dict(re.findall(r"^### (.*)\n\n((?:\|.*\n)*)", PAGES["agents.md"], re.MULTILINE))
    assert len(sections) == 5
    for (variant, name), agent in best.items():
        row = f"| `{name}` | {percent(agent['win_rate'])} | "
        assert row in sections[title_of(variant).capitalize()]


def test_win_rates_of_the_readme_are_kept_results():
    table = [line.split(" | ") for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| ")]
    head = next(row for row in table if "win rate" in row[0])
    rows = {row[0].strip("| ").split(" (")[0]: row for row in table if "±" in row[1]}
    names = ["draw1", "draw3", "classic", "thumb_and_pouch", "thumb_and_pouch_whole"]
    for name, row in zip(names, rows.values(), strict=True):
        agents = SITE.measured_strength()[name]
        for agent in ("random", "greedy", "collins", "tuned", "net", "bandit"):
            assert row[head.index(agent)].strip("*") == rate_with_margin(agents[agent])


def test_every_page_is_reached_from_the_menu_and_every_example_is_shown():
    entries = [f": {page}" for entry in load("menu").environment_entries() for page in entry.values()]
    menu = "\n".join([(ROOT / "mkdocs.yml").read_text(), *entries])
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    for page in written | set(PAGES):
        assert re.search(rf"[:-] {re.escape(page)}$", menu, re.MULTILINE), page
    texts = "\n".join([*PAGES.values(), *((ROOT / "docs" / page).read_text() for page in written)])
    for example in (ROOT / "docs" / "examples").glob("*.py"):
        assert re.search(
            rf'^--8<-- "docs/examples/{example.name}"$|`docs/examples/{example.name}`', texts, re.MULTILINE
        )
