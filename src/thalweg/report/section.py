"""Sections of a page: what is read first, figures, and details that are folded away.

A page is a list of sections. Whatever has results to show (a run, a comparison, a
forecast, a classification) makes a ``Section`` of them, and ``write_page`` writes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from thalweg.report.chart_elements import Figure


@dataclass(frozen=True)
class Tile:
    """One result that is read in seconds: a few large words, and a sentence on them."""

    title: str  # what it is about, as "Typical error"
    value: str  # a number with its unit, or two or three words
    text: str = ""  # a sentence that a reader who knows nothing of methods understands


@dataclass(frozen=True)
class PageTable:
    """A table of texts; all but the first column of a row may be numbers."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    number_columns: tuple[int, ...] = ()  # aligned to the right
    optional_columns: tuple[int, ...] = ()  # left out on a phone
    bars: tuple[int, ...] = ()  # of each row, in per cent of the width; none if empty
    bold_rows: tuple[int, ...] = ()
    badges: Mapping[int, str] | None = None  # words after the name of a row


@dataclass(frozen=True)
class FoldedPart:
    """Details that are shown when the reader opens them."""

    name: str  # the last part of its anchor
    title: str
    text: str = ""
    table: PageTable | None = None
    figures: tuple[Figure, ...] = ()
    preformatted: str = ""  # text whose lines are kept
    items: tuple[str, ...] = ()  # sentences of a list


@dataclass(frozen=True)
class Section:
    """The results on one stream, in the order in which a page shows them."""

    title: str
    headline: str  # the result in one sentence
    tiles: tuple[Tile, ...] = ()
    figures: tuple[Figure, ...] = ()
    folded: tuple[FoldedPart, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()  # small print: a name and a text each
    tables: tuple[PageTable, ...] = ()  # after the tiles, before the figures
    is_overview: bool = False  # of the sections that follow
    caution: str = ""  # what a reader must know before believing the headline

    def all_figures(self) -> tuple[Figure, ...]:
        """The figures, those in folded parts last."""
        inner = (figure for part in self.folded for figure in part.figures)
        return (*self.figures, *inner)
