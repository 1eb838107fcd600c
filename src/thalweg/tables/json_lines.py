"""JSON lines: one object a line. The first names the columns; others may lack some.

``listed`` defines what a block of text means. ``arrow_json`` is faster on large blocks,
is held to it by tests, and leaves to it whatever is unusual about a block.
"""

import json
from collections.abc import Iterator
from typing import Any

from thalweg.errors import StreamError
from thalweg.tables.cells import ListedCells
from thalweg.tables.chunk import Chunk, shown
from thalweg.tables.optional import arrow, is_worth_arrow
from thalweg.tables.records import Block, Pieces, complete_lines
from thalweg.tables.sources import Source
from thalweg.tables.text import TextReader

# All numbers are floats to us. As an int, -0 would lose its sign.
_DECODER = json.JSONDecoder(parse_int=float, strict=False)


class JsonLines(TextReader):
    """JSON lines; the keys of the first object are the columns."""

    def __init__(self, source: Source) -> None:
        super().__init__(source, Pieces(source), complete_lines)

    def _open(self, first: Block) -> Block:
        _, self._example = next(_objects(first))
        if not self._example:
            raise StreamError(f"The first object of {first.source} has no keys.")
        self.columns = tuple(self._example)
        return first

    def _chunk(self, block: Block, first_row: int) -> Chunk | None:
        if is_worth_arrow(block.data):
            chunk = fast(block, self._example, first_row)
            if chunk is not None:
                return chunk
        return listed(block, self.columns, first_row)


def fast(block: Block, example: dict[str, Any], first_row: int) -> Chunk | None:
    """The rows of a block by pyarrow; None if anything about it is unusual."""
    block.text()  # pyarrow does not look whether it is UTF-8
    by_arrow = arrow("thalweg.tables.arrow_json", "JSON")
    columns = by_arrow.columns(block.data, example)
    if columns is None:
        return None
    return Chunk(block.source, first_row, columns, lambda i: block.line + i)


def listed(block: Block, names: tuple[str, ...], first_row: int) -> Chunk | None:
    """The rows of a block by the standard library; None if it has none."""
    numbered = list(_objects(block))
    if not numbered:
        return None
    lines, rows = zip(*numbered, strict=True)
    cells = {name: ListedCells([found.get(name) for found in rows]) for name in names}
    return Chunk(block.source, first_row, cells, lines.__getitem__)


def _objects(block: Block) -> Iterator[tuple[int, dict[str, Any]]]:
    """The object on each line that is not blank, and its line."""
    for line, text in enumerate(block.text().split("\n"), block.line):
        if not text.strip():
            continue
        try:
            found = _DECODER.decode(text)
        except ValueError as error:
            raise StreamError(
                f"Line {line:,} of {block.source} is not JSON: {error}."
            ) from None
        if not isinstance(found, dict):
            raise StreamError(
                f"Line {line:,} of {block.source} is {shown(found)}. "
                f"Every line must be a JSON object."
            )
        yield line, found
