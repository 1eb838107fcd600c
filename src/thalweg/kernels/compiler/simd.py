"""SIMD vectors for kernels: a type of eight float64 lanes, and its operations.

Also known as: vectorised code, AVX intrinsics. A plain loop over lanes becomes a vector
operation only where the compiler can prove that it may, and never where it sums or
calls ``exp``. Here ``load`` returns a vector of eight neighbours, ``+ - * /`` and the
functions below act on all eight lanes, and the order of every sum is fixed, so that
results do not depend on where a kernel is inlined. The compiler turns each operation
into one instruction of AVX-512, two of AVX2 or four of SSE2.

    load, store                      eight neighbours of an array
    broadcast                        one number in all lanes
    maximum, minimum, absolute, sqrt, exp, log, fma, select_greater     lane by lane
    prefix_sum                       the sums of the first one, two, … eight lanes
    reduce_sum, reduce_max, reduce_min, last_lane, any_greater     a vector to a number

Without the compiler (NUMBA_DISABLE_JIT=1) vectors are NumPy arrays of length eight.
"""

import math
import operator
from typing import Any

import numpy as np

from thalweg.kernels.compiler.jit import (
    COMPILED,
    ConcreteTemplate,
    cgutils,
    infer_global,
    intrinsic,
    ir,
    lower_builtin,
    models,
    register_model,
    signature,
    types,
)

WIDTH = 8
"""Number of lanes in a vector."""
MIN_LOG_ARGUMENT = 2.3e-308
"""The smallest argument of ``log``, which is defined for normal numbers only."""
MIN_EXP_ARGUMENT = -708.0
"""``exp`` of any lower argument is 0."""

_FLOATS = ir.VectorType(ir.DoubleType(), WIDTH)
_INTS = ir.VectorType(ir.IntType(64), WIDTH)
_UNDEFINED = ir.Constant(_FLOATS, ir.Undefined)
_ALIGNMENT = 8  # bytes; NumPy guarantees no more of an array


class Vector(types.Type):  # type: ignore[misc]
    """The numba type of a vector of eight float64 numbers."""

    def __init__(self) -> None:
        super().__init__(name="Vector")


VECTOR = Vector()


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _FLOATS)


# Code generation: functions from an LLVM IR builder and values to a value.


def _constant(value):
    return ir.Constant(_FLOATS, [float(value)] * WIDTH)


def _integer_constant(value):
    return ir.Constant(_INTS, [int(value)] * WIDTH)


def _shuffle(b, v, indices, other=_UNDEFINED):
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(indices)), indices)
    return b.shuffle_vector(v, other, mask)


def _broadcast(b, v):
    """Put a number into all lanes; a vector is returned as it is."""
    if v.type == _FLOATS:
        return v
    first = b.insert_element(_UNDEFINED, v, ir.Constant(ir.IntType(32), 0))
    return _shuffle(b, first, [0] * WIDTH)


def _call(b, name, *values):
    kind = ir.FunctionType(_FLOATS, [_FLOATS] * len(values))
    name = f"llvm.{name}.v{WIDTH}f64"
    return b.call(cgutils.get_or_insert_function(b.module, kind, name), values)


def _select_greater(b, x, y, then, otherwise):
    return b.select(b.fcmp_ordered(">", x, y), then, otherwise)


def _maximum(b, x, y):
    return _select_greater(b, x, y, x, y)


def _minimum(b, x, y):
    return _select_greater(b, y, x, x, y)


def _lane(b, v, which):
    return b.extract_element(v, ir.Constant(ir.IntType(32), which))


def _reduction(pair):
    """The reduction of all lanes to one number by the operation ``pair``.

    It combines the upper half with the lower half, then quarters, then single lanes.
    """

    def emit(b, v):
        half = WIDTH // 2
        while half:
            indices = [*range(half, 2 * half), *range(half, 2 * half)]
            indices = (indices * WIDTH)[:WIDTH]
            v = pair(b, v, _shuffle(b, v, indices))
            half //= 2
        return _lane(b, v, 0)

    return emit


def _prefix_sum(b, v):
    """The sums of the first one, two, … eight lanes (an inclusive scan)."""
    shift = 1
    while shift < WIDTH:
        # Lanes move up by ``shift``; indices from 8 on select the other vector, zeros.
        indices = [WIDTH] * shift + list(range(WIDTH - shift))
        v = b.fadd(v, _shuffle(b, v, indices, _constant(0)))
        shift *= 2
    return v


