"""How the columns of a table are written, decided once from its first rows.

Of a file, and of a data frame, up to 10,000 rows are looked at; of a pipe the first one
alone, so that nothing depends on how many lines have arrived. A column is

- of plain numbers if all its cells are, or of days such as 20240131, of months too
  (``date_detection.holds_days``);
- of times if all its cells are (``date_detection.find_date_order``);
- of numbers in another style if all its cells are; with suffixes, such as 1.2M, if one
  has a fraction as well. Where both a decimal point and a
  decimal comma are possible, as in 1,234 and 1.234, the mark is that of the other
  columns, and a point where they do not tell;
- of text otherwise.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from thalweg.tables.cells import CellError, Cells
from thalweg.tables.chunk import PYTHON_SOURCES, Chunk, first_rows, short_repr
from thalweg.tables.column_format import ColumnFormat, find_unix_unit, unix_times
from thalweg.tables.date_detection import (
    FoundTimes,
    day_text,
    find_date_order,
    find_non_times,
    holds_days,
    usual_order,
)
from thalweg.tables.date_literals import DATE_ORDERS, looks_like_date
from thalweg.tables.literals import (
    NUMBER_STYLES,
    SUFFIX_STYLES,
    NumberStyle,
    has_fraction_and_suffix,
    parse_styled_number,
    style_of_mark,
    text_kind,
)
from thalweg.tables.time_parts import JOINT, split_joined

_MAX_NAMES_IN_NOTE = 3


class FormatSettings(NamedTuple):
    """What a user says of the way in which a table is written; None: find out."""

    dayfirst: bool | None = None
    decimal: str | None = None  # "." or ","
    times: tuple[str, ...] = ()  # columns said to hold times
    can_skip: bool = False  # whether malformed rows can be skipped: --on-error


class DetectedFormats(NamedTuple):
    """The formats of columns whose first cell does not say it all, and notes."""

    formats: tuple[ColumnFormat, ...]
    notes: tuple[str, ...]


class ColumnSample:
    """The first cells of a column."""

    def __init__(self, name: str, cells: Cells) -> None:
        self.name = name
        self.cells = cells

    @cached_property
    def is_plain(self) -> bool:
        """Whether all cells are plain numbers."""
        try:
            self.cells.numbers()
        except CellError:
            return False
        return True

    @cached_property
    def texts(self) -> list[str]:
        """The different texts that are not missing; none if cells are no text."""
        return self.cells.distinct_texts() or []

    def styles(self) -> list[NumberStyle]:
        """The styles in which all texts are numbers."""
        styles = [style for style in NUMBER_STYLES[1:] if self.has_style(style)]
        return ["plain", *styles] if self.is_plain else styles

    def suffix_style(self, mark: str | None) -> NumberStyle | None:
        """The style with suffixes in which all texts are numbers, if there is one."""
        for style in SUFFIX_STYLES if self.styles() == [] else ():
            is_possible = mark is None or style.startswith(style_of_mark(mark))
            has_suffix = (has_fraction_and_suffix(text, style) for text in self.texts)
            if is_possible and any(has_suffix) and self.has_style(style):
                return style
        return None

    def has_style(self, style: NumberStyle) -> bool:
        """Whether there are texts, and all are numbers in this style."""
        parsed = (parse_styled_number(text, style) for text in self.texts)
        return bool(self.texts) and all(number is not None for number in parsed)


def detect_formats(
    chunk: Chunk, names: Sequence[str], settings: FormatSettings
) -> DetectedFormats:
    """The formats of these columns, from the first rows of a table."""
    rows = first_rows(chunk)
    formats, notes, others = list[ColumnFormat](), list[str](), list[ColumnSample]()
    for column in (ColumnSample(name, rows[name]) for name in names):
        found = _detect_time(column, settings.dayfirst)
        if found is None:
            others.append(column)
        else:
            time = ColumnFormat(
                column.name, "time", "plain", found.order, found.unix_unit
            )
            formats.append(time)
            notes += _order_notes(chunk, column.name, found)
    styles = _detect_styles(others, settings.decimal)
    styles |= _detect_suffixes(others, settings.decimal)
    formats += [ColumnFormat(name, "number", style) for name, style in styles.items()]
    notes += _suffix_notes(chunk, others, styles)
    if settings.decimal is None:
        notes += _style_notes(chunk, [c for c in others if c.name in styles], styles)
    parts = {part for name in names for part in split_joined(name)}
    for column in others:
        if column.name not in styles and _is_text(column):
            order = usual_order(column.texts[0], settings.dayfirst)
            formats.append(ColumnFormat(column.name, "text", "plain", order))
        if column.name not in (*styles, *settings.times, *parts):
            notes += _non_time_notes(chunk, column, settings.can_skip)
    return DetectedFormats(tuple(formats), tuple(notes))


def holds_times(chunk: Chunk, name: str, dayfirst: bool | None) -> bool:
    """Whether all of the first cells of a column are times."""
    return (
        _detect_time(ColumnSample(name, first_rows(chunk)[name]), dayfirst) is not None
    )


def holds_values(column: ColumnSample) -> bool:
    """Whether all cells of a column are numbers or times, and one at least is known."""
    if column.is_plain:
        return not bool(np.isnan(column.cells.numbers()).all())
    if not column.texts:
        return column.cells.kind() == "time"
    is_number = bool(column.styles()) or column.suffix_style(None) is not None
    return is_number or find_date_order(column.cells, column.texts, None) is not None


def unread_date(chunk: Chunk, name: str) -> str | None:
    """The first text of a column all of which looks like dates; None if it does not."""
    texts = first_rows(chunk)[name].distinct_texts()
    return texts[0] if texts and all(map(looks_like_date, texts)) else None


def _detect_time(column: ColumnSample, dayfirst: bool | None) -> FoundTimes | None:
    if column.is_plain:
        if holds_days(column.name, column.cells):
            return FoundTimes("month first")
        return _find_unix_times(column)
    if not column.texts:
        return None
    return find_date_order(column.cells, column.texts, dayfirst)


def _find_unix_times(column: ColumnSample) -> FoundTimes | None:
    """The unit of plain numbers that are times since 1970; None if they are none."""
    unit = find_unix_unit(column.name, column.cells)
    if not unit:
        return None
    instants = unix_times(column.cells, unit).instants
    first = int(np.flatnonzero(~np.isnat(instants))[0])
    number = column.cells.numbers()[first]
    when = str(instants[first].astype("datetime64[s]")).replace("T", " ")
    taken = f"{number:.0f} is taken as {when} UTC ({unit} since 1970)"
    return FoundTimes("month first", None, taken, unit)


def _detect_styles(
    columns: Sequence[ColumnSample], decimal: str | None
) -> dict[str, NumberStyle]:
    """The style of each column of numbers that are not plain."""
    if decimal is not None:
        style = style_of_mark(decimal)
        # With a decimal point, plain numbers are what they are.
        return {
            column.name: style
            for column in columns
            if not (style == "decimal point" and column.is_plain)
            and column.texts
            and column.styles()
        }
    unusual = {c.name: c.styles() for c in columns if not c.is_plain and c.texts}
    if ["decimal comma"] not in unusual.values():
        return {name: styles[0] for name, styles in unusual.items() if styles}
    # Numbers of whole thousands may look plain: 1.234.
    return {
        column.name: "decimal comma" if column.has_style("decimal comma") else styles[0]
        for column in columns
        if (styles := column.styles()) and styles != ["plain"]
        and (not column.is_plain or column.has_style("decimal comma"))
    }  # fmt: skip


def _detect_suffixes(
    columns: Sequence[ColumnSample], decimal: str | None
) -> dict[str, NumberStyle]:
    """The style of each column of numbers such as 1.2M."""
    styles = {column.name: column.suffix_style(decimal) for column in columns}
    return {name: style for name, style in styles.items() if style is not None}


def _suffix_notes(
    chunk: Chunk, columns: Sequence[ColumnSample], styles: Mapping[str, NumberStyle]
) -> list[str]:
    """A sentence for each column of numbers such as 1.2M."""
    notes = []
    for column in columns:
        style = styles.get(column.name, "plain")
        text = _unusual_text(column, style) if style in SUFFIX_STYLES else None
        if text is not None:
            notes.append(
                f"Column {column.name!r}: {text!r} is taken as "
                f"{parse_styled_number(text, style)!r} (K, M, B and T stand for "
                f"thousand, million, billion and trillion)."
            )
    return notes


def _is_text(column: ColumnSample) -> bool:
    """Whether a column is text although its first row, or its first cell, is none."""
    if column.is_plain or not column.texts or text_kind(column.texts[0]) == "number":
        return False
    return column.cells.kind() != "text"


def _order_notes(chunk: Chunk, name: str, found: FoundTimes) -> list[str]:
    """A sentence about dates that could be others: day and month exchanged, say."""
    text = found.ambiguous_text
    if found.assumption is not None:
        return [f"Column {name!r}: {found.assumption}."]
    if text is None:
        return []
    first, last = DATE_ORDERS
    other = last if found.order == first else first
    setting = chunk.setting("dayfirst", str(other == "day first"))
    return [
        f"Column {name!r}: {text!r} is taken as {day_text(text, found.order)} "
        f"({found.order}); {setting} reads it as {day_text(text, other)}."
    ]


def _non_time_notes(chunk: Chunk, column: ColumnSample, can_skip: bool) -> list[str]:
    """A sentence about a column that would be one of times but for a few cells."""
    if column.is_plain or not column.texts:
        return []
    positions = find_non_times(column.cells, column.texts).tolist()
    if not positions:
        return []
    first, count = positions[0], len(positions)
    if first >= len(chunk):  # The line is known of rows of the chunk alone.
        chunk = replace(chunk, line_of=None)
    (text,) = column.cells.slice_rows(first, first + 1).categories().levels
    others = "all other rows hold" if count == 1 else f"all but {count} rows hold"
    lines, them = ("that line", "it") if count == 1 else ("those lines", "them")
    advice = f"Delete or correct {lines}"
    if can_skip and chunk.source not in PYTHON_SOURCES:
        name = shlex.quote(column.name.replace(JOINT, ","))
        advice += f", or skip {them}: --time {name} --on-error skip"
    return [
        f"{chunk.location(first)}: {column.name!r} is {short_repr(text)}, and {others} "
        f"times: the column does not count as one of times. {advice}."
    ]


def _style_notes(
    chunk: Chunk, columns: Sequence[ColumnSample], styles: Mapping[str, NumberStyle]
) -> list[str]:
    """A sentence for each style of numbers that are not plain."""
    notes = []
    for style in NUMBER_STYLES[1:]:
        examples = {
            column.name: text
            for column in columns
            if styles[column.name] == style
            and (text := _unusual_text(column, style)) is not None
        }
        if not examples:
            continue
        names, text = list(examples), next(iter(examples.values()))
        listed = ", ".join(map(repr, names[:_MAX_NAMES_IN_NOTE]))
        more = len(names) - _MAX_NAMES_IN_NOTE
        other = chunk.setting("decimal", "," if style == "decimal point" else ".")
        notes.append(
            f"{'Column' if len(names) == 1 else 'Columns'} {listed}"
            f"{f' and {more} more' if more > 0 else ''}: {text!r} is taken as "
            f"{parse_styled_number(text, style)!r} ({style}); {other} says otherwise."
        )
    return notes


def _unusual_text(column: ColumnSample, style: NumberStyle) -> str | None:
    """The first text that is not the same number in plain digits."""
    for text in column.texts:
        if parse_styled_number(text, style) != parse_styled_number(text, "plain"):
            return text
    return None
