"""Compiled code on disk: what it is filed under, when it is stale, and what happens to damaged files.

Numba's own cache falls short in four ways. It watches only the file of the cached function, so a cached kernel would
survive a change to a helper in another file. It does not distinguish code that checks array bounds from code that
does not. When processes compile at the same time, it may file code under the wrong signature. And one damaged
file makes every later start fail.

Here each signature of a kernel has a file of its own. It begins with a checksum over its code, the versions of numba
and llvmlite, and all sources that the kernel may depend on. A file that is stale, cut short or damaged fails the
check. It then counts as missing: the kernel is compiled and the file is written again. Failure to write a file is
ignored.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

_PACKAGE = Path(__file__).resolve().parents[1]
_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^)]*\)|(?:\\\n|.)*)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+((?:\\\n|.)*)", re.MULTILINE)
# Numba's environment variables that change compiled code, without their prefix NUMBA_.
_SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE")
_CHECKSUM_BYTES = hashlib.sha256().digest_size


def _package_of(file: Path) -> Path:
    """The folder of the outermost package that a file belongs to."""
    folder = file.parent
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


def _imported_names(source: str) -> Iterator[tuple[str, str]]:
    """Each module that a source imports, and a name that it takes from the module, or "" for the module itself."""
    for module, names in _FROM.findall(source):
        yield from ((module, name) for name in re.findall(r"\w+", names) or [""])
    for modules in _IMPORT.findall(source):
        yield from ((module, "") for module in re.findall(r"[\w.]+", modules))


def _files_of(module: Path, name: str) -> Iterator[Path]:
    """The files that `from module import name` may read; all files of a package if it is imported as a whole."""
    if not module.is_dir():
        yield module.with_suffix(".py")
    elif name:
        yield module / "__init__.py"
        yield from _files_of(module / name, "")
    else:
        yield from module.glob("*.py")


@cache
def _imports_of(file: Path) -> frozenset[Path]:
    """The files that a file imports from its own package and from this one; symbolic links are followed."""
    packages = {package.name: package.parent for package in (_PACKAGE, _package_of(file))}
    found: set[Path] = set()
    for module, name in _imported_names(file.read_text()):
        first, *rest = module.split(".")
        if first in packages:
            found.update(path.resolve() for path in _files_of(packages[first].joinpath(first, *rest), name))
    return frozenset(path for path in found if path.is_file())


@cache
def source_digest(file: Path) -> str:
    """Digest of all sources that the kernels of a file may depend on: the file and what it imports, directly or not."""
    file = file.resolve()
    sources, found = {file}, {file}
    while found:
        found = {path for source in found for path in _imports_of(source)} - sources
        sources |= found
    digest = hashlib.sha256()
    for source in sorted(sources):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


def _settings() -> tuple[str, ...]:
    """The settings of numba that compiled code depends on."""
    return tuple(str(getattr(numba.config, name, None) or 0) for name in _SETTINGS)


class CodeFiles:
    """The files of one kernel, one for each signature. Processes may write them at the same time."""

    def __init__(self, folder: Path, name: str, stamp: str) -> None:
        self._folder = folder
        self._name = name
        self._stamp = "\0".join((numba.__version__, llvmlite.__version__, stamp))

    def load(self, key: Any) -> Any:
        """What was saved under a key; None if nothing was, or if it is stale or damaged."""
        with suppress(Exception):  # whatever the reason, code that cannot be read is compiled again
            content = self._path(key).read_bytes()
            checksum, code = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
            if checksum == self._checksum(code):
                saved_key, data = pickle.loads(code)
                return data if saved_key == key else None
        return None

    def save(self, key: Any, data: Any) -> None:
        """Write data under a key, all of it or nothing. A full or read-only disk is not an error."""
        code = dumps((key, data))
        path = self._path(key)
        unfinished = path.with_suffix(f".{secrets.token_hex(8)}")
        with suppress(OSError):
            try:
                unfinished.write_bytes(self._checksum(code) + code)
                unfinished.replace(path)
            finally:
                unfinished.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        digest = hashlib.sha256(repr((key, _settings())).encode()).hexdigest()
        return self._folder / f"{self._name}.{digest[:16]}.nbc"

    def _checksum(self, code: bytes) -> bytes:
        return hashlib.sha256(self._stamp.encode() + b"\0" + code).digest()


class _DiskCache(FunctionCache):
    """Numba's cache of one kernel, kept in our own files."""

    # Raises an error where numba has renamed a method, which would otherwise go unnoticed.
    _OVERRIDDEN = FunctionCache.load_overload, FunctionCache.save_overload

    def __init__(self, function: Any, ending: str) -> None:
        super().__init__(function)
        _replaced = self._cache_file  # raises an error where numba has renamed it
        stamp = source_digest(Path(function.__code__.co_filename))
        self._cache_file: Any = CodeFiles(Path(self.cache_path), self._impl.filename_base + ending, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature; None if it cannot be read from disk."""
        with suppress(Exception):
            return super().load_overload(sig, target_context)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save the code for a signature, if the disk allows it."""
        with suppress(OSError):
            super().save_overload(sig, data)


def _cache_of(function: Any, ending: str) -> _DiskCache | None:
    """The cache of a function, in files whose names have that ending; None if no folder can be written to."""
    try:
        return _DiskCache(function, ending)
    except RuntimeError:
        return None


def files_of(function: Any, ending: str) -> CodeFiles | None:
    """The files of a function, whose names have that ending; None if no folder can be written to."""
    disk_cache = _cache_of(function, ending)
    return disk_cache._cache_file if disk_cache else None


def keep_on_disk(dispatcher: Any, ending: str) -> None:
    """Cache what a dispatcher compiles, in files whose names have that ending, if any folder can be written to."""
    no_cache = dispatcher._cache  # raises an error where numba has renamed it
    dispatcher._cache = _cache_of(dispatcher.py_func, ending) or no_cache
