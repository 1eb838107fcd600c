"""The file of predictions: lines of CSV that can be continued, or Parquet."""

import io
import os
import shutil
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from thalweg.errors import InvalidParameterError, StorageError
from thalweg.runs.prediction_columns import PredictionColumns
from thalweg.runs.storage import make_folder, storage_errors

PARQUET_SUFFIXES = (".parquet", ".pq")
BLOCK_BYTES = 1 << 23
"""Bytes of text that become one group of rows of Parquet."""


def check_suffix(path: Path | None) -> None:
    """Raise unless the name says which format is wanted."""
    if path is not None and not is_prediction_file(path):
        raise InvalidParameterError(
            f"--predictions takes a file that ends in .csv or .parquet. Got {path} "
            f"instead."
        )


def is_prediction_file(path: Path) -> bool:
    """Whether the name is one that predictions may go to."""
    return path.suffix.lower() in (".csv", *PARQUET_SUFFIXES)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in PARQUET_SUFFIXES


def _line_file(path: Path) -> Path:
    """The file that lines are written to; for Parquet it is a temporary one."""
    return path.with_name(f"{path.name}.part") if _is_parquet(path) else path


class PredictionFile:
    """A file of predictions. Opened when the first line is written.

    Parquet cannot be continued where it ends, so its lines are written to a ``.part``
    file, and become Parquet at the end.

    ``size`` is how many bytes of an earlier run stay, and ``earlier`` the file that
    these are copied from, if it is another one.
    """

    def __init__(
        self, path: Path, columns: PredictionColumns, size: int = 0,
        earlier: Path | None = None,
    ) -> None:  # fmt: skip
        self.path = path
        self.columns = columns
        self.size = size  # bytes written so far
        self._line_file = _line_file(path)
        self._earlier = None if earlier is None else _line_file(earlier)
        self._file: io.FileIO | None = None

    def output_files(self) -> dict[str, Path]:
        """The files that are written, by what they hold."""
        is_parquet = _is_parquet(self.path)
        lines = {"lines of predictions": self._line_file} if is_parquet else {}
        return {"predictions": self.path} | lines

    def input_files(self) -> dict[str, Path]:
        """The file that is copied first, if one is."""
        earlier = self._earlier
        return {} if earlier is None else {"predictions of the run before": earlier}

    def write(self, lines: str) -> None:
        """Append lines."""
        with storage_errors(self.path):
            if self._file is None:
                self._file = self._open()
                if not self.size:
                    lines = self.columns.header() + lines
            remaining, start = memoryview(lines.encode()), self.size
            try:
                while remaining:  # a disk that is nearly full takes a part
                    count = self._file.write(remaining)
                    self.size += count
                    remaining = remaining[count:]
            except OSError:
                # No line is left cut in two: readers of the file would refuse it.
                with suppress(OSError):
                    self._file.truncate(start)
                    self._file.seek(start)
                    self.size = start
                raise

    def sync(self) -> None:
        """Make what was written survive a loss of power."""
        with storage_errors(self.path):
            if self._file is None and self._earlier is not None:
                self._file = self._open()
            if self._file is not None and self._line_file.is_file():
                os.fsync(self._file.fileno())

    def close(self) -> None:
        """Write no more; it can be continued."""
        if self._file is not None:
            self._file.close()

    def finish(self) -> None:
        """Turn the lines into Parquet, where that is wanted."""
        if _is_parquet(self.path) and self._line_file.exists():
            with storage_errors(self.path):
                _write_parquet(self._line_file, self.path, self.columns)
                self._line_file.unlink()

    def discard(self) -> None:
        """Remove what was written."""
        if self._file is not None:
            self.close()
            self._line_file.unlink()

    def _open(self) -> io.FileIO:
        if not self.size:
            make_folder(self._line_file.parent)
            return self._line_file.open("wb", buffering=0)
        source = self._earlier or self._line_file
        size = source.stat().st_size if source.is_file() else 0
        if size < self.size:
            raise StorageError(
                f"{source} has {size:,} bytes, and the run that is resumed had "
                f"written {self.size:,}. Bring it back, or give another --predictions."
            )
        self._check_header(source)
        if self._earlier is not None:
            make_folder(self._line_file.parent)
            shutil.copyfile(self._earlier, self._line_file)
        file = self._line_file.open("r+b", buffering=0)
        file.truncate(self.size)
        file.seek(self.size)
        return file

    def _check_header(self, source: Path) -> None:
        """Raise unless the lines of the run before have the columns of this one."""
        header = self.columns.header().encode()
        with source.open("rb") as file:
            line = file.readline(len(header) + 1)
        if line != header:
            raise StorageError(
                f"{source} begins with {line.decode(errors='replace').strip()!r}, and "
                f"the run that is resumed writes {header.decode().strip()!r}. Give "
                f"another --predictions."
            )


def _write_parquet(lines: Path, path: Path, columns: PredictionColumns) -> None:
    """Write the lines of CSV to ``path`` as Parquet, a block at a time."""
    modules = ("pyarrow", "pyarrow.csv", "pyarrow.parquet")
    pa, csv, parquet = map(import_module, modules)
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
