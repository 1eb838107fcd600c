"""Workbooks of spreadsheets (.xlsx) by openpyxl, which is imported only here.

The first sheet is read: its first row that is neither empty nor a title names the
columns, and every later one that is not empty is a row. Times are those that the
workbook has.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from thalweg.errors import StreamError
from thalweg.tables.cells import PythonCells
from thalweg.tables.chunk import Chunk
from thalweg.tables.text_encoding import TextSettings
from thalweg.tables.title_lines import (
    LOOK_ROWS,
    MAX_TITLE_LINES,
    count_title_rows,
    title_note,
)

BATCH_ROWS = 10_000
_READ_ERRORS = (
    BadZipFile, InvalidFileException, OSError, KeyError, ValueError, SyntaxError,
)  # fmt: skip
"""What openpyxl raises of a file that is no workbook."""


class XlsxReader:
    """The first sheet of a workbook: its columns and its chunks."""

    rows = None  # A sheet may claim rows that are empty.

    def __init__(self, path: Path, header: int | None = None) -> None:
        self._name = path.name
        # By its path openpyxl would refuse a name without a suffix.
        self._file = path.open("rb")
        try:
            self._workbook = load_workbook(self._file, read_only=True, data_only=True)
            self._sheets = self._workbook.sheetnames
            sheet = self._workbook.worksheets[0]
        except _READ_ERRORS as error:
            self._file.close()
            raise _read_error(path.name, error) from None
        records = _records(sheet, path.name)
        self._titles = range(0)  # rows above the header
        if header is None:
            first = list(islice(records, MAX_TITLE_LINES + LOOK_ROWS + 1))
            count = count_title_rows(_texts(first)) or 0
            if count:
                self._titles = range(first[0][0], first[count][0])
            records = chain(first[count:], records)
        else:
            records = (record for record in records if record[0] >= header)
        _, names = next(records, (0, ()))
        while names and names[-1] is None:
            names = names[:-1]
        self._records = records
        self.columns = tuple(
            f"column {i + 1}" if name is None else str(name).strip()
            for i, name in enumerate(names)
        )

    def chunks(self) -> Iterator[Chunk]:
        """The rows, some thousands at a time."""
        first_row, width = 0, len(self.columns)
        while batch := list(islice(self._records, BATCH_ROWS)):
            lines = [line for line, _ in batch]
            rows = [(*cells, *[None] * width)[:width] for _, cells in batch]
            columns = zip(self.columns, zip(*rows, strict=True), strict=True)
            cells = {name: PythonCells(column) for name, column in columns}
            chunk = Chunk(self._name, first_row, cells, lines.__getitem__)
            yield chunk if first_row else chunk.with_sample()
            first_row += len(batch)

    def notes(self) -> tuple[str, ...]:
        """Sentences if there are titles or other sheets."""
        titles = (title_note(self._name, self._titles),) if self._titles else ()
        if len(self._sheets) < 2:
            return titles
        others = len(self._sheets) - 1
        return (
            *titles,
            f"The sheet {self._sheets[0]!r} of {self._name} is read; "
            f"{others} other{'s are' if others > 1 else ' is'} not.",
        )

    def fraction(self) -> float | None:
        """Nobody knows how much has been read."""
        return None

    def close(self) -> None:
        """Close the file."""
        self._workbook.close()
        self._file.close()


def open_xlsx(path: Path, chunk_rows: int, text: TextSettings) -> XlsxReader:
    """The reader of a workbook."""
    return XlsxReader(path, text.header)


def _texts(records: Sequence[tuple[int, tuple[Any, ...]]]) -> list[list[str]]:
    """Rows as text, without columns that are empty in all of them."""
    rows = [["" if c is None else str(c) for c in cells] for _, cells in records]
    width = max((k + 1 for row in rows for k, c in enumerate(row) if c), default=0)
    return [row[:width] for row in rows]


def _records(sheet: Any, name: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Every row that is not empty, and its line in the sheet."""
    try:
        for line, cells in enumerate(sheet.iter_rows(values_only=True), 1):
            if any(cell is not None for cell in cells):
                yield line, tuple(map(_value, cells))
    except _READ_ERRORS as error:
        raise _read_error(name, error) from None


def _value(cell: Any) -> Any:
    """A cell as other readers give it: times as ISO text."""
    if isinstance(cell, datetime | date):
        return cell.isoformat()
    is_plain = cell is None or isinstance(cell, str | float | int)
    return cell if is_plain else str(cell)


def _read_error(name: str, error: Exception) -> StreamError:
    reason = str(error).split("\n")[0].rstrip(".") or type(error).__name__
    return StreamError(f"{name} cannot be read as a workbook: {reason}.")
