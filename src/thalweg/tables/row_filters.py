"""Rows of a file that are no rows of its table, and are left out with a note.

- **Units**: first rows below the header such as ``,kW,°C``. None of their cells is a
  number or a time, and each column that has text there has numbers or times alone in
  the rows that may be looked at after them.
- **Ends**: rows at the end without any value; those that say ``Total``, ``Summe``,
  ``Average`` or the like where the rows before have times or numbers, or in any column
  if they have no time and the rows before have; and those with text in the first column
  alone, where the rows before have times or numbers: a footnote, such as the source of
  a table. Only the end of a file tells, so that such rows wait until then.
- **Subtotals**: rows between others, such as the total of each year, which have no
  time. They are looked for in columns whose first rows are times but for some cells
  that say ``Total 2023`` or the like.
- **Blank rows** between others, where rows have times: whoever wants them asked for no
  such filter. Where no column holds times, they are missing values of an even series.

The same rows are left out however a file is cut into chunks.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from thalweg.errors import InvalidParameterError, StreamError
from thalweg.tables.cell_formats import (
    ColumnSample,
    FormatSettings,
    detect_formats,
    holds_values,
)
from thalweg.tables.cells import Categorical, CellError, Cells
from thalweg.tables.chunk import Chunk, first_rows, short_repr
from thalweg.tables.date_detection import find_date_order
from thalweg.tables.literals import may_be_value

MAX_UNIT_ROWS = 3
"""Limit of the rows between the header and the values."""
MIN_VALUE_ROWS = 2
"""Minimum rows of values that follow rows of units."""
MAX_SUMMARY_ROWS = 10
"""Limit of the totals and means at the end; where more rows say so, all are kept."""
MAX_SUBTOTALS = 1 / 3
"""Share of the first rows that may be totals: those of every quarter are a quarter."""
MIN_TIMES = 6
"""Minimum of different times among the first rows of a column with subtotals."""
MAX_REVERSED_CELLS = 20_000_000
"""Limit of the cells of a file that is reversed: about 1.5 GB, where they are text."""
_SUMMARY = re.compile(
    r"(?:(?:grand |sub[- ]?|net |yearly |monthly )?totals?|total(?:e|es|i|en)|totaal"
    r"|sums?|summen?|(?:gesamt|zwischen|jahres|monats)-?summe|gesamt|insgesamt|summa"
    r"|suma|somme|soma|ensemble|average|avg|mean|median|mittel|mittelwert|durchschnitt"
    r"|moyenne|media|promedio|gemiddelde|min|max|minimum|maximum|count|anzahl)"
    r"(?:[\s:.,(*=-].{0,40})?",
    re.IGNORECASE,
)
"""Words of summaries in several languages, and what may follow: Total for 2024."""
_LOOK_ROWS = 16
"""Number of rows at the end of a chunk that are looked at first; more where all are
summaries."""
_MAX_TEXTS_IN_NOTE = 3

BoolArray = npt.NDArray[np.bool_]


class RowFilter(ABC):
    """Leaves out rows of one table; the others move up."""

    def __init__(self) -> None:
        self.count = 0  # rows left out so far

    def filter(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """The chunks without such rows; they may be empty."""
        return map(self.drop, chunks)

    @abstractmethod
    def drop(self, chunk: Chunk) -> Chunk:
        """The next chunk without such rows."""

    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """Sentences about the rows that were left out, if there were any."""

    def without(self, chunk: Chunk, is_dropped: BoolArray) -> Chunk:
        """The chunk without these rows (T,), counted from those that stay."""
        chunk = replace(chunk, first_row=chunk.first_row - self.count)
        if not is_dropped.any():
            return chunk
        self.count += int(is_dropped.sum())
        return chunk.take_rows(np.flatnonzero(~is_dropped), chunk.first_row)


class UnitRows(RowFilter):
    """Leaves out rows of text between the header of a file and its values."""

    def __init__(self) -> None:
        super().__init__()
        self._note = ""

    def drop(self, chunk: Chunk) -> Chunk:
        """The next chunk; only the first one of a file can have such rows."""
        count = 0 if chunk.first_row else _count_unit_rows(chunk)
        rest = self.without(chunk, np.arange(len(chunk)) < count)
        if not count:
            return rest
        self._note = _unit_note(chunk, count)
        return rest.with_sample()

    def notes(self) -> tuple[str, ...]:
        """A sentence that says which rows, and what they hold."""
        return (self._note,) if self._note else ()


class EndRows:
    """Leaves out summaries, footnotes and blank rows at the end of one file.

    That takes all chunks, for only the last rows are at the end. ``units`` leaves out
    rows before any of these, which notes do not count.
    """

    def __init__(self, units: UnitRows) -> None:
        self._units = units
        self._notes: tuple[str, ...] = ()  # once the last row has been read

    def filter(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """The chunks without such rows."""
        held, first = list[Chunk](), None
        for chunk in chunks:
            stop = _last_plain_row(chunk)
            parts = [chunk] if stop in (0, len(chunk)) else _split(chunk, stop)
            if stop:
                yield from held
                first, held = first or parts[0], []
                yield parts.pop(0)
            held += parts
        yield from self._select(held, first)

    def notes(self) -> tuple[str, ...]:
        """A sentence about each row that is not blank, and one about those that are."""
        return self._notes

    def _select(self, held: Sequence[Chunk], first: Chunk | None) -> Iterator[Chunk]:
        """Of the rows that waited until the end, those that are rows of the table."""
        kinds = _ColumnKinds(first)
        sentences, blank_rows, kept = list[str](), 0, list[Chunk]()
        for k in reversed(range(len(held))):
            first_row = held[k].first_row - self._units.count
            chunk = replace(held[k], first_row=first_row)
            is_blank, _ = _row_marks(chunk)
            stop = len(chunk)
            while stop > 0:
                sentence = None
                if not is_blank[stop - 1]:
                    sentence = kinds.summary_sentence(chunk, stop - 1)
                    if sentence is None:
                        break
                    sentences.insert(0, sentence)
                stop -= 1
                blank_rows += sentence is None
            if stop:
                kept = [*held[:k], held[k].slice_rows(0, stop)]
                break
        source = held[0].source if held else ""
        self._notes = (*sentences, *_blank_note(blank_rows, f"at the end of {source}"))
        yield from kept


class SubtotalRows(RowFilter):
    """Leaves out the totals between the rows of one file."""

    def __init__(self) -> None:
        super().__init__()
        self._columns: list[str] | None = None  # None: before the first rows
        self._example = ""

    def drop(self, chunk: Chunk) -> Chunk:
        """The next chunk without its totals, which may be all of its rows."""
        if self._columns is None:
            cells = first_rows(chunk).items()
            self._columns = [name for name, one in cells if _has_totals(one)]
        if not self._columns:
            return chunk
        is_total = np.zeros(len(chunk), np.bool_)
        for name in self._columns:
            is_own = _total_rows(chunk.cells[name])
            if is_own.any() and not self._example:
                why = "other rows have times there"
                self._example = _sentence(chunk, int(is_own.argmax()), name, why)
            is_total |= is_own
        rest = self.without(chunk, is_total)
        return rest if chunk.sample is None else rest.with_sample()

    def notes(self) -> tuple[str, ...]:
        """A sentence that names the first total, and counts the others."""
        others = self.count - 1
        rows = "is 1 other row" if others == 1 else f"are {others:,} other rows"
        more = f" So {rows}." if others > 0 else ""
        return (f"{self._example}{more}",) if self.count else ()


class BlankRows(RowFilter):
    """Leaves out rows without any value, where rows have times."""

    def __init__(self) -> None:
        super().__init__()
        self._first: Chunk | None = None
        self._has_times: bool | None = None  # None: nobody had to know yet

    def drop(self, chunk: Chunk) -> Chunk:
        """The rows of the next chunk that hold something, perhaps none."""
        self._first = self._first or chunk
        is_blank = _blank_rows(chunk)
        if is_blank.any() and self._has_times is None:
            self._has_times = bool(_ColumnKinds(self._first).times)
        if not self._has_times:
            is_blank[:] = False
        return self.without(chunk, is_blank)

    def notes(self) -> tuple[str, ...]:
        """A sentence that says how many there were."""
        source = "" if self._first is None else self._first.source
        return _blank_note(self.count, f"of {source} between others")


class _ColumnKinds:
    """Which columns hold times or numbers, by the first rows."""

    def __init__(self, first: Chunk | None) -> None:
        self.times, self.numbers = list[str](), list[str]()
        if first is None:
            return
        rows = replace(first, cells=first.sample or first.cells)
        found = detect_formats(rows, list(rows.cells), FormatSettings())
        rows = rows.with_formats(found.formats)
        for name in rows.cells:
            kind = rows.kind(name)
            if kind == "time":
                self.times.append(name)
            elif kind == "number" and _are_numbers(rows, name):
                self.numbers.append(name)

    def summary_sentence(self, chunk: Chunk, row: int) -> str | None:
        """What makes a row a summary; None if it is a row of the table."""
        texts = {name: _text(cells, row) or "" for name, cells in chunk.cells.items()}
        words = [name for name, text in texts.items() if is_summary_word(text)]
        for name in (*self.times, *self.numbers):
            if name in words:
                what = "times" if name in self.times else "numbers"
                return _sentence(chunk, row, name, f"other rows have {what} there")
        name = next(iter(texts))
        if name in (*self.times, *self.numbers) and _is_footnote(texts):
            why = "no other cell has a value"
            return _sentence(chunk, row, name, why, "a footnote")
        has_time = any(texts[name] for name in self.times)
        if has_time or not self.times or not words:
            return None
        return _sentence(chunk, row, words[0], f"it has no {self.times[0]!r}")


def is_summary_word(text: str) -> bool:
    """Whether a cell says that its row is a total, a mean or the like."""
    return _SUMMARY.fullmatch(text.strip()) is not None


def require_reversible(cells: int, source: str, time: str) -> None:
    """Raise if there are more cells than can be held to be reversed."""
    if cells > MAX_REVERSED_CELLS:
        raise InvalidParameterError(
            f"The newest rows of {source} come first, by {time!r}, and more than "
            f"{MAX_REVERSED_CELLS:,} cells are too many to take them in reverse order. "
            f"Sort the rows by {time!r}, oldest first."
        )


def hold_rows(chunks: Iterator[Chunk], time: str) -> list[Chunk]:
    """The rows of all chunks, if they can be held."""
    held, cells = list[Chunk](), 0
    for chunk in chunks:
        held.append(chunk)
        cells += len(chunk) * len(chunk.cells)
        require_reversible(cells, chunk.source, time)
    return held


def reverse_rows(held: list[Chunk]) -> Iterator[Chunk]:
    """The rows of all chunks from the last one to the first, counted from there.

    What may be looked at before the first row is read (``Chunk.sample``) are the first
    rows of the file, as they are of any other. The list is empty afterwards.
    """
    sample, first_row = held[0].sample if held else None, 0
    while held:
        chunk = held.pop()
        backwards = np.arange(len(chunk), dtype=np.intp)[::-1].copy()
        chunk = replace(chunk.take_rows(backwards, first_row), sample=None)
        if first_row == 0 and sample is not None:
            rows = len(next(iter(sample.values())))
            order = np.arange(rows, dtype=np.intp)[::-1].copy()
            taken = {name: column.take_rows(order) for name, column in sample.items()}
            chunk = replace(chunk, sample=taken)
        yield chunk
        first_row += len(chunk)


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


def _last_plain_row(chunk: Chunk) -> int:
    """How many rows there are up to the last one that must be one of the table."""
    look = _LOOK_ROWS
    while True:
        start = max(len(chunk) - look, 0)
        is_blank, has_word = _row_marks(chunk.slice_rows(start, len(chunk)))
        is_plain = ~(is_blank | has_word)
        if is_plain.any() or not start:
            break
        look *= 8
    last = np.flatnonzero(is_plain)
    stop = int(last[-1]) + 1 if len(last) else 0
    words = np.flatnonzero(has_word[stop:])
    if len(words) > MAX_SUMMARY_ROWS:  # a column that says Total in many rows
        stop += int(words[-1]) + 1
    return start + stop


def _row_marks(chunk: Chunk) -> tuple[BoolArray, BoolArray]:
    """Which rows are blank, and which may be summaries or footnotes by their text."""
    is_blank, has_word = np.ones(len(chunk), np.bool_), np.zeros(len(chunk), np.bool_)
    is_footnote = np.zeros(len(chunk), np.bool_)
    for k, cells in enumerate(chunk.cells.values()):
        column = _as_text(cells)
        if column is None:
            is_blank[:] = is_footnote[:] = False
            continue
        has_word |= _summary_rows(column)
        if k == 0:
            values = np.array([*map(may_be_value, column.levels), True], np.bool_)
            is_footnote = ~values[column.codes]
        else:
            is_footnote &= column.codes < 0
        is_blank &= column.codes < 0
    return is_blank, has_word | (is_footnote & (len(chunk.cells) > 1))


def _blank_rows(chunk: Chunk) -> BoolArray:
    """Which rows of a chunk have no value in any column, (T,)."""
    is_blank = np.ones(len(chunk), np.bool_)
    for cells in chunk.cells.values():
        column = _as_text(cells)
        is_blank &= False if column is None else column.codes < 0
        if not is_blank.any():
            break
    return is_blank


def _split(chunk: Chunk, stop: int) -> list[Chunk]:
    """The rows before ``stop`` and the others; a sample is of the former."""
    before, after = chunk.slice_rows(0, stop), chunk.slice_rows(stop, len(chunk))
    if chunk.sample is None:
        return [before, after]
    before = before.with_sample()
    return [before, replace(after, sample=before.sample)]


def _has_totals(cells: Cells) -> bool:
    """Whether all first cells are times but for some that say they are totals."""
    texts = cells.distinct_texts() or []
    others = [text for text in texts if not is_summary_word(text)]
    if len(others) == len(texts) or len(others) < MIN_TIMES:
        return False
    is_total = _total_rows(cells)
    if is_total.sum() > MAX_SUBTOTALS * len(cells):
        return False
    rest = cells.take_rows(np.flatnonzero(~is_total))
    return find_date_order(rest, others, None) is not None


def _total_rows(cells: Cells) -> BoolArray:
    """Which cells say that their rows are totals, (T,)."""
    column = _as_text(cells)
    return np.zeros(len(cells), np.bool_) if column is None else _summary_rows(column)


def _summary_rows(column: Categorical) -> BoolArray:
    is_word = np.array([*map(is_summary_word, column.levels), False], np.bool_)
    return np.asarray(is_word[column.codes])


def _as_text(cells: Cells) -> Categorical | None:
    """The cells as text; None where one is none, but a list, say."""
    try:
        return cells.categories()
    except CellError:
        return None


def _text(cells: Cells, row: int) -> str | None:
    """A cell as text; None where it is missing."""
    column = _as_text(cells.slice_rows(row, row + 1))
    if column is None:
        return "0"
    return column.levels[0] if column.levels else None


def _are_numbers(chunk: Chunk, name: str) -> bool:
    """Whether all cells are numbers, and one at least is known."""
    try:
        return bool(np.isfinite(chunk.numbers(name)).any())
    except StreamError:
        return False


def _is_footnote(texts: Mapping[str, str]) -> bool:
    """Whether the only cell of several columns that is not missing is some text."""
    first, *others = texts.values()
    return bool(others) and not any(others) and not may_be_value(first)


def _sentence(
    chunk: Chunk, row: int, name: str, why: str, what: str = "a summary"
) -> str:
    text = short_repr(_text(chunk.cells[name], row))
    return f"{chunk.location(row)} is skipped as {what}: {name!r} is {text}, and {why}."


def _unit_note(chunk: Chunk, count: int) -> str:
    """A sentence that says which first rows are left out."""
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
        f"{what}{where} of {chunk.source} {'is' if is_one else 'are'} skipped: text "
        f"such as units ({shown}{more}) above columns of numbers and times."
    )


def _blank_note(rows: int, where: str) -> tuple[str, ...]:
    """A sentence that says how many blank rows are left out, if any."""
    if not rows:
        return ()
    what = "1 row" if rows == 1 else f"{rows:,} rows"
    have, are = ("has", "is") if rows == 1 else ("have", "are")
    return (f"{what} {where} {have} no value and {are} skipped.",)
