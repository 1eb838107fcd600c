"""Tables larger than memory: what is held does not grow with the rows."""

import gc
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from thalweg.tables import Encoder, Recipe, read_table

ROWS = 900_000
COLUMNS = 8
TABLE = ROWS * COLUMNS * 8
MOST = TABLE // 2  # some blocks of 4 MiB; a page and a dictionary of each column


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of 58 MB in memory and 138 MB as text."""
    path = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.normal(size=ROWS) for i in range(COLUMNS - 1)}
    table = pa.table(columns | {"y": rng.normal(size=ROWS)})
    csv.write_csv(table, path / "large.csv")
    # One group of rows for all, the worst there is.
    parquet.write_table(table, path / "large.parquet", row_group_size=ROWS)
    return path


def peaks(path):
    """Most bytes that Python and NumPy, and pyarrow, hold while a file is encoded."""
    encoder, seen, arrow = Encoder(Recipe(("y",), lags=(1, 24))), 0, 0
    gc.collect()
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    tracemalloc.start()
    try:
        for chunk in read_table(path, chunk_rows=20_000).chunks():
            seen += len(encoder.encode(chunk).x)
            arrow = max(arrow, pool.bytes_allocated() - before)
        assert seen == ROWS - 24
        return tracemalloc.get_traced_memory()[1], arrow
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_file(folder, suffix):
    ours, arrows = peaks(folder / f"large.{suffix}")
    assert ours < MOST
    assert arrows < MOST
