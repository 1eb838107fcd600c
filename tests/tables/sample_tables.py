"""Small tables for tests, and what comes of them."""

import io
import json
from functools import reduce

import numpy as np

from thalweg.persistence.encoding import Reader, Writer
from thalweg.tables import EncodedRows, Encoder, Recipe, read_table
from thalweg.tables.timestamps import Timestamps

WEATHER = b"""time,temp,site,wet,load
2024-01-01 00:00,1.5,north,true,10
2024-01-01 01:00,NA,south,false,20
2024-01-01 02:00,-3e-1,north,false,15
2024-01-01 03:00,+2.5,east,true,?
2024-01-01 04:00,.25,,true,30
2024-01-01 05:00,7,west,false,25
2024-01-01 06:00,7.125,south,true,35.5
"""
RECIPE = Recipe(
    targets=("load",),
    time="time",
    calendar="time",
    lags=(1, 3),
    missing="skip",
    categories=2,
)


def encode_table(table, recipe=RECIPE, encoder=None):
    """All the rounds of a table."""
    encoder = Encoder(recipe) if encoder is None else encoder
    with table:
        return concatenate([encoder.encode(chunk) for chunk in table.chunks()])


def as_array(values):
    """Values as one array; moments become instants and offsets, in two columns."""
    if not isinstance(values, Timestamps):
        return values
    offsets = np.full(len(values), np.timedelta64("NaT", "ns"))
    if values.offsets is not None:
        offsets = values.offsets
    return np.stack([values.instants.view(np.int64), offsets.view(np.int64)], axis=1)


def concatenate(parts):
    """Rounds one after the other, without the rows as they were given."""

    def both(one, other):
        return EncodedRows(
            *(
                None if a is None else np.concatenate([a, b])
                for a, b in zip(one, other, strict=True)
            )
        )

    return reduce(both, [EncodedRows(*map(as_array, part[:4]), None) for part in parts])


def encode_bytes(data, recipe=RECIPE, **settings):
    """All the rounds of a table given as bytes."""
    return encode_table(read_table(io.BytesIO(data), **settings), recipe)


def assert_same(one, other):
    """Equal to the last bit, NaN and the sign of zero included."""
    for a, b in zip(map(as_array, one), map(as_array, other), strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert a.shape == b.shape
            assert a.dtype == b.dtype
            assert bits(a) == bits(b)


def bits(array):
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.nan, array)  # one NaN for all
    return array.tobytes()


def through_file(state):
    """A NamedTuple as it comes back from what a file holds of it: plain tuples."""
    header, arrays = state_bytes(state)
    values = Reader(memoryview(arrays)).read(json.loads(header))

    def rebuilt(like, value):
        if not isinstance(like, tuple):
            return value
        parts = [rebuilt(*pair) for pair in zip(like, value, strict=True)]
        return type(like)(*parts) if hasattr(like, "_fields") else tuple(parts)

    return rebuilt(state, values)


def state_bytes(state):
    """All that a file holds of a NamedTuple: JSON, and the bytes of its arrays."""

    def plain_tuple(value):
        return tuple(map(plain_tuple, value)) if isinstance(value, tuple) else value

    writer = Writer()
    header = json.dumps(writer.write(plain_tuple(state)), allow_nan=False)
    return header, b"".join(writer.arrays)


class PiecewiseFile(io.RawIOBase):
    """A live file that gives its bytes in pieces of the sizes it is told."""

    def __init__(self, data, sizes):
        super().__init__()
        self.pieces = []
        start = 0
        for size in sizes:
            self.pieces.append(data[start : start + size])
            start += size
        self.pieces.append(data[start:])
        self.pieces = [piece for piece in self.pieces if piece]

    def read1(self, size):
        return self.pieces.pop(0) if self.pieces else b""
