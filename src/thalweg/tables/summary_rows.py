"""Rows at the end of a file that are no rows of its table: totals, and blank ones.

Reports end with a total or a mean, spreadsheets with rows of separators alone. A row at
the end is passed over if

- all its cells are missing, or
- it says ``Total``, ``Summe``, ``Average`` or the like where the rows before have times
  or numbers, or in any column if it has no time and the rows before have times, or
- its only cell is text in the first column, where the rows before have times or
  numbers: a footnote, such as the source of a table.

Only the end of a file tells, so that rows that may be of this kind wait until then. The
same rows are passed over however the file is cut into chunks. Totals between other rows
are looked for in ``subtotal_rows``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from thalweg.errors import StreamError
from thalweg.tables.cells import CellError
from thalweg.tables.chunk import Chunk, short_repr
from thalweg.tables.format_detection import FormatSettings, detect_formats
from thalweg.tables.literals import may_be_value

MAX_SUMMARY_ROWS = 10
"""Rows at the end that may be totals and means; where more say so, none is."""
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
"""Rows at the end of a chunk that are looked at first; more where all are summaries."""

BoolArray = npt.NDArray[np.bool_]


class SummaryRows:
    """Passes over the summaries and blank rows at the end of one file."""

    def __init__(self) -> None:
        self.notes: tuple[str, ...] = ()  # once the last row has been read
        self.unit_rows = 0  # at the start of the file, which notes do not count

    def drop(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
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

    def _select(self, held: Sequence[Chunk], first: Chunk | None) -> Iterator[Chunk]:
        """Of the rows that waited until the end, those that are rows of the table."""
        kinds = _ColumnKinds(first)
        sentences, blank_rows, kept = list[str](), 0, list[Chunk]()
        for k in reversed(range(len(held))):
            chunk = held[k]
            chunk = replace(chunk, first_row=chunk.first_row - self.unit_rows)
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
        self.notes = (*sentences, *_blank_note(source, blank_rows))
        yield from kept


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
        texts = {name: _text(chunk, name, row) for name in chunk.cells}
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
        try:
            column = cells.categories()
        except CellError:  # a list, say
            is_blank[:] = is_footnote[:] = False
            continue
        words = np.array([*map(is_summary_word, column.levels), False], np.bool_)
        has_word |= words[column.codes]
        if k == 0:
            values = np.array([*map(may_be_value, column.levels), True], np.bool_)
            is_footnote = ~values[column.codes]
        else:
            is_footnote &= column.codes < 0
        is_blank &= column.codes < 0
    return is_blank, has_word | (is_footnote & (len(chunk.cells) > 1))


def _split(chunk: Chunk, stop: int) -> list[Chunk]:
    """The rows before ``stop`` and the others; a sample is of the former."""
    before, after = chunk.slice_rows(0, stop), chunk.slice_rows(stop, len(chunk))
    if chunk.sample is None:
        return [before, after]
    before = before.with_sample()
    return [before, replace(after, sample=before.sample)]


def _text(chunk: Chunk, name: str, row: int) -> str:
    """A cell as text; empty where it is missing."""
    try:
        column = chunk.cells[name].slice_rows(row, row + 1).categories()
    except CellError:  # a list, say
        return "?"
    return column.levels[0] if column.levels else ""


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
    text = short_repr(_text(chunk, name, row))
    return (
        f"{chunk.location(row)} is passed over as {what}: {name!r} is {text}, and "
        f"{why}."
    )


def _blank_note(source: str, rows: int) -> tuple[str, ...]:
    """A sentence that says how many blank rows were passed over, if any."""
    if not rows:
        return ()
    what = "1 row" if rows == 1 else f"{rows:,} rows"
    have, are = ("has", "is") if rows == 1 else ("have", "are")
    return (f"{what} at the end of {source} {have} no value and {are} passed over.",)
