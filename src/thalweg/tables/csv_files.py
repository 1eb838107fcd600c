"""CSV and TSV, that is delimited text: a header, then one record a row.

``read_block_by_csv_module`` defines what a block of text means.
``read_block_by_pyarrow`` is faster on large blocks, at some 300 MB a second; tests
compare the two, and whatever is unusual about a block is left to the first.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, NamedTuple

from thalweg.errors import StreamError
from thalweg.tables.cells import Cells, PythonCells
from thalweg.tables.chunk import Chunk
from thalweg.tables.literals import MISSING, parse_number, parse_time
from thalweg.tables.malformed_rows import HEADER_HINT, SKIP_HINT, LineErrors
from thalweg.tables.optional_packages import import_optional, is_worth_pyarrow
from thalweg.tables.records import (
    PeekableSource,
    RecordBlock,
    TextReader,
    count_line_ends,
    csv_record_end,
    csv_record_pattern,
)
from thalweg.tables.sources import ByteSource
from thalweg.tables.text_encoding import PLAIN_TEXT, TextSettings
from thalweg.tables.title_lines import (
    LOOK_ROWS,
    MAX_TITLE_LINES,
    count_title_lines,
    title_note,
)

DELIMITERS = (",", ";", "\t", "|")
LOOK_LINES = 10
"""Lines after the header that are looked at."""
_QUOTED = re.compile(rb'"[^"]*"')


def sniff_delimiter(header: bytes, rows: Sequence[bytes] = ()) -> str:
    """The most likely of ``DELIMITERS``; a comma if the header has none of them.

    Of a pipe the header decides: the mark that occurs most often in it, outside quotes.
    Of a file the next lines are looked at as well, and a mark that gives each of them
    as many cells as the header comes first: in ``Date;Power (kW, net)`` and
    ``1.8.2019;1,5`` that is the semicolon, with which a decimal comma is no separator.
    """
    names = _QUOTED.sub(b"", header)
    lines = [_QUOTED.sub(b"", row) for row in rows if row.strip()]
    marks = [mark for mark in DELIMITERS if mark.encode() in names]

    def fit(mark: str) -> tuple[bool, int, bool]:
        count = names.count(mark.encode())
        fits = bool(lines) and all(line.count(mark.encode()) == count for line in lines)
        # Of two that fit alike, the comma is more often a part of a name or a number.
        return fits, count, fits and mark != ","

    return max(marks, key=fit, default=",")


COMMENT = b"#"
_NULLS = sorted(
    {
        change_case(text)
        for text in MISSING
        for change_case in (str, str.upper, str.title)
    }
)
"""Common ways to write a missing value, which pyarrow recognises as it parses; other
ways are recognised when their column is read."""


class CsvHeader(NamedTuple):
    """The names of the columns, and what separates their cells."""

    names: tuple[str, ...]
    delimiter: str


class CsvReader(TextReader):
    """Delimited text with a header."""

    def __init__(
        self, source: ByteSource, delimiter: str | None = None,
        settings: TextSettings = PLAIN_TEXT,
    ) -> None:  # fmt: skip
        peekable = PeekableSource(source, settings, COMMENT)
        self._titles = range(0)  # lines above the header
        if settings.header is None and not source.is_live:
            first_lines = peekable.complete_lines(MAX_TITLE_LINES + LOOK_ROWS + 1)
            marks = DELIMITERS if delimiter is None else (delimiter,)
            count = count_title_lines(first_lines, marks)
            self._titles = peekable.skip_lines(count)
        # Lines of a pipe after the first may have arrived or not.
        lines = [] if source.is_live else peekable.complete_lines(LOOK_LINES + 1)[1:]
        header = peekable.first_line()
        self.delimiter = delimiter or sniff_delimiter(header, lines)
        self._comment = peekable.last_comment
        super().__init__(peekable, csv_record_end(self.delimiter), settings)

    def notes(self) -> tuple[str, ...]:
        """Sentences about how the text was read."""
        titles = (title_note(self._name, self._titles),) if self._titles else ()
        return (*titles, *super().notes())

    def _read_columns(self, first: RecordBlock) -> RecordBlock:
        self.columns, rows = _split_header(first, self.delimiter, self._comment)
        return rows

    def _read_block(self, block: RecordBlock, first_row: int) -> Chunk | None:
        header = CsvHeader(self.columns, self.delimiter)
        if is_worth_pyarrow(block.data):
            chunk = read_block_by_pyarrow(block, header, first_row)
            if chunk is not None:
                return chunk
        return read_block_by_csv_module(block, header, first_row, self._errors)


def open_csv(source: ByteSource, chunk_rows: int, text: TextSettings) -> CsvReader:
    """The reader of text with any of the delimiters."""
    return CsvReader(source, None, text)


def open_tsv(source: ByteSource, chunk_rows: int, text: TextSettings) -> CsvReader:
    """The reader of text with tabs."""
    return CsvReader(source, "\t", text)


def read_block_by_csv_module(
    block: RecordBlock,
    header: CsvHeader,
    first_row: int,
    errors: LineErrors | None = None,
) -> Chunk | None:
    """The rows of a block; None if it has none.

    A row with more or fewer cells than the header goes to ``errors``, or is refused.
    """
    lines: list[int] = []
    rows: list[list[str]] = []
    for line, cells in _records(block, header.delimiter):
        if len(cells) != len(header.names):
            count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
            rule = f"has {count}, and the header has {len(header.names)}."
            if errors is not None:
                errors.add(f"line {line:,} of {block.source} {rule}")
                continue
            row = first_row + len(rows) + 1
            raise StreamError(
                f"Row {row:,} (line {line:,}) of {block.source} {rule} "
                f"{HEADER_HINT if row == 1 < len(cells) else SKIP_HINT}"
            )
        lines.append(line)
        rows.append(cells)
    if not rows:
        return None
    columns: dict[str, Cells] = {
        name: PythonCells(cells)
        for name, cells in zip(header.names, zip(*rows, strict=True), strict=True)
    }
    return Chunk(block.source, first_row, columns, lines.__getitem__)


def read_block_by_pyarrow(
    block: RecordBlock, header: CsvHeader, first_row: int
) -> Chunk | None:
    """The rows of a block; None if anything about it is unusual.

    All columns are read as text: what a cell means is decided by ``literals``, when
    someone reads the column.
    """
    pa = import_optional("pyarrow", "CSV")
    arrow_csv = import_optional("pyarrow.csv", "CSV")
    arrow_cells = import_optional("thalweg.tables.arrow_cells", "CSV")
    names = header.names
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(block.data),
            arrow_csv.ReadOptions(
                column_names=list(names), block_size=len(block.data) + 1
            ),
            arrow_csv.ParseOptions(delimiter=header.delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=_NULLS,
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid:  # a ragged row, or not UTF-8
        return None
    if not len(table):
        return None
    columns = {
        name: arrow_cells.ArrowCells(_as_array(table[name]), kind_if_missing="number")
        for name in names
    }
    return Chunk(block.source, first_row, columns, lambda i: _line(block, header, i))


def _as_array(column: Any) -> Any:
    """A column as one array; pyarrow makes one piece of a block, or none."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _records(block: RecordBlock, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Every record that is not a blank line, and the line on which it begins."""
    reader = csv.reader(io.StringIO(block.text(), newline=""), delimiter=delimiter)
    line = block.line
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = block.line + reader.line_num
    except csv.Error as error:
        raise StreamError(
            f"Line {line:,} of {block.source} cannot be read: {error}."
        ) from None


