"""Feather and Parquet files with a few wrong bytes, each of which is read.

python -m tests.tables.damaged_arrow FOLDER FORMAT FIRST LAST    # cases by number

In a process of its own: pyarrow trusts what it reads, and may end it.
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet

from thalweg import tables
from thalweg.errors import ThalwegError

ROWS = 1000


def whole_file(path):
    """A file of numbers, text and times, as bytes."""
    rng = np.random.default_rng(0)
    columns = {
        "a": rng.normal(size=ROWS),
        "site": rng.choice(["north", "south", "größer"], ROWS),
        "when": np.datetime64("2024-01-01", "s") + 3600 * np.arange(ROWS),
        "y": rng.normal(size=ROWS),
    }
    table = pa.table(columns)
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        feather.write_feather(table, path, compression="uncompressed", chunksize=300)
    return path.read_bytes()


def damage(rng, data):
    """The bytes, cut off or with some of them replaced."""
    changed, how = bytearray(data), rng.integers(4)
    if how == 0:
        return bytes(changed[: rng.integers(len(data))])
    # Anywhere, or in the metadata, which stand at both ends.
    low, high = ((0, len(data)), (0, 600), (len(data) - 600, len(data)))[how - 1]
    for _ in range(rng.integers(1, 8)):
        changed[rng.integers(low, high)] = rng.integers(256)
    return bytes(changed)


def read_all(path):
    """Whether a file was refused or read; nothing but our own errors is let out."""
    encoder = tables.Encoder(tables.Recipe(("y",), missing="skip", calendar="when"))
    try:
        with tables.read_table(path) as table:
            for chunk in table.chunks():
                encoder.encode(chunk)
    except ThalwegError as error:
        assert str(error).endswith((".", "?")) and "\n" not in str(error), error
        return "refused"
    return "read"


def main(folder, suffix, first, last):
    path, counts = Path(folder, f"damaged.{suffix}"), {"refused": 0, "read": 0}
    data = whole_file(path)
    for case in range(int(first), int(last)):
        print("case", case, file=sys.stderr, flush=True)
        path.write_bytes(damage(np.random.default_rng(case), data))
        counts[read_all(path)] += 1
    print(counts)


if __name__ == "__main__":
    main(*sys.argv[1:])
