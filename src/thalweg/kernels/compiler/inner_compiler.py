"""The compiler of inner functions: it produces only code that kernels link.

Numba optimises every function together with all that it calls, and translates it to
machine code. The machine code of a function that only kernels call is never run: a
kernel links the LLVM code of all functions that it calls, and optimises and translates
it as a whole. So this compiler stops at the code to be linked, and links that of each
function once for each kernel.

The methods below are called by numba's own ``CPUCodeLibrary.finalize`` and
``CPUContext.get_executable``, and are private parts of it (jit.py).
"""

from collections.abc import Iterator
from typing import Any

from llvmlite.binding import Linkage
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags


class LinkedCode(JITCodeLibrary):  # type: ignore[misc]
    """The code of an inner function and of all that it calls, for kernels to link."""

    _shared_module: Any

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave the code as it is: the kernel's own optimisation goes over it."""
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Mark the code as complete: nothing is linked, optimised or translated.

        Were functions linked into each caller in turn, one that is called through six
        others would be copied and verified six times.
        """
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """The code of this function and of all that it calls, once each."""
        if self._shared_module is None:
            whole = self._final_module.clone()
            for library in self._needed_libraries({self}):
                if isinstance(library, LinkedCode):
                    whole.link_in(library._final_module, preserve=True)
                else:
                    whole.link_in(library._get_module_for_linking(), preserve=True)
            for function in whole.functions:
                if not function.is_declaration and function.linkage == Linkage.external:
                    function.linkage = "linkonce_odr"
            self._shared_module = whole
        return self._shared_module

    def _needed_libraries(self, seen: set[Any]) -> Iterator[Any]:
        """All libraries that this one needs and that are not in ``seen``."""
        for library in self._linking_libraries:
            if library not in seen:
                seen.add(library)
                yield library
                if isinstance(library, LinkedCode):
                    yield from library._needed_libraries(seen)

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function: null, as this code cannot be run."""
        return 0

    @property
    def codegen(self) -> Any:
        """What numba asks to set a function's environment: see ``set_env``."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing: only machine code has the variable for Python objects that numba
        would set.
        """


class InnerFlags(Flags):  # type: ignore[misc]
    """Numba's flags with an equality that compares those that are set, at once.

    Numba finds what a function calls by the types of the arguments and by the flags,
    all thirty of which it would compare through properties, 55,000 times for a Tracker:
    0.5 of 16 seconds.
    """

    __slots__ = ()
    _HASH = hash(Flags())  # numba's hash is that of the names, the same for all

    def __eq__(self, other: object) -> bool:
        is_same = isinstance(other, Flags) and self._values == other._values
        return is_same or bool(super().__eq__(other))

    def __hash__(self) -> int:
        return self._HASH


class InnerCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, whose output is ``LinkedCode``."""

    def __init__(
        self, typing: Any, target: Any, library: Any, args: Any, result: Any,
        flags: Flags, variables: Any,
    ) -> None:  # fmt: skip
        own = InnerFlags(flags)
        super().__init__(typing, target, library, args, result, own, variables)

    def define_pipelines(self) -> Any:
        """Numba's passes; the last one writes into the library that is set here."""
        state = self.state
        name = state.func_id.func_qualname
        state.library = LinkedCode(state.targetctx.codegen(), name)
        return super().define_pipelines()
