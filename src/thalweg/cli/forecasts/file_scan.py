"""The scan of a table before it is forecast: columns, series, rows without a target."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from thalweg.cli.forecasts.key_detection import (
    TIME_NAMES,
    TimeOrder,
    find_key,
    key_sentence,
    refuse_time_as_key,
    time_by_name,
    times_as_numbers,
)
from thalweg.cli.forecasts.row_keys import Key, require_key_count, split_by_key
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.evaluation.forecast_run import GRID_ROWS, TimedRows
from thalweg.evaluation.series_clock import RowTimes, local_times
from thalweg.tables import Chunk, Table, Timestamps
from thalweg.tables.column_format import ColumnFormat
from thalweg.tables.format_detection import FormatSettings, detect_formats
from thalweg.tables.missing_codes import ColumnRange, first_ranges, replace_codes
from thalweg.tables.schema import is_unnamed, refuse_unknown_columns
from thalweg.tables.time_parts import JOINT, joined_note, part_names
from thalweg.tables.validation import (
    are_flags,
    read_flags,
    read_numbers,
    read_timestamps,
)
from thalweg.types import FloatArray

NO_TIME = ""
"""Stands for a table whose rows have no times, in place of a column's name."""
MAX_OUT_OF_ORDER = 0.1
"""Share of rows that may be no later than one before: those are left out."""
NUMBERS_ONLY = " A forecast is of numbers: name a column of them with --target."
TEXT_IS_CLASSIFIED = (
    " A forecast is of numbers. thalweg run predicts text: it gives the probability of "
    "every class, also in rows at the end whose target is blank."
)

OpenTable = Callable[[], Table]


class ColumnOptions(NamedTuple):
    """The columns that the command line names."""

    target: str
    time: str | None = None
    keys: tuple[str, ...] | None = None  # None: to be found, (): one series
    features: tuple[str, ...] | None = None
    settings: FormatSettings = FormatSettings()
    formats: tuple[ColumnFormat, ...] | None = None  # None: to be found
    codes: str | None = None  # "keep": numbers such as -999 are what they are
    ranges: tuple[ColumnRange, ...] | None = None  # None: of the first rows


@dataclass
class TableColumns:
    """Which columns are what, and what a reader should know about the others."""

    target: str
    time: str | None
    keys: tuple[str, ...]
    features: tuple[str, ...]
    formats: tuple[ColumnFormat, ...] = ()
    notes: list[str] = field(default_factory=list)
    ranges: tuple[ColumnRange, ...] = ()  # of the rows so far, by which codes are found
    first_ranges: tuple[ColumnRange, ...] = ()  # before any row was read

    def read(self, chunk: Chunk) -> TimedRows:
        """Targets, times and features of a chunk, NaN where missing."""
        chunk = chunk.with_formats(self.formats)
        self.ranges, chunk = replace_codes(chunk, self.ranges)
        is_text = chunk.kind(self.target) == "text"
        hint = TEXT_IS_CLASSIFIED if is_text else NUMBERS_ONLY
        y = read_numbers(chunk, self.target, "skip", hint)
        columns = [_read_feature(chunk, name) for name in self.features]
        x = np.stack(columns, axis=1) if columns else np.empty((len(chunk), 0))
        return TimedRows(y, self._read_times(chunk), x)

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


@dataclass
class SeriesScan:
    """What the scan has seen of one series."""

    first_row: int = 0  # of the table
    last_row: int = 0
    rows: int = 0
    known: int = 0  # rows with a target
    future: int = 0  # rows after the last target
    latest: float = -np.inf
    out_of_order: int = 0  # rows that are not later than one before
    present: Any = None  # (m,) how many of the future rows have each feature


class TableScan(NamedTuple):
    """What a table holds."""

    columns: TableColumns
    series: Mapping[Key, SeriesScan]
    order: TimeOrder
    first_times: Any = None  # (≤ GRID_ROWS,) datetime64[ns] of the first series
    is_binary: bool = False  # whether all known targets are 0 or 1, and there are both

    def has_future(self) -> bool:
        """Whether rows at the end without a target are the future.

        Of many series half at least must have some: else they are gaps of a few.
        """
        ahead = sum(1 for one in self.series.values() if one.future)
        return ahead > 0 and 2 * ahead >= len(self.series)

    def known_features(self) -> tuple[str, ...]:
        """Features whose values are there in every row without a target at the end."""
        if not self.has_future():
            return ()
        ahead = [one for one in self.series.values() if one.future]
        is_known = np.all([one.present == one.future for one in ahead], axis=0)
        names = self.columns.features
        return tuple(name for name, flag in zip(names, is_known, strict=True) if flag)


