"""Tables: ``read_table`` opens a file of any of the formats, or standard input."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, Self

from thalweg import checks
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.tables.chunk import Chunk, FoundColumns
from thalweg.tables.file_formats import FORMATS, SUFFIXES
from thalweg.tables.malformed_rows import LineErrors
from thalweg.tables.optional_packages import import_optional
from thalweg.tables.row_filters import (
    BlankRows,
    EndRows,
    RowFilter,
    SubtotalRows,
    UnitRows,
    hold_rows,
    reverse_rows,
)
from thalweg.tables.schema import refuse_unknown_columns
from thalweg.tables.sources import (
    COMPRESSION_MARKS,
    DECOMPRESSORS,
    ByteSource,
    existing_path,
    members_of_zip,
    name_in_zip,
)
from thalweg.tables.text_encoding import TextSettings, check_encoding
from thalweg.tables.time_parts import (
    TimeParts,
    find_time_parts,
    join_time_parts,
    joined_name,
)

MAX_TABLE_COLUMNS = 10_000
"""Limit of columns. Each costs half a millisecond before the first row is learnt."""


class TableReader(Protocol):
    """The reader of one format: columns that are known at once, and chunks."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    def rows(self) -> int | None:
        """How many rows there are; None where that is not known."""

    def chunks(self) -> Iterator[Chunk]:
        """The rows, in chunks of whatever size suits the format."""

    def fraction(self) -> float | None:
        """How much has been read, from 0 to 1; None where that is not known."""

    def notes(self) -> tuple[str, ...]:
        """Sentences about how the file was read."""

    def close(self) -> Any:
        """Close the file."""


