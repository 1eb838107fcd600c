"""Predictions as Parquet."""

from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet

from thalweg.cli.runs.predictions import Layout

BLOCK = 1 << 23
"""Bytes of text that become one group of rows."""


def from_lines(lines: Path, path: Path, layout: Layout) -> None:
    """Write the lines of CSV to ``path``, a block at a time."""
    types = {name: pa.float64() for name in layout.columns} | {"row": pa.int64()}
    if layout.timed:
        types.pop("time")  # a time or a number, as its first block is
    reader = csv.open_csv(
        lines,
        csv.ReadOptions(block_size=BLOCK),
        convert_options=csv.ConvertOptions(column_types=types),
    )
    with reader, parquet.ParquetWriter(path, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
