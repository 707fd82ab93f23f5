"""Measurements that need a Python process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any


def answer_of(arguments: list[str], *, timeout: float | None = None, **environment: str) -> Any:
    """Run Python in a fresh process and read its answer.

    Args:
        arguments: what follows `python` on the command line.
        timeout: seconds after which the process is killed.
        **environment: environment variables to set, in addition to those of this process.

    Returns:
        The JSON value in the last line of its output.

    Raises:
        RuntimeError: the process failed or took too long; the message is the last line that it wrote.
    """
    path = os.pathsep.join(entry for entry in sys.path if entry)
    try:
        done = subprocess.run(
            [sys.executable, *arguments],
            env={**os.environ, "PYTHONPATH": path, **environment},
            capture_output=True,
            text=True,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"no answer after {timeout:.0f} seconds") from None
    if done.returncode != 0:
        raise RuntimeError((done.stderr.splitlines() or [f"exit code {done.returncode}"])[-1])
    return json.loads(done.stdout.splitlines()[-1])
