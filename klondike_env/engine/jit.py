"""The one decorator for compiled code, and the policy of its cache.

Kernels are compiled without the runtime that allocates memory (numba's private option `_nrt=False`):
no kernel may create an array, the caller passes every buffer. And every kernel is inlined into its
callers (`forceinline`). That makes small helper kernels free: without the first, a call costs 35 to
50 ns of reference counting for each array argument; without the second, the passing of arrays and
setups made random play two and a half times slower.

To be inlined into each of its callers is all that most kernels are for. So a kernel is compiled in two
ways. What Python calls is optimised, with all kernels in it, and made machine code. What kernels call, a
part of theirs, is neither, as both would be done again in every caller, and lacks what only calls from
Python need. Nor has a kernel a part for each constant that it is called with, which is numba's habit:
constants find their way into a part where it is inlined.

Compiled code is cached on disk. Numba watches only the file of the cached function itself, so a
cached kernel would survive a change of a helper in another file. Here the stamp that numba compares
is a digest of the kernel's file and of all files of ours that it imports, directly or not. And several
processes may compile at the same time, see `_CacheFile`.

Numba keeps the cache beside the sources, or in the user's cache folder where those cannot be written
to; `NUMBA_CACHE_DIR` names another. The first kernel that is not in it yet is announced on the standard
error stream, because the first step of a game then takes as long as a program that hangs.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import IndexDataCacheFile
from numba.core.event import Event, Listener, register

try:
    from klondike_env.engine.inlined import PART
except ImportError:  # a numba release that is built another way: correct, but slower to compile
    PART = {}

Function = TypeVar("Function", bound=Callable[..., Any])

_PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(r"^\s*(?:from|import)\s+(\w[\w.]*)", re.MULTILINE)


def _package_of(file: Path) -> Path:
    """The folder of the outermost package that a file belongs to."""
    folder = file.parent
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


def _imports_of(file: Path) -> Iterator[Path]:
    """The files of its own package and of this one that a file imports; of an imported package all files."""
    packages = {package.name: package.parent for package in (_PACKAGE, _package_of(file))}
    for name in _IMPORT.findall(file.read_text()):
        first, *rest = name.split(".")
        if first in packages:
            module = packages[first].joinpath(first, *rest)
            yield from module.glob("*.py") if module.is_dir() else [module.with_suffix(".py")]


@cache
def source_digest(file: Path) -> str:
    """Digest of all sources that the kernels of a file may depend on."""
    sources, found = {file}, [file]
    while found:
        found = [path for source in found for path in _imports_of(source) if path not in sources and path.exists()]
        sources.update(found)
    digest = hashlib.sha256()
    for source in sorted(sources):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


class _Announcer(Listener):
    """Tells the user, once a process, that kernels are being compiled."""

    def __init__(self) -> None:
        self.kernels: set[Any] = set()
        self.silent = False

    def on_start(self, event: Event) -> None:
        """Numba starts to compile a function, which may be anyone's."""
        kernel = event.data["dispatcher"]
        if self.silent or kernel not in self.kernels:
            return
        self.silent = True
        folder = kernel.stats.cache_path
        kept = f"kept in {folder}" if folder else "again every time: set NUMBA_CACHE_DIR to a folder to keep it in"
        print(f"klondike_env: compiling, up to two minutes; {kept}", file=sys.stderr, flush=True)

    def on_end(self, event: Event) -> None:
        """Nothing to tell."""


_announcer = _Announcer()
register("numba:compile", _announcer)

_OPTIONS: dict[str, Any] = {"nogil": True}
# The last one leaves out what only calls from C need.
_FREE_CALLS: dict[str, Any] = {"_nrt": False, "forceinline": True, "no_cfunc_wrapper": True}


def _compile(function: Function, **options: Any) -> Any:
    try:
        return numba.njit(**_OPTIONS, **_FREE_CALLS, **options)(function)
    except (KeyError, TypeError):  # a numba release without these options: correct, but slower
        return numba.njit(**_OPTIONS)(function)


def _let_kernels_call(part: Any, whole: Any) -> None:
    """Have kernels that call `whole` take the part in its place, whatever constants they call it with."""

    def get_call_template(args: Any, kws: Any) -> Any:
        plain = numba.types.unliteral
        return part.get_call_template([plain(arg) for arg in args], {key: plain(arg) for key, arg in kws.items()})

    whole.get_call_template, whole.get_overload = get_call_template, part.get_overload


class _CacheFile(IndexDataCacheFile):
    """A kernel's cache that processes may fill at the same time.

    Numba numbers the files of compiled code, and names a file in the index before it is written. So two processes that
    begin with an empty or a stale cache can give two signatures the same file; code of the wrong signature, once
    loaded, writes to memory that is not its own. Here the signature names the file, which is written first.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep compiled code. If another process saves at the same time one entry may be lost, and is compiled anew."""
        name = f"{self._index_name.removesuffix('.nbi')}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})


def _keep_on_disk(dispatcher: Any, ending: str = "") -> None:
    """Cache what is compiled, in files of that ending of the name, unless no folder can be written to."""
    try:
        dispatcher.enable_caching()
    except RuntimeError:
        return
    cache = dispatcher._cache
    stamp = source_digest(Path(dispatcher.py_func.__code__.co_filename))
    cache._cache_file = _CacheFile(cache.cache_path, cache._impl.filename_base + ending, stamp)


def kernel(function: Function) -> Function:
    """Compile `function` for the engine: no allocation inside, lock released, honest disk cache."""
    whole = _compile(function)
    if whole is not function:  # it is when compilation is switched off (NUMBA_DISABLE_JIT=1)
        part = _compile(function, **PART)
        _let_kernels_call(part, whole)
        _keep_on_disk(whole)
        _keep_on_disk(part, ".part")
        _announcer.kernels.update((whole, part))
    return whole
