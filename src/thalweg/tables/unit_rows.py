"""Rows of text between the header of a file and its values: units, most often.

Such as ``,kW,°C`` below ``time,load,temperature``. The first rows are no values if none
of their cells is a number or a time, and if each column that has text there has numbers
or times alone in the rows that may be looked at after them.
"""

from dataclasses import replace

from thalweg.tables.cells import CellError, Cells
from thalweg.tables.chunk import Chunk, short_repr
from thalweg.tables.format_detection import ColumnSample, holds_values
from thalweg.tables.literals import may_be_value

MAX_UNIT_ROWS = 3
"""Rows that may stand between the header and the values."""
MIN_VALUE_ROWS = 2
"""Rows of values that must follow, for the rows above to be none."""
_MAX_TEXTS_IN_NOTE = 3


def without_unit_rows(chunk: Chunk) -> tuple[Chunk, str | None]:
    """The first chunk of a file without its rows of units, and a note about them."""
    count = _count_unit_rows(chunk)
    if not count:
        return chunk, None
    rest = chunk.slice_rows(count, len(chunk))
    rest = replace(rest, first_row=chunk.first_row).with_sample()
    return rest, _note(chunk, count)


def _count_unit_rows(chunk: Chunk) -> int:
    """How many of the first rows are no values; 0 where values begin at once."""
    rows = chunk.sample or {}
    texts: dict[str, Cells] = {}  # the columns with text so far
    for count in range(1, MAX_UNIT_ROWS + 1):
        if len(chunk) < count + MIN_VALUE_ROWS:
            return 0
        for name, cells in rows.items():
            text = _text(cells, count - 1)
            if text is not None and may_be_value(text):
                return 0
            if text is not None:
                texts[name] = cells
        if texts and all(_holds_values(*item, count) for item in texts.items()):
            return count
    return 0


def _holds_values(name: str, cells: Cells, start: int) -> bool:
    return holds_values(ColumnSample(name, cells.slice_rows(start, len(cells))))


def _text(cells: Cells, row: int) -> str | None:
    """A cell as text; None where it is missing."""
    try:
        column = cells.slice_rows(row, row + 1).categories()
    except CellError:  # a list, say
        return "0"
    return column.levels[0] if column.levels else None


def _note(chunk: Chunk, count: int) -> str:
    """A sentence that says which rows were passed over."""
    rows = [_text(cells, row) for row in range(count) for cells in chunk.cells.values()]
    texts = [text for text in rows if text is not None]
    shown = ", ".join(map(short_repr, texts[:_MAX_TEXTS_IN_NOTE]))
    more = ", ..." if len(texts) > _MAX_TEXTS_IN_NOTE else ""
    lines = [chunk.line_of(row) for row in range(count)] if chunk.line_of else []
    is_one = count == 1
    what = "The first row" if is_one else f"The first {count} rows"
    where = f" (line {lines[0]:,})" if lines and is_one else ""
    where = where or (f" (lines {lines[0]:,} to {lines[-1]:,})" if lines else "")
    return (
        f"{what}{where} of {chunk.source} {'is' if is_one else 'are'} passed over: "
        f"text such as units ({shown}{more}) above columns of numbers and times."
    )
