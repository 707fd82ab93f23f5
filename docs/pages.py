"""Writes the pages that are generated from code and stored results when the site is built.

The gen-files plugin of mkdocs runs this file; tests call `pages()`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import klondike_env.reward
from klondike_env import CUSTOM_ID
from klondike_env.env import KlondikeEnv
from klondike_env.observation import CARD_FIELDS, N_CARD_FIELDS, N_CARD_VALUES, N_TABLE_VALUES, N_VALUES, TABLE_FIELDS
from klondike_env.observation import fields as observation_fields
from klondike_env.observation.fields import card_index, table_start
from klondike_env.rules import GYM_IDS, PRESETS, Rules
from klondike_env.settings import Settings
from klondike_env.solver.study import report, winnability
from klondike_env.tables import Table
from train.pictures import png, strength_figure
from train.results import AgentResult, Evaluation
from train.words import describe_time, percent, title_of

ROOT = Path(__file__).parents[1]
STRENGTH_PICTURE = "strength.png"

_RULE_TEXTS: dict[str, dict[object, str]] = {
    "build": {
        "alternating_colour": "down, in alternating colours",
        "other_suit": "down, on any suit but its own",
        "same_suit": "down, in suit",
        "same_colour": "down, in the same colour",
        "any_suit": "down, on any suit",
    },
    "gaps": {"kings": "a king, or a run from a king", "any": "any card or run", "none": "nothing"},
    "runs": {"any_tail": "any tail of the face-up cards", "whole_or_last": "the whole face-up run, or its last card"},
    "redeals": {None: "unlimited", 0: "none"},
    "worry_back": {True: "yes", False: "no"},
}
_RULE_NAMES = {
    "build": "columns are built",
    "gaps": "an empty column takes",
    "draw_count": "cards drawn at once",
    "redeals": "redeals",
    "worry_back": "worrying back: foundation cards may return to a column",
    "runs": "runs that move",
}


def rule_table(rules: Rules) -> str:
    """The rules in words."""
    rows = [
        f"| {_RULE_NAMES[name]} | {_RULE_TEXTS.get(name, {}).get(value, value)} |"
        for name, value in rules.to_dict().items()
    ]
    return "\n".join(["| rule | here |", "|---|---|", *rows])


def argument_table(arguments: Rules | Settings) -> str:
    """The fields of a dataclass as keywords: name, default, and the meaning that its docstring gives."""
    rows = []
    for name, default in asdict(arguments).items():
        shown = f'"{default}"' if isinstance(default, str) else str(default)
        rows.append(f"| `{name}` | `{shown}` | {attributes_of(type(arguments))[name]} |")
    return "\n".join(["| keyword | default | meaning |", "|---|---|---|", *rows])


def attributes_of(holder: type) -> dict[str, str]:
    """What the "Attributes" section of a class docstring says of each attribute."""
    section = inspect.getdoc(holder).split("Attributes:\n")[1].split("\n\n")[0]  # type: ignore[union-attr]
    entries = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", section, re.MULTILINE)
    return {name: " ".join(line.strip() for line in text.splitlines()) for name, text in entries}


def sections_of(docstring: str) -> dict[str, str]:
    """The sections of an environment's docstring by title."""
    parts = re.split(r"^## (.*)\n", docstring, flags=re.MULTILINE)
    return {title: text.strip() for title, text in zip(parts[1::2], parts[2::2], strict=True)}


def observation_tables() -> str:
    """The fields of the observation with their ranges."""

    def table(fields: tuple[observation_fields.Field, ...], index_of: Callable[[observation_fields.Field], str]) -> str:
        head = ["| index | field | values | lowest | highest | meaning |", "|---|---|---|---|---|---|"]
        rows = [f"| {index_of(f)} | `{f.name}` | {f.size} | 0 | {f.high} | {f.meaning} |" for f in fields]
        return "\n".join(head + rows)

    def index_of_card_value(field: observation_fields.Field) -> str:
        return f"`card * {N_CARD_FIELDS} + {card_index(field.name)}`"

    def index_of_table_value(field: observation_fields.Field) -> str:
        first = N_CARD_VALUES + table_start(field.name)
        return f"{first}" if field.size == 1 else f"{first} to {first + field.size - 1}"

    return f"""\
| `observation` | space |
|---|---|
| `"flat"` | `Box(0.0, 1.0, ({N_VALUES},), float32)`: the {N_CARD_VALUES} values of the cards, then the \
{N_TABLE_VALUES} of the table, each divided by its highest value |
| `"cards"` | a dict of `cards`: `uint8[52, {N_CARD_FIELDS}]`, and `table`: `uint8[{N_TABLE_VALUES}]` |
| `"dict"` | the same with `action_mask`: `MultiBinary(313)` |

The index is that of the flat form; `klondike_env.observation.describe(index)` says what a value means.
Values of each card, in order of card ids (`suit * 13 + rank`; clubs, diamonds, hearts, spades; ace 0 to king 12):

{table(CARD_FIELDS, index_of_card_value)}

Values of the game as a whole (`table`):

{table(TABLE_FIELDS, index_of_table_value)}"""


