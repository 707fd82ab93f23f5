"""Adds a page for each environment to the menu of the site: a hook of mkdocs, see `hooks` in mkdocs.yml."""

from __future__ import annotations

from typing import Any

from klondike_env import CUSTOM_ID
from klondike_env.rules import GYM_IDS

SECTION = "Environments"


def environment_entries() -> list[dict[str, str]]:
    """Title and page of every environment."""
    pages = {**GYM_IDS, "custom": CUSTOM_ID}
    return [{gym_id.partition("/")[2]: f"environments/{name}.md"} for name, gym_id in pages.items()]


def on_config(config: Any) -> Any:
    """Complete `nav` in the configuration; mkdocs calls this."""
    next(entry for entry in config["nav"] if SECTION in entry)[SECTION] += environment_entries()
    return config
