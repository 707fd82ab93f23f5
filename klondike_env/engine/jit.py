"""The one decorator for compiled code: `kernel`.

Kernels are compiled without the runtime that allocates memory (`_nrt=False`), so no kernel may create an array: the
caller passes every buffer. Every kernel is inlined into its callers (`forceinline`). Together these make calls of
small kernels free. With the runtime, a call would cost 35 to 50 ns for each array argument; without inlining, random
play would take two and a half times as long.

Most kernels are called only by other kernels, so each one is compiled in two forms. The *whole* kernel is what Python
calls: it is optimised, together with every kernel inlined into it, and becomes machine code. The *inlined* kernel
is what other kernels copy: it is neither optimised nor turned into machine code, because its callers do both.
Inlined kernels are not specialised for constant arguments, which numba does by default.

All of this uses private parts of numba. They are confined to two modules, `inlined` and `disk_cache`, and a new release
may change them. So before the first kernel is defined, two small kernels are compiled and called as a trial. If
anything goes wrong, one line on the standard error stream says so and every kernel is compiled by plain
`numba.njit`, which is correct but slower. A passed trial is recorded in the cache and is not repeated until numba or
these modules change. `KLONDIKE_PLAIN_NJIT=1` in the environment asks for plain `numba.njit` from the start.

Compiled code is cached beside the sources, or in the user's cache folder if those cannot be written to;
`NUMBA_CACHE_DIR` names another folder. Compilation is announced once on the standard error stream, because the
first step of a game would otherwise look like a program that hangs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core.event import Event, Listener, register

Function = TypeVar("Function", bound=Callable[..., Any])
# Compiles a function. Returns what Python calls, then whatever else may be compiled for it.
Compile = Callable[[Callable[..., Any]], tuple[Any, ...]]


class _Announcer(Listener):
    """Tells the user, once per process, that kernels are being compiled."""

    def __init__(self) -> None:
        self.kernels: set[Any] = set()
        self.silent = False

    def on_start(self, event: Event) -> None:
        """Called when numba starts to compile a function, which need not be one of ours."""
        kernel = event.data["dispatcher"]
        if self.silent or kernel not in self.kernels:
            return
        self.silent = True
        folder = kernel.stats.cache_path
        kept = f"kept in {folder}" if folder else "again every time: set NUMBA_CACHE_DIR to a folder to keep it in"
        print(f"klondike_env: compiling, up to two minutes; {kept}", file=sys.stderr, flush=True)

    def on_end(self, event: Event) -> None:
        """Called when numba has compiled a function; there is nothing to tell."""


_announcer = _Announcer()
register("numba:compile", _announcer)


# The two functions that use private parts of numba import them, so that the trial notices when an import fails.
def _compile_inlined(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Compile both forms of a kernel, whole and inlined, cached."""
    from klondike_env.engine import disk_cache, inlined

    whole = numba.njit(nogil=True, **inlined.WHOLE)(function)
    copied = numba.njit(nogil=True, **inlined.INLINED)(function)
    inlined.substitute(copied, whole)
    disk_cache.keep_on_disk(whole, "")
    disk_cache.keep_on_disk(copied, ".inlined")
    return whole, copied


def _compile_cached(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Compile with plain `njit`, cached."""
    from klondike_env.engine import disk_cache

    (plain,) = _compile_plain(function)
    disk_cache.keep_on_disk(plain, ".plain")
    return (plain,)


def _compile_plain(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Compile with plain `njit`, again in every process."""
    return (numba.njit(nogil=True)(function),)


def _multiply(numbers: np.ndarray, factor: int) -> int:
    """A kernel for the trial that another kernel calls."""
    for place in range(len(numbers)):
        numbers[place] *= factor
    return factor


def _multiply_twice(numbers: np.ndarray) -> int:
    """A kernel for the trial that Python calls; it calls a kernel with a constant and with a variable."""
    return _multiply(numbers, 2) + _multiply(numbers, numbers[0])


def _try_out(compile_kernel: Compile) -> None:
    """Compile two kernels and call them, unless that is known to work; raise if it does not."""
    from klondike_env.engine import disk_cache

    record = disk_cache.files_of(_multiply_twice, ".trial")
    if record and record.load(compile_kernel.__name__):
        return
    caller = FunctionType(_multiply_twice.__code__, {"_multiply": compile_kernel(_multiply)[0]})
    numbers = np.array([1, 2, 3])
    if (compile_kernel(caller)[0](numbers), *numbers) != (4, 4, 8, 12):
        raise ArithmeticError(f"wrong result {numbers}")
    if record:
        record.save(compile_kernel.__name__, True)


@cache
def _compile() -> Compile:
    """The fastest way to compile that works with this release of numba."""
    plain = os.environ.get("KLONDIKE_PLAIN_NJIT", "0") not in ("", "0")
    failures = []
    for compile_kernel in (_compile_cached,) if plain else (_compile_inlined, _compile_cached):
        try:
            _try_out(compile_kernel)
        except Exception as error:  # an unknown release of numba may raise anything
            failures.append(" ".join(f"{type(error).__name__}: {error}".split()))
        else:
            break
    else:
        compile_kernel = _compile_plain
    if failures:
        consequence = "slower" + (" and not cached" if compile_kernel is _compile_plain else "")
        release = f"numba {numba.__version__} does not compile kernels as expected"
        print(f"klondike_env: {release}, so they are {consequence} ({failures[0]:.200})", file=sys.stderr)
    return compile_kernel


def kernel(function: Function) -> Function:
    """Compile `function`, which must not allocate memory. The kernel releases the GIL and is cached on disk."""
    if getattr(numba.config, "DISABLE_JIT", False):
        return function
    compiled = _compile()(function)
    _announcer.kernels.update(compiled)
    return compiled[0]
