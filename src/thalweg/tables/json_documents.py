"""JSON documents: a list of objects, an object of columns, or one that holds a list.

A document is read as a whole, which takes some times its size in memory; JSON lines are
not, and a file that ends in .json may hold them as well.
"""

import json
from collections.abc import Iterator
from typing import Any

from thalweg.errors import StreamError
from thalweg.tables.cells import PythonCells
from thalweg.tables.chunk import Chunk, short_repr
from thalweg.tables.json_lines import DECODER, JsonLinesReader
from thalweg.tables.records import PeekableSource
from thalweg.tables.sources import ByteSource
from thalweg.tables.text_encoding import TextSettings


class JsonDocumentReader:
    """The rows of a JSON document, in one chunk."""

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
