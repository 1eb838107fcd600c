"""Layouts: the one declaration of what lies where in a packed buffer.

Kernels keep a state, or the workspace of a round, in one array ("buffer"): handing a
second array from Python to compiled code costs more than a round of a small model. A
``Layout`` says which fields the buffer holds. Each field is declared once, as a name
and a shape, in a NamedTuple:

    class Experts(NamedTuple):
        weight: Annotated[np.ndarray, Shape(LANES)]  # discounted weight of all rounds
        mean: Annotated[np.ndarray, Shape("n + 2", LANES)]

    class State(NamedTuple):
        counters: Annotated[np.ndarray, Shape(16)]
        experts: Experts  # tuples may be nested

    LAYOUT = Layout("example state", State, version=1, dimensions=("n",))

Lengths are integers, or expressions of the layout's dimensions. Fields lie in the order
of declaration, depth first. From this follow the size of a buffer (``size``), where a
field begins (``offsets``), its views for Python (``views``) and for kernels
(``unpack``), and what is written beside a saved state, so that a buffer of another
layout is refused when it is loaded (``version``; a test holds ``fingerprint`` to it).

All fields share the dtype of the buffer. ``Shape(..., align=8)`` starts a field at a
multiple of 8 numbers, one cache line of float64, if the buffer itself starts at one: a
vector that crosses two cache lines costs twice. ``Shape(..., within="other")`` gives a
second view of the start of another field and takes no space of its own. A field of
length 0 is an optional part that is absent.

Which numbers a field may hold stands beside it: ``Shape(16, legal=whole("n"))`` for all
of them, or ``legal={0: whole("n")}`` by index, for those that kernels rely on, as where
they use them as an index. Bounds are numbers, or expressions of dimensions and fields.
``problems`` asks for them; all numbers have to be finite but where ``may_be_nan``. This
is no part of the fingerprint.

Views know no bounds and count no references (``view``), and must not outlive their
buffer: inside kernels they cost nothing, where a slice that is reshaped costs tens of
nanoseconds. That is little, but not where forty of them are made in every call.
"""

import ast
import ctypes
import hashlib
import linecache
import math
import sys
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from operator import attrgetter
from types import CodeType
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from thalweg.kernels.compiler.jit import (
    cgutils,
    inline_function,
    intrinsic,
    overload,
    populate_array,
    types,
)

CACHE_LINE = 64
"""The size of a cache line in bytes."""


class Shape:
    """The shape of a field, and its legal numbers: see the module's docstring."""

    def __init__(
        self, *lengths: int | str, align: int = 1, within: str = "",
        legal: "Mapping[Any, Range] | Range | None" = None, may_be_nan: bool = False,
    ) -> None:  # fmt: skip
        self.lengths, self.align, self.within = lengths, align, within
        entries = {...: legal} if isinstance(legal, Range) else legal
        self.legal, self.may_be_nan = entries or {}, may_be_nan


class Range:
    """Legal numbers from ``low`` to ``high``, which may be expressions.

    ``dtype`` is that of the entries: each number may hold two of float32.
    """

    def __init__(
        self, low: Any, high: Any, is_whole: bool = False, dtype: Any = np.float64
    ) -> None:
        self.low, self.high, self.is_whole, self.dtype = low, high, is_whole, dtype

    def problem(self, values: Any, names: dict[str, Any]) -> str:
        """The rule that the values break; "" for none."""
        low, high = _evaluate(self.low, names), _evaluate(self.high, names)
        if isinstance(values, float):  # as a Python float it is compared much faster
            value = float(values)
            is_legal = low <= value <= high and not (self.is_whole and value % 1)
        else:
            values = values.view(self.dtype)
            is_legal = ((values >= low) & (values <= high)).all()
            is_legal = is_legal and not (self.is_whole and (values % 1).any())
        if is_legal:
            return ""
        return f"{'whole ' * self.is_whole}numbers from {low} to {high}"


class Ordered(Range):
    """Rows in pairs: the second has the first ``counts`` numbers of the first in order,
    as a search has to find them."""

    def __init__(self, counts: str) -> None:
        self.counts = counts

    def problem(self, values: Any, names: dict[str, Any]) -> str:
        counts = _evaluate(self.counts, names).astype(np.int64)
        is_right = all(
            (np.sort(row[:count]) == ordered[:count]).all()
            for count, (row, ordered) in zip(counts, values, strict=True)
        )
        return "" if is_right else "numbers, then the same in order"


