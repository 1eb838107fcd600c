"""Parquet and Arrow files by pyarrow, a batch of rows at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import dataset, ipc, parquet

from thalweg.errors import StreamError
from thalweg.tables.arrow_cells import ArrowCells
from thalweg.tables.chunk import Chunk

BUFFER = 1 << 18
"""Bytes held of each column; pyarrow would read a row group, or all of it, at once."""
_UNREADABLE = (pa.ArrowInvalid, OSError)


class ArrowReader:
    """Batches of rows: the columns, and the chunks as they are read."""

    def __init__(
        self, name: str, schema: Any, batches: Any, file: Any, rows: int | None = None
    ) -> None:
        self.name = name
        self.columns = tuple(schema.names)
        self.rows = rows
        self._file = file  # to be closed; None where someone else will
        self._batches = batches
        self._done = 0

    def chunks(self) -> Iterator[Chunk]:
        """The rows, one chunk a batch."""
        try:
            for batch in self._batches:
                if batch.num_rows:
                    yield self._chunk(batch)
                    self._done += batch.num_rows
        except _UNREADABLE as error:
            raise _unreadable(self.name, error) from None

    def fraction(self) -> float | None:
        """How much has been read, by rows; None where their number is not known."""
        return None if self.rows is None else self._done / max(self.rows, 1)

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self._file is not None:
            self._file.close()

    def _chunk(self, batch: Any) -> Chunk:
        cells = zip(self.columns, map(ArrowCells, batch.columns), strict=True)
        return Chunk(self.name, self._done, dict(cells))


def parquet_reader(path: Path, chunk_rows: int) -> ArrowReader:
    """A Parquet file."""
    try:
        file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER)
    except _UNREADABLE as error:
        raise _unreadable(path.name, error) from None
    batches, rows = file.iter_batches(chunk_rows), file.metadata.num_rows
    return ArrowReader(path.name, file.schema_arrow, batches, file, rows)


def arrow_reader(path: Path) -> ArrowReader:
    """An Arrow or Feather file, in the file format or in the stream format."""
    mapped = pa.memory_map(str(path))
    try:
        file = ipc.open_file(mapped)
    except pa.ArrowInvalid:
        mapped.seek(0)
        return _stream(mapped, path.name, mapped)
    batches = (file.get_batch(i) for i in range(file.num_record_batches))
    rows = dataset.dataset(path, format="ipc").count_rows()  # without reading them
    return ArrowReader(path.name, file.schema, batches, mapped, rows)


def arrow_stream(file: Any, name: str) -> ArrowReader:
    """The stream format from a pipe, batch by batch as they arrive."""
    return _stream(file, name, None)


def _stream(file: Any, name: str, to_close: Any) -> ArrowReader:
    try:
        stream = ipc.open_stream(file)
    except _UNREADABLE as error:
        raise _unreadable(name, error) from None
    return ArrowReader(name, stream.schema, stream, to_close)


def _unreadable(name: str, error: Exception) -> StreamError:
    return StreamError(f"{name} cannot be read: {str(error).rstrip('.')}.")
