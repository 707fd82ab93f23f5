"""The import graph of the package, read from its source without importing anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "klondike_env"
# The agents belong to the package but have a folder of their own.
FOLDERS = {PACKAGE: ROOT / PACKAGE, f"{PACKAGE}.agents": ROOT / "agents"}


@cache
def modules() -> dict[str, Path]:
    """Name -> file of every module; the name of a package is that of its folder."""
    found = {}
    for name, folder in FOLDERS.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join((name, *parts)).removesuffix(".__init__")] = path
    return found


def imported_names(source: str) -> Iterator[str]:
    """What a source text imports, at its top or in functions: modules, possibly names in them."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def imports(module: str) -> frozenset[str]:
    """The modules of the package that a module imports by name."""
    names = set(imported_names(modules()[module].read_text(encoding="utf-8")))
    packages = {name.rpartition(".")[0] for name in names if name in modules()}
    # `from klondike_env.engine import actions` means the module, not its package.
    return frozenset(name for name in names if name in modules() and name not in packages - {PACKAGE}) - {
        PACKAGE,
        module,
    }
