"""The compiler of inner functions: code to be linked into kernels, and no more.

Numba optimises every function together with all that it calls, and translates it to
machine code. Nobody runs the machine code of a function that only kernels call: a
kernel links the LLVM code of all functions that it calls, and optimises and translates
it as a whole. So this compiler stops at the code to be linked, which saves a sixth of
the time that it takes to compile the Tracker.

The methods below are called by numba's own ``CPUCodeLibrary.finalize`` and
``CPUContext.get_executable``, and are private parts of it (jit.py).
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class LinkedCode(JITCodeLibrary):  # type: ignore[misc]
    """The code of an inner function and of all that it calls, for kernels to link."""

    def _optimize_final_module(self) -> None:
        """Leave the code as it is: the kernel's own optimisation goes over it."""

    def _finalize_final_module(self) -> None:
        """Call the code complete, without a translation to machine code."""
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function: null, as nothing here can be run."""
        return 0

    @property
    def codegen(self) -> Any:
        """What numba asks to set a function's environment: see ``set_env``."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing: machine code has a variable for Python objects, and there is
        none here.
        """


class InnerCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, whose output is ``LinkedCode``."""

    def define_pipelines(self) -> Any:
        """Numba's passes, of which the last writes into the library set here."""
        state = self.state
        name = state.func_id.func_qualname
        state.library = LinkedCode(state.targetctx.codegen(), name)
        return super().define_pipelines()
