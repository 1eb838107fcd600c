"""Tables larger than memory: what is held does not grow with the rows."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from thalweg.streams.tables import Encoder, Recipe, read

ROWS = 300_000
COLUMNS = 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of 19 MB in memory and 46 MB as text, and twice the same."""
    path = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.normal(size=ROWS) for i in range(COLUMNS - 1)}
    table = pa.table(columns | {"y": rng.normal(size=ROWS)})
    for name, part in (("once", table), ("twice", pa.concat_tables([table] * 2))):
        csv.write_csv(part, path / f"{name}.csv")
        # One group of rows for all, the worst there is.
        parquet.write_table(part, path / f"{name}.parquet", row_group_size=len(part))
    return path


def peaks(path, rows):
    """Most bytes that Python and NumPy, and pyarrow, hold while a file is encoded."""
    encoder, seen, arrow = Encoder(Recipe(("y",), lags=(1, 24))), 0, 0
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    tracemalloc.start()
    try:
        for chunk in read(path, chunk_rows=20_000).chunks():
            seen += len(encoder.encode(chunk).x)
            arrow = max(arrow, pool.bytes_allocated() - before)
        assert seen == rows - 24
        return np.array([tracemalloc.get_traced_memory()[1], arrow])
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_file(folder, suffix):
    peaks(folder / f"once.{suffix}", ROWS)  # imports
    once = peaks(folder / f"once.{suffix}", ROWS)
    twice = peaks(folder / f"twice.{suffix}", 2 * ROWS)
    # Some blocks of 4 MiB; pages and a dictionary of each column.
    assert (once < 24 << 20).all()
    # pyarrow's threads let go of a block sooner or later; the tables differ by 19 MB.
    assert (twice <= once + (4 << 20)).all()
