"""What may import what: the package in layers, checked on all import statements, those in functions included."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest

from tests.imports import PACKAGE, imported_names, imports, modules

# From the bottom up. A part imports itself and the layers below it, and nothing above or beside it.
LAYERS = [
    ["cards", "checks"],
    ["rules"],
    ["engine"],
    ["formats", "reward"],
    ["deals"],
    ["deal_sets", "games", "position"],
    ["observation", "render"],
    ["intervals", "machine", "result_file", "tables", "work"],
    ["solver.verdicts", "solver.lengths"],
    ["solver.classes", "solver.columns"],
    ["solver.solve"],
    ["solver.analyse", "solver.play", "solver.shorten"],
    ["solver.study"],
    ["solver"],
    ["difficulty", "deal_text"],
    ["settings"],
    ["env", "vector_env"],
    ["sb3", "wrappers"],
    ["agents.base", "agents.chance", "agents.network_file"],
    ["agents.match"],
    ["agents.lists"],
    ["agents.network", "agents.tuned"],
    ["agents.planner"],
    ["agents.registry"],
    ["agents"],
    ["agents.advice"],
    ["cli"],
    ["__main__"],
]
LEVELS = {part: level for level, parts in enumerate(LAYERS) for part in parts}
NAMES = [name for name in modules() if name != PACKAGE]


def part_of(module: str) -> str:
    """The part that a module belongs to: the longest name in the layers that is a prefix of the module's."""
    inner = module.removeprefix(f"{PACKAGE}.")
    found = [part for part in LEVELS if inner == part or inner.startswith(f"{part}.")]
    assert found, f"{module} is in no layer"
    part = max(found, key=len)
    assert part == inner or part not in ("solver", "agents"), f"{module} is in no layer of its wing"
    return part


@pytest.mark.parametrize("module", NAMES)
def test_a_module_imports_only_its_own_part_and_the_layers_below(module: str) -> None:
    part = part_of(module)
    imported = {name: part_of(name) for name in imports(module)}
    wrong = [name for name, other in imported.items() if other != part and LEVELS[other] >= LEVELS[part]]
    assert wrong == []


@pytest.mark.parametrize("part", LEVELS)
def test_every_part_is_there(part: str) -> None:
    assert any(part_of(module) == part for module in NAMES)


def test_no_module_imports_itself_by_way_of_others() -> None:
    try:
        TopologicalSorter({name: imports(name) for name in NAMES}).prepare()
    except CycleError as circle:
        pytest.fail(" imports ".join(circle.args[1]))


# What the facts of the game may need from elsewhere; the engine, which runs where there is no Gymnasium; and a match of
# agents, which `pip install` without extras must allow.
@pytest.mark.parametrize(
    ("start", "kept_out"),
    [
        ("cards", ["numba", "gymnasium"]),
        ("rules", ["numba", "gymnasium"]),
        ("engine", ["gymnasium", "typer", "rich"]),
        ("agents.match", ["torch", "safetensors", "pydantic", "typer", "rich", "train"]),
        ("agents.planner", ["torch", "safetensors", "pydantic", "typer", "rich", "train"]),
    ],
)
def test_what_others_build_on_needs_few_packages(start: str, kept_out: list[str]) -> None:
    found = {name for name in NAMES if part_of(name) == start}
    while new := {other for name in found for other in imports(name)} - found:
        found |= new
    foreign = {name.partition(".")[0] for module in found for name in imports_of_others(module)}
    assert not foreign & set(kept_out)


def imports_of_others(module: str) -> set[str]:
    """The names that a module imports from outside the package."""
    names = imported_names(modules()[module].read_text(encoding="utf-8"))
    return {name for name in names if name.partition(".")[0] != PACKAGE}


def test_imports_within_functions_count() -> None:
    source = "import a.b\ndef f():\n    from c import d\nclass C:\n    import e\n"
    assert set(imported_names(source)) == {"a.b", "c", "c.d", "e"}
