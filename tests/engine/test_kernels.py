"""How kernels are written: with few arguments, which is checked in the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_ARGUMENTS = 6  # scratch arrays travel in named tuples, which cost nothing between kernels


def modules() -> Iterator[Path]:
    for folder in ("klondike_env", "agents"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def kernels_of(source: str) -> Iterator[ast.FunctionDef]:
    """The functions of a source text that `@kernel` compiles."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            names = {name.id for name in node.decorator_list if isinstance(name, ast.Name)}
            names |= {name.attr for name in node.decorator_list if isinstance(name, ast.Attribute)}
            if "kernel" in names:
                yield node


def too_long(source: str) -> list[str]:
    """The kernels of a source text with more arguments than a reader can keep apart."""
    counts = {
        node.name: len(node.args.posonlyargs + node.args.args + node.args.kwonlyargs) for node in kernels_of(source)
    }
    return [f"{name} takes {count}" for name, count in counts.items() if count > MOST_ARGUMENTS]


@pytest.mark.parametrize("module", list(modules()), ids=lambda module: module.relative_to(ROOT).as_posix())
def test_a_kernel_takes_at_most_six_arguments(module: Path) -> None:
    assert too_long(module.read_text(encoding="utf-8")) == []


def test_kernels_are_found() -> None:
    assert sum(len(list(kernels_of(module.read_text(encoding="utf-8")))) for module in modules()) > 100


@pytest.mark.parametrize("decorator", ["kernel", "jit.kernel"])
def test_a_kernel_with_seven_arguments_is_noticed(decorator: str) -> None:
    seven = ", ".join(f"a{k}" for k in range(7))
    assert too_long(f"@{decorator}\ndef f({seven}): pass\n") == ["f takes 7"]
    assert too_long(f"@{decorator}\ndef f({seven[4:]}): pass\n") == []
    assert too_long(f"def f({seven}): pass\n") == []