NO_BUILTINS: dict[str, Any] = {"__builtins__": {}}
FINITE = Range(-sys.float_info.max, sys.float_info.max)


def whole(high: float | str) -> Range:
    """The range of whole numbers from 0 to ``high``."""
    return Range(0, high, is_whole=True)


def exactly(value: float | str) -> Range:
    """The range of one value."""
    return Range(value, value)


class Names(dict[str, Any]):
    """Names in expressions: those given, then the fields of a layout's views."""

    def __init__(self, given: dict[str, Any], views: Any) -> None:
        super().__init__(given)
        self.views = views

    def __missing__(self, name: str) -> Any:
        return getattr(self.views, name)


def _evaluate(value: Any, names: dict[str, Any]) -> Any:
    """The value of an expression; of others themselves."""
    return eval(_compile(value), NO_BUILTINS, names) if type(value) is str else value


@lru_cache(maxsize=256)
def _compile(expression: str) -> CodeType:
    return compile(expression, f"<rule {expression}>", "eval")


class Field(NamedTuple):
    """One field of a layout; names of nested tuples are joined by dots."""

    name: str
    lengths: tuple[int | str, ...]
    align: int
    within: str
    legal: Mapping[Any, Range]
    may_be_nan: bool

    @property
    def size(self) -> str:
        """An expression of how many numbers the field takes."""
        return " * ".join(f"({length})" for length in self.lengths) or "1"


class Layout:
    """The fields of a buffer, declared as a NamedTuple of arrays with shapes.

    ``name`` is what messages call it, ``version`` is raised whenever the declaration
    changes in a way that makes saved buffers unreadable, ``dimensions`` are the names
    that shapes may use, in the order in which kernels pass them. Unless ``is_finite``,
    all numbers without a rule may be NaN or infinite.

    ``unpack(buffer, start, *dimensions)`` gives, inside kernels, the NamedTuple of
    views of the fields, which begin at buffer[start];
    ``kernel_offsets(start, *dimensions)`` the same tuple of offsets in place of views.
    Both are inlined into the caller. A kernel finds them under names of their own:
    ``unpack = LAYOUT.unpack``.
    """

    def __init__(
        self, name: str, fields: type, version: int, dimensions: tuple[str, ...] = (),
        is_finite: bool = True,
    ) -> None:  # fmt: skip
        self.name, self.version, self.dimensions = name, version, dimensions
        self.is_finite = is_finite
        self.fields = tuple(_fields(fields))
        self._ruled = tuple(field for field in self.fields if field.legal)
        for field in self.fields:
            _check_field(field, self)
        functions = _generate(self, fields)
        self._views, self._offsets = functions["unpack"], functions["kernel_offsets"]
        self._size = functions["kernel_size"]
        self.unpack: Any = inline_function(self._views)
        self.kernel_offsets: Any = inline_function(self._offsets)

    def size(self, **dimensions: int) -> int:
        """How many numbers a buffer has."""
        return int(self._size(*self._values(dimensions)))

    def offsets(self, start: int = 0, **dimensions: int) -> Any:
        """Where each field begins, as the NamedTuple with integers."""
        return self._offsets(start, *self._values(dimensions))

    def views(self, buffer: npt.NDArray[Any], start: int = 0, **dimensions: int) -> Any:
        """The fields of ``buffer`` from ``start`` on, as the NamedTuple with arrays."""
        return self._views(buffer, start, *self._values(dimensions))

    def table(self, **dimensions: int) -> npt.NDArray[np.float64]:
        """All dimensions, then where each field begins: what record.py reads."""
        values = self._values(dimensions)
        offsets = by_name(self._offsets(0, *values)).values()
        return np.array([*values, *offsets], np.float64)

    def problems(
        self, buffer: npt.NDArray[Any], given: Mapping[str, Any], **dimensions: int
    ) -> Iterator[tuple[str, str, Any]]:
        """Field, rule and numbers wherever a buffer of the right size holds illegal
        ones; ``given`` are further names in the expressions of rules."""
        views = self.views(buffer, **dimensions)
        names = Names({**dimensions, **given}, views)
        for field in self.fields if self.is_finite else self._ruled:
            values = attrgetter(field.name)(views)
            if self.is_finite and not (field.may_be_nan or np.isfinite(values).all()):
                yield field.name, "finite numbers", values
            for index, legal in field.legal.items() if values.size else ():
                problem = legal.problem(values[index], names)
                if problem:
                    place = f"[{index}]" if type(index) is int else ""
                    yield field.name + place, problem, values[index]

    @property
    def fingerprint(self) -> str:
        """A hash of the names, shapes and order of the fields."""
        text = repr((self.name, self.dimensions, [tuple(f[:4]) for f in self.fields]))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _values(self, dimensions: Mapping[str, int]) -> list[int]:
        if set(dimensions) != set(self.dimensions):
            wanted = ", ".join(self.dimensions) or "none"
            given = ", ".join(dimensions) or "none"
            raise TypeError(
                f"The dimensions of {self.name} are {wanted}. Got {given} instead."
            )
        return [int(dimensions[name]) for name in self.dimensions]


