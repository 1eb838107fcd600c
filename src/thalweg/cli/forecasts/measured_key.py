"""Keys of measured numbers, such as a temperature, which tell no series apart."""

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from thalweg.cli.forecasts.key_detection import MIN_ROWS_PER_KEY
from thalweg.cli.forecasts.row_keys import Key, split_by_key
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.tables import Chunk, Table
from thalweg.tables.format_detection import FormatSettings, detect_formats

LOOK_ROWS = 100_000
"""Rows that are looked at: values that hardly repeat show early."""


def refuse_measured_key(
    open_table: Callable[[], Table], keys: tuple[str, ...], settings: FormatSettings
) -> None:
    """Raise if numbers of a key have decimals, and its series hardly any rows."""
    seen, rows = set[Key](), 0
    measured: str | None = None
    formats = None
    with open_table() as table, suppress(StreamError):  # The reader says what is wrong.
        if table.is_live:
            return
        for chunk in table.chunks():
            if not {*keys} <= {*chunk.cells}:
                return
            if formats is None:
                formats = detect_formats(chunk, keys, settings).formats
            chunk = chunk.with_formats(formats)
            measured = measured or _measured_column(chunk, keys)
            seen.update(one.key for one in split_by_key(chunk, keys))
            rows += len(chunk)
            if measured is None or rows >= LOOK_ROWS:
                break
    if measured is None or rows >= MIN_ROWS_PER_KEY * len(seen):
        return
    raise InvalidParameterError(
        f"--key names {measured!r}, whose numbers have decimals: it would make "
        f"{len(seen):,} series of {rows:,} rows. A key says which series a row belongs "
        f"to, such as a shop or a sensor; without --key the rows are one series."
    )


def _measured_column(chunk: Chunk, keys: tuple[str, ...]) -> str | None:
    """The first column of the key with a number that is not whole."""
    for name in keys:
        if chunk.kind(name) == "number":
            numbers = chunk.numbers(name)
            known = numbers[np.isfinite(numbers)]
            if (known != np.floor(known)).any():
                return name
    return None