def _line(block: RecordBlock, header: CsvHeader, position: int) -> int:
    """The line of a row that pyarrow has read; only messages ask for it."""
    for row, (line, _) in enumerate(_records(block, header.delimiter)):
        if row == position:
            return line
    raise IndexError(position)


def _split_header(
    block: RecordBlock, delimiter: str, comment: bytes
) -> tuple[tuple[str, ...], RecordBlock]:
    """The names in the first record, and the block of the records after it.

    Where the first record is no header, the comment before it may be one.
    """
    match = csv_record_pattern(delimiter).match(block.data)
    assert match is not None  # there are no blocks without a record
    header = RecordBlock(match.group(), block.line, block.offset, block.source)
    line, cells = next(_records(header, delimiter))
    if comment and all(_is_value(cell) for cell in cells):
        above = RecordBlock(comment + b"\n", line - 1, 0, block.source)
        names = _names(next(_records(above, delimiter))[1])
        if len(names) == len(cells):
            return names, block
    names = _names(cells)
    if all(_is_finite_number(name) for name in names):
        raise StreamError(
            f"Line {line:,} of {block.source} holds numbers only. It must be a header "
            f"that names the columns."
        )
    rest, line = block.data[match.end() :], line + count_line_ends(header.data)
    return names, RecordBlock(rest, line, block.offset + match.end(), block.source)


def _names(cells: list[str]) -> tuple[str, ...]:
    return tuple(name.strip() or f"column {i + 1}" for i, name in enumerate(cells))


def _is_value(cell: str) -> bool:
    """Whether a cell holds a number or a time, or is missing."""
    return parse_number(cell) is not None or parse_time(cell) is not None


def _is_finite_number(name: str) -> bool:
    number = parse_number(name)
    return number is not None and isfinite(number)