def by_name(values: Any, prefix: str = "") -> dict[str, Any]:
    """The members of nested tuples, depth first, by names joined with dots."""
    members: dict[str, Any] = {}
    for name, value in values._asdict().items():
        if hasattr(value, "_fields"):
            members |= by_name(value, f"{prefix}{name}.")
        else:
            members[prefix + name] = value
    return members


def _fields(fields: type, prefix: str = "") -> Iterator[Field]:
    """The fields of a NamedTuple, depth first."""
    for name, (shape, nested) in members_of(fields).items():
        if shape is None:
            yield from _fields(nested, f"{prefix}{name}.")
        else:
            within = shape.within and prefix + shape.within
            yield Field(
                prefix + name, shape.lengths, shape.align, within, shape.legal,
                shape.may_be_nan,
            )  # fmt: skip


@cache
def members_of(fields: type) -> dict[str, tuple[Shape | None, Any]]:
    """By name, the shape of each member, or None and the nested tuple."""
    members: dict[str, tuple[Shape | None, Any]] = {}
    for name, hint in get_type_hints(fields, include_extras=True).items():
        shapes = [extra for extra in get_args(hint)[1:] if isinstance(extra, Shape)]
        if not shapes and not hasattr(hint, "_fields"):
            raise TypeError(f"The member {name!r} of {fields.__name__} has no shape.")
        members[name] = (shapes[0], None) if shapes else (None, hint)
    return members


def _check_field(field: Field, layout: Layout) -> None:
    names = [other.name for other in layout.fields]
    if field.within and field.within not in names[: names.index(field.name)]:
        message = f"declared before it. Got {field.within!r} instead."
        raise ValueError(f"Field {field.name!r} must be within one {message}")
    for length in field.lengths:
        for node in ast.walk(ast.parse(str(length), mode="eval")):
            if isinstance(node, ast.Name) and node.id not in layout.dimensions:
                message = f"is no dimension of {layout.name}."
                raise ValueError(f"{node.id!r} in field {field.name!r} {message}")


def _generate(layout: Layout, fields: type) -> dict[str, Any]:
    """Write the source of the three functions of a layout, and compile it.

    They are written out line by line, since kernels cannot loop over the fields of a
    tuple whose shapes differ.
    """
    scope: dict[str, Any] = {"view": view}
    arguments = "".join(f", {name}" for name in layout.dimensions)
    lines, end = [], _offset_lines(layout)
    shapes = {f.name: f"({', '.join(map(str, f.lengths))},)" for f in layout.fields}
    unpacked = _tuple_source(fields, "", scope, lambda at: _view_call(shapes, at))
    offsets = _tuple_source(fields, "", scope, _variable)
    lines += [f"def unpack(buffer, start{arguments}):", *end, f"    return {unpacked}"]
    lines += [f"def kernel_offsets(start{arguments}):", *end, f"    return {offsets}"]
    lines += [f"def kernel_size({', '.join(layout.dimensions)}):", "    start = 0"]
    lines += [*end, "    return end"]
    file, source = f"<layout of {layout.name}>", "\n".join(lines) + "\n"
    # With the source in linecache, tracebacks and numba's errors can show its lines.
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    exec(compile(source, file, "exec"), scope)
    return scope


def _offset_lines(layout: Layout) -> list[str]:
    """Assignments of where each field begins, and of where the last ends."""
    lines = ["    end = start"]
    for field in layout.fields:
        place = _variable(field.name)
        if field.within:
            lines.append(f"    {place} = {_variable(field.within)}")
            continue
        if field.align > 1:
            up = f"(end - start + {field.align - 1}) // {field.align} * {field.align}"
            lines.append(f"    end = start + {up}")
        lines += [f"    {place} = end", f"    end = {place} + {field.size}"]
    return lines


