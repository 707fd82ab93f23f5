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
    stats = getattr(twice, "stats", None)  # none without compilation
    print(twice(), sum(stats.cache_hits.values()) if stats else 0)
"""
COUNTING_CALLER = """
from numba.core.event import install_recorder
from klondike_env.engine.jit import kernel
from klondike_env.engine.helper import number

@kernel
def double(count):
    return 2 * count

@kernel
def total(count):
    return {expression}

with install_recorder("numba:compile") as recorder:
    print(total(5), number(), double(3))
print(sum(event.is_start for _, event in recorder.buffer))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of the same shape with two kernels, one of which calls the other."""
    engine = tmp_path / "klondike_env" / "engine"
    engine.mkdir(parents=True)
    (engine.parent / "__init__.py").touch()
    (engine / "__init__.py").touch()
    for name in ("jit.py", "parts.py"):
        shutil.copy(Path(jit.__file__).with_name(name), engine)
    (engine / "helper.py").write_text(HELPER.format(number=10))
    (engine / "caller.py").write_text(CALLER)
    return tmp_path


def run_caller(package: Path, **environment: str) -> list[int]:
    """What the caller returns, and how many of its signatures came from the cache."""
    return run_and_listen(package, **environment)[0]


def run_and_listen(package: Path, **environment: str) -> tuple[list[int], list[str]]:
    """The same, and the lines that it wrote to the standard error stream."""
    defaults = {"PYTHONPATH": str(package), "NUMBA_CACHE_DIR": "", "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-m", "klondike_env.engine.caller"]
    done = subprocess.run(
        command, cwd=package, env={**os.environ, **defaults, **environment}, capture_output=True, text=True, check=True
    )
    return [int(word) for word in done.stdout.split()], done.stderr.splitlines()


def test_an_edited_helper_in_another_file_is_compiled_anew(package: Path) -> None:
    assert run_caller(package) == [20, 0]
    assert run_caller(package) == [20, 1]
    (package / "klondike_env" / "engine" / "helper.py").write_text(HELPER.format(number=15))
    assert run_caller(package) == [30, 0]


def test_a_kernel_is_compiled_once_for_all_kernels_that_call_it_and_once_for_calls_from_python(package: Path) -> None:
    def run(expression: str) -> list[int]:
        (package / "klondike_env" / "engine" / "caller.py").write_text(COUNTING_CALLER.format(expression=expression))
        return run_caller(package)

    assert run("double(1) + double(2) + double(count) + number()") == [26, 10, 6, 5]  # not for each constant
    assert run("double(count) - number()") == [0, 10, 6, 3]  # in the caller's file, but what is in the helper's is kept


def test_without_the_insides_of_numba_that_parts_need_kernels_compile_as_they_are(package: Path) -> None:
    (package / "klondike_env" / "engine" / "parts.py").write_text("from numba.core.codegen import NoSuchLibrary")
    assert run_caller(package) == [20, 0]
    assert run_caller(package) == [20, 1]


def test_compilation_is_announced_once_and_only_when_it_happens(package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    numbers, (announced,) = run_and_listen(package, NUMBA_CACHE_DIR=str(cache))  # two kernels, one line
    assert numbers == [20, 0]
    assert announced.startswith(f"klondike_env: compiling, up to two minutes; kept in {cache}")
    assert run_and_listen(package, NUMBA_CACHE_DIR=str(cache)) == ([20, 1], [])
    assert run_and_listen(package, NUMBA_CACHE_DIR=str(cache), NUMBA_DISABLE_JIT="1")[1] == []


def test_kernels_of_others_are_not_announced(package: Path) -> None:
    (package / "klondike_env" / "engine" / "caller.py").write_text("""
import numba
import klondike_env.engine.jit

@numba.njit
def three():
    return 3

print(three())
""")
    assert run_and_listen(package) == ([3], [])


@pytest.fixture
def read_only_package(package: Path) -> Path:
    """The package where it cannot be written to; permissions would not hold back the superuser."""
    (package / "klondike_env" / "engine" / "__pycache__").write_text("a file in place of the folder")
    return package


def test_a_package_that_cannot_be_written_to_is_cached_in_the_folder_of_the_user(read_only_package: Path) -> None:
    home = {"HOME": str(read_only_package / "home"), "XDG_CACHE_HOME": str(read_only_package / "home")}
    assert run_caller(read_only_package, **home) == [20, 0]
    assert run_caller(read_only_package, **home) == [20, 1]
    assert list((read_only_package / "home").rglob("*.nbi"))
    (read_only_package / "klondike_env" / "engine" / "helper.py").write_text(HELPER.format(number=15))
    assert run_caller(read_only_package, **home) == [30, 0]


def test_kernels_work_without_any_folder_that_can_be_written_to(read_only_package: Path) -> None:
    nowhere = str(read_only_package / "file")
    Path(nowhere).touch()
    for _ in range(2):
        numbers, (announced,) = run_and_listen(read_only_package, HOME=nowhere, XDG_CACHE_HOME=nowhere)
        assert numbers == [20, 0]
        assert announced.endswith("every time: set NUMBA_CACHE_DIR to a folder to keep it in")


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
        "agents/lists/board.py": "import numpy\nfrom klondike_env.engine import helper\nfrom agents.chance import x",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(jit, "_PACKAGE", tmp_path / "klondike_env")
    return tmp_path


def test_processes_that_compile_at_the_same_time_never_give_two_signatures_one_file(tmp_path: Path) -> None:
    one, other = (jit._CacheFile(str(tmp_path), "kernel", "stamp") for _ in range(2))
    index = tmp_path / "kernel.nbi"
    one.save("int64", "code for int64")
    index_of_one = index.read_bytes()
    index.unlink()  # the other process has looked before it was there
    other.save("float64", "code for float64")
    assert other.load("float64") == "code for float64"
    index.write_bytes(index_of_one)  # which was written last
    assert one.load("int64") == "code for int64"
    assert one.load("float64") is None  # lost, and will be compiled anew
    one.save("float64", "code for float64")
    assert [one.load(key) for key in ("int64", "float64")] == ["code for int64", "code for float64"]


def test_code_is_in_the_index_only_once_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = jit._CacheFile(str(tmp_path), "kernel", "stamp")
    monkeypatch.setattr(cache, "_save_data", lambda name, data: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cache.save("int64", "code")
    assert not (tmp_path / "kernel.nbi").exists()


@pytest.mark.parametrize(
    ("edited", "matters"),
    [
        ("agents/lists/board.py", True),
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
    assert {"cards.py", "rules.py", "engine/setup.py", "engine/talon.py"} <= names
    assert not names & {"env.py", "vector_env.py", "cli.py", "bench/ours.py"}


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