def environment_page(gym_id: str, rules: Rules | None) -> str:
    """The page of one environment, laid out like Gymnasium's own pages; no rules stand for `Klondike/Custom-v0`."""
    sections = sections_of(inspect.getdoc(KlondikeEnv) or "")
    rewards = (klondike_env.reward.__doc__ or "").split("\n", 1)[1].strip()
    rule_part = rule_table(rules) if rules else "All rules are keywords, see [Arguments](#arguments)."
    rule_keywords = "" if rules else f"\n{argument_table(Rules())}\n"
    own_rules = "" if rules else ", draw_count=2, redeals=3"
    return f"""\
# {gym_id}

| | |
|---|---|
| action space | `Discrete(313)` |
| observation space | `Box(0.0, 1.0, ({N_VALUES},), float32)`, or a dict |
| one game | `gymnasium.make("{gym_id}"{own_rules})` |
| many games | `gymnasium.make_vec("{gym_id}", num_envs=1024{own_rules})` |

## Description

{sections["Description"]}

{rule_part}

## Action space

{sections["Action space"]}

## Observation space

Everything a player with perfect memory knows, and nothing else. It comes in three forms:

{observation_tables()}

## Rewards

{rewards}

## Starting state

{sections["Starting state"]}

## Episode end

{sections["Episode end"]}

## Information

{sections["Information"]}

## Arguments
{rule_keywords}
{argument_table(Settings())}

`render_mode` is one of {", ".join(f'`"{mode}"`' for mode in KlondikeEnv.metadata["render_modes"])}, or `None`.

## Version history

{sections["Version history"]}
"""


def environment_index() -> str:
    """The list of the environments."""
    rows = [
        f"| [`{gym_id}`]({variant}.md) | " + " | ".join(_cells(PRESETS[variant])) + " |"
        for variant, gym_id in GYM_IDS.items()
    ]
    names = " | ".join(_RULE_NAMES.values())
    return f"""\
# Environments

| id | {names} |
|---{"|---" * len(_RULE_NAMES)}|
{chr(10).join(rows)}
| [`{CUSTOM_ID}`](custom.md) |{" |" * len(_RULE_NAMES)}

Deal 1 is another name for draw 1. In the last environment every rule is a keyword.
"""


def _cells(rules: Rules) -> list[str]:
    return [str(_RULE_TEXTS.get(name, {}).get(value, value)) for name, value in rules.to_dict().items()]


def study_page() -> str:
    """How many deals can be won, by the verdicts that come with the package."""
    return f"""\
# How many deals can be won

How many deals can be won if all cards are known. The figures come from the verdicts on training deals in the package,
and `klondike study` prints them. {report.CAPTION}
Published figures are those of Charlie Blake and Ian P. Gent, "The Winnability of Klondike Solitaire and Many Other
Patience Games", JAIR 85:21 (2026). "Need worrying back" is a share of the deals that are won with
worrying back and that the solver also tried without it.

{report.table_of(winnability.study(show_progress=False)).markdown()}
"""


def measured_strength() -> dict[str, dict[str, AgentResult]]:
    """Stored results: variant -> agent -> result, fastest first; of several results, the one with the most deals."""
    evaluations = [
        Evaluation.model_validate_json(file.read_text()) for file in sorted((ROOT / "docs/strength").glob("*.json"))
    ]
    evaluations.sort(key=lambda evaluation: evaluation.deals)
    found: dict[str, dict[str, AgentResult]] = {variant: {} for variant in PRESETS}
    for evaluation in evaluations:
        found[evaluation.variant].update(evaluation.agents)
    return {
        variant: dict(sorted(agents.items(), key=lambda item: item[1].ms_per_game))
        for variant, agents in found.items()
        if agents
    }


def strength_table(agents: dict[str, AgentResult]) -> str:
    """The agents that played one variant."""
    rows = []
    for name, agent in agents.items():
        interval = f"{percent(agent.interval.low)} to {percent(agent.interval.high)}"
        rows.append(
            (f"`{name}`", percent(agent.win_rate), interval, f"{agent.games:,}", describe_time(agent.ms_per_game))
        )
    return Table(("agent", "win rate, %", "95 % interval", "deals", "time a game"), tuple(rows)).markdown()


def agents_page() -> str:
    """The README of the agents, followed by their strength."""
    tables = [f"### {title_of(name).capitalize()}\n\n{strength_table(a)}" for name, a in measured_strength().items()]
    about = (ROOT / "agents/README.md").read_text().strip()
    return f"""\
{about}

## Strength against time

All agents played the same public test deals, from number 0 on. Times are of one worker on a shared AMD EPYC.

![Win rate over time per game, one panel for each variant]({STRENGTH_PICTURE})

{chr(10).join(f"{table}{chr(10)}" for table in tables)}"""


def pages() -> dict[str, str]:
    """All generated pages: path in the site -> text."""
    of_presets = {
        f"environments/{variant}.md": environment_page(gym_id, PRESETS[variant]) for variant, gym_id in GYM_IDS.items()
    }
    return {
        "environments/index.md": environment_index(),
        **of_presets,
        "environments/custom.md": environment_page(CUSTOM_ID, None),
        "study.md": study_page(),
        "agents.md": agents_page(),
        "contributing.md": (ROOT / "CONTRIBUTING.md").read_text().replace("](docs/", "]("),
    }


def _write() -> None:
    import mkdocs_gen_files

    for path, text in pages().items():
        with mkdocs_gen_files.open(path, "w") as file:
            file.write(text)
    with mkdocs_gen_files.open(STRENGTH_PICTURE, "wb") as picture:
        picture.write(png(strength_figure(measured_strength())))


if __name__ == "<run_path>":  # the name under which gen-files runs a script
    _write()