def _horner(b, x, coefficients):
    """A polynomial by Horner's rule; coefficients start at the highest power."""
    value = _constant(coefficients[0])
    for c in coefficients[1:]:
        value = _call(b, "fmuladd", value, x, _constant(c))
    return value


# ln 2 in two parts: the first has zeros at its end, so that small multiples are exact.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Added to a small number, it leaves the nearest integer in the lowest bits of the sum.
_MAGIC = 1.5 * 2.0**52
_MAGIC_BITS = 0x4338000000000000


def _exp(b, x):
    """e^x for x ≤ 0: 2^k e^r with |r| ≤ ½ ln 2, the Taylor series to r¹³."""
    clipped = _maximum(b, x, _constant(MIN_EXP_ARGUMENT))
    shifted = _call(
        b, "fmuladd", clipped, _constant(1 / math.log(2)), _constant(_MAGIC)
    )
    k = b.fsub(shifted, _constant(_MAGIC))
    r = _call(b, "fmuladd", k, _constant(-_LN2_HIGH), clipped)
    r = _call(b, "fmuladd", k, _constant(-_LN2_LOW), r)
    power = _horner(b, r, [1 / math.factorial(i) for i in range(13, -1, -1)])
    exponent = b.shl(b.bitcast(shifted, _INTS), _integer_constant(52))
    value = b.bitcast(b.add(b.bitcast(power, _INTS), exponent), _FLOATS)
    return _select_greater(b, x, _constant(MIN_EXP_ARGUMENT), value, _constant(0))


def _log(b, x):
    """ln x of normal positive numbers: x = 2^k m, √½ ≤ m < √2, ln m by its atanh.

    ln m = 2 atanh s, s = (m-1)/(m+1), and the series in s² to s²¹: |s| < 0.172.
    """
    bits = b.bitcast(x, _INTS)
    bits_of_root_half = _integer_constant(0x3FE6A09E667F3BCD)  # the float64 of √½
    k = b.ashr(b.sub(bits, bits_of_root_half), _integer_constant(52))
    m = b.bitcast(b.sub(bits, b.shl(k, _integer_constant(52))), _FLOATS)
    count = b.bitcast(b.add(k, _integer_constant(_MAGIC_BITS)), _FLOATS)
    count = b.fsub(count, _constant(_MAGIC))
    f = b.fsub(m, _constant(1))
    s = b.fdiv(f, b.fadd(f, _constant(2)))
    z = b.fmul(s, s)
    series = _horner(b, z, [2 / i for i in range(21, 1, -2)])
    # 2s = f - s f, so that the leading term f is exact.
    tail = b.fmul(s, b.fsub(b.fmul(z, series), f))
    small = b.fadd(tail, b.fmul(count, _constant(_LN2_LOW)))
    return b.fadd(b.fmul(count, _constant(_LN2_HIGH)), b.fadd(f, small))


def _binary(name):
    return lambda b, x, y: getattr(b, name)(x, y)


_OPERATORS = {
    operator.add: "fadd",
    operator.iadd: "fadd",
    operator.sub: "fsub",
    operator.mul: "fmul",
    operator.truediv: "fdiv",
}


def _register_operator(op, emit):
    pairs = [(VECTOR, VECTOR), (VECTOR, types.float64), (types.float64, VECTOR)]
    cases = [signature(VECTOR, *pair) for pair in pairs]
    infer_global(op)(type("Template", (ConcreteTemplate,), {"cases": cases}))
    for pair in pairs:
        lower_builtin(op, *pair)(
            lambda ctx, b, sig, v: emit(b, _broadcast(b, v[0]), _broadcast(b, v[1]))
        )


for _operator, _name in _OPERATORS.items():
    _register_operator(_operator, _binary(_name))


def _new_intrinsic(emit: Any, arity: int, result_type: Any = VECTOR) -> Any:
    """A function of ``arity`` vectors or numbers that kernels can call."""

    def resolve(*value_types):
        def lower(context, builder, sig, values):
            return emit(builder, *(_broadcast(builder, v) for v in values))

        argument_types = [
            VECTOR if kind == VECTOR else types.float64 for kind in value_types
        ]
        return signature(result_type, *argument_types), lower

    by_arity: dict[int, Any] = {
        1: lambda context, x: resolve(x),
        2: lambda context, x, y: resolve(x, y),
        3: lambda context, x, y, z: resolve(x, y, z),
        4: lambda context, x, y, z, u: resolve(x, y, z, u),
    }
    return intrinsic(by_arity[arity])


