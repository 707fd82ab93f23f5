"""What `pip install` brings: every module and table of the package, the agents included, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
SHIPPED = {".py", ".npz", ".safetensors", ".typed"}


def files_below(folder: Path) -> Iterator[str]:
    """The files to be shipped, as the tree has them; links, such as that to the agents, are not followed."""
    for parent, _, names in os.walk(folder):
        yield from (Path(parent, name).relative_to(folder).as_posix() for name in names if Path(name).suffix in SHIPPED)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the tree, which a build leaves files in."""
    tree, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    for name in ("klondike_env", "agents", "train", "benchmarks"):
        shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    done = subprocess.run([*pip, "--wheel-dir", out, tree], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (built,) = out.glob("*.whl")
    return built


def test_the_wheel_holds_the_package_and_the_agents_and_nothing_else(wheel):
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    package = {f"klondike_env/{name}" for name in files_below(ROOT / "klondike_env")}
    agents = {f"klondike_env/agents/{name}" for name in files_below(ROOT / "agents")}
    assert {"klondike_env/py.typed", "klondike_env/agents/registry.py"} <= package | agents
    assert names == package | agents


def run_outside(program: str, wheel: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program where the wheel is unpacked, and the checkout is not on the path."""
    with ZipFile(wheel) as archive:
        archive.extractall(folder)
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )


LOADING = """
import klondike_env.agents.match
from klondike_env.agents import BASELINES, load
print(*sorted(load(name).name for name in BASELINES))
print(klondike_env.agents.match.__file__)
"""


def test_agents_are_loaded_where_only_the_wheel_is(wheel, tmp_path):
    done = run_outside(LOADING, wheel, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["collins greedy net random tuned", f"{tmp_path}/klondike_env/agents/match.py"]


FROM_EXTRAS = ["cloudpickle", "matplotlib", "pydantic", "rich", "scipy", "torch", "typer"]
BLOCK = f"import sys; sys.modules.update(dict.fromkeys({FROM_EXTRAS}))\n"  # as if they were not installed


def run_without_extras(program: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", BLOCK + program], env=environment, capture_output=True, text=True, timeout=600
    )


def test_the_command_names_the_extra_that_it_needs():
    done = run_without_extras("from klondike_env.__main__ import main; main()")
    assert done.returncode == 1
    assert done.stderr == "klondike: the command needs typer and rich; run: pip install 'klondike-env[cli]'\n"


WITHOUT_EXTRAS = """
import gymnasium as gym, klondike_env, numpy as np
from gymnasium.error import DependencyNotInstalled
from klondike_env.agents import load
from klondike_env.agents.match import play_games
from klondike_env.solver.study.many import solve_many
from klondike_env.work import share

gym.make("Klondike/Draw1-v0").reset(seed=0)
played = play_games(load("collins"), klondike_env.preset("draw1"), np.arange(4))
print(len(played), solve_many([123456], "draw1")[0].verdict, *share(len, ["abc"]))
try:
    share(len, ["abc"], workers=2)
except DependencyNotInstalled as error:
    print(error)
"""


def test_games_agents_and_solver_need_no_extra():
    done = run_without_extras(WITHOUT_EXTRAS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "4 solved 3",
        "several workers need cloudpickle; run: pip install 'klondike-env[cli]', or use one worker",
    ]