def _variable(name: str) -> str:
    return "at_" + name.replace(".", "_")


def _view_call(shapes: Mapping[str, str], name: str) -> str:
    return f"view(buffer, {_variable(name)}, {shapes[name]})"


def _tuple_source(fields: Any, prefix: str, scope: dict[str, Any], leaf: Any) -> str:
    """The call that makes the NamedTuple, with ``leaf(name)`` for every field."""
    scope[fields.__name__] = fields
    values = [
        leaf(prefix + name)
        if shape is not None
        else _tuple_source(nested, f"{prefix}{name}.", scope, leaf)
        for name, (shape, nested) in members_of(fields).items()
    ]
    return f"{fields.__name__}({', '.join(values)})"


def aligned_copy(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy that starts at a cache line, so that vectors cross fewer of them."""
    spare = np.empty(array.nbytes + CACHE_LINE, np.uint8)
    first = -spare.ctypes.data % CACHE_LINE
    copy = spare[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def aligned_zeros(size: int) -> npt.NDArray[np.float64]:
    """An array of ``size`` zeros that starts at a cache line.

    Pages that are never touched never take up memory.
    """
    spare = np.zeros(size + CACHE_LINE // 8)
    first = -spare.ctypes.data % CACHE_LINE // 8
    return spare[first : first + size]


def view(buffer, start, shape):
    """buffer[start : start + …] in this shape, a tuple; ``buffer`` is contiguous."""
    return buffer.reshape(-1)[start : start + math.prod(shape)].reshape(shape)


@intrinsic
def _view(context, buffer, start, shape):
    kind = types.Array(buffer.dtype, len(shape), "C")

    def lower(context, builder, sig, values):
        whole = context.make_array(buffer)(context, builder, values[0])
        shape = [
            context.cast(builder, length, its, types.intp)
            for length, its in zip(
                cgutils.unpack_tuple(builder, values[2]), sig.args[2], strict=True
            )
        ]
        start = context.cast(builder, values[1], sig.args[1], types.intp)
        data = builder.gep(whole.data, [start])
        return make_view(context, builder, kind, data, shape)

    return kind(buffer, start, shape), lower


def make_view(context, builder, kind, data, shape):
    """Emit a contiguous array of these lengths that begins at ``data``."""
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    wide = context.get_value_type(types.intp)
    strides: list[Any] = []
    stride = context.get_constant(types.intp, size)
    for length in reversed(shape):
        strides.insert(0, stride)
        stride = builder.mul(stride, length)
    result = context.make_array(kind)(context, builder)
    populate_array(
        result,
        data=data,
        shape=cgutils.pack_array(builder, shape, ty=wide),
        strides=cgutils.pack_array(builder, strides, ty=wide),
        itemsize=context.get_constant(types.intp, size),
        meminfo=None,
    )
    return result._getvalue()


# numba must not inline it: it would then drop stores to arrays that are not read again,
# since it does not know that a view is part of another array. LLVM inlines it all the
# same. Without ``_nrt`` it may not return an array, even where references are not
# counted.
@overload(view, jit_options={"_nrt": True})
def _view_overload(buffer, start, shape):
    return lambda buffer, start, shape: _view(buffer, start, shape)


def array_at(address, size):
    """The array of ``size`` float64 numbers at an address, which its owner keeps.

    With it a kernel accepts thousands of buffers that are not contiguous. Nothing is
    checked: the caller is responsible for the address.
    """
    numbers = ctypes.c_double * int(size)
    return np.ctypeslib.as_array(numbers.from_address(int(address)))


@intrinsic
def _array_at(context, address, size):
    kind = types.Array(types.float64, 1, "C")

    def lower(context, builder, sig, values):
        pointer = context.get_value_type(types.CPointer(types.float64))
        data = builder.inttoptr(values[0], pointer)
        length = context.cast(builder, values[1], sig.args[1], types.intp)
        return make_view(context, builder, kind, data, [length])

    return kind(types.int64, size), lower


@overload(array_at, jit_options={"_nrt": True})
def _array_at_overload(address, size):
    return lambda address, size: _array_at(address, size)