def _vector_address(context, builder, array_type, array, index_type, index):
    """The address of eight neighbours in a C-contiguous array, as a vector pointer."""
    proxy = context.make_array(array_type)(context, builder, value=array)
    if isinstance(index_type, types.containers.BaseTuple):
        index = cgutils.unpack_tuple(builder, index)
    else:
        index = [index]
    at = cgutils.get_item_pointer(
        context, builder, array_type, proxy, index, wraparound=False
    )
    return builder.bitcast(at, _FLOATS.as_pointer())


def _index_type(kind):
    """The index as intp, or as a tuple of intp."""
    if isinstance(kind, types.containers.BaseTuple):
        return types.containers.UniTuple(types.intp, len(kind))
    return types.intp


@intrinsic
def _load(context, array, index):
    def lower(context, builder, sig, values):
        at = _vector_address(
            context, builder, sig.args[0], values[0], sig.args[1], values[1]
        )
        loaded = builder.load(at)
        loaded.align = _ALIGNMENT
        return loaded

    return signature(VECTOR, array, _index_type(index)), lower


@intrinsic
def _store(context, array, index, value):
    def lower(context, builder, sig, values):
        at = _vector_address(
            context, builder, sig.args[0], values[0], sig.args[1], values[1]
        )
        builder.store(_broadcast(builder, values[2]), at, align=_ALIGNMENT)
        return context.get_dummy_value()

    kind = VECTOR if value == VECTOR else types.float64
    return signature(types.void, array, _index_type(index), kind), lower


def _any_greater(b, x, y):
    mask = b.bitcast(b.fcmp_ordered(">", x, y), ir.IntType(WIDTH))
    return b.icmp_unsigned("!=", mask, ir.Constant(ir.IntType(WIDTH), 0))


def _vector_slice(index):
    *rows, first = index if isinstance(index, tuple) else (index,)
    return (*rows, slice(first, first + WIDTH))


if not COMPILED:
    # ``select_greater`` computes both alternatives, also when compiled, and may discard
    # infinities and NaNs, where NumPy would warn.
    np.seterr(all="ignore")

    def load(array, index):
        """A vector of array[index] and its next seven neighbours."""
        return array[_vector_slice(index)].copy()

    def store(array, index, value):
        """Write a vector, or one number eight times, from array[index] on."""
        array[_vector_slice(index)] = value

    def exp(x):
        """e^x where x ≤ 0, to 1 ulp or so; 0 below -708."""
        return np.where(
            x > MIN_EXP_ARGUMENT, np.exp(np.maximum(x, MIN_EXP_ARGUMENT)), 0.0
        )

    def select_greater(x, y, then, otherwise):
        """``then`` in lanes where x > y, else ``otherwise``."""
        return np.where(np.asarray(x) > y, then, otherwise)

    def broadcast(x):
        """One number in all lanes."""
        return np.full(WIDTH, x)

    def fma(x, y, z):
        """x y + z: one instruction where the machine has fused multiply-add."""
        return x * y + z

    def last_lane(x):
        """The number in the last lane."""
        return x[-1]

    def any_greater(x, y):
        """Whether x > y in any lane."""
        return bool(np.any(x > y))

    maximum, minimum, absolute, sqrt, log = (
        np.maximum,
        np.minimum,
        np.abs,
        np.sqrt,
        np.log,
    )
    reduce_sum, reduce_min, reduce_max, prefix_sum = np.sum, np.min, np.max, np.cumsum
else:
    load, store = _load, _store
    broadcast = _new_intrinsic(lambda b, x: x, 1)
    fma = _new_intrinsic(lambda b, x, y, z: _call(b, "fmuladd", x, y, z), 3)
    maximum, minimum = _new_intrinsic(_maximum, 2), _new_intrinsic(_minimum, 2)
    absolute = _new_intrinsic(lambda b, x: _call(b, "fabs", x), 1)
    sqrt = _new_intrinsic(lambda b, x: _call(b, "sqrt", x), 1)
    exp, log = _new_intrinsic(_exp, 1), _new_intrinsic(_log, 1)
    select_greater = _new_intrinsic(_select_greater, 4)
    reduce_sum = _new_intrinsic(_reduction(_binary("fadd")), 1, types.float64)
    reduce_min = _new_intrinsic(_reduction(_minimum), 1, types.float64)
    reduce_max = _new_intrinsic(_reduction(_maximum), 1, types.float64)
    prefix_sum = _new_intrinsic(_prefix_sum, 1)
    last_lane = _new_intrinsic(lambda b, v: _lane(b, v, WIDTH - 1), 1, types.float64)
    any_greater = _new_intrinsic(_any_greater, 2, types.boolean)
