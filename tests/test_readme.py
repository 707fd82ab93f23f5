"""The README says what the code does."""

import ast
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


def map_of_the_tree():
    """The paths that each line of the README's map names, from the root."""
    (tree,) = re.findall(r"^```\n(klondike_env/ .*?)^```", README, re.MULTILINE | re.DOTALL)
    folders = {0: ""}
    for line in tree.splitlines():
        indent = len(line) - len(line.lstrip())
        if indent in folders:  # else this continues the description of the line before
            named = re.match(r"\s*(\S+(?: \S+\.py)*)", line)[1].split()
            folders[indent + 2] = folders[indent] + named[0]
            yield [folders[indent] + name for name in named]


def imports_of(file):
    """The modules of the package that a file imports, at its top or in a function."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_every_path_of_the_map_exists():
    for paths in map_of_the_tree():
        assert all((ROOT / path).exists() for path in paths), paths


def test_every_line_of_the_map_depends_on_lines_above_it_only():
    place = {}  # module or package -> its line
    for line, paths in enumerate(map_of_the_tree()):
        for path in paths:
            name = path.removesuffix(".py").rstrip("/").replace("/", ".")
            place[re.sub("^agents", "klondike_env.agents", name)] = line
    checked = {name for name in place if name.startswith("klondike_env.") and name.count(".") == 1}
    files = {name: ROOT / name.replace("klondike_env.agents", "agents").replace(".", "/") for name in checked}
    for name, path in files.items():
        for file in path.rglob("*.py") if path.is_dir() else [path.with_suffix(".py")]:
            used = {".".join(module.split(".")[:2]) for module in imports_of(file)}
            assert not [module for module in used & checked if place[module] > place[name]], file


def test_terms_are_those_of_the_glossary():
    glossary = (ROOT / "docs" / "glossary.md").read_text()
    (terms,) = re.findall(r"^## Terms\n(.*?)^The", README, re.MULTILINE | re.DOTALL)
    for term in re.findall(r"^\| ([\w ]+) \|", terms, re.MULTILINE):
        assert re.search(rf"^\| [^|]*\b{term}\b[^|]* \|", glossary, re.MULTILINE), term


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
