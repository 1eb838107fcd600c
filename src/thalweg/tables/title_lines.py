"""Title lines: what spreadsheets and reports write above the names of the columns.

The header is the first line that names columns: none of its cells is a number, a time
or missing by a word, more than half of them are filled, the line below has a number or
a time, and the lines below have as many cells. What stands above it is a title if a
blank line comes between, or if each line has fewer cells or leaves at least half of
them blank. Otherwise the first line is the header.
"""

import csv
from collections.abc import Sequence

from thalweg.tables.literals import is_missing, parse_number, parse_time

MAX_TITLE_LINES = 20
"""Lines that may stand above the header."""
LOOK_ROWS = 10
"""Rows below the header that are looked at."""
SHARE_OF_ROWS = 0.75
"""Share of those that must have as many cells as the header."""
Cells = Sequence[str]


def count_title_rows(rows: Sequence[Cells]) -> int | None:
    """How many of the first rows are titles; None if no row names columns."""
    for header in range(min(len(rows), MAX_TITLE_LINES + 1)):
        width = len(rows[header])
        below = [row for row in rows[header + 1 :] if _filled_cells(row)][:LOOK_ROWS]
        above = rows[:header]
        is_apart = header > 0 and not _filled_cells(above[-1])
        are_titles = is_apart or all(_is_title(row, width) for row in above)
        if are_titles and _names_columns(rows[header]) and _are_rows(below, width):
            return header
    return None


def count_title_lines(lines: Sequence[bytes], delimiters: Sequence[str]) -> int:
    """How many of the first lines of delimited text are titles."""
    texts = [line.decode("utf-8", "replace").rstrip("\r") for line in lines]
    open_quotes = (k for k, text in enumerate(texts) if text.count('"') % 2)
    texts = texts[: next(open_quotes, None)]  # From there on a cell has several lines.
    tables = ([_split_line(text, mark) for text in texts] for mark in delimiters)
    counts = [count_title_rows(rows) for rows in tables]
    return min((count for count in counts if count is not None), default=0)


def title_note(source: str, lines: range) -> str:
    """A sentence that says which lines were skipped."""
    first, last = lines[0], lines[-1]
    what = f"Line {first:,}" if first == last else f"Lines {first:,} to {last:,}"
    are = "is" if first == last else "are"
    return (
        f"{what} of {source} {are} taken as a title and skipped: line "
        f"{last + 1:,} names the columns; --header {first} takes line {first} for that."
    )


def _split_line(text: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:  # A cell is too long, most often for want of its delimiter.
        return [text]


def _names_columns(cells: Cells) -> bool:
    filled = _filled_cells(cells)
    is_wide = len(cells) > 1 and 2 * len(filled) > len(cells)
    return is_wide and not any(_is_value(cell) or is_missing(cell) for cell in filled)


def _are_rows(rows: Sequence[Cells], width: int) -> bool:
    """Whether rows have ``width`` cells, and the first one a number or a time."""
    if not rows or len(rows[0]) != width or not any(map(_is_value, rows[0])):
        return False
    return sum(len(row) == width for row in rows) >= SHARE_OF_ROWS * len(rows)


def _is_title(cells: Cells, width: int) -> bool:
    """Whether a line above a header of ``width`` cells is no row of a table."""
    return len(cells) < width or 2 * len(_filled_cells(cells)) <= width


def _filled_cells(cells: Cells) -> list[str]:
    return [cell for cell in cells if cell.strip()]


def _is_value(cell: str) -> bool:
    if is_missing(cell):
        return False
    return parse_number(cell) is not None or parse_time(cell) is not None
