"""How numba is made to inline kernels into their callers. All of this uses private parts of numba.

`klondike_env.engine.jit` tries it once for each release of numba, and falls back to plain compilation if it fails.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _InlinedCode(JITCodeLibrary):
    """The code of an inlined kernel: callers copy it, and nothing runs it by itself."""

    # Raises an error where numba has renamed a method, which would otherwise go unnoticed.
    _OVERRIDDEN = JITCodeLibrary._optimize_final_module, JITCodeLibrary._finalize_final_module

    def _optimize_final_module(self) -> None:
        """Leave optimisation to the code of the caller; each function is simplified already."""

    def _finalize_final_module(self) -> None:
        """Make no machine code: callers have their copies, so every function here counts as defined elsewhere."""
        self._finalized = True  # copying requires it
        self._get_module_for_linking()
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.linkage = "available_externally"
        super()._finalize_final_module()


class _InlinedCompiler(Compiler):
    """Compiles an inlined kernel."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *others: Any) -> None:
        library = _InlinedCode(targetctx.codegen(), "inlined")
        library.enable_object_caching()
        super().__init__(typingctx, targetctx, library, *others)


# Options of numba.njit for what Python calls: no reference counting, inlined calls, no wrapper for calls from C.
WHOLE: dict[str, Any] = {"_nrt": False, "forceinline": True, "no_cfunc_wrapper": True}
# The same for what only kernels call, which needs no wrapper for calls from Python either.
INLINED: dict[str, Any] = {**WHOLE, "no_cpython_wrapper": True, "pipeline_class": _InlinedCompiler}


def substitute(inlined: Any, whole: Any) -> None:
    """Let kernels that call `whole` copy `inlined` instead, without specialising it for constant arguments."""

    def get_call_template(args: Any, kws: Any) -> Any:
        plain = numba.types.unliteral
        return inlined.get_call_template([plain(arg) for arg in args], {key: plain(arg) for key, arg in kws.items()})

    _replaced = whole.get_call_template, whole.get_overload  # raises an error where numba has renamed them
    whole.get_call_template, whole.get_overload = get_call_template, inlined.get_overload