class Table:
    """Named columns, of which some rows at a time are in memory.

    ``name`` is the file's, ``columns`` their names, and ``rows`` their number where it
    is known before they are read (Parquet, Arrow). ``chunks`` can be iterated once.
    """

    def __init__(
        self, name: str, reader: TableReader, chunk_rows: int, is_live: bool,
        source: ByteSource | None = None, errors: LineErrors | None = None,
    ) -> None:  # fmt: skip
        if not reader.columns:
            raise StreamError(f"{name} has no columns.")
        if len(reader.columns) > MAX_TABLE_COLUMNS:
            raise StreamError(
                f"{name} has {len(reader.columns):,} columns. A table may have at most "
                f"{MAX_TABLE_COLUMNS:,}: leave out those that are not needed."
            )
        _refuse_duplicates(reader.columns, name)
        self.name = name
        self.columns = reader.columns
        self.rows = reader.rows
        self.is_live = is_live  # standard input or a file object, without a known end
        self.errors = errors  # malformed lines; None: they are refused
        self._reader = reader
        self._source = source
        self._chunk_rows = chunk_rows
        self._is_read = False
        self._given_times: Sequence[str] | None = None  # None: none are joined
        self._time_parts: TimeParts | None = None
        self._newest_first_by: str | None = None  # None: rows stay in their order
        self.found: FoundColumns | None = None  # by a scan
        units = UnitRows()
        # Of a pipe nobody knows which row is the last.
        self._filters: list[EndRows | RowFilter] = (
            [] if is_live else [EndRows(units), units, SubtotalRows()]
        )
        self._blank_rows: BlankRows | None = None  # None: they stay

    def join_times(self, given: Sequence[str] = ()) -> Self:
        """Join dates and clocks of several columns to one (``time_parts``).

        ``given``: the columns that a user names; otherwise they are found.
        """
        is_column = joined_name(given) in self.columns
        self._given_times = () if is_column else given
        return self

    def drop_blank_rows(self) -> Self:
        """Leave out rows without any value where rows have times (``BlankRows``)."""
        self._blank_rows = BlankRows()
        return self

    def reverse_rows(self, time: str) -> Self:
        """Take the rows in reverse order; the newest ones come first by ``time``."""
        self._newest_first_by = time
        return self

    def chunks(self) -> Iterator[Chunk]:
        """The rows, at most ``chunk_rows`` at a time; then the file is closed."""
        if self._is_read:
            raise StreamError(f"{self.name} has been read. Open it again.")
        self._is_read, has_rows = True, False
        with self:
            chunks, time = self._reader.chunks(), self._newest_first_by
            for one in self._filters:
                chunks = one.filter(chunks)
            if time is not None:
                chunks = reverse_rows(hold_rows(chunks, time))
            for chunk in chunks:
                chunk = self._with_times(chunk, is_first=not has_rows)
                chunk = replace(chunk, found=self.found)
                has_rows = True
                if self._blank_rows is not None:
                    chunk = self._blank_rows.drop(chunk)
                for start in range(0, len(chunk), self._chunk_rows):
                    yield chunk.slice_rows(
                        start, min(start + self._chunk_rows, len(chunk))
                    )
        if not has_rows:
            raise StreamError(f"{self.name} names its columns and has no rows.")

    def _with_times(self, chunk: Chunk, is_first: bool) -> Chunk:
        """The chunk with a column of times whose parts are in several columns."""
        if is_first and self._given_times is not None:
            refuse_unknown_columns(self._given_times, chunk.cells, self.name)
            self._time_parts = find_time_parts(chunk, self._given_times)
        parts = self._time_parts
        return chunk if parts is None else join_time_parts(chunk, parts)

    def on_idle(self, callback: Callable[[], float | None]) -> None:
        """Call ``callback`` whenever the table is about to wait for rows of live text.

        It returns for how many seconds to wait until it is called again; None waits as
        long as it takes.
        """
        if self._source is not None:
            self._source.on_idle = callback

    def fraction(self) -> float | None:
        """How much has been read, from 0 to 1; None where that is not known."""
        return self._reader.fraction()

    def notes(self) -> tuple[str, ...]:
        """Sentences about how the rows so far were read."""
        skipped = () if self.errors is None else self.errors.notes()
        time = self._newest_first_by
        order = () if time is None else (_order_note(self.name, time),)
        filters = [*self._filters, *([self._blank_rows] if self._blank_rows else [])]
        rows = (note for one in filters for note in one.notes())
        return (*self._reader.notes(), *rows, *order, *skipped)

    def close(self) -> None:
        """Close the file, unless someone else opened it."""
        self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def read_table(
    source: Any, *, format: str | None = None, chunk_rows: int = 65_536,
    encoding: str | None = None, errors: LineErrors | None = None,
    header: int | None = None,
) -> Table:  # fmt: skip
    """Open a table: ``source`` is a path, ``"-"`` for standard input, or a file object.

    The file's name decides the format (``FORMATS`` in file_formats.py), and text may be
    compressed (``DECOMPRESSORS`` in sources.py); where it does not, ``format`` or the
    content does. Standard input is CSV, or JSON lines if it begins with a brace, unless
    ``format`` says otherwise. CSV may be separated by commas, semicolons, tabs or bars.
    ``header`` is the line of CSV, or the row of a workbook, that names the columns; if
    it is not given, titles above that are found. Text is UTF-8, UTF-16 with a mark, or
    Windows-1252, unless ``encoding`` says otherwise. Malformed lines are refused, or go
    to ``errors`` and are skipped.

    A chunk has at most ``chunk_rows`` rows. From standard input and file objects a
    chunk is the lines that have arrived: nothing waits for a second line.
    """
    checks.require_argument("read_table", "chunk_rows", chunk_rows, "[1, inf)")
    if format not in (None, *FORMATS):
        formats = ", ".join(map(repr, FORMATS))
        raise InvalidParameterError(
            f"The 'format' parameter of read_table must be one of {formats}. "
            f"Got {format!r} instead."
        )
    if header is not None:
        checks.require_argument("read_table", "header", header, "[1, inf)")
    known = None if encoding is None else check_encoding(encoding)
    text = TextSettings(known, errors, header)
    if source == "-":
        if sys.stdin is None:
            raise StreamError("Standard input is closed: there is nothing to read.")
        return _open_live(sys.stdin.buffer, "standard input", format, chunk_rows, text)
    if isinstance(source, str | os.PathLike):
        return _open_path(existing_path(os.fspath(source)), format, chunk_rows, text)
    name = str(getattr(source, "name", "the stream"))
    return _open_live(source, name, format, chunk_rows, text)


