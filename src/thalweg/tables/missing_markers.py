"""Marker features (missing indicators): 1 where a column of many gaps is missing.

A marker lets a model learn what a gap itself says: a sensor that fails in the heat, a
question that is left out. Under a policy that marks gaps, a column of numbers has a
marker if, of the first rows of a file or of a data frame, at least ``MIN_GAPS`` and a
share of ``MIN_SHARE`` are missing. Of a pipe only the first row may be looked at, so
that there are none.
"""

from collections.abc import Sequence

import numpy as np

from thalweg.tables.chunk import Chunk
from thalweg.tables.missing_codes import ColumnRange, sample_gaps
from thalweg.types import FloatArray

MIN_SHARE, MIN_GAPS = 0.05, 20


def marked_columns(
    chunk: Chunk, names: Sequence[str], ranges: Sequence[ColumnRange] = ()
) -> tuple[str, ...]:
    """Which of these columns of numbers have a marker; codes in ranges are gaps."""
    if chunk.sample is None:
        return ()
    rows = len(next(iter(chunk.sample.values())))
    range_of = {one.name: one for one in ranges}
    marked = []
    for name in names:
        if marker_name(name) in chunk.cells:
            continue
        gaps = sample_gaps(chunk, name, range_of.get(name))
        if gaps is not None and gaps >= max(MIN_GAPS, MIN_SHARE * rows):
            marked.append(name)
    return tuple(marked)


def marker_name(column: str) -> str:
    """The name of the marker feature of a column."""
    return f"{column} missing"


def marker_features(numbers: FloatArray) -> FloatArray:
    """1 where a number is missing, and 0 where not, (T, 1)."""
    return np.isnan(numbers).astype(np.float64)[:, None]


def marker_note(names: Sequence[str]) -> list[str]:
    """A sentence that says which columns have a marker, if any."""
    if not names:
        return []
    listed = ", ".join(map(repr, names))
    what = "Column" if len(names) == 1 else "Columns"
    has = "has" if len(names) == 1 else "have"
    return [f"{what} {listed} {has} many gaps: a feature says where."]
