"""Records: the fields of a buffer as a value that consists only of its address.

A tuple of a hundred views (``Layout.unpack``) is to the compiler a value of a thousand
numbers, which it moves about one by one: that took half a minute. So a buffer of many
fields holds a table, the values of all dimensions and where each field begins
(``Layout.table``), at a place that one of its first numbers names. Its record is to
kernels the same tuple as its views are to Python, and a view is made where its field is
used. The record's type says which part of which layout it is.
"""

import ast
from typing import Any

from thalweg.kernels.compiler.jit import (
    AttributeTemplate,
    infer_getattr,
    intrinsic,
    ir,
    lower_getattr_generic,
    models,
    overload,
    register_model,
    types,
)
from thalweg.kernels.compiler.layout import Layout, make_view, members_of


class Record(types.Type):  # type: ignore[misc]
    """The numba type of the fields of a buffer, or of a tuple nested in them."""

    def __init__(
        self, layout: Layout, fields: type, table_index: int, prefix: str = ""
    ) -> None:
        self.layout, self.table_index = layout, table_index
        self.prefix, self._tuple = prefix, fields
        super().__init__(name=f"Record({layout.name}, {prefix})")

    def member(self, name: str) -> Any:
        """The type of a member; None if no member has that name."""
        shape, nested = members_of(self._tuple).get(name, (None, None))
        if shape is not None:
            return types.Array(types.float64, len(shape.lengths), "C")
        if nested is None:
            return None
        prefix = f"{self.prefix}{name}."
        return Record(self.layout, nested, self.table_index, prefix)


@register_model(Record)
class _RecordModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.DoubleType().as_pointer())


@infer_getattr
class _RecordAttribute(AttributeTemplate):  # type: ignore[misc]
    key = Record

    def generic_resolve(self, record, name):
        return record.member(name)


@lower_getattr_generic(Record)
def _lower_member(context, builder, record, address, name):
    """The view of a field, or the address again for a nested tuple."""
    layout, kind = record.layout, record.member(name)
    if isinstance(kind, Record):
        return address
    names = [field.name for field in layout.fields]
    index = names.index(record.prefix + name)
    at = _load_integer(context, builder, address, record.table_index)

    def entry(index):
        return _load_integer(context, builder, address, index, at)

    shape = [
        _emit_length(context, builder, layout.dimensions, length, entry)
        for length in layout.fields[index].lengths
    ]
    start = entry(len(layout.dimensions) + index)
    return make_view(context, builder, kind, builder.gep(address, [start]), shape)


def _load_integer(context, builder, address, index, start=None):
    """The integer at address[start + index], which no kernel changes."""
    place = context.get_constant(types.intp, index)
    place = place if start is None else builder.add(start, place)
    number = builder.load(builder.gep(address, [place]))
    number.set_metadata("invariant.load", builder.module.add_metadata([]))
    return builder.fptosi(number, context.get_value_type(types.intp))


def _emit_length(context, builder, dimensions, length, entry):
    """The value of a length, an integer or an expression of dimensions."""
    operations = {ast.Add: builder.add, ast.Sub: builder.sub, ast.Mult: builder.mul,
                  ast.FloorDiv: builder.udiv}  # fmt: skip

    def emit(node):
        if isinstance(node, ast.BinOp):
            return operations[type(node.op)](emit(node.left), emit(node.right))
        if isinstance(node, ast.Name):
            return entry(dimensions.index(node.id))
        return context.get_constant(types.intp, ast.literal_eval(node))

    return emit(ast.parse(str(length), mode="eval").body)


def record_function(layout: Layout, fields: type, table_index: int) -> Any:
    """A function of a buffer that gives its record in kernels, its views in Python.

    ``fields`` is the NamedTuple that ``layout`` declares; buffer[table_index] says
    where the table begins.
    """
    kind = Record(layout, fields, table_index)

    def record(buffer):
        """The NamedTuple of a buffer that holds its table."""
        at = int(buffer[table_index])
        dimensions = map(int, buffer[at : at + len(layout.dimensions)])
        values = zip(layout.dimensions, dimensions, strict=True)
        return layout.views(buffer, **dict(values))

    @intrinsic
    def address(context, buffer):
        def lower(context, builder, sig, values):
            return context.make_array(buffer)(context, builder, values[0]).data

        return kind(buffer), lower

    @overload(record)
    def overload_record(buffer):
        return lambda buffer: address(buffer)

    return record
