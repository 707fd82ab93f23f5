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


@pytest.fixture
def sources_of_two_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel of another package that imports a helper of this one, which imports constants."""
    for name, text in {
        "klondike_env/__init__.py": "",
        "klondike_env/rules.py": "LIMIT = 1",
        "klondike_env/cli.py": "import klondike_env.engine.helper",
        "klondike_env/engine/__init__.py": "",
        "klondike_env/engine/helper.py": "from klondike_env.rules import (\n    LIMIT,\n)",
        "agents/__init__.py": "",
        "agents/chance.py": "",
        "agents/board.py": "import numpy\nfrom klondike_env.engine import helper\nfrom agents.chance import x",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(jit, "_PACKAGE", tmp_path / "klondike_env")
    return tmp_path


@pytest.mark.parametrize(
    ("edited", "matters"),
    [
        ("agents/board.py", True),
        ("agents/chance.py", True),
        ("klondike_env/engine/helper.py", True),
        ("klondike_env/engine/new.py", True),  # the package is imported, so all of it counts
        ("klondike_env/rules.py", True),
        ("klondike_env/cli.py", False),
    ],
)
def test_the_stamp_covers_every_source_a_kernel_may_depend_on(
    sources_of_two_packages: Path, edited: str, matters: bool
) -> None:
    digest = jit.source_digest.__wrapped__
    kernel_file = sources_of_two_packages / "agents" / "board.py"
    before = digest(kernel_file)
    assert digest(kernel_file) == before
    with (sources_of_two_packages / edited).open("a") as file:
        file.write("\n# edited")
    assert (digest(kernel_file) != before) == matters


def test_the_engine_is_not_compiled_anew_for_a_change_of_the_environments() -> None:
    engine = ROOT / "klondike_env" / "engine"
    sources = {engine / "batch.py"}
    for _ in range(20):
        sources |= {path for source in sources for path in jit._imports_of(source)}
    names = {path.relative_to(ROOT / "klondike_env").as_posix() for path in sources}
    assert {"cards.py", "rules.py", "engine/outcome.py", "engine/stock.py"} <= names
    assert not names & {"env.py", "vector_env.py", "cli.py", "bench.py"}


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
