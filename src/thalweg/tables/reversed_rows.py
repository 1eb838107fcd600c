"""Rows of a file whose newest ones come first, taken in reverse order.

All rows are in memory for that. What may be looked at before the first row is read
(``Chunk.sample``) are the first rows of the file, as they are of any other.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from thalweg.errors import StreamError
from thalweg.tables.chunk import Chunk

MAX_REVERSED_CELLS = 20_000_000
"""Cells of a file that is reversed: up to about 1.5 GB, where they are text."""


def reverse_rows(chunks: Iterator[Chunk], time: str) -> Iterator[Chunk]:
    """The rows of all chunks from the last one to the first, counted from there."""
    held, cells = list[Chunk](), 0
    for chunk in chunks:
        held.append(chunk)
        cells += len(chunk) * len(chunk.cells)
        if cells > MAX_REVERSED_CELLS:
            raise StreamError(
                f"The newest rows of {chunk.source} come first, by {time!r}, and more "
                f"than {MAX_REVERSED_CELLS:,} cells are too many to take them in "
                f"reverse order. Sort the rows by {time!r}, oldest first."
            )
    sample, first_row = held[0].sample if held else None, 0
    while held:
        chunk = held.pop()
        backwards = np.arange(len(chunk), dtype=np.intp)[::-1].copy()
        chunk = replace(chunk.take_rows(backwards, first_row), sample=None)
        if first_row == 0 and sample is not None:
            rows = len(next(iter(sample.values())))
            order = np.arange(rows, dtype=np.intp)[::-1].copy()
            taken = {name: column.take_rows(order) for name, column in sample.items()}
            chunk = replace(chunk, sample=taken)
        yield chunk
        first_row += len(chunk)
