"""What each column of a table is, by its first rows: target, time, key or feature."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from thalweg.calendar.series_clock import RowTimes
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.tables.cell_formats import FormatSettings, detect_formats
from thalweg.tables.chunk import Chunk
from thalweg.tables.column_format import ColumnFormat
from thalweg.tables.missing_codes import ColumnRange, first_ranges, replace_codes
from thalweg.tables.schema import find_time_column, is_unnamed, refuse_unknown_columns
from thalweg.tables.time_parts import JOINT, joined_note, part_names
from thalweg.tables.timestamps import TimedRows, Timestamps
from thalweg.tables.validation import (
    are_flags,
    read_flags,
    read_numbers,
    read_timestamps,
)
from thalweg.types import FloatArray

NO_TIME = ""
"""Stands for a table whose rows have no times, in place of a column's name."""
NUMBERS_ONLY = " A forecast is of numbers: name a column of them with --target."
TEXT_IS_CLASSIFIED = (
    " A forecast is of numbers. thalweg run predicts text: it gives the probability of "
    "every class, also in rows at the end whose target is blank."
)


class ScanOptions(NamedTuple):
    """What is known of the columns of a table before it is scanned."""

    targets: tuple[str, ...]
    time: str | None = None  # None: to be found
    keys: tuple[str, ...] | None = None  # None: to be found, (): one series
    features: tuple[str, ...] | None = None  # None: all columns of numbers
    settings: FormatSettings = FormatSettings()
    formats: tuple[ColumnFormat, ...] | None = None  # None: to be found
    codes: str | None = None  # "keep": numbers such as -999 are what they are
    ranges: tuple[ColumnRange, ...] | None = None  # None: of the first rows
    text: tuple[str, ...] = ()  # columns that are text whatever they look like
    has_values: bool = True  # whether targets and features are read, for a forecast

    @property
    def used(self) -> tuple[str, ...]:
        """Columns that are something else than the time of the rows."""
        features = self.features or ()
        return (*self.targets, *(self.keys or ()), *features, *self.text)

    @property
    def apart(self) -> tuple[str, ...]:
        """Columns that are no part of a joined time."""
        return (*self.targets, *(self.keys or ()))


@dataclass
class ScannedColumns:
    """Which columns are what, and what a reader should know about the others."""

    target: str
    time: str | None
    keys: tuple[str, ...]
    features: tuple[str, ...]
    formats: tuple[ColumnFormat, ...] = ()
    format_notes: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    ranges: tuple[ColumnRange, ...] = ()  # of the rows so far, by which codes are found
    first_ranges: tuple[ColumnRange, ...] = ()  # before any row was read
    # Whether the time is a column of numbers, taken for its name alone.
    has_named_time: bool = False
    has_clock_times: bool = True  # not numbers

    def read(self, chunk: Chunk, drops_text: bool = False) -> TimedRows:
        """Targets, times and features of a chunk, NaN where missing.

        ``drops_text``: a feature that is not all numbers is left out, with a note.
        """
        chunk = chunk.with_formats(self.formats)
        self.ranges, decoded = replace_codes(chunk, self.ranges)
        is_text = decoded.kind(self.target) == "text"
        hint = TEXT_IS_CLASSIFIED if is_text else NUMBERS_ONLY
        y = read_numbers(decoded, self.target, "skip", hint)
        features, columns = self.features, list[FloatArray]()
        for name in features:
            try:
                columns.append(_read_feature(decoded, name))
            except StreamError:
                if not drops_text:
                    raise
                self.features = tuple(one for one in self.features if one != name)
                self.notes.append(_text_note(name))
        x = np.stack(columns, axis=1) if columns else np.empty((len(chunk), 0))
        return TimedRows(y, self._read_times(chunk), x)

    def drop_features(self, names: Sequence[str]) -> list[int]:
        """Leave out features that turned out to be something else.

        Returns the positions that they had.
        """
        positions = [k for k, name in enumerate(self.features) if name in names]
        self.features = tuple(name for name in self.features if name not in names)
        self.ranges = tuple(one for one in self.ranges if one.name not in names)
        self.first_ranges = tuple(
            one for one in self.first_ranges if one.name not in names
        )
        notes = [note(name) for name in names for note in (_text_note, _flag_note)]
        self.notes = [note for note in self.notes if note not in notes]
        return positions

    def _read_times(self, chunk: Chunk) -> RowTimes:
        if self.time is None:
            return RowTimes()
        times: Timestamps | FloatArray
        if chunk.kind(self.time) == "number":
            times = numbers = read_numbers(chunk, self.time, "skip")
            is_missing = np.isnan(numbers)
        else:
            times = stamps = read_timestamps(chunk, self.time, "skip", None)
            is_missing = ~stamps.is_known()
        if is_missing.any():
            raise StreamError(
                f"{chunk.location(int(is_missing.argmax()))}: {self.time!r} is "
                f"missing. Every row needs its time."
            )
        if isinstance(times, Timestamps):
            has_offsets = times.has_offset().any()
            return RowTimes(times.instants, times.offsets if has_offsets else None)
        return RowTimes(times)