def scan_table(open_table: OpenTable, options: ColumnOptions) -> TableScan:
    """Read the whole table once; where its rows are several series, find their key."""
    scan = _scan(open_table, options)
    columns = scan.columns
    if options.keys is not None or columns.time is None:
        return scan
    if scan.order.looks_like_several_series():
        with open_table() as table:
            chunks = (chunk.with_formats(columns.formats) for chunk in table.chunks())
            found = find_key(chunks, (columns.target,), columns.time, scan.order)
        if found is not None:
            scan = _scan(open_table, options._replace(keys=found.columns))
            scan.columns.notes.insert(0, key_sentence(found))
    if options.time is None and not is_ordered(scan) and _is_time_by_name(scan):
        # Numbers that do not rise are no times, whatever they are called.
        features = (*scan.columns.features, columns.time)
        keyed = options._replace(time=NO_TIME, keys=scan.columns.keys)
        scan = _scan(open_table, keyed._replace(features=options.features or features))
    return scan


def is_ordered(scan: TableScan) -> bool:
    """Whether nearly all rows of each series are later than all before."""
    rows = sum(one.rows for one in scan.series.values())
    out_of_order = sum(one.out_of_order for one in scan.series.values())
    return out_of_order <= MAX_OUT_OF_ORDER * rows


def _is_time_by_name(scan: TableScan) -> bool:
    time = scan.columns.time
    kinds = {one.name: one.kind for one in scan.columns.formats}
    is_named = time is not None and time.strip().lower() in TIME_NAMES
    return is_named and kinds.get(time or "", "number") == "number"


def _scan(open_table: OpenTable, options: ColumnOptions) -> TableScan:
    columns: TableColumns | None = None
    series: dict[Key, SeriesScan] = {}
    order = TimeOrder()
    first: list[Any] = []
    levels: set[float] = set()  # of the target, until there are more than two
    with open_table() as table:
        for chunk in table.chunks():
            if columns is None:
                columns = _choose_columns(chunk, options)
            chunk = chunk.with_formats(columns.formats)
            if columns.time is None and options.time is None:
                refuse_time_as_key(chunk, columns.keys)
            _drop_text(chunk, columns, options, series)
            rows = columns.read(chunk)
            if len(levels) <= 2:
                levels.update(np.unique(rows.y[~np.isnan(rows.y)])[:3].tolist())
            times = None
            if columns.time is not None:
                times = times_as_numbers(chunk, columns.time)
                order.add(times)
            for key, members in split_by_key(chunk, columns.keys):
                start = chunk.first_row + int(members[0])
                scan = series.setdefault(key, SeriesScan(first_row=start))
                scan.last_row = chunk.first_row + int(members[-1])
                own = None if times is None else times[members]
                if key == next(iter(series)) and sum(map(len, first)) < GRID_ROWS:
                    first += _clock_times(rows.take(members).times)
                _add_rows(scan, rows.take(members), own)
            require_key_count(len(series), columns.keys, chunk.source)
        if columns is not None:
            columns.notes += table.notes()
    assert columns is not None
    first_times = np.concatenate(first)[:GRID_ROWS] if first else None
    return TableScan(columns, series, order, first_times, levels == {0.0, 1.0})


def _clock_times(times: RowTimes) -> list[Any]:
    """Times by local clocks, if there are any."""
    is_clock = times.instants is not None and times.instants.dtype.kind == "M"
    return [local_times(times)] if is_clock else []


