"""``read``: a table from a file of any of the formats, or from standard input."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, Protocol, Self, get_args

from thalweg import checks
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.tables.chunk import Chunk
from thalweg.tables.delimited import DelimitedText
from thalweg.tables.json_lines import JsonLines
from thalweg.tables.names import refuse_duplicates
from thalweg.tables.optional import arrow
from thalweg.tables.sources import COMPRESSIONS, Source, existing

Format = Literal["csv", "tsv", "jsonl", "parquet", "arrow"]
SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
}
_BINARY = ("parquet", "arrow")


class Reader(Protocol):
    """One format: what it knows before it has read everything, and the chunks."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    def rows(self) -> int | None:
        """How many rows there are, where that is known."""

    def chunks(self) -> Iterator[Chunk]:
        """The rows, in chunks of whatever size suits the format."""

    def fraction(self) -> float | None:
        """How much has been read."""

    def close(self) -> Any:
        """Close the file."""


class Table:
    """Named columns, of which some rows at a time are in memory.

    ``name`` of the file, ``columns``, and ``rows`` where their number is known before
    they are read (Parquet, Arrow). Its ``chunks`` can be gone through once.
    """

    def __init__(
        self, name: str, reader: Reader, chunk_rows: int, live: bool,
        source: Source | None = None,
    ) -> None:  # fmt: skip
        if not reader.columns:
            raise StreamError(f"{name} has no columns.")
        refuse_duplicates(reader.columns, name)
        self.name = name
        self.columns = reader.columns
        self.rows = reader.rows
        self.live = live  # standard input or a file object, of no known end
        self._reader = reader
        self._source = source
        self._chunk_rows = chunk_rows
        self._taken = False

    def chunks(self) -> Iterator[Chunk]:
        """The rows, at most ``chunk_rows`` at a time; then the file is closed."""
        if self._taken:
            raise StreamError(f"{self.name} has been read. Open it again.")
        self._taken, some = True, False
        with self:
            for chunk in self._reader.chunks():
                some = True
                for start in range(0, len(chunk), self._chunk_rows):
                    yield chunk.cut(start, min(start + self._chunk_rows, len(chunk)))
        if not some:
            raise StreamError(f"{self.name} names its columns and has no rows.")

    def while_waiting(self, idle: Callable[[], float | None]) -> None:
        """Have ``idle`` called before rows of live text are waited for.

        It says for how many seconds to wait until it is called again; None: as long as
        it takes.
        """
        if self._source is not None:
            self._source.idle = idle

    def fraction(self) -> float | None:
        """How much has been read, from 0 to 1; None where that is not known."""
        return self._reader.fraction()

    def close(self) -> None:
        """Close the file, unless someone else opened it."""
        self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def read(
    source: Any, *, format: Format | None = None, chunk_rows: int = 65_536
) -> Table:
    """The table in ``source``: a path, ``"-"`` for standard input, or a binary file.

    The format goes by the file's name: .csv, .txt, .tsv, .jsonl, .ndjson, .parquet,
    .feather, .arrow or .ipc, and the first five also with .gz, .bz2, .xz or .zst
    after it. ``format`` says it where the name does not; standard input is CSV unless
    said otherwise. CSV may be separated by commas, semicolons, tabs or bars.

    A chunk has at most ``chunk_rows`` rows. From standard input and file objects a
    chunk is the lines that have arrived: nothing waits for a second line.
    """
    checks.argument("read", "chunk_rows", chunk_rows, "[1, inf)")
    if format not in (None, *get_args(Format)):
        named = ", ".join(map(repr, get_args(Format)))
        raise InvalidParameterError(
            f"The 'format' parameter of read must be one of {named}. "
            f"Got {format!r} instead."
        )
    if source == "-":
        return _live(sys.stdin.buffer, "standard input", format, chunk_rows)
    if isinstance(source, str | os.PathLike):
        return _from_path(existing(os.fspath(source)), format, chunk_rows)
    name = str(getattr(source, "name", "the stream"))
    return _live(source, name, format, chunk_rows)


def _live(file: Any, name: str, format: Format | None, chunk_rows: int) -> Table:
    if format == "parquet":
        raise StreamError(
            f"Parquet is read from its end, which {name} does not have. Give the path."
        )
    if format == "arrow":
        readers = arrow("thalweg.tables.arrow_files", "an Arrow stream")
        return Table(name, readers.arrow_stream(file, name), chunk_rows, live=True)
    return _text(Source(file, name), format or "csv", chunk_rows)


def _from_path(path: Path, format: Format | None, chunk_rows: int) -> Table:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = suffixes.pop() if set(suffixes[-1:]) & set(COMPRESSIONS) else ""
    found = format or SUFFIXES.get(suffixes[-1] if suffixes else "")
    if found is None or (compression and found in _BINARY):
        raise StreamError(
            f"The format of {path.name} is not clear from its name. It may end in "
            f"{', '.join(SUFFIXES)}; text also in {', '.join(COMPRESSIONS)} after that."
        )
    if path.is_file() and not path.stat().st_size:
        raise StreamError(f"{path.name} is empty.")
    if found not in _BINARY:
        return _text(Source(path, path.name, compression), found, chunk_rows)
    readers = arrow("thalweg.tables.arrow_files", f"{path.name}")
    if found == "parquet":
        reader = readers.parquet_reader(path, chunk_rows)
    else:
        reader = readers.arrow_reader(path)
    return Table(path.name, reader, chunk_rows, live=False)


def _text(source: Source, format: Format, chunk_rows: int) -> Table:
    try:
        reader: Reader
        if format == "jsonl":
            reader = JsonLines(source)
        else:
            reader = DelimitedText(source, "\t" if format == "tsv" else None)
        return Table(source.name, reader, chunk_rows, source.live, source)
    except BaseException:
        source.close()
        raise
