"""The one decorator for compiled code, and its cache."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from klondike_env.engine import jit

ROOT = Path(jit.__file__).parents[2]
COMPILERS = {"njit", "jit", "vectorize", "guvectorize", "cfunc", "jitclass", "stencil", "generated_jit"}

HELPER = """
from klondike_env.engine.jit import kernel

@kernel
def number():
    return {number}
"""
CALLER = """
from klondike_env.engine.jit import kernel
from klondike_env.engine.helper import number

@kernel
def twice():
    return 2 * number()

if __name__ == "__main__":
    print(twice(), sum(twice.stats.cache_hits.values()))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of the same shape with two kernels, one of which calls the other."""
    engine = tmp_path / "klondike_env" / "engine"
    engine.mkdir(parents=True)
    (engine.parent / "__init__.py").touch()
    (engine / "__init__.py").touch()
    shutil.copy(jit.__file__, engine / "jit.py")
    (engine / "helper.py").write_text(HELPER.format(number=10))
    (engine / "caller.py").write_text(CALLER)
    return tmp_path


def run_caller(package: Path) -> list[int]:
    """What the caller returns, and how many of its signatures came from the cache."""
    environment = {**os.environ, "PYTHONPATH": str(package), "NUMBA_CACHE_DIR": "", "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-m", "klondike_env.engine.caller"]
    done = subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


def test_an_edited_helper_in_another_file_is_compiled_anew(package: Path) -> None:
    assert run_caller(package) == [20, 0]
    assert run_caller(package) == [20, 1]
    (package / "klondike_env" / "engine" / "helper.py").write_text(HELPER.format(number=15))
    assert run_caller(package) == [30, 0]


@pytest.mark.parametrize("edited", ["engine/helper.py", "rules.py", "solver/search.py"])
def test_every_source_a_kernel_may_depend_on_is_in_the_stamp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: str
) -> None:
    monkeypatch.setattr(jit, "_ENGINE", tmp_path / "engine")
    monkeypatch.setattr(jit, "_PACKAGE", tmp_path)
    for name in ("engine/helper.py", "rules.py", "solver/search.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("before")
    digest = jit.source_digest.__wrapped__
    before = digest(tmp_path / "solver")
    assert digest(tmp_path / "solver") == before
    (tmp_path / edited).write_text("after")
    assert digest(tmp_path / "solver") != before


def test_a_source_added_or_renamed_changes_the_stamp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "_ENGINE", tmp_path)
    monkeypatch.setattr(jit, "_PACKAGE", tmp_path)
    digest = jit.source_digest.__wrapped__
    (tmp_path / "a.py").write_text("x")
    first = digest(tmp_path)
    (tmp_path / "b.py").touch()
    second = digest(tmp_path)
    (tmp_path / "b.py").rename(tmp_path / "c.py")
    assert len({first, second, digest(tmp_path)}) == 3


def sources() -> Iterator[Path]:
    for folder in ("klondike_env", "agents", "train"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def numba_compilers(source: str) -> Iterator[str]:
    """Uses of numba's own compilers in a source text."""
    tree = ast.parse(source)
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name.split(".")[0] for alias in node.names if "numba" in alias.name}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numba":
            yield from (alias.name for alias in node.names if alias.name in COMPILERS)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in COMPILERS:
            root = node.value
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id in modules:
                yield node.attr


def test_nothing_but_the_decorator_compiles() -> None:
    assert len(list(sources())) > 10
    found = {path.relative_to(ROOT).as_posix(): list(numba_compilers(path.read_text())) for path in sources()}
    assert {path: names for path, names in found.items() if names} == {"klondike_env/engine/jit.py": ["njit", "njit"]}


@pytest.mark.parametrize(
    "source",
    [
        "import numba\n@numba.njit\ndef f(): pass",
        "import numba as nb\n@nb.njit(cache=True)\ndef f(): pass",
        "from numba import njit\n@njit\ndef f(): pass",
        "from numba import jit as fast\n@fast\ndef f(): pass",
        "import numba.experimental\nnumba.experimental.jitclass([])",
    ],
)
def test_a_bare_compiler_would_be_found(source: str) -> None:
    assert list(numba_compilers(source))