def choose_columns(chunk: Chunk, options: ScanOptions) -> ScannedColumns:
    """What each column is, by the first rows."""
    time, keys = options.time or None, options.keys or ()
    named = (*options.targets, *([] if time is None else [time]), *keys)
    names = (*named, *(options.features or ()))
    refuse_unknown_columns(names, chunk.cells, chunk.source)
    formats, format_notes = options.formats or (), tuple[str, ...]()
    if options.formats is None:
        written = [name for name in chunk.cells if name not in options.text]
        formats, format_notes = detect_formats(chunk, written, options.settings)
    notes = [*format_notes]
    chunk = chunk.with_formats(formats)
    for name in keys:
        if name in (*options.targets, time):
            raise InvalidParameterError(f"--key cannot name {name!r}, which is the "
                                        f"target or the time.")  # fmt: skip
    if options.time is None:
        time = find_time_column(chunk, options.used, options.apart)
        notes += _other_times_note(chunk, options, time)
    joined = None if time is None else joined_note(time, chunk.cells)
    notes += [] if joined is None else [joined]
    is_number = time is not None and chunk.kind(time) == "number"
    columns = ScannedColumns(
        options.targets[0], time, keys, (), formats, format_notes, notes,
        has_named_time=is_number and options.time is None,
        has_clock_times=not is_number,
    )  # fmt: skip
    if options.has_values:
        columns.features = _choose_features(chunk, options, columns)
        numbers = [name for name in columns.features if chunk.kind(name) == "number"]
        ranges = options.ranges
        if ranges is None and options.codes != "keep":
            ranges = first_ranges(chunk, [columns.target, *numbers])
        columns.ranges = columns.first_ranges = ranges or ()
    return columns


def _choose_features(
    chunk: Chunk, options: ScanOptions, columns: ScannedColumns
) -> tuple[str, ...]:
    """The columns of numbers, of yes and no too; last a time known by its name alone.

    Whether its numbers rise, and it is no feature, only the whole table tells.
    """
    if options.features is not None:
        return options.features
    time = columns.time
    parts = part_names(time, chunk.cells)
    apart = (*options.targets, *columns.keys, time, *parts)
    names = [name for name in chunk.cells if name not in apart and JOINT not in name]
    names = [name for name in names if not is_unnamed(name)]
    text = [name for name in names if chunk.kind(name) == "text"]
    flags = [name for name in text if are_flags(chunk.cells[name].distinct_texts())]
    columns.notes += [_text_note(name) for name in text if name not in flags]
    columns.notes += map(_flag_note, flags)
    features = [name for name in names if chunk.kind(name) == "number" or name in flags]
    return (*features, time) if columns.has_named_time and time else (*features,)


def _other_times_note(
    chunk: Chunk, options: ScanOptions, time: str | None
) -> list[str]:
    """A sentence if several columns hold times."""
    apart = (*options.used, *part_names(time, chunk.cells))
    names = [name for name in chunk.cells if name not in apart]
    times = [name for name in names if chunk.kind(name) == "time"]
    if len(times) < 2:
        return []
    return [
        f"Column {time!r} is taken as the time, the first of {len(times)} that hold "
        f"times; --time to say otherwise."
    ]


def _read_feature(chunk: Chunk, name: str) -> FloatArray:
    """A column to forecast from: numbers, or yes and no."""
    if chunk.kind(name) == "text":
        return read_flags(chunk, name)
    try:
        return read_numbers(chunk, name, "skip")
    except StreamError:  # yes and no, with the first one missing
        if are_flags(chunk.cells[name].distinct_texts()):
            return read_flags(chunk, name)
        raise


def _flag_note(name: str) -> str:
    return f"Column {name!r}: yes counts as 1, no as 0."


def _text_note(name: str) -> str:
    return f"Column {name!r} is not all numbers and is left out."
