"""Predictions as Parquet."""

from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet

from thalweg.runs.predictions import PredictionColumns

BLOCK_BYTES = 1 << 23
"""Bytes of text that become one group of rows."""


def convert_lines(lines: Path, path: Path, columns: PredictionColumns) -> None:
    """Write the lines of CSV to ``path`` as Parquet, a block at a time."""
    types = {name: pa.float64() for name in columns.names()} | {"row": pa.int64()}
    types |= {name: pa.string() for name in columns.text_names()}
    if columns.has_time:
        types.pop("time")  # a time or a number, as its first block is
    reader = csv.open_csv(
        lines,
        csv.ReadOptions(block_size=BLOCK_BYTES),
        convert_options=csv.ConvertOptions(column_types=types),
    )
    with reader, parquet.ParquetWriter(path, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
