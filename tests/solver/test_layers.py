"""The solver's modules import only from layers below their own, and its kernels take six arguments at most."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from klondike_env import solver

FOLDER = Path(solver.__file__).parent
NAME = "klondike_env.solver."
LAYERS = [{"verdicts", "lengths"}, {"classes", "columns"}, {"solve"}, {"play", "analyse", "shorten"}, {"study"}]
LAYER_OF = {wing: layer for layer, wings in enumerate(LAYERS) for wing in wings}
ENVIRONMENTS = {"settings", "env", "vector_env", "sb3", "wrappers", "observation", "render", "agents", "cli"}


def module_of(file: Path) -> str:
    return ".".join(file.relative_to(FOLDER).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(file): file for file in FOLDER.rglob("*.py") if file != FOLDER / "__init__.py"}


def imports_of(file: Path) -> Iterator[str]:
    """The modules that a file imports, from wherever in it."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}".removeprefix(NAME)
                yield f"{NAME}{inner}" if inner in MODULES else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_every_module_has_a_layer() -> None:
    assert {name.split(".")[0] for name in MODULES} == set(LAYER_OF)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_imports_only_from_below(name: str) -> None:
    wing = name.split(".")[0]
    for imported in imports_of(MODULES[name]):
        assert imported != NAME.rstrip(".")
        if imported.startswith(NAME):
            other = imported.removeprefix(NAME).split(".")[0]
            assert other == wing or LAYER_OF[other] < LAYER_OF[wing], imported
        elif imported.startswith("klondike_env."):
            assert imported.split(".")[1] not in ENVIRONMENTS, imported


def test_no_modules_import_each_other() -> None:
    graph = {
        name: {imported.removeprefix(NAME) for imported in imports_of(file) if imported.startswith(NAME)}
        for name, file in MODULES.items()
    }
    assert set(TopologicalSorter(graph).static_order()) == set(MODULES)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_kernels_take_six_arguments_at_most(name: str) -> None:
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.FunctionDef) and any(ast.unparse(each) == "kernel" for each in node.decorator_list):
            assert len(node.args.args) <= 6, node.name
