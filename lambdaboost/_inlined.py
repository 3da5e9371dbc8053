"""Functions that are compiled into their callers only.

Numba optimises every function and translates it to machine code, then does both again in each caller: a loop eight
calls below a kernel was vectorised nine times. The code of an `Inlined` function is left as it comes from Numba: LLVM
sees it once, in the kernel.

Without this file kernels are compiled in 1.36 times the time (2.6 s to 2.8 s for the shortest lists, 3.3 s to 5.0 s for
the longest, 13.8 s to 18.7 s for nine objectives), and λ of lists of 30 takes 1.03 to 1.17 times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, compile_result
from numba.core.registry import CPUDispatcher

UNOPTIMIZED = "unoptimized"  # how the cache knows what it keeps of an inlined function


class Inlined(CPUDispatcher):
    """A compiled function that kernels call, and Python does not."""

    def __init__(
        self,
        py_func: Callable[..., Any],
        locals: Any = None,
        targetoptions: dict[str, Any] | None = None,
        pipeline_class: Any = None,
    ) -> None:
        super().__init__(py_func, locals or {}, targetoptions, pipeline_class or IntoCallers)

    def add_overload(self, cres: CompileResult) -> None:
        """Keep a compiled version for kernels, not for Python: it has no address."""
        self.overloads[tuple(cres.signature.args)] = cres

    def _compile_for_args(self, *args: Any, **keywords: Any) -> Any:
        raise TypeError(f"{self.py_func.__qualname__} is compiled into kernels only: call it from a kernel")


class IntoCallers(Compiler):
    """Numba's compiler, whose result goes to a library without machine code."""

    disjoint = False

    def compile_extra(self, func: Any) -> Any:
        self.state.flags.noalias = self.disjoint
        self.state.library = Unoptimized(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.calls_are_inlined = self.disjoint
        return super().compile_extra(func)


class DisjointIntoCallers(IntoCallers):
    """The same for a function whose arguments are disjoint in memory."""

    disjoint = True


class _NoEnvironment:
    """In the place of a code generator: there is no machine code that would read an environment."""

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""


class Unoptimized(JITCodeLibrary):
    """LLVM's form of a function, to be linked into that of its callers."""

    calls_are_inlined = False  # first, where arguments are disjoint: LLVM forgets that in calls inlined later

    @classmethod
    def of_bitcode(cls, codegen: Any, name: str, bitcode: bytes) -> Unoptimized:
        """A library from the cache."""
        library = cls(codegen, name)
        library._shared_module = llvm.parse_bitcode(bitcode)
        library._finalized = True
        return library

    @property
    def codegen(self) -> Any:
        """What would receive the address of an environment."""
        return _NoEnvironment()

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """What the cache keeps."""
        return self.name, UNOPTIMIZED, self._get_module_for_linking().as_bitcode()

    def get_pointer_to_function(self, name: str) -> int:
        """None."""
        return 0

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Remove what nothing reads, or the cache would hold addresses that are valid in this process only."""
        cleanup = llvm.create_new_module_pass_manager()
        if self.calls_are_inlined:
            cleanup.add_always_inliner_pass()
        cleanup.add_sroa_pass()
        if self.calls_are_inlined:
            cleanup.add_instruction_combine_pass()
        cleanup.add_simplify_cfg_pass()
        cleanup.add_dead_code_elimination_pass()
        cleanup.add_global_dead_code_eliminate_pass()
        cleanup.run(self._final_module, self._codegen._pass_builder(opt=0))

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


def rebuild_inlined(
    target_context: Any,
    library: tuple[str, str, bytes],
    fndesc: Any,
    env: Any,
    signature: Any,
    objectmode: Any,
    lifted: Any,
    type_annotation: Any,
    reload_init: Any,
    referenced_envs: Any,
) -> CompileResult:
    """`CompileResult._rebuild` for an inlined function: its library has no machine code."""
    name, _, bitcode = library
    code = Unoptimized.of_bitcode(target_context.codegen(), name, bitcode)
    return compile_result(
        target_context=target_context,
        typing_context=target_context.typing_context,
        library=code,
        environment=env,
        entry_point=target_context.get_executable(code, fndesc, env),
        fndesc=fndesc,
        type_annotation=type_annotation,
        signature=signature,
        objectmode=objectmode,
        lifted=lifted,
        reload_init=reload_init,
        referenced_envs=referenced_envs,
    )
