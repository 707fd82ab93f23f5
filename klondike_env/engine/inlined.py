"""How kernels are compiled that only kernels call: see `klondike_env.engine.jit`. All of it leans on numba's inside."""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _PartCode(JITCodeLibrary):
    """The code of a part, which is there to be inlined, and never run by itself."""

    def _optimize_final_module(self) -> None:
        """Leave that to the caller's code. Each function by itself is simplified by now."""

    def _finalize_final_module(self) -> None:
        """Make no machine code of any function: the callers have copies, and here all count as defined elsewhere."""
        self._finalized = True  # which copying asks for
        self._get_module_for_linking()
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.linkage = "available_externally"
        super()._finalize_final_module()


class _PartCompiler(Compiler):
    """Compiles a part."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *others: Any) -> None:
        library = _PartCode(targetctx.codegen(), "part")
        library.enable_object_caching()
        super().__init__(typingctx, targetctx, library, *others)


# Options of numba.njit. The first leaves out what only calls from Python need.
PART: dict[str, Any] = {"no_cpython_wrapper": True, "pipeline_class": _PartCompiler}
