"""Copies of the package that tests change, and programs that run with a copy, as plain Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def copy_package(folder: Path) -> Path:
    """Copy the package, without the agents, into a folder; return where it is there."""
    ignored = shutil.ignore_patterns("__pycache__", "agents")
    return Path(shutil.copytree(ROOT / "klondike_env", folder / "klondike_env", ignore=ignored))


def run_with_package(folder: Path, program: str) -> Any:
    """What a program prints, as JSON, if it imports the package from a folder; kernels are not compiled."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)
