"""Mutation testing: change the sources a little, many times over, and see whether the tests notice.

    python -m tests.mutation                          # 25 random mutants of each module
    python -m tests.mutation --sample 100 klondike_env.engine.legal

The mutants are cosmic-ray's. A mutant is killed if a test of its module fails or takes far too long, and survives if
all pass; survivors are shown as differences. Kernels run as plain Python here, so that no mutant has to be compiled.
All of it happens in a copy of the checkout, and in children of this process, which need not import libraries again.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import os
import random
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import NamedTuple

os.environ["NUMBA_DISABLE_JIT"] = "1"

import gymnasium  # noqa: F401 - imported once here, not by each child
import numba  # noqa: F401
import pytest
import scipy.stats  # noqa: F401
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names
from pydantic import BaseModel  # noqa: F401

_RULES = ["tests/engine/test_rules_by_name.py", "tests/engine/test_actions.py"]
_CARDS = [*_RULES, "tests/engine/test_card_sets.py"]
_TWIN = "slow_twin and (draw3-reach or custom-reach or classic-draw or thumb_and_pouch-draw)"
_OBSERVATION = [
    "tests/env/test_observation.py",
    "-k",
    f"({_TWIN}) or same_values or score or thoughtful or their_space or described",
]
_STATISTICS = ["tests/train/test_statistics.py"]
_PLANNER = ["tests/agents/test_planner.py", "-k"]
_ELIMINATION = (
    "orders or determinization or every_order or evidence or base_wins or win_alike or evaluator_that or stays_open or "
    "three_standard or fared or are_dropped or are_out or leads or worth"
)

# For each module the arguments of pytest that run its tests, those that are quick without compilation.
TESTS = {
    "klondike_env.rules": ["tests/engine/test_rules.py", *_RULES],
    "klondike_env.engine.card_sets": _CARDS,
    "klondike_env.engine.finish": _RULES,
    "klondike_env.engine.legal": _RULES,
    "klondike_env.engine.queries": _CARDS,
    "klondike_env.engine.apply": _RULES,
    "klondike_env.engine.talon": _RULES,
    "klondike_env.engine.outcome": _RULES,
    "klondike_env.engine.scoring": _RULES,
    "klondike_env.observation.encoding": _OBSERVATION,
    "klondike_env.observation.fields": _OBSERVATION,
    "klondike_env.intervals": _STATISTICS,
    "train.statistics": _STATISTICS,
    "klondike_env.agents.planner.elimination": [*_PLANNER, _ELIMINATION],
    "klondike_env.agents.planner.evaluation": [*_PLANNER, _ELIMINATION],
}
# Changes that make no difference here: without compilation a kernel is the function itself, and small numbers and
# names that are equal are the same object.
_LEFT_OUT = ("RemoveDecorator", "_Is", "_IsNot")
_MOST_SECONDS = 120  # of processor time for the tests of a module; of those of a mutant, twice the usual
_COPIED = ("klondike_env", "agents", "train", "tests", "pyproject.toml")


class Mutant(NamedTuple):
    """A change of a source."""

    operator: Operator
    occurrence: int  # which of the places that the operator could change


def mutants_of(source: str) -> Iterator[Mutant]:
    """All mutants of a source but those of annotations, which nothing reads."""
    annotations, tree = annotated(source), get_ast(source)
    for name in operator_names():
        kind = get_operator(name)
        if name.endswith(_LEFT_OUT) or kind.arguments():
            continue
        operator = kind()
        places = (place for node in ast_nodes(tree) for place in operator.mutation_positions(node))
        for occurrence, (start, end) in enumerate(places):
            if not any(first <= start and end <= last for first, last in annotations):
                yield Mutant(operator, occurrence)


def annotated(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations begin and end: line and column of both."""
    nodes = list(ast.walk(ast.parse(source)))
    found = [node.annotation for node in nodes if isinstance(node, ast.arg | ast.AnnAssign)]
    found += [node.returns for node in nodes if isinstance(node, ast.FunctionDef)]
    return [
        ((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)) for node in found if node
    ]


def seconds_to_pass(arguments: list[str], *, limit: float, keep: bool) -> float | None:
    """Run tests in a child: the processor time it took, or None where a test failed or they took more than `limit`.

    keep: whether the child keeps what it makes of test files, for the next ones.
    """
    child = os.fork()
    if child == 0:
        sys.dont_write_bytecode = not keep
        resource.setrlimit(resource.RLIMIT_CPU, (ceil(limit), ceil(limit)))
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        options = ["-x", "-q", "-p", "no:cacheprovider", "-W", "ignore", "-o", "addopts=--import-mode=importlib"]
        os._exit(pytest.main([*options, *arguments]))
    _, status, usage = os.wait4(child, 0)
    return usage.ru_utime + usage.ru_stime if status == 0 else None


def try_mutants(module: str, sample: int, seed: int) -> tuple[int, int]:
    """Show the survivors among some mutants of a module; how many were killed, and how many there were."""
    file = Path(*module.split(".")).with_suffix(".py")
    source = file.read_text()
    usual = seconds_to_pass(TESTS[module], limit=_MOST_SECONDS, keep=True)
    if usual is None:
        sys.exit(f"{module}: its tests fail without any mutant")
    mutants = list(mutants_of(source))
    chosen = random.Random(seed).sample(mutants, min(sample, len(mutants)))
    killed = 0
    for mutant in chosen:
        changed = mutate_code(source, *mutant)
        file.write_text(changed)
        if seconds_to_pass(TESTS[module], limit=2 * usual + 1, keep=False) is None:
            killed += 1
        else:
            show(module, source, changed)
    file.write_text(source)
    print(f"{module}: {killed} of {len(chosen)} killed, of {len(mutants)} mutants in all", flush=True)
    return killed, len(chosen)


def show(module: str, source: str, changed: str) -> None:
    """Print the lines that a mutant changed."""
    for number, (before, after) in enumerate(zip(source.splitlines(), changed.splitlines(), strict=False), 1):
        if before != after:
            print(f"{module} line {number}\n  - {before.strip()}\n  + {after.strip()}", flush=True)
            return


def copy_checkout(folder: Path) -> None:
    """Copy the sources, compiled so that Python looks at their contents, not at their times, to see what changed."""
    for name in _COPIED:
        if Path(name).is_dir():
            shutil.copytree(name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(name, folder)
    compileall.compile_dir(folder, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)


def main() -> None:
    """Test the mutants of the modules that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description="Mutation testing.")
    parser.add_argument("modules", nargs="*", default=[], help=f"of {', '.join(TESTS)}; all by default")
    parser.add_argument("--sample", type=int, default=25, help="mutants of each module, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of the drawing")
    arguments = parser.parse_args()
    for module in arguments.modules:
        if module not in TESTS:
            parser.error(f"no tests are named for {module}; known: {', '.join(TESTS)}")
    with tempfile.TemporaryDirectory() as folder:
        copy_checkout(Path(folder))
        os.chdir(folder)
        sys.path.insert(0, folder)
        scores = [try_mutants(module, arguments.sample, arguments.seed) for module in arguments.modules or TESTS]
    killed, tested = (sum(column) for column in zip(*scores, strict=True))
    print(f"{killed} of {tested} mutants killed")


if __name__ == "__main__":
    main()
