"""Tables: ``read_table`` opens a file of any of the formats, or standard input."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, Self

from thalweg import checks
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.tables.chunk import Chunk, FoundColumns
from thalweg.tables.csv_files import CsvReader
from thalweg.tables.file_formats import FORMATS, Format, file_format
from thalweg.tables.json_documents import open_json
from thalweg.tables.json_lines import JsonLinesReader
from thalweg.tables.line_errors import LineErrors
from thalweg.tables.optional_pyarrow import import_pyarrow
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
from thalweg.tables.sources import ByteSource, existing_path
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
    source: Any, *, format: Format | None = None, chunk_rows: int = 65_536,
    encoding: str | None = None, errors: LineErrors | None = None,
    header: int | None = None,
) -> Table:  # fmt: skip
    """Open a table: ``source`` is a path, ``"-"`` for standard input, or a file object.

    The file's name decides the format: .csv, .txt, .tsv, .jsonl, .ndjson, .json, .xlsx,
    .parquet, .feather, .arrow or .ipc, and text also with .gz, .bz2, .xz, .zst or .zip
    after it; where it does not, ``format`` or the content does. Standard input is CSV,
    or JSON lines if it begins with a brace, unless ``format`` says otherwise. CSV may
    be separated by commas, semicolons, tabs or bars. ``header`` is the line of CSV, or
    the row of a workbook, that names the columns; if it is not given, titles above that
    are found. Text is UTF-8, UTF-16 with a mark, or Windows-1252, unless ``encoding``
    says otherwise. Malformed lines are refused, or go to ``errors`` and are passed
    over.

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
    file: Any, name: str, format: Format | None, chunk_rows: int, text: TextSettings
) -> Table:
    if format == "arrow":
        arrow_files = import_pyarrow("thalweg.tables.arrow_files", "an Arrow stream")
        reader = arrow_files.open_arrow_stream(file, name)
        return Table(name, reader, chunk_rows, is_live=True, errors=text.errors)
    if format in FILE_READERS:
        kind = {"parquet": "Parquet", "xlsx": "A workbook"}.get(format, format)
        raise StreamError(
            f"{kind} is read from its end, which {name} does not have. Give the path."
        )
    source = ByteSource(file, name)
    if format is None:
        is_object = source.peek().lstrip().startswith(b"{")
        format = "jsonl" if is_object else "csv"
    return _open_text(source, format, chunk_rows, text)


def _open_path(
    path: Path, format: Format | None, chunk_rows: int, text: TextSettings
) -> Table:
    if path.is_file() and not path.stat().st_size:
        raise StreamError(f"{path.name} is empty.")
    found, compression = file_format(path, format)
    if found in TEXT_READERS:
        source = ByteSource(path, path.name, compression)
        return _open_text(source, found, chunk_rows, text)
    if compression:
        raise StreamError(
            f"{path.name} is {found} in {compression}, which is not read. Extract it "
            f"first."
        )
    reader = FILE_READERS[found](path, chunk_rows, text)
    return Table(path.name, reader, chunk_rows, is_live=False, errors=text.errors)


def _open_text(
    source: ByteSource, format: Format, chunk_rows: int, text: TextSettings
) -> Table:
    try:
        reader = TEXT_READERS[format](source, text)
        return Table(
            source.name, reader, chunk_rows, source.is_live, source, text.errors
        )
    except BaseException:
        source.close()
        raise


def _open_tsv(source: ByteSource, text: TextSettings) -> TableReader:
    return CsvReader(source, "\t", text)


def _open_csv(source: ByteSource, text: TextSettings) -> TableReader:
    return CsvReader(source, None, text)


def _open_xlsx(path: Path, chunk_rows: int, text: TextSettings) -> TableReader:
    xlsx_files = import_pyarrow("thalweg.tables.xlsx_files", path.name)
    reader: TableReader = xlsx_files.XlsxReader(path, text.header)
    return reader


def _open_parquet(path: Path, chunk_rows: int, text: TextSettings) -> TableReader:
    arrow_files = import_pyarrow("thalweg.tables.arrow_files", path.name)
    reader: TableReader = arrow_files.open_parquet(path, chunk_rows)
    return reader


def _open_arrow(path: Path, chunk_rows: int, text: TextSettings) -> TableReader:
    arrow_files = import_pyarrow("thalweg.tables.arrow_files", path.name)
    reader: TableReader = arrow_files.open_arrow(path)
    return reader


TEXT_READERS: dict[Format, Callable[[ByteSource, TextSettings], TableReader]] = {
    "csv": _open_csv, "tsv": _open_tsv, "jsonl": JsonLinesReader, "json": open_json,
}  # fmt: skip
"""Formats of text, which may be compressed or come from a pipe."""
FILE_READERS: dict[Format, Callable[[Path, int, TextSettings], TableReader]] = {
    "xlsx": _open_xlsx, "parquet": _open_parquet, "arrow": _open_arrow,
}  # fmt: skip
"""Formats that are read from a file by its path."""


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
