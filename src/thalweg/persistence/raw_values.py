"""Values as raw bytes, with their structure apart: many models of one kind.

A model's own file describes itself (format.py). Where thousands of models are stored
together, what describes them is the same for all: a value is taken apart into its
*layout*, which names its fields and their dtypes and is stored once, as JSON, and its
*data*, the numbers, to which a checksum is appended. That is some ten times as fast.

=======================  =======================  ==================================
value                    layout                   data, little-endian
=======================  =======================  ==================================
None, bool               ``["plain", value]``
int, float               ``"int"``, ``"float"``   8 bytes
str                      ``"text"``               its length, UTF-8
NumPy scalar             ``["scalar", dtype]``    its bytes
array                    ``["array", dtype,       its shape, an integer an axis; then
                         order, axes]``           its bytes
tuple                    ``["tuple", [...]]``     those of its parts
state of a learner       ``["state", name,        those of its fields
                         version, names, [...]]``
other NamedTuple         ``["record", names,      those of its fields
                         [...]]``
=======================  =======================  ==================================

A NamedTuple that is no state is read as a dict: ``restore_snapshot`` makes it again.
"""

import json
import struct
from functools import lru_cache
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from thalweg.errors import PersistenceError
from thalweg.persistence.encoding import (
    DTYPES,
    LAYOUT_VERSION,
    MAX_AXES,
    MAX_DEPTH,
    STORED_KIND,
    Reader,
)
from thalweg.persistence.registry import STATES

INTEGER, FLOAT, CHECKSUM = struct.Struct("<q"), struct.Struct("<d"), struct.Struct("<I")
SHAPES = [struct.Struct(f"<{axes}q") for axes in range(MAX_AXES + 1)]
UTF_8 = ("utf-8", "surrogatepass")
"""Encoding of every text that Python can hold, a lone surrogate among them."""
MAX_LAYOUT_BYTES = 2**20
"""A layout is parsed whole, and JSON takes some 25 times its length."""
MALFORMED = (
    ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError,
    struct.error,
)  # fmt: skip
"""Errors that a damaged layout or damaged data may cause."""


class RawValue(NamedTuple):
    """A value as its layout and its numbers."""

    layout: str
    data: bytes


def to_raw(value: Any) -> RawValue:
    """A value as layout and bytes; the same value always gives the same bytes."""
    parts: list[bytes] = []
    layout = _layout_text(_flatten(value, parts))
    return RawValue(layout, b"".join([*parts, checksum(*parts)]))


def from_raw(raw: RawValue) -> Any:
    """The value that ``to_raw`` took apart; ``PersistenceError`` where there is none.

    Nothing is executed or imported, and memory is bounded by the lengths of both.
    States are not compared with their learner: see ``state_check``.
    """
    size = len(raw.data) - CHECKSUM.size
    data = memoryview(raw.data)
    if size < 0 or CHECKSUM.unpack(data[size:])[0] != crc32(data[:size]):
        raise PersistenceError("its checksum is wrong: it was damaged")
    reader = _RawReader(data[:size])
    try:
        value = reader.read(_parse_layout(raw.layout))
    except PersistenceError:
        raise
    except MALFORMED:
        raise PersistenceError("its layout and its bytes do not fit") from None
    if reader.at != size:
        raise PersistenceError(f"it has {size} bytes, of which {reader.at} are used")
    return value


def checksum(*parts: bytes | memoryview) -> bytes:
    """What stands behind the data, made of these parts, as ``from_raw`` takes it."""
    value = 0
    for part in parts:
        value = crc32(part, value)
    return CHECKSUM.pack(value)


@lru_cache(4096)
def _layout_text(layout: Any) -> str:
    return json.dumps(layout, separators=(",", ":"))


@lru_cache(4096)
def _parse_layout(text: str) -> Any:
    if len(text) > MAX_LAYOUT_BYTES:
        raise PersistenceError(f"a layout of {len(text)} characters cannot be read")
    return json.loads(text)