def _add_rows(scan: SeriesScan, rows: TimedRows, times: FloatArray | None) -> None:
    count, is_known = len(rows), ~np.isnan(rows.y)
    scan.rows += count
    scan.known += int(is_known.sum())
    start = int(np.flatnonzero(is_known)[-1]) + 1 if is_known.any() else 0
    present = (~np.isnan(rows.x[start:])).sum(axis=0)
    if start or scan.present is None:
        scan.future, scan.present = count - start, present
    else:
        scan.future, scan.present = scan.future + count, scan.present + present
    if times is not None:
        latest = np.maximum.accumulate(np.append(scan.latest, times))
        scan.out_of_order += int((times <= latest[:-1]).sum())
        scan.latest = float(latest[-1])


def _choose_columns(chunk: Chunk, options: ColumnOptions) -> TableColumns:
    """What each column is, by the first rows."""
    time = None if options.time == NO_TIME else options.time
    named = (options.target, time, *(options.keys or ()))
    names = [name for name in (*named, *(options.features or ())) if name is not None]
    refuse_unknown_columns(names, chunk.cells, chunk.source)
    formats, notes = _formats(chunk, options)
    chunk = chunk.with_formats(formats)
    keys = options.keys or ()
    for name in keys:
        if name in (options.target, time):
            raise InvalidParameterError(f"--key cannot name {name!r}, which is the "
                                        f"target or the time.")  # fmt: skip
    others = [name for name in chunk.cells if name not in (*named, *keys)]
    if options.time is None:
        times = [name for name in others if chunk.kind(name) == "time"]
        if times and {*part_names(times[0], chunk.cells)} & {*named, *keys}:
            del times[0]  # A part of the date is the target, or tells series apart.
        time = times[0] if times else time_by_name(chunk, others)
        others = [one for one in others if one not in part_names(time, chunk.cells)]
        times = [name for name in times if name in others]
        if len(times) > 1:
            notes.append(
                f"Column {time!r} is taken as the time, the first of {len(times)} that "
                f"hold times; --time to say otherwise."
            )
    joined = None if time is None else joined_note(time, chunk.cells)
    notes += [] if joined is None else [joined]
    if options.features is not None:
        features = options.features
    else:
        parts = part_names(time, chunk.cells)
        others = [name for name in others if name != time and not is_unnamed(name)]
        others = [name for name in others if name not in parts and JOINT not in name]
        text = [name for name in others if chunk.kind(name) == "text"]
        flags = [name for name in text if are_flags(chunk.cells[name].distinct_texts())]
        features = tuple(
            name for name in others if chunk.kind(name) == "number" or name in flags
        )
        notes += [_text_note(name) for name in text if name not in flags]
        notes += [f"Column {name!r}: yes counts as 1, no as 0." for name in flags]
    ranges = options.ranges
    if ranges is None:
        numbers = [name for name in features if chunk.kind(name) == "number"]
        keeps = options.codes == "keep"
        ranges = () if keeps else first_ranges(chunk, [options.target, *numbers])
    return TableColumns(
        options.target, time, keys, features, formats, notes, ranges, ranges
    )


def _formats(
    chunk: Chunk, options: ColumnOptions
) -> tuple[tuple[ColumnFormat, ...], list[str]]:
    """How the columns are written, and what should be said of that."""
    if options.formats is not None:
        return options.formats, []
    found = detect_formats(chunk, list(chunk.cells), options.settings)
    return found.formats, list(found.notes)


def _drop_text(
    chunk: Chunk, columns: TableColumns, options: ColumnOptions,
    series: Mapping[Key, SeriesScan],
) -> None:  # fmt: skip
    """Leave out a column of which the first rows were numbers, and others are not."""
    if options.features is not None:
        return
    for name in columns.features:
        try:
            _read_feature(chunk, name)
        except StreamError:
            names = columns.features
            for scan in series.values():
                scan.present = np.delete(scan.present, names.index(name))
            columns.features = tuple(other for other in names if other != name)
            columns.notes.append(_text_note(name))


def _read_feature(chunk: Chunk, name: str) -> FloatArray:
    """A column to forecast from: numbers, or yes and no."""
    if chunk.kind(name) == "text":
        return read_flags(chunk, name)
    try:
        return read_numbers(chunk, name, "skip")
    except StreamError:  # yes and no, of which the first is missing
        if are_flags(chunk.cells[name].distinct_texts()):
            return read_flags(chunk, name)
        raise


def _text_note(name: str) -> str:
    return f"Column {name!r} is not all numbers and is left out."
