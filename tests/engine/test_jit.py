"""The one decorator for compiled code, and its cache."""

from __future__ import annotations

import ast
import os
import pickle
import random
import re
import resource
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from klondike_env.engine import disk_cache, jit

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
    for name in ("jit.py", "inlined.py", "disk_cache.py"):
        shutil.copy(Path(jit.__file__).with_name(name), engine)
    (engine / "helper.py").write_text(HELPER.format(number=10))
    (engine / "caller.py").write_text(CALLER)
    return tmp_path


def run_caller(package: Path, **environment: str) -> list[int]:
    """What the caller returns, and how many of its signatures came from the cache."""
    return run_and_listen(package, **environment)[0]


def run_and_listen(
    package: Path, *, prelude: str = "", before: Callable[[], None] | None = None, **environment: str
) -> tuple[list[int], list[str]]:
    """The same, and the lines that it wrote to the standard error stream."""
    done = run(package, prelude, before, environment)
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()], done.stderr.splitlines()


def run(
    package: Path, prelude: str, before: Callable[[], None] | None, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run the caller in a process of its own, after a prelude in Python and after `before` in the new process."""
    defaults = {"PYTHONPATH": str(package), "NUMBA_CACHE_DIR": "", "NUMBA_DISABLE_JIT": "0", "KLONDIKE_PLAIN_NJIT": "0"}
    script = f"{prelude}\nimport runpy\nrunpy.run_module('klondike_env.engine.caller', run_name='__main__')"
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=package,
        env={**os.environ, **defaults, **environment},
        preexec_fn=before,
        capture_output=True,
        text=True,
    )


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


# Before our package is imported, makes numba a release in which a private name is another or is gone.
RENAME = """
import sys, types
import numba, numba.core.ccallback

def renamed(code):
    new = lambda names: tuple("renamed" if name == {name!r} else name for name in names)
    consts = tuple(renamed(const) if isinstance(const, types.CodeType) else const for const in code.co_consts)
    return code.replace(co_names=new(code.co_names), co_consts=consts)

def functions(value):
    value = getattr(value, "__func__", getattr(value, "fget", value))
    while value is not None:
        if isinstance(value, types.FunctionType):
            yield value
        value = getattr(value, "__wrapped__", None)

modules = [module for name, module in sys.modules.items() if name.startswith("numba.core")]
if {name!r} == "_cache":  # a name that others of numba's classes use as well
    modules = [sys.modules["numba.core.dispatcher"]]
classes = {{value for module in modules for value in vars(module).values() if isinstance(value, type)}}
classes = {{value for value in classes if value.__module__.startswith("numba.core")}}
owners = [*modules, *classes]
for function in {{f for owner in owners for value in list(vars(owner).values()) for f in functions(value)}}:
    function.__code__ = renamed(function.__code__)
found = False
for owner in owners:
    if {name!r} in vars(owner):
        found = True
        setattr(owner, "renamed", vars(owner)[{name!r}])
        delattr(owner, {name!r})
assert found or {name!r} in ("_cache", "_cache_file", "_impl", "_final_module")  # which are set in a constructor
"""
# The same for an option of numba.njit.
REMOVE_OPTION = """
from numba.core.cpu import CPUTargetOptions
(owner,) = (owner for owner in CPUTargetOptions.__mro__ if {name!r} in vars(owner))
delattr(owner, {name!r})
"""
# Prints how often kernels were compiled in a trial of numba.
COUNT_TRIALS = """
from types import FunctionType
from klondike_env.engine import jit
trials = []
jit.FunctionType = lambda *arguments: trials.append(arguments) or FunctionType(*arguments)
jit._compile()
print(len(trials))
"""
PILES = """
from typing import NamedTuple
import numpy as np

class Piles(NamedTuple):
    waste: np.ndarray
    gaps: np.ndarray
"""
# A caller with arrays in a tuple with names, a constant, and two kernels in another.
GAME = """
import numpy as np
from klondike_env.engine.jit import kernel
from klondike_env.engine.helper import number
from klondike_env.engine.piles import Piles

@kernel
def take(piles, pile):
    piles.waste[pile] -= 1
    piles.gaps[pile] = piles.waste[pile] == 0
    return piles.gaps.sum()

@kernel
def play(piles):
    count = 0
    while take(piles, 0) + take(piles, len(piles.waste) - 1) < 2:
        count += number()
    return count

print(play(Piles(np.array([4, 9, 5]), np.zeros(3, np.bool_))), sum(play.stats.cache_hits.values()))
"""


@pytest.fixture
def game(package: Path) -> Path:
    """The package with a game that counts ten three times."""
    (package / "klondike_env" / "engine" / "piles.py").write_text(PILES)
    (package / "klondike_env" / "engine" / "caller.py").write_text(GAME)
    return package


def play(game: Path, prelude: str = "", **environment: str) -> tuple[list[int], list[str]]:
    """What the game returns, how many of its signatures came from the cache, and the warnings."""
    numbers, lines = run_and_listen(game, prelude=prelude, **environment)
    return numbers, [line for line in lines if "compiling" not in line]


def endings(game: Path) -> set[str]:
    """What the names of files of code tell of how the kernels were compiled."""
    return {"".join(path.suffixes[2:-2]) for path in game.rglob("*.nbc")} - {".trial"}


def test_kernels_are_inlined_and_cached_where_numba_is_as_we_know_it(game: Path) -> None:
    assert play(game) == ([30, 0], [])
    assert play(game) == ([30, 1], [])
    assert endings(game) == {"", ".inlined"}


@pytest.mark.parametrize(
    ("break_numba", "name"),
    [
        (REMOVE_OPTION, "_nrt"),
        (REMOVE_OPTION, "forceinline"),
        (REMOVE_OPTION, "no_cfunc_wrapper"),
        (RENAME, "JITCodeLibrary"),
        (RENAME, "_optimize_final_module"),
        (RENAME, "_finalize_final_module"),
        (RENAME, "_get_module_for_linking"),
        (RENAME, "_final_module"),
        (RENAME, "enable_object_caching"),
        (RENAME, "get_call_template"),
        (RENAME, "get_overload"),
    ],
)
def test_plain_njit_takes_over_where_numba_inlines_in_another_way(game: Path, break_numba: str, name: str) -> None:
    numbers, (warning,) = play(game, break_numba.format(name=name))
    assert numbers == [30, 0]
    assert endings(game) == {".plain"}
    assert warning.startswith("klondike_env: numba ")
    assert "so they are slower (" in warning


@pytest.mark.parametrize(
    "name", ["FunctionCache", "_cache", "_cache_file", "_impl", "filename_base", "load_overload", "save_overload"]
)
def test_nothing_is_cached_where_numba_caches_in_another_way(game: Path, name: str) -> None:
    numbers, (warning,) = play(game, RENAME.format(name=name))
    assert numbers == [30, 0]
    assert endings(game) <= {".trial"}
    assert "so they are slower and not cached (" in warning


def test_the_warning_is_repeated_but_plain_code_is_kept(game: Path) -> None:
    for hits in (0, 1):
        numbers, (warning,) = play(game, REMOVE_OPTION.format(name="forceinline"))
        assert numbers == [30, hits]
        assert "forceinline" in warning


def test_plain_njit_can_be_asked_for_and_has_files_of_its_own(game: Path) -> None:
    assert play(game, KLONDIKE_PLAIN_NJIT="1") == ([30, 0], [])
    assert endings(game) == {".plain"}
    assert play(game) == ([30, 0], [])
    assert endings(game) == {"", ".inlined", ".plain"}
    assert play(game, KLONDIKE_PLAIN_NJIT="1") == ([30, 1], [])


def test_numba_is_tried_out_once_for_all_processes_that_share_a_cache(game: Path) -> None:
    assert play(game, COUNT_TRIALS) == ([1, 30, 0], [])
    assert play(game, COUNT_TRIALS) == ([0, 30, 1], [])


PAST_THE_END = """
import numpy as np
from klondike_env.engine.jit import kernel

@kernel
def read(numbers, place):
    return numbers[place]

print(read(np.array([1, 2, 3])[:2], 2), sum(read.stats.cache_hits.values()))
"""


def test_code_that_checks_array_bounds_is_not_mixed_with_code_that_does_not(package: Path) -> None:
    (package / "klondike_env" / "engine" / "caller.py").write_text(PAST_THE_END)
    assert run_caller(package) == [3, 0]
    for _ in range(2):
        checked = run(package, "", None, {"NUMBA_BOUNDSCHECK": "1"})
        assert checked.returncode == 1
        assert "IndexError" in checked.stderr
    assert run_caller(package) == [3, 1]


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
    assert list((read_only_package / "home").rglob("*.nbc"))
    (read_only_package / "klondike_env" / "engine" / "helper.py").write_text(HELPER.format(number=15))
    assert run_caller(read_only_package, **home) == [30, 0]


def test_kernels_work_without_any_folder_that_can_be_written_to(read_only_package: Path) -> None:
    nowhere = str(read_only_package / "file")
    Path(nowhere).touch()
    for _ in range(2):
        numbers, (announced,) = run_and_listen(read_only_package, HOME=nowhere, XDG_CACHE_HOME=nowhere)
        assert numbers == [20, 0]
        assert announced.endswith("every time: set NUMBA_CACHE_DIR to a folder to keep it in")


def test_the_file_of_code_is_that_of_its_key_whichever_process_writes_it(tmp_path: Path) -> None:
    one, other = (disk_cache.CodeFiles(tmp_path, "kernel", "stamp") for _ in range(2))
    one.save("int64", "code for int64")
    other.save("float64", "code for float64")
    assert [files.load(key) for files in (one, other) for key in ("int64", "float64")] == [
        "code for int64",
        "code for float64",
    ] * 2


class Namesake:
    """Prints as any other of its kind, and equals only itself, as the types of two classes of one name do."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        return "namesake"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Namesake) and self.number == other.number

    __hash__ = None  # type: ignore[assignment]


def test_code_is_not_taken_for_that_of_another_key_that_prints_alike(tmp_path: Path) -> None:
    files = disk_cache.CodeFiles(tmp_path, "kernel", "stamp")
    files.save(Namesake(1), "code for 1")
    assert (files.load(Namesake(1)), files.load(Namesake(2))) == ("code for 1", None)


def test_code_of_other_sources_or_of_another_numba_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk_cache.CodeFiles(tmp_path, "kernel", "stamp").save("int64", "code")
    assert disk_cache.CodeFiles(tmp_path, "kernel", "stamp").load("int64") == "code"
    assert disk_cache.CodeFiles(tmp_path, "kernel", "other").load("int64") is None
    monkeypatch.setattr(disk_cache.numba, "__version__", "0.0")
    assert disk_cache.CodeFiles(tmp_path, "kernel", "stamp").load("int64") is None


def test_a_folder_that_is_gone_when_code_is_saved_is_no_error(tmp_path: Path) -> None:
    files = disk_cache.CodeFiles(tmp_path / "gone", "kernel", "stamp")
    files.save("int64", "code")
    assert files.load("int64") is None


def flip_a_bit(content: bytes) -> bytes:
    """Damage that unpickles in most cases: in the middle lies machine code."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda content: b"",
    "cut short": lambda content: content[: len(content) // 2],
    "overwritten": lambda content: random.Random(7).randbytes(len(content)),
    "replaced by another pickle": lambda content: pickle.dumps({"no": "code"}),
    "with one bit flipped": flip_a_bit,
}


def test_damaged_files_count_as_missing_and_are_written_again(package: Path) -> None:
    assert run_caller(package) == [20, 0]
    files = sorted(package.rglob("*.nbc"))
    for kind, damage in DAMAGE.items():
        for file in files:
            file.write_bytes(damage(file.read_bytes()))
        assert run_caller(package) == [20, 0], kind
        assert sorted(package.rglob("*.nbc")) == files, kind
    assert run_caller(package) == [20, 1]


def test_a_full_disk_only_costs_the_cache(package: Path) -> None:
    def fill_the_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    for _ in range(2):
        numbers, lines = run_and_listen(package, before=fill_the_disk)
        assert numbers == [20, 0]
        assert len(lines) == 1  # the announcement
    assert not [path for path in package.rglob("__pycache__/*") if path.suffix != ".pyc"]


@pytest.fixture
def sources_of_two_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel of another package that imports helpers of this one, which is also reached through a symbolic link."""
    for name, text in {
        "klondike_env/__init__.py": "",
        "klondike_env/rules.py": "LIMIT = 1",
        "klondike_env/cli.py": "import klondike_env.engine.helper",
        "klondike_env/engine/__init__.py": "",
        "klondike_env/engine/helper.py": "from klondike_env.rules import (\n    LIMIT,  # comment\n)",
        "klondike_env/engine/other.py": "",
        "klondike_env/engine/cards.py": "",
        "klondike_env/solver/__init__.py": "from klondike_env.solver.search import node",
        "klondike_env/solver/search.py": "",
        "klondike_env/solver/many.py": "",
        "klondike_env/tables/__init__.py": "",
        "klondike_env/tables/pairs.py": "",
        "agents/__init__.py": "",
        "agents/chance.py": "",
        "agents/base.py": "",
        "agents/board.py": "import os, numpy\nimport klondike_env.engine.cards as c\nimport klondike_env.tables\n"
        "from klondike_env.engine import helper\nfrom klondike_env.solver import \\\n    node\n"
        "from agents.chance import x\nfrom klondike_env.agents.base import y",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "klondike_env" / "agents").symlink_to(Path("..") / "agents")
    monkeypatch.setattr(disk_cache, "_PACKAGE", tmp_path / "klondike_env")
    return tmp_path


@pytest.mark.parametrize("folder", ["agents", "klondike_env/agents"])
@pytest.mark.parametrize(
    ("edited", "matters"),
    [
        ("agents/board.py", True),
        ("agents/chance.py", True),
        ("agents/base.py", True),  # imported by the name of the link
        ("klondike_env/engine/__init__.py", True),
        ("klondike_env/engine/helper.py", True),
        ("klondike_env/engine/cards.py", True),
        ("klondike_env/engine/other.py", False),  # the package is imported for two of its modules
        ("klondike_env/solver/search.py", True),  # imported by the package that a name is taken from
        ("klondike_env/solver/many.py", False),
        ("klondike_env/tables/pairs.py", True),  # the package is imported as such, so all of it counts
        ("klondike_env/rules.py", True),
        ("klondike_env/cli.py", False),
    ],
)
def test_the_stamp_covers_every_source_a_kernel_may_depend_on(
    sources_of_two_packages: Path, folder: str, edited: str, matters: bool
) -> None:
    def digest() -> str:
        disk_cache._imports_of.cache_clear()
        return disk_cache.source_digest.__wrapped__(sources_of_two_packages / folder / "board.py")

    before = digest()
    assert digest() == before
    with (sources_of_two_packages / edited).open("a") as file:
        file.write("\n# edited")
    assert (digest() != before) == matters


def test_the_engine_is_not_compiled_anew_for_a_change_of_the_environments() -> None:
    engine = ROOT / "klondike_env" / "engine"
    sources = {engine / "batch.py"}
    for _ in range(20):
        sources |= {path for source in sources for path in disk_cache._imports_of(source)}
    names = {path.relative_to(ROOT / "klondike_env").as_posix() for path in sources}
    assert {"cards.py", "rules.py", "engine/setup.py", "engine/talon.py"} <= names
    assert not names & {"env.py", "vector_env.py", "cli.py"}


def test_the_numba_that_is_tested_is_the_oldest_and_the_newest_that_is_allowed() -> None:
    def release(name: str) -> list[int]:
        text = (ROOT / "tests" / "numba" / f"{name}.txt").read_text()
        return [int(number) for number in re.search(r"^numba==(\d+)\.(\d+)\.(\d+)$", text, re.MULTILINE).groups()]

    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    (bounds,) = (text for text in dependencies if text.startswith("numba"))
    (major, minor, patch), (_, newest, _) = release("oldest"), release("newest")
    assert patch == 0
    assert bounds == f"numba>={major}.{minor},<{major}.{newest + 1}"


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
    assert {path: names for path, names in found.items() if names} == {"klondike_env/engine/jit.py": ["njit"] * 3}


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
