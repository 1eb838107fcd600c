"""SIMD vectors: a type of eight float64 numbers for kernels, and its operations.

A plain loop over lanes becomes a vector operation only where the compiler can prove
that it may, and never where it sums or calls ``exp``. Here ``load`` gives a vector of
eight neighbours, ``+ - * /`` and the functions below act on all eight, and the order of
every sum is fixed, so that results do not depend on where a kernel is inlined.
The compiler makes of it one AVX-512 instruction, two of AVX2 or four of SSE2.

Without the compiler (NUMBA_DISABLE_JIT=1) vectors are NumPy arrays of length eight.
"""

import math
import operator
from typing import Any

import numpy as np

from thalweg.kernels.jit import (
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
SMALLEST = 2.3e-308
"""The smallest argument of ``log``, which takes normal numbers only."""
LOWEST = -708.0
"""``exp`` of anything lower is 0."""

_FLOATS = ir.VectorType(ir.DoubleType(), WIDTH)
_INTS = ir.VectorType(ir.IntType(64), WIDTH)
_UNDEFINED = ir.Constant(_FLOATS, ir.Undefined)
_ALIGNED = 8  # bytes: arrays are aligned to no more than this


class Lanes(types.Type):  # type: ignore[misc]
    """The numba type of a vector of eight float64 numbers."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


LANES = Lanes()


@register_model(Lanes)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _FLOATS)


# Code generation: functions from an LLVM IR builder and values to a value.


def _constant(value):
    return ir.Constant(_FLOATS, [float(value)] * WIDTH)


def _whole(value):
    return ir.Constant(_INTS, [int(value)] * WIDTH)


def _shuffle(b, v, places, other=_UNDEFINED):
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)
    return b.shuffle_vector(v, other, mask)


def _spread(b, v):
    """A number in all lanes; a vector as it is."""
    if v.type == _FLOATS:
        return v
    first = b.insert_element(_UNDEFINED, v, ir.Constant(ir.IntType(32), 0))
    return _shuffle(b, first, [0] * WIDTH)


def _call(b, name, *values):
    kind = ir.FunctionType(_FLOATS, [_FLOATS] * len(values))
    name = f"llvm.{name}.v{WIDTH}f64"
    return b.call(cgutils.get_or_insert_function(b.module, kind, name), values)


def _above(b, x, y, then, otherwise):
    return b.select(b.fcmp_ordered(">", x, y), then, otherwise)


def _larger(b, x, y):
    return _above(b, x, y, x, y)


def _smaller(b, x, y):
    return _above(b, y, x, x, y)


def _lane(b, v, which):
    return b.extract_element(v, ir.Constant(ir.IntType(32), which))


def _fold(pair):
    """All lanes into one number: halves, quarters, single ones."""

    def emit(b, v):
        half = WIDTH // 2
        while half:
            places = [*range(half, 2 * half), *range(half, 2 * half)]
            places = (places * WIDTH)[:WIDTH]
            v = pair(b, v, _shuffle(b, v, places))
            half //= 2
        return _lane(b, v, 0)

    return emit


def _running(b, v):
    """Sums of the first one, two, … eight lanes."""
    shift = 1
    while shift < WIDTH:
        # Lanes move up by ``shift``; from place 8 on, the other vector: zeros.
        places = [WIDTH] * shift + list(range(WIDTH - shift))
        v = b.fadd(v, _shuffle(b, v, places, _constant(0)))
        shift *= 2
    return v


def _polynomial(b, x, coefficients):
    """From the highest power down."""
    value = _constant(coefficients[0])
    for c in coefficients[1:]:
        value = _call(b, "fmuladd", value, x, _constant(c))
    return value


# ln 2 in two parts: the first has zeros at its end, so that small multiples are exact.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Added to a small number, it leaves that number's integer part in the last bits.
_MAGIC = 1.5 * 2.0**52
_MAGIC_BITS = 0x4338000000000000


def _exp(b, x):
    """e^x for x ≤ 0: 2^k e^r with |r| ≤ ½ ln 2, the Taylor series to r¹³."""
    kept = _larger(b, x, _constant(LOWEST))
    shifted = _call(b, "fmuladd", kept, _constant(1 / math.log(2)), _constant(_MAGIC))
    k = b.fsub(shifted, _constant(_MAGIC))
    r = _call(b, "fmuladd", k, _constant(-_LN2_HIGH), kept)
    r = _call(b, "fmuladd", k, _constant(-_LN2_LOW), r)
    power = _polynomial(b, r, [1 / math.factorial(i) for i in range(13, -1, -1)])
    exponent = b.shl(b.bitcast(shifted, _INTS), _whole(52))
    value = b.bitcast(b.add(b.bitcast(power, _INTS), exponent), _FLOATS)
    return _above(b, x, _constant(LOWEST), value, _constant(0))


def _log(b, x):
    """ln x of normal positive numbers: x = 2^k m, √½ ≤ m < √2, ln m by its atanh.

    ln m = 2 atanh s, s = (m-1)/(m+1), and the series in s² to s²¹: |s| < 0.172.
    """
    bits, least = b.bitcast(x, _INTS), _whole(0x3FE6A09E667F3BCD)  # of √½
    k = b.ashr(b.sub(bits, least), _whole(52))
    m = b.bitcast(b.sub(bits, b.shl(k, _whole(52))), _FLOATS)
    count = b.bitcast(b.add(k, _whole(_MAGIC_BITS)), _FLOATS)
    count = b.fsub(count, _constant(_MAGIC))
    f = b.fsub(m, _constant(1))
    s = b.fdiv(f, b.fadd(f, _constant(2)))
    z = b.fmul(s, s)
    series = _polynomial(b, z, [2 / i for i in range(21, 1, -2)])
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


def _install(op, emit):
    pairs = [(LANES, LANES), (LANES, types.float64), (types.float64, LANES)]
    cases = [signature(LANES, *pair) for pair in pairs]
    infer_global(op)(type("Template", (ConcreteTemplate,), {"cases": cases}))
    for pair in pairs:
        lower_builtin(op, *pair)(
            lambda ctx, b, sig, v: emit(b, _spread(b, v[0]), _spread(b, v[1]))
        )


for _operator, _name in _OPERATORS.items():
    _install(_operator, _binary(_name))


def _function(emit: Any, takes: int, gives: Any = LANES) -> Any:
    """A function of ``takes`` vectors or numbers, for kernels to call."""

    def typed(*kinds):
        def lower(context, builder, sig, values):
            return emit(builder, *(_spread(builder, v) for v in values))

        taken = [LANES if kind == LANES else types.float64 for kind in kinds]
        return signature(gives, *taken), lower

    by_arity: dict[int, Any] = {
        1: lambda context, x: typed(x),
        2: lambda context, x, y: typed(x, y),
        3: lambda context, x, y, z: typed(x, y, z),
        4: lambda context, x, y, z, u: typed(x, y, z, u),
    }
    return intrinsic(by_arity[takes])


def _place(context, builder, array_type, array, index_type, index):
    """The address of eight neighbours in a C-contiguous array."""
    proxy = context.make_array(array_type)(context, builder, value=array)
    if isinstance(index_type, types.containers.BaseTuple):
        index = cgutils.unpack_tuple(builder, index)
    else:
        index = [index]
    at = cgutils.get_item_pointer(
        context, builder, array_type, proxy, index, wraparound=False
    )
    return builder.bitcast(at, _FLOATS.as_pointer())


def _index(kind):
    if isinstance(kind, types.containers.BaseTuple):
        return types.containers.UniTuple(types.intp, len(kind))
    return types.intp


@intrinsic
def _load(context, array, index):
    def lower(context, builder, sig, values):
        at = _place(context, builder, sig.args[0], values[0], sig.args[1], values[1])
        loaded = builder.load(at)
        loaded.align = _ALIGNED
        return loaded

    return signature(LANES, array, _index(index)), lower


@intrinsic
def _store(context, array, index, value):
    def lower(context, builder, sig, values):
        at = _place(context, builder, sig.args[0], values[0], sig.args[1], values[1])
        builder.store(_spread(builder, values[2]), at, align=_ALIGNED)
        return context.get_dummy_value()

    kind = LANES if value == LANES else types.float64
    return signature(types.void, array, _index(index), kind), lower


def _any_above(b, x, y):
    found = b.bitcast(b.fcmp_ordered(">", x, y), ir.IntType(WIDTH))
    return b.icmp_unsigned("!=", found, ir.Constant(ir.IntType(WIDTH), 0))


def _neighbours(index):
    *rows, first = index if isinstance(index, tuple) else (index,)
    return (*rows, slice(first, first + WIDTH))


if not COMPILED:
    # Both sides of ``above`` are computed, so infinities come and go, as they do when
    # compiled.
    np.seterr(all="ignore")

    def load(array, index):
        """array[index] and its next seven."""
        return array[_neighbours(index)].copy()

    def store(array, index, value):
        """Put a vector, or one number eight times, where ``load`` would find it."""
        array[_neighbours(index)] = value

    def exp(x):
        """e^x where x ≤ 0, to 1 ulp or so; 0 below -708."""
        return np.where(x > LOWEST, np.exp(np.maximum(x, LOWEST)), 0.0)

    def above(x, y, then, otherwise):
        """``then`` where x > y, else ``otherwise``."""
        return np.where(np.asarray(x) > y, then, otherwise)

    def spread(x):
        """One number in all lanes."""
        return np.full(WIDTH, x)

    def fused(x, y, z):
        """Xy + z."""
        return x * y + z

    def last(x):
        """The last lane."""
        return x[-1]

    def any_above(x, y):
        """Whether x > y in any lane."""
        return bool(np.any(x > y))

    larger, smaller, size, root, log = np.maximum, np.minimum, np.abs, np.sqrt, np.log
    total, least, most, running = np.sum, np.min, np.max, np.cumsum
else:
    load, store = _load, _store
    spread = _function(lambda b, x: x, 1)
    fused = _function(lambda b, x, y, z: _call(b, "fmuladd", x, y, z), 3)
    larger, smaller = _function(_larger, 2), _function(_smaller, 2)
    size = _function(lambda b, x: _call(b, "fabs", x), 1)
    root = _function(lambda b, x: _call(b, "sqrt", x), 1)
    exp, log = _function(_exp, 1), _function(_log, 1)
    above = _function(_above, 4)
    total = _function(_fold(_binary("fadd")), 1, types.float64)
    least = _function(_fold(_smaller), 1, types.float64)
    most = _function(_fold(_larger), 1, types.float64)
    running = _function(_running, 1)
    last = _function(lambda b, v: _lane(b, v, WIDTH - 1), 1, types.float64)
    any_above = _function(_any_above, 2, types.boolean)
