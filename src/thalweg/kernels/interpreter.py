"""Letting other threads go on in the middle of a kernel.

``nogil=True`` would do so in every call; a kernel that serves single calls as well,
which must come one after the other, does it where it plays many rounds.
"""

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def _release(context, whether):
    def lower(context, builder, sig, values):
        python = context.get_python_api(builder)
        held = cgutils.alloca_once_value(builder, ir.Constant(python.voidptr, None))
        with builder.if_then(values[0]):
            builder.store(python.save_thread(), held)
        return builder.load(held)

    return types.voidptr(types.boolean), lower


@intrinsic
def _retake(context, held):
    def lower(context, builder, sig, values):
        with builder.if_then(cgutils.is_not_null(builder, values[0])):
            context.get_python_api(builder).restore_thread(values[0])
        return context.get_dummy_value()

    return types.void(types.voidptr), lower


release: Any = (lambda whether: None) if config.DISABLE_JIT else _release
"""Let go of the interpreter, if ``whether``; gives what ``retake`` needs.

Between the two no exception may be raised (``error_model="numpy"``).
"""
retake: Any = (lambda held: None) if config.DISABLE_JIT else _retake
"""Take it again, if it was let go."""
