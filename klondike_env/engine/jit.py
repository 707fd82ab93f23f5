"""The one decorator for compiled code, and the policy of its cache.

Kernels are compiled without the runtime that allocates memory (numba's private option `_nrt=False`):
no kernel may create an array, the caller passes every buffer. That makes small helper kernels free,
where each call would otherwise cost 35 to 50 ns of reference counting per array argument.

Compiled code is cached on disk. Numba watches only the file of the cached function itself, so a
cached kernel would survive a change of a helper in another file. Here the stamp that numba compares
is a digest of every file that can reach the kernel: those of the engine and those beside the kernel.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

_ENGINE = Path(__file__).parent
_PACKAGE = _ENGINE.parent


@cache
def source_digest(folder: Path) -> str:
    """Digest of the sources a kernel in `folder` may depend on: the engine's, the package's top level, its own."""
    files = {*_ENGINE.glob("*.py"), *_PACKAGE.glob("*.py"), *folder.glob("*.py")}
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True}
_NO_ALLOCATION: dict[str, Any] = {"_nrt": False}


def _compile(function: Function) -> Any:
    try:
        return numba.njit(**_OPTIONS, **_NO_ALLOCATION)(function)
    except (KeyError, TypeError):  # a numba release without the private option: correct, but slower
        return numba.njit(**_OPTIONS)(function)


def kernel(function: Function) -> Function:
    """Compile `function` for the engine: no allocation inside, lock released, honest disk cache."""
    dispatcher = _compile(function)
    folder = Path(function.__code__.co_filename).parent
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if cache_file is not None:  # absent when compilation is switched off (NUMBA_DISABLE_JIT=1)
        cache_file._source_stamp = source_digest(folder)
    return dispatcher
