"""Arrays laid out for kernels, and parts of them that cost nothing to make.

Parts know no bounds and count no references.

A slice that is reshaped costs a kernel tens of nanoseconds, which is little, but not
where forty of them are made in every call. A part must not outlive its array: use it
inside kernels only.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.arrayobj import populate_array

CACHE_LINE = 64


def aligned_copy(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy that starts where a cache line does: vectors then cross fewer of them."""
    spare = np.empty(array.nbytes + CACHE_LINE, np.uint8)
    first = -spare.ctypes.data % CACHE_LINE
    found = spare[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


def aligned_zeros(size: int) -> npt.NDArray[np.float64]:
    """So many zeros, which start where a cache line does.

    What is never touched never takes up memory.
    """
    spare = np.zeros(size + CACHE_LINE // 8)
    first = -spare.ctypes.data % CACHE_LINE // 8
    return spare[first : first + size]


def part(array, start, shape):
    """array[start : start + …] in this shape, a tuple; ``array`` is contiguous."""
    return array[start : start + math.prod(shape)].reshape(shape)


@intrinsic
def _part(context, array, start, shape):
    kind = types.Array(array.dtype, len(shape), "C")

    def lower(context, builder, sig, values):
        whole = context.make_array(array)(context, builder, values[0])
        size = context.get_abi_sizeof(context.get_data_type(array.dtype))
        wide = context.get_value_type(types.intp)
        shape = [
            context.cast(builder, length, its, types.intp)
            for length, its in zip(
                cgutils.unpack_tuple(builder, values[2]), sig.args[2], strict=True
            )
        ]
        strides: list[Any] = []
        step = context.get_constant(types.intp, size)
        for length in reversed(shape):
            strides.insert(0, step)
            step = builder.mul(step, length)
        start = context.cast(builder, values[1], sig.args[1], types.intp)
        found = context.make_array(kind)(context, builder)
        populate_array(
            found,
            data=builder.gep(whole.data, [start]),
            shape=cgutils.pack_array(builder, shape, ty=wide),
            strides=cgutils.pack_array(builder, strides, ty=wide),
            itemsize=context.get_constant(types.intp, size),
            meminfo=None,
        )
        return found._getvalue()

    return kind(array, start, shape), lower


# Not inlined by numba, which would then drop stores to arrays that nobody seems to read
# again: it does not know that a part is some of another. LLVM inlines it all the same.
# Without ``_nrt`` it may not return an array, even where references are not counted.
@overload(part, jit_options={"_nrt": True})
def _part_for(array, start, shape):
    return lambda array, start, shape: _part(array, start, shape)
