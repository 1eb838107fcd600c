"""CSV and TSV: a header, then one record a row.

``listed`` defines what a block of text means. ``arrow_csv`` is faster on large blocks,
is held to it by tests, and leaves to it whatever is wrong with a block.
"""

import csv
import io
import re
from collections.abc import Iterator
from math import isfinite, nan
from typing import NamedTuple

from thalweg.errors import StreamError
from thalweg.tables import literals
from thalweg.tables.cells import ListedCells
from thalweg.tables.chunk import Chunk
from thalweg.tables.names import unnamed
from thalweg.tables.optional import arrow, is_worth_arrow
from thalweg.tables.records import (
    Block,
    Pieces,
    complete_records,
    line_ends,
    record,
)
from thalweg.tables.sources import Source
from thalweg.tables.text import TextReader

DELIMITERS = (",", ";", "\t", "|")
_QUOTED = re.compile(rb'"[^"]*"')


class DelimitedText(TextReader):
    """Delimited text with a header."""

    def __init__(self, source: Source, delimiter: str | None = None) -> None:
        pieces = Pieces(source)
        self.delimiter = delimiter or _delimiter(pieces.first_line())
        super().__init__(source, pieces, complete_records(self.delimiter))

    def _open(self, first: Block) -> Block:
        self.columns, left = _split_header(first, self.delimiter)
        return left

    def _chunk(self, block: Block, first_row: int) -> Chunk | None:
        layout = Layout(self.columns, self.delimiter)
        if is_worth_arrow(block.data):
            chunk = fast(block, layout, first_row)
            if chunk is not None:
                return chunk
        return listed(block, layout, first_row)


class Layout(NamedTuple):
    """How delimited text is written."""

    names: tuple[str, ...]
    delimiter: str


def fast(block: Block, layout: Layout, first_row: int) -> Chunk | None:
    """The rows of a block by pyarrow; None if anything about it is unusual."""
    by_arrow = arrow("thalweg.tables.arrow_csv", "CSV")
    columns = by_arrow.columns(block.data, *layout)
    if columns is None:
        return None
    return Chunk(block.source, first_row, columns, lambda i: _line(block, layout, i))


def listed(block: Block, layout: Layout, first_row: int) -> Chunk | None:
    """The rows of a block by the standard library; None if it has none."""
    lines: list[int] = []
    rows: list[list[str]] = []
    for line, cells in _records(block, layout.delimiter):
        if len(cells) != len(layout.names):
            raise StreamError(
                f"Row {first_row + len(rows) + 1:,} (line {line:,}) of {block.source} "
                f"has {_cells(len(cells))}, and the header has {len(layout.names)}."
            )
        lines.append(line)
        rows.append(cells)
    if not rows:
        return None
    columns = zip(layout.names, zip(*rows, strict=True), strict=True)
    return Chunk(
        block.source,
        first_row,
        {name: ListedCells(column) for name, column in columns},
        lines.__getitem__,
    )


def _records(block: Block, delimiter: str) -> Iterator[tuple[int, list[str]]]:
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


def _line(block: Block, layout: Layout, position: int) -> int:
    """The line of a row that pyarrow has read, found only when it is asked for."""
    for row, (line, _) in enumerate(_records(block, layout.delimiter)):
        if row == position:
            return line
    raise IndexError(position)


def _delimiter(header: bytes) -> str:
    """The first of ``DELIMITERS`` in the header outside quotes; a comma if none is."""
    plain = _QUOTED.sub(b"", header)
    return next((mark for mark in DELIMITERS if mark.encode() in plain), ",")


def _split_header(block: Block, delimiter: str) -> tuple[tuple[str, ...], Block]:
    """The names in the first record, and the block that is left without it."""
    found = record(delimiter).match(block.data)
    assert found is not None  # there are no blocks without a record
    header = Block(found.group(), block.line, block.offset, block.source)
    line, cells = next(_records(header, delimiter))
    names = tuple(name.strip() or unnamed(i) for i, name in enumerate(cells))
    if all(isfinite(_number(name)) for name in names):
        raise StreamError(
            f"Line {line:,} of {block.source} holds numbers only. It must be a header "
            f"that names the columns."
        )
    left, line = block.data[found.end() :], line + line_ends(header.data)
    return names, Block(left, line, block.offset + found.end(), block.source)


def _number(name: str) -> float:
    found = literals.number(name)
    return nan if found is None else found


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"
