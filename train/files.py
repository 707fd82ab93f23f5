"""Files of a run: written whole or not at all, in a directory that nothing else has used."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader, or a killed process, finds the old content or the new, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)  # mkstemp makes files that only their owner can read
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink()
        raise


def packed_arrays(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Arrays by name as the bytes of a compressed .npz file."""
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def claim_run_dir(path: Path) -> Path:
    """Make the directory of a new run.

    Raises:
        FileExistsError: it exists and is not empty; the message says what to do.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FileExistsError(f"{path} holds an earlier run; resume that run, remove it or choose another name")
    path.mkdir(parents=True, exist_ok=True)
    return path
