"""JSON lines, one object a line, and JSON documents.

The first object of JSON lines names the columns; others may lack some.
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
from thalweg.tables.malformed_rows import LineErrors
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


class JsonDocumentReader:
    """The rows of a JSON document, in one chunk.

    It is a list of objects, an object of columns, or one that holds a list. It is read
    as a whole, which takes some times its size in memory.
    """

    def __init__(self, source: ByteSource, text: str) -> None:
        self._name = source.name
        self.fraction = source.fraction
        self.close = source.close
        try:
            document = DECODER.decode(text)
        except (ValueError, RecursionError) as error:
            raise StreamError(f"{source.name} is not JSON: {error}.") from None
        self._cells = _columns(document, source.name)
        self.columns = tuple(self._cells)
        self.rows = len(next(iter(self._cells.values()), ()))

    def chunks(self) -> Iterator[Chunk]:
        """All rows at once."""
        if self.rows:
            cells = {name: PythonCells(column) for name, column in self._cells.items()}
            yield Chunk(self._name, 0, cells).with_sample()

    def notes(self) -> tuple[str, ...]:
        """Nothing had to be guessed."""
        return ()


def open_json(
    source: ByteSource, chunk_rows: int, settings: TextSettings
) -> JsonDocumentReader | JsonLinesReader:
    """The reader of a document, or of JSON lines if the first line is an object."""
    peekable = PeekableSource(source, settings)
    first, *others = [*peekable.complete_lines(2), b"", b""][:2]
    if others[0].lstrip().startswith(b"{") and _is_object(first):
        return JsonLinesReader(source, settings, peekable)
    data = bytearray()
    while more := peekable.read():
        data += more
    text = peekable.encoding.to_utf8(bytes(data)).decode()
    return JsonDocumentReader(source, text)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _columns(document: Any, source: str) -> dict[str, list[Any]]:
    """The columns of a document, in the order in which their names appear."""
    if isinstance(document, dict):
        columns = _object_columns(document)
        if columns is not None:
            return columns
        lists = [value for value in document.values() if _is_records(value)]
        document = lists[0] if len(lists) == 1 else document
    if not _is_records(document):
        raise StreamError(
            f"{source} holds {short_repr(document)}. A list of objects is needed, one "
            f"a row, or an object that has a list of values for each column."
        )
    names = dict.fromkeys(name for row in document for name in row)
    return {name: [row.get(name) for row in document] for name in names}


def _object_columns(document: dict[str, Any]) -> dict[str, list[Any]] | None:
    """Columns by name, as lists or, as pandas writes them, as objects by row."""
    values = [
        list(value.values()) if isinstance(value, dict) else value
        for value in document.values()
    ]
    if not values or not all(isinstance(value, list) for value in values):
        return None
    has_scalars = not any(isinstance(cell, dict | list) for cell in values[0])
    if not has_scalars or len({len(value) for value in values}) > 1:
        return None
    return dict(zip(document, values, strict=True))


def _is_records(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(row, dict) for row in value)
    )
