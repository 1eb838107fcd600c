"""The one way to numba: its decorators, switches and private API.

Every kernel imports its decorators from here; simd.py, layout.py and record.py, which
write LLVM instructions of their own, find here what they need of numba's internals.
Several of these are not part of numba's public interface and change without notice:
reference counting (``_nrt``), compiled entry points, the type templates. So
pyproject.toml allows only versions of numba up to the one that this file and
inner_compiler.py, which it alone imports, were checked on, 0.68. To raise the limit,
run the whole test suite, ``make test-kernels`` and ``make bench`` with the new version.

What is here:
    kernel, inner_function, inline_function   decorators of compiled functions
    release_gil, reacquire_gil                other threads run inside a kernel
    entry_point                               calls without inspection of types
    announce_compilation                      called once, when kernels are imported
    compilation_seconds                       what compiling and loading has taken
"""

import contextlib
import functools
import gc
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from typing import Any, ClassVar

from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils, event
from numba.core.dispatcher import Dispatcher
from numba.core.imputils import lower_builtin, lower_getattr_generic
from numba.core.typing.templates import (
    AttributeTemplate,
    ConcreteTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import (
    intrinsic,
    models,
    overload,
    register_jitable,
    register_model,
)

from thalweg.kernels.compiler.inner_compiler import InnerCompiler
from thalweg.kernels.compiler.kernel_cache import KernelCache

__all__ = [
    "COMPILED",
    "AttributeTemplate",
    "ConcreteTemplate",
    "announce_compilation",
    "cgutils",
    "compilation_seconds",
    "count_as_compilation",
    "entry_point",
    "infer_getattr",
    "infer_global",
    "inline_function",
    "inner_function",
    "intrinsic",
    "ir",
    "kernel",
    "lower_builtin",
    "lower_getattr_generic",
    "models",
    "overload",
    "populate_array",
    "reacquire_gil",
    "register_model",
    "release_gil",
    "signature",
    "types",
]

COMPILED = not config.DISABLE_JIT
"""False under NUMBA_DISABLE_JIT=1, where kernels run as plain Python for coverage."""


def populate_array(*parts: Any, **fields: Any) -> None:
    """Numba's function, whose module is loaded only where a kernel is compiled."""
    import_module("numba.np.arrayobj").populate_array(*parts, **fields)


# Decorators. The compiler optimises a kernel together with all that it calls, and does
# so again for every caller. So a function that only kernels call is compiled no further
# than to what a kernel links (``inner_function``), or, where it is short and called in
# one place, inlined before anything is compiled (``inline_function``). Inlining copies
# the function, with all that was inlined into it, at each level: three levels of long
# functions took a fifth of the time of a compilation. What an inner function calls is
# compiled a second time where a kernel calls it too, since their options differ.


def kernel(
    function: Any = None,
    *,
    ieee_division: bool = False,
    nogil: bool = False,
    inline: bool = False,
    counts_references: bool = True,
    contracts: bool = False,
) -> Any:
    """Decorate a function that Python calls; its machine code is cached on disk.

    The options, all with the cheaper compilation as their default:
        ieee_division      x / 0 is infinite or NaN instead of an exception; without
                           the test for 0, loops with divisions can be vectorised
        nogil              other Python threads run during the whole call
        inline             callers get the function's body in place of a call
        counts_references  False where the caller holds every array during the call:
                           counting takes a fifth of a small round
        contracts          allow fused multiply-adds, which change the last bit; for
                           measurements only
    """
    options: dict[str, Any] = {}
    if ieee_division:
        options["error_model"] = "numpy"
    if nogil:
        options["nogil"] = True
    if inline:
        options["inline"] = "always"
    if not counts_references:
        options["_nrt"] = False
    if contracts:
        options["fastmath"] = {"contract"}

    def decorate(function: Any) -> Any:
        compiled = njit(**options)(function)
        if COMPILED:
            compiled._cache = KernelCache(function)
        return compiled

    return decorate if function is None else decorate(function)


inline_function: Any = njit(inline="always", _nrt=False)
"""Decorate a function whose body is put into the one kernel that calls it.

References to arrays are not counted: the kernel's caller holds them.
"""

inner_function: Any = register_jitable(
    pipeline_class=InnerCompiler,
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
    _nrt=False,
)
"""Decorate a function that only kernels call; to Python it stays a plain function.

It is compiled once for each kernel that calls it, without machine code of its own
(inner_compiler.py), and not cached on disk by itself.
References to arrays are not counted, as in ``inline_function``.
"""


# The global interpreter lock. ``nogil=True`` releases it in every call; a kernel that
# also serves single calls, which have to come one after the other, releases it only
# where it plays many rounds.


@intrinsic
def _release_gil(context, condition):
    def lower(context, builder, sig, values):
        python = context.get_python_api(builder)
        thread = cgutils.alloca_once_value(builder, ir.Constant(python.voidptr, None))
        with builder.if_then(values[0]):
            builder.store(python.save_thread(), thread)
        return builder.load(thread)

    return types.voidptr(types.boolean), lower


@intrinsic
def _reacquire_gil(context, thread):
    def lower(context, builder, sig, values):
        with builder.if_then(cgutils.is_not_null(builder, values[0])):
            context.get_python_api(builder).restore_thread(values[0])
        return context.get_dummy_value()

    return types.void(types.voidptr), lower


release_gil: Any = _release_gil if COMPILED else (lambda condition: None)
"""Release the interpreter lock if ``condition``; returns what ``reacquire_gil`` needs.

Between the two no exception may be raised (``ieee_division=True``).
"""
reacquire_gil: Any = _reacquire_gil if COMPILED else (lambda thread: None)
"""Acquire the interpreter lock again, if it was released."""


# The entry point of kernels that serve single calls:
#     call(buffer, x, y, weight, elapsed, learning) -> float
# x is one row and may be read-only or strided. So may y be, where it is a row of
# several targets, unless predictions are written to it.
_CALL_TYPES, _TARGETS_CALL_TYPES = (
    (
        types.Array(types.float64, 1, "C"),
        types.Array(types.float64, 1, "A", readonly=True),
        target,
        *(types.float64,) * 2,
        types.boolean,
    )
    for target in (types.float64, types.Array(types.float64, 1, "A"))
)
_COMPILATION_LOCK = threading.Lock()


@functools.cache
def entry_point(call: Any, several_targets: bool = False) -> Any:
    """The compiled function behind ``call``, for calls without inspection of types.

    With ``several_targets``, y is an array of one axis.

    numba looks up the types of all arguments in every call, which takes as long as the
    rest of it. Here the caller is responsible for them: a wrong type ends the process.
    The compilation happens at first use, not in the decorator, which would compile
    whenever the file is imported.
    """
    if not isinstance(call, Dispatcher):
        return call
    call_types = _TARGETS_CALL_TYPES if several_targets else _CALL_TYPES
    with _COMPILATION_LOCK:
        if call_types not in call.overloads:
            with _no_garbage_collection():
                call.compile(call_types)
        return call.overloads[call_types].entry_point


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Compile without garbage collection, which would take a tenth of the time: it
    looks for cycles among millions of objects. Garbage is collected afterwards.
    """
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


ANNOUNCEMENT = (
    "thalweg compiles its kernels, once for this machine: up to half a minute."
)


class CompilationAnnouncer(event.Listener):  # type: ignore[misc]
    """Prints the announcement before the first kernel of ours that is not cached.

    An inline function that Python calls is compiled in every process, in no time.
    """

    announced: ClassVar[bool] = False

    def on_start(self, compilation: Any) -> None:
        dispatcher = compilation.data["dispatcher"]
        is_ours = (dispatcher.py_func.__module__ or "").startswith("thalweg.")
        is_kernel = isinstance(dispatcher._cache, KernelCache)
        is_first = is_ours and is_kernel and not CompilationAnnouncer.announced
        if is_first and sys.stderr is not None:
            CompilationAnnouncer.announced = True
            with contextlib.suppress(OSError, ValueError):  # the terminal is gone
                print(ANNOUNCEMENT, file=sys.stderr, flush=True)

    def on_end(self, compilation: Any) -> None:
        pass


_timer = event.TimingListener()
"""Measures the time spent on compiling kernels or loading them from the cache."""


def announce_compilation() -> None:
    """Print one line before a first compilation, and measure the time of all of them.

    It is printed also where standard error is not a terminal: readers of a log or a
    notebook wait just as long.
    """
    event.register("numba:compile", CompilationAnnouncer())
    event.register("numba:compiler_lock", _timer)  # held for the cache as well


@contextlib.contextmanager
def count_as_compilation() -> Iterator[None]:
    """Count the whole time of a call that is made to compile a kernel.

    What numba does around its compiler, such as finding types, is part of that.
    """
    _timer.on_start(None)
    try:
        yield
    finally:
        _timer.on_end(None)


def compilation_seconds() -> float:
    """Seconds of this process so far in which kernels were compiled or loaded."""
    return float(_timer.duration) if _timer.done else 0.0
