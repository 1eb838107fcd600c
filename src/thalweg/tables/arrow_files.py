"""Parquet and Arrow files by pyarrow, a batch of rows at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import dataset, ipc, parquet

from thalweg.errors import StreamError
from thalweg.tables.arrow_cells import ArrowCells
from thalweg.tables.chunk import Chunk
from thalweg.tables.sources import ByteSource
from thalweg.tables.text_encoding import TextSettings

COLUMN_BUFFER_BYTES = 1 << 18
"""Of each column; otherwise pyarrow reads a row group, or all of it, at once."""
_READ_ERRORS = (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError)
"""What pyarrow raises of a file that is damaged."""


class ArrowReader:
    """A file or stream of Arrow record batches: its columns and its chunks."""

    def __init__(
        self, name: str, schema: Any, batches: Any, file: Any, rows: int | None = None
    ) -> None:
        self.name = name
        self.columns = tuple(schema.names)
        self.rows = rows
        self._file = file  # None where someone else closes it
        self._batches = batches
        self._rows_read = 0

    def chunks(self) -> Iterator[Chunk]:
        """The rows, one chunk a batch."""
        try:
            for batch in self._batches:
                if batch.num_rows:
                    # Offsets that point anywhere would end the process.
                    batch.validate(full=True)
                    yield self._read_batch(batch)
                    self._rows_read += batch.num_rows
        except _READ_ERRORS as error:
            raise _read_error(self.name, error) from None

    def fraction(self) -> float | None:
        """How much has been read, by rows; None where their number is not known."""
        return None if self.rows is None else self._rows_read / max(self.rows, 1)

    def notes(self) -> tuple[str, ...]:
        """Nothing had to be guessed."""
        return ()

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self._file is not None:
            self._file.close()

    def _read_batch(self, batch: Any) -> Chunk:
        cells = zip(self.columns, map(ArrowCells, batch.columns), strict=True)
        chunk = Chunk(self.name, self._rows_read, dict(cells))
        is_first = self._file is not None and not self._rows_read
        return chunk.with_sample() if is_first else chunk


def open_parquet(path: Path, chunk_rows: int, text: TextSettings) -> ArrowReader:
    """The reader of a Parquet file."""
    try:
        file = parquet.ParquetFile(
            path, pre_buffer=False, buffer_size=COLUMN_BUFFER_BYTES
        )
        batches, rows = file.iter_batches(chunk_rows), file.metadata.num_rows
        return ArrowReader(path.name, file.schema_arrow, batches, file, rows)
    except _READ_ERRORS as error:
        raise _read_error(path.name, error) from None


def open_arrow(
    source: ByteSource | Path, chunk_rows: int, text: TextSettings
) -> ArrowReader:
    """The reader of an Arrow or Feather file, in the file or the stream format.

    From a pipe it is the stream format, batch by batch as they arrive.
    """
    if isinstance(source, ByteSource):
        return _open_stream(source.raw, source.name, None)
    path = source
    try:
        mapped = pa.memory_map(str(path))
        try:
            file = ipc.open_file(mapped)
        except pa.ArrowInvalid:
            mapped.seek(0)
            return _open_stream(mapped, path.name, mapped)
        batches = (file.get_batch(i) for i in range(file.num_record_batches))
        # Counted without reading them.
        rows = dataset.dataset(path, format="ipc").count_rows()
        return ArrowReader(path.name, file.schema, batches, mapped, rows)
    except _READ_ERRORS as error:
        raise _read_error(path.name, error) from None


def _open_stream(file: Any, name: str, file_to_close: Any) -> ArrowReader:
    try:
        stream = ipc.open_stream(file)
    except _READ_ERRORS as error:
        raise _read_error(name, error) from None
    return ArrowReader(name, stream.schema, stream, file_to_close)


def _read_error(name: str, error: Exception) -> StreamError:
    lines = str(error).split("\n")
    return StreamError(f"{name} cannot be read: {lines[0].rstrip('.')}.")
