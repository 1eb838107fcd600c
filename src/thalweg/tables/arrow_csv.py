"""Delimited text by pyarrow, at some 300 MB a second.

Cells stay text until someone reads their column: what they mean is then decided by the
rules of ``literals``, and a column that is not used costs no conversion.
"""

from collections.abc import Sequence

import pyarrow as pa
from pyarrow import csv

from thalweg.tables.arrow_cells import ArrowCells
from thalweg.tables.literals import MISSING

_NULLS = sorted({way(text) for text in MISSING for way in (str, str.upper, str.title)})
"""Common ways to write them; others are found when their column is read."""


def columns(
    data: bytes, names: Sequence[str], delimiter: str
) -> dict[str, ArrowCells] | None:
    """The columns of some records, or None if anything about them is unusual."""
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(column_names=list(names), block_size=len(data) + 1),
            csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=_NULLS,
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid:  # a ragged row, or not UTF-8
        return None
    if not len(table):
        return None
    return {
        name: ArrowCells(_joined(table[name]), if_missing="number") for name in names
    }


def _joined(column: pa.ChunkedArray) -> pa.Array:
    """The column as one array; pyarrow makes one chunk of a block, or none."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
