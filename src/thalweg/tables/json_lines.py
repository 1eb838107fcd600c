"""JSON lines: one object a line. The first names the columns; others may lack some.

``read_block_by_json_module`` defines what a block of text means.
``read_block_by_pyarrow`` is several times as fast on large blocks; tests compare the
two, and whatever is unusual about a block is left to the first.
"""

import json
from collections.abc import Iterator
from typing import Any

from thalweg.errors import StreamError
from thalweg.tables.cells import PythonCells
from thalweg.tables.chunk import Chunk, short_repr
from thalweg.tables.line_errors import LineErrors
from thalweg.tables.optional_packages import import_optional, is_worth_pyarrow
from thalweg.tables.records import (
    PeekableSource,
    RecordBlock,
    TextReader,
    last_line_end,
)
from thalweg.tables.sources import ByteSource
from thalweg.tables.text_encoding import PLAIN_TEXT, TextSettings

# Every number is read as a float. As an int, -0 would lose its sign.
DECODER = json.JSONDecoder(parse_int=float, strict=False)


class JsonLinesReader(TextReader):
    """JSON lines; the keys of the first object are the columns."""

    def __init__(
        self, source: ByteSource, settings: TextSettings = PLAIN_TEXT,
        peekable: PeekableSource | None = None,
    ) -> None:  # fmt: skip
        peekable = peekable or PeekableSource(source, settings)
        super().__init__(peekable, last_line_end, settings)

    def _read_columns(self, first: RecordBlock) -> RecordBlock:
        _, self._first_object = next(_objects(first))
        if not self._first_object:
            raise StreamError(f"The first object of {first.source} has no keys.")
        self.columns = tuple(self._first_object)
        return first

    def _read_block(self, block: RecordBlock, first_row: int) -> Chunk | None:
        if is_worth_pyarrow(block.data):
            chunk = read_block_by_pyarrow(block, self._first_object, first_row)
            if chunk is not None:
                return chunk
        return read_block_by_json_module(block, self.columns, first_row, self._errors)


def open_jsonl(
    source: ByteSource, chunk_rows: int, text: TextSettings
) -> JsonLinesReader:
    """The reader of JSON lines."""
    return JsonLinesReader(source, text)


def read_block_by_json_module(
    block: RecordBlock,
    names: tuple[str, ...],
    first_row: int,
    errors: LineErrors | None = None,
) -> Chunk | None:
    """The rows of a block; None if it has none.

    A line that is no object goes to ``errors``, or is refused.
    """
    numbered = list(_objects(block, errors))
    if not numbered:
        return None
    lines, rows = zip(*numbered, strict=True)
    cells = {name: PythonCells([row.get(name) for row in rows]) for name in names}
    return Chunk(block.source, first_row, cells, lines.__getitem__)


def read_block_by_pyarrow(
    block: RecordBlock, first_object: dict[str, Any], first_row: int
) -> Chunk | None:
    """The rows of a block; None if anything about it is unusual.

    The columns have the types of the file's first object.
    """
    block.text()  # pyarrow does not check that it is UTF-8.
    pa = import_optional("pyarrow", "JSON")
    arrow_json = import_optional("pyarrow.json", "JSON")
    arrow_cells = import_optional("thalweg.tables.arrow_cells", "JSON")
    arrow_types = {
        str: pa.string(),
        bool: pa.bool_(),
        float: pa.float64(),
        type(None): pa.float64(),
    }
    types = {name: arrow_types.get(type(cell)) for name, cell in first_object.items()}
    if None in types.values():
        return None
    try:
        table = arrow_json.read_json(
            pa.BufferReader(block.data),
            arrow_json.ReadOptions(block_size=len(block.data) + 1),
            arrow_json.ParseOptions(
                explicit_schema=pa.schema(types.items()),
                unexpected_field_behavior="ignore",
            ),
        )
    except pa.ArrowInvalid:
        return None
    # Blank lines, several objects in a line, an object in several: pyarrow takes all.
    if len(table) != block.data.count(b"\n"):
        return None
    columns = {
        name: arrow_cells.ArrowCells(
            table[name].combine_chunks(), kind_if_missing="number"
        )
        for name in types
    }
    return Chunk(block.source, first_row, columns, lambda i: block.line + i)


def _objects(
    block: RecordBlock, errors: LineErrors | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The object on each line that is not blank, and its line."""
    for line, text in enumerate(block.text().split("\n"), block.line):
        if not text.strip():
            continue
        where = f"ine {line:,} of {block.source} is"
        try:
            value = DECODER.decode(text)
        except (ValueError, RecursionError) as error:
            value, wrong = None, f"{where} not JSON: {error}."
        else:
            wrong = f"{where} {short_repr(value)}. Every line must be a JSON object."
        if isinstance(value, dict):
            yield line, value
        elif errors is None:
            raise StreamError(f"L{wrong}")
        else:
            errors.add(f"l{wrong}")