def _open_live(
    file: Any, name: str, format: str | None, chunk_rows: int, text: TextSettings
) -> Table:
    source = ByteSource(file, name)
    if format is None:
        is_object = source.peek().lstrip().startswith(b"{")
        format = "jsonl" if is_object else "csv"
    if not FORMATS[format].has_stream:
        raise StreamError(
            f"{FORMATS[format].title} is read from its end, which {name} does not "
            f"have. Give the path."
        )
    return _open_source(source, format, chunk_rows, text)


def _open_path(
    path: Path, format: str | None, chunk_rows: int, text: TextSettings
) -> Table:
    if path.is_file() and not path.stat().st_size:
        raise StreamError(f"{path.name} is empty.")
    found, compression = _file_format(path, format)
    if FORMATS[found].is_text:
        source = ByteSource(path, path.name, compression)
        return _open_source(source, found, chunk_rows, text)
    if compression:
        raise StreamError(
            f"{path.name} is {found} in {compression}, which is not read. Extract it "
            f"first."
        )
    reader = _open_reader(path, found, chunk_rows, text)
    return Table(path.name, reader, chunk_rows, is_live=False, errors=text.errors)


def _open_source(
    source: ByteSource, format: str, chunk_rows: int, text: TextSettings
) -> Table:
    try:
        reader = _open_reader(source, format, chunk_rows, text)
        return Table(
            source.name, reader, chunk_rows, source.is_live, source, text.errors
        )
    except BaseException:
        source.close()
        raise


def _open_reader(
    source: ByteSource | Path, format: str, chunk_rows: int, text: TextSettings
) -> TableReader:
    # The function is found by its name, open_csv for "csv": see file_formats.py.
    module = f"thalweg.tables.{FORMATS[format].module}"
    open_reader = getattr(import_optional(module, source.name), f"open_{format}")
    reader: TableReader = open_reader(source, chunk_rows, text)
    return reader


def _file_format(path: Path, format: str | None) -> tuple[str, str]:
    """The format of a file, and the suffix of its compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = suffixes.pop() if set(suffixes[-1:]) & set(DECOMPRESSORS) else ""
    if compression == ".zip" and path.is_file():
        suffixes = [suffix.lower() for suffix in name_in_zip(path).suffixes]
    found = format or SUFFIXES.get(suffixes[-1] if suffixes else "")
    if found is None and path.is_file():
        found, compression = _sniff_content(path, compression)
    if found is None:
        raise StreamError(
            f"The format of {path.name} is not clear from its name, nor from its "
            f"content. It may end in {', '.join(SUFFIXES)}; text also in "
            f"{', '.join(DECOMPRESSORS)} after that."
        )
    return found, compression


def _sniff_content(path: Path, compression: str = "") -> tuple[str | None, str]:
    """The format of a file by its content, if any is known, and its compression."""
    with closing(ByteSource(path, path.name, compression)) as source:
        start = source.read()
    if not compression:
        marks = (mark for mark in COMPRESSION_MARKS if start.startswith(mark))
        found = COMPRESSION_MARKS.get(next(marks, b""), "")
        members = members_of_zip(path) if found == ".zip" else []
        for name, row in FORMATS.items():
            if row.member in members or (row.mark and start.startswith(row.mark)):
                return name, ""
        if found:
            return _sniff_content(path, found)
    # UTF-16 has bytes of 0, and a mark before them.
    if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None, compression
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return "json" if text[:1] in (b"{", b"[") else "csv", compression


def _order_note(source: str, time: str) -> str:
    return (
        f"The newest rows of {source} come first, by {time!r}: rows are taken in "
        f"reverse order, oldest first; --time none takes them as they are."
    )


def _refuse_duplicates(names: Sequence[str], source: str) -> None:
    """Raise if two columns have one name."""
    positions: dict[str, int] = {}
    for position, name in enumerate(names):
        earlier = positions.setdefault(name, position)
        if earlier < position:
            raise StreamError(
                f"Columns {earlier + 1} and {position + 1} of {source} are both "
                f"called {name!r}. Rename one of them."
            )
