"""A result as a section: what is read first, tables, figures, details and numbers.

Whatever has results to show (a run, a comparison, a forecast, a classification) makes a
``Section`` of them, once. The terminal (``terminal.py``), the page (``page.py``) and
JSON show sections, and know nothing of what they are results of.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A chart with its title and caption."""

    name: str  # the stem of its files
    title: str
    caption: str  # what to look for
    chart: Any
    narrow: bool = False  # whether it is easier to read when narrower than the page


Figures = Callable[[], Sequence[Figure]]
"""Draws figures, where they are needed: a terminal needs none, nor altair for them."""


@dataclass(frozen=True)
class Tile:
    """One result that is read in seconds: a few large words, and a sentence on them."""

    title: str  # what it is about, as "Typical error"
    value: str  # a number with its unit, or two or three words
    text: str = ""  # a sentence that a reader who knows nothing of methods understands
    is_in_headline: bool = False  # which says the same


@dataclass(frozen=True)
class Column:
    """A column of a table, and how its cells are written."""

    name: str
    write: Callable[[Any], str] = str  # of number_text, for numbers
    is_optional: bool = False  # left out where the table is too wide

    @property
    def is_number(self) -> bool:
        """Whether cells are aligned to the right."""
        return self.write is not str


@dataclass(frozen=True)
class ResultTable:
    """A table of texts and numbers; a cell that is None is empty."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    caption: str = ""  # what the numbers are
    short: tuple[int, ...] = ()  # rows to show where space is short; empty: all
    short_note: str = ""  # which these are, after the title
    bars: tuple[int, ...] = ()  # of each row, in per cent of the width; none if empty
    bold_rows: tuple[int, ...] = ()
    badges: Mapping[int, str] | None = None  # words after the name of a row

    def texts(self) -> list[tuple[str, ...]]:
        """The cells as they are shown."""
        return [
            tuple(
                "" if cell is None else column.write(cell)
                for column, cell in zip(self.columns, row, strict=True)
            )
            for row in self.rows
        ]

    def without_empty_columns(self) -> "ResultTable":
        """The table without columns in which every cell is None."""
        kept = [
            k
            for k in range(len(self.columns))
            if any(row[k] is not None for row in self.rows)
        ]
        return replace(
            self,
            columns=tuple(self.columns[k] for k in kept),
            rows=tuple(tuple(row[k] for k in kept) for row in self.rows),
        )

    def short_version(self) -> "ResultTable":
        """The rows to show where space is short, which have neither bars nor badges."""
        if not self.short:
            return self
        title = ", ".join(filter(None, (self.title, self.short_note)))
        rows = tuple(self.rows[k] for k in self.short)
        return replace(self, title=title, rows=rows, short=())


def first_rows(count: int, limit: int) -> tuple[int, ...]:
    """For ``short``: the first ``limit`` rows, where there are more."""
    return tuple(range(limit)) if count > limit else ()


def best_and_worst(count: int, each: int) -> tuple[int, ...]:
    """For ``short``: ``each`` rows from both ends of a ranking that is longer."""
    ends = (*range(each), *range(count - each, count))
    return ends if count > 2 * each else ()


@dataclass(frozen=True)
class FoldedPart:
    """Details that a page shows when the reader opens them."""

    name: str  # the last part of its anchor
    title: str
    table: ResultTable | None = None
    figures: Figures = tuple
    preformatted: str = ""  # text whose lines are kept
    is_printed: bool = False  # whether a terminal shows the table

    def has_content(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.preformatted or self.figures()) or self.has_rows()

    def has_rows(self) -> bool:
        """Whether there is a table that is not empty."""
        return self.table is not None and bool(self.table.rows)


@dataclass(frozen=True)
class Section:
    """The results on one stream, in the order in which a page shows them."""

    title: str
    headline: str  # the result in one sentence
    caution: str = ""  # what a reader must know before believing the headline
    tiles: tuple[Tile, ...] = ()
    tables: tuple[ResultTable, ...] = ()  # shown short; details have all rows
    figures: Figures = tuple
    folded: tuple[FoldedPart, ...] = ()
    sentences: tuple[str, ...] = ()  # what else was found
    notes: tuple[str, ...] = ()  # on method and data
    facts: tuple[tuple[str, str], ...] = ()  # small print: a name and a text each
    is_overview: bool = False  # of the sections that follow
    numbers: Mapping[str, Any] = field(default_factory=dict)  # for JSON

    def summary(self) -> list[str]:
        """The results in sentences, the most important first."""
        tiles = (
            f"{tile.title}: {tile.value}. {tile.text}"
            for tile in self.tiles
            if not tile.is_in_headline
        )
        found = (self.headline, self.caution, *tiles, *self.sentences)
        return [sentence for sentence in found if sentence]

    def has_details(self) -> bool:
        """Whether a page has anything to fold away."""
        parts = any(part.has_content() for part in self.folded)
        cut = any(table.short for table in self.tables)
        return parts or cut or bool(self.sentences or self.notes)

    def all_figures(self) -> tuple[Figure, ...]:
        """The figures, those in folded parts last."""
        inner = (figure for part in self.folded for figure in part.figures())
        return (*self.figures(), *inner)
