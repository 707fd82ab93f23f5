"""What the README says is what the code does."""

import re
from pathlib import Path

import gymnasium as gym
import pytest

from klondike_env.engine.actions import STOCK_ACTION
from klondike_env.observation import N_CARD_FIELDS, N_TABLE_VALUES, N_VALUES
from klondike_env.rules import GYM_IDS
from klondike_env.settings import SETTING_NAMES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PROGRAMS = {
    f"{page.name} {place}": program
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    for place, program in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL), 1)
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_every_program_runs(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(program, {"gym": __import__("gymnasium"), "klondike_env": __import__("klondike_env"), "__name__": "readme"})


def test_sizes_ids_and_options_are_those_of_the_code():
    assert f"uint8[52, {N_CARD_FIELDS}]" in README
    assert f"uint8[{N_TABLE_VALUES}]); {N_VALUES} values in" in README
    for name in (*GYM_IDS.values(), "Klondike/Custom-v0"):
        assert f"`{name}`" in README
    for name in SETTING_NAMES:
        assert f"| `{name}` |" in README


def test_the_commands_named_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert f"\n{target}:" in makefile
    for config in re.findall(r"configs/\S+\.yaml", README):
        assert (ROOT / config).exists()


def test_the_board_is_a_real_one():
    env = gym.make("Klondike/Draw3-v0", render_mode="ansi")
    _, info = env.reset(options={"deal": 119})
    for step in range(30):  # every third step draws, the others play the first legal action
        action = STOCK_ACTION if step % 3 == 0 else int(info["action_mask"].argmax())
        _, _, _, _, info = env.step(action)
    assert f"```\n{env.render()}\n```" in README


def test_links_lead_to_files_and_headings():
    for path, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", README):
        page = ROOT / path if path else ROOT / "README.md"
        assert page.exists(), path
        if anchor:
            headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")) for heading in headings], anchor
