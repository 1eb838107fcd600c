"""Sections in the terminal: tables, then what they say in sentences."""

from itertools import pairwise
from textwrap import fill

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from thalweg.report.console import new_table, print_sentence
from thalweg.report.error_comparison import capitalise
from thalweg.report.section import ResultTable, Section

MAX_NAME_WIDTH, HEADER_WIDTH = 32, 14
"""Letters of a name in the first column, and of a line of a header."""
UNLIMITED_WIDTH = 10_000
GAP = "…"
"""Stands for the rows that are left out between the best and the worst."""


def print_section(console: Console, section: Section) -> None:
    """Print the tables, the results in sentences, and the facts."""
    parts = (part for part in section.folded if part.is_printed and part.has_rows())
    for table in (*section.tables, *(part.table for part in parts)):
        if table is not None:
            console.print(_fitting_table(console, table))
    for sentence in section.summary():
        print_sentence(console, sentence, "• ")
    if section.facts:
        facts = "; ".join(f"{name}: {text}" for name, text in section.facts)
        print_sentence(console, f"{capitalise(facts)}.", "• ")
    console.print()


def _fitting_table(console: Console, table: ResultTable) -> Table:
    """The table without as many of its optional columns as it has no space for."""
    optional = [k for k, column in enumerate(table.columns) if column.is_optional]
    unlimited = console.options.update(width=UNLIMITED_WIDTH)
    for count in range(len(optional) + 1):
        shown = _rich_table(table, set(optional[:count]))
        if Measurement.get(console, unlimited, shown).maximum <= console.width:
            break
    return shown


def _rich_table(table: ResultTable, left_out: set[int]) -> Table:
    short = table.short_version()
    kept = [k for k in range(len(table.columns)) if k not in left_out]
    shown = new_table(short.title)
    for k in kept:
        column = table.columns[k]
        shown.add_column(
            Text(fill(column.name, HEADER_WIDTH, break_long_words=False)),
            justify="right" if column.is_number else "left",
            no_wrap=column.is_number or k < kept[-1],
            overflow="ellipsis",
            max_width=MAX_NAME_WIDTH if k == 0 else None,
        )
    jumps = [k for k, (a, b) in enumerate(pairwise(table.short)) if b - a > 1]
    for line, cells in enumerate(short.texts()):
        style = "bold" if line in table.bold_rows else None
        shown.add_row(*(Text(cells[k]) for k in kept), style=style)
        if jumps == [line]:
            shown.add_row(GAP)
    return shown