def _flatten(value: Any, parts: list[bytes], depth: int = 0) -> Any:
    """The layout of the value, which can be hashed; its bytes go to ``parts``."""
    kind = type(value)
    if depth > MAX_DEPTH:
        raise PersistenceError(f"it is nested deeper than {MAX_DEPTH} levels")
    if kind is np.ndarray:
        return _flatten_array(value, parts)
    if kind is int:
        parts.append(INTEGER.pack(value))
        return "int"
    if kind is float:
        parts.append(FLOAT.pack(value))
        return "float"
    if value is None or kind is bool:
        return ("plain", value)
    if kind is str:
        text = value.encode(*UTF_8)
        parts += (INTEGER.pack(len(text)), text)
        return "text"
    if kind is tuple:
        return ("tuple", tuple(_flatten(part, parts, depth + 1) for part in value))
    if isinstance(value, np.generic):
        parts.append(value.tobytes())
        return ("scalar", _dtype(value))
    if isinstance(value, tuple):
        return _flatten_fields(value, parts, depth + 1)
    raise PersistenceError(f"{kind.__name__} cannot be saved as raw bytes")


def _flatten_array(value: Any, parts: list[bytes]) -> Any:
    # BLAS sums in another order where an array lies in another order.
    flags = value.flags
    order = "C" if flags.c_contiguous or not flags.f_contiguous else "F"
    axes = value.ndim
    parts += (SHAPES[axes].pack(*value.shape), value.tobytes(order))
    return ("array", _dtype(value), order, axes)


def _flatten_fields(value: Any, parts: list[bytes], depth: int) -> Any:
    """A NamedTuple: the state of a learner, or any other."""
    kind = type(value)
    if STATES.get(kind.__name__) is not kind:
        fields = tuple([_flatten(part, parts, depth) for part in value])
        return ("record", value._fields, fields)
    stored = value.to_stored() if hasattr(kind, STORED_KIND) else value
    fields = tuple([_flatten(part, parts, depth) for part in stored])
    version = getattr(kind, LAYOUT_VERSION, 1)
    return ("state", kind.__name__, version, stored._fields, fields)


def _dtype(value: Any) -> str:
    dtype: str = value.dtype.str
    if dtype not in DTYPES:  # those of big-endian machines among them
        raise PersistenceError(f"arrays of {value.dtype} cannot be saved")
    return dtype


class _RawReader(Reader):
    """``Reader``, whose nodes are layouts."""

    def read(self, node: Any, depth: int = 0) -> Any:
        """The value of this layout, from the next bytes."""
        if depth > MAX_DEPTH:
            raise PersistenceError(f"it is nested deeper than {MAX_DEPTH} levels")
        if isinstance(node, str):
            return self._read_plain(node)
        kind, *rest = node
        if kind == "plain" and (rest[0] is None or isinstance(rest[0], bool)):
            return rest[0]
        if kind == "scalar":
            return self._read_array("scalar", rest[0], "C", ())
        if kind == "array":
            dtype, order, axes = rest
            return self._read_array("array", dtype, order, self._take(SHAPES[axes]))
        if kind == "tuple":
            return tuple(self.read(part, depth + 1) for part in rest[0])
        named = dict(zip(*rest[-2:], strict=True))
        if kind == "record":
            return {name: self.read(part, depth + 1) for name, part in named.items()}
        if kind != "state":
            raise KeyError(kind)
        return self._state(
            {"state": rest[0], "layout": rest[1], "fields": named}, depth
        )

    def _read_plain(self, kind: str) -> Any:
        if kind == "int":
            return self._take(INTEGER)[0]
        if kind == "float":
            return self._take(FLOAT)[0]
        if kind != "text":
            raise KeyError(kind)
        (length,) = self._take(INTEGER)
        return bytes(self._bytes(length)).decode(*UTF_8)

    def _read_array(
        self, kind: str, dtype: str, order: str, shape: tuple[int, ...]
    ) -> Any:
        node = {kind: dtype, "order": order, "shape": list(shape), "offset": self.at}
        return self._array(node)

    def _take(self, form: struct.Struct) -> tuple[Any, ...]:
        return form.unpack(self._bytes(form.size))

    def _bytes(self, size: int) -> memoryview:
        start, self.at = self.at, self.at + size
        if size < 0 or self.at > len(self.data):
            raise IndexError(self.at)
        return self.data[start : self.at]
