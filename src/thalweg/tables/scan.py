"""The scan of a table: all that a command wants to know before it plays the rows.

One pass finds how columns are written, which one holds the times, whether the newest
rows come first (``newest_first``), which columns tell several series apart
(``key_choice``), and what each series holds. Numbers called ``year`` or the like are
times if they rise within each series.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from thalweg.errors import InvalidParameterError
from thalweg.tables.chunk import Chunk, FoundColumns
from thalweg.tables.key_choice import (
    MIN_ROWS_PER_KEY,
    ChunkRows,
    FoundKey,
    KeyChoice,
    SeriesScan,
    key_cells,
    key_choices,
    measured_column,
    ranks,
    refuse_time_as_key,
)
from thalweg.tables.newest_first import hold_falling_rows
from thalweg.tables.row_filters import reverse_rows
from thalweg.tables.row_keys import MAX_KEYS, Key, group_rows, require_key_count
from thalweg.tables.scanned_columns import ScannedColumns, ScanOptions, choose_columns
from thalweg.tables.table import Table
from thalweg.tables.time_order import (
    MIN_REPEATS,
    TimeOrder,
    as_numbers,
    times_as_numbers,
)
from thalweg.tables.timestamps import TimeArray

MAX_OUT_OF_ORDER = 0.1
"""Share of rows that may be no later than one before: a forecast leaves those out."""
LOOK_ROWS = 100_000
"""Number of rows by which a key that was named is judged before a run."""

OpenTable = Callable[[], Table]


@dataclass(frozen=True)
class Scan:
    """What a table holds."""

    columns: ScannedColumns
    series: Mapping[Key, SeriesScan]
    order: TimeOrder
    newest_first: bool
    found_key: FoundKey | None  # where rows look like several series
    is_key_found: bool  # whether that was taken as the key, as none was given
    first_times: TimeArray | None  # (≤ GRID_ROWS,) of the first series, if it has any
    is_binary: bool  # whether all known targets are 0 or 1, and there are both

    def prepare(self, table: Table) -> Table:
        """The table, to be played as this scan has found it: oldest row first."""
        if self.newest_first and self.columns.time is not None:
            table.reverse_rows(self.columns.time)
        columns = self.columns
        table.found = FoundColumns(columns.time, columns.formats, columns.format_notes)
        return table

    def key_notes(self) -> tuple[str, ...]:
        """What was taken as the key, and how to say otherwise; none if it was given."""
        found = self.found_key
        if found is None or not self.is_key_found:
            return ()
        return (
            f"The rows are {found.series:,} series, distinguished by {found.names()}: "
            f"taken as {found.option()}; --key none to treat them as one.",
        )

    def advice(self) -> tuple[str, ...]:
        """What is wrong with a key that was given; none if times rise by it."""
        is_right = self.columns.time is None or self.is_ordered(MIN_REPEATS)
        return () if is_right or not self.columns.keys else (self.order_sentence(),)

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

    def rows_out_of_order(self) -> int:
        """Rows that are not later than one before of their series."""
        return sum(one.out_of_order for one in self.series.values())

    def is_ordered(self, limit: float = MAX_OUT_OF_ORDER) -> bool:
        """Whether nearly all rows of each series are later than all before."""
        rows = sum(one.rows for one in self.series.values())
        return self.rows_out_of_order() <= limit * rows

    def order_sentence(self) -> str:
        """What is wrong with rows whose times repeat or go back, and what to do."""
        columns, order, found = self.columns, self.order, self.found_key
        keys, time, rows = columns.keys, columns.time, self.rows_out_of_order()
        count = f"{rows:,} of {order.rows:,} rows are not later than a row before"
        if keys:
            count += f" of their series, by {time!r} and --key {','.join(keys)}"
        else:
            count += f", by {time!r}"
        if found is not None and found.columns != keys:
            tell = "tells" if len(found.columns) == 1 else "tell"
            return (
                f"{count}: {found.names()} {tell} {found.series:,} series apart: "
                f"{found.option()}."
            )
        series = (
            f"If one is several series, name all columns that tell them apart, not "
            f"only {','.join(keys)}: --key."
            if keys
            else "If they are several series, name the columns that tell them apart: "
            "--key."
        )
        if order.longest_back > 0 and not keys:
            place = self._step_back_clause()
            if order.has_broken_dates():
                return (
                    f"{place}. So long a step is most often a wrong date, or rows of "
                    f"different years put together: --time none --horizon ROWS takes "
                    f"the rows in their order. {series}"
                )
            return f"{count}: {place}. Sort the rows by {time!r} first. {series}"
        if order.longest_back > 0:
            return f"{count}. Sort the rows by {time!r} first. {series}"
        # The rows are sorted, and times only repeat.
        if keys or order.first_repeat is None:
            return f"{count}: times repeat. Keep one row for each time. {series}"
        return (
            f"{rows:,} of {order.rows:,} rows have the same {time!r} as the row "
            f"before, the first of them row {order.first_repeat:,}. Keep one row for "
            f"each time. {series}"
        )

    def _step_back_clause(self) -> str:
        """How often times go back, and where first."""
        step, count = self.order.first_back, self.order.steps_back
        assert step is not None
        values = [step.before, step.time]
        before, after = _time_texts(values, self.columns.has_clock_times)
        times = "goes back once" if count == 1 else f"goes back {count:,} times"
        first = "" if count == 1 else "first "
        return (
            f"{self.columns.time!r} {times}, {first}in row {step.row:,}, from {before} "
            f"to {after}"
        )


class _Scanner:
    """Takes the rows of a table in order, and tells what it holds."""

    def __init__(
        self, options: ScanOptions, columns: ScannedColumns | None = None
    ) -> None:
        self._options, self._columns = options, columns
        self._order = TimeOrder()
        self._series = KeyChoice(options.keys or ())  # as far as the key is given
        self._choices: list[KeyChoice] | None = None
        self._levels: set[float] = set()  # of the target, until there are three
        self._measured: str | None = None  # a column of the key, with decimals
        self._rows = 0
        self._has_times = True

    def scan(self, chunks: Iterable[Chunk]) -> None:
        """Take rows until the last one, or until all that is wanted is known."""
        for chunk in chunks:
            self._add(chunk)
            if self._is_done():
                break

    def found_key(self) -> FoundKey | None:
        """Columns within whose values times rise, if rows look like several series."""
        best = self._best_choice()
        return None if best is None else FoundKey(best.columns, len(best.places))

    def finish(self, table: Table, newest_first: bool) -> Scan:
        """What the rows so far tell."""
        columns, options, series = self._columns, self._options, self._series
        assert columns is not None
        self._refuse_measured_key()
        best, found = self._best_choice(), self.found_key()
        if best is not None and options.keys is None:
            columns.keys, series = best.columns, best
        others = [*(columns.keys if series is best else ())]
        if columns.has_named_time and columns.time is not None:
            unordered = series.totals["out_of_order"]
            if self._has_times and unordered.sum() <= MAX_OUT_OF_ORDER * self._rows:
                others.append(columns.time)
            else:  # Numbers that do not rise are no times, whatever they are called.
                columns.time, columns.has_named_time = None, False
                unordered[:] = 0
        if options.features is None:
            series.drop_features(columns.drop_features(others))
        if newest_first and columns.time is not None:
            table.reverse_rows(columns.time)  # so that its notes say so
        columns.notes += table.notes()
        return Scan(
            columns, series.series(), self._order, newest_first, found, series is best,
            series.first_times if len(series.first_times) else None,
            self._levels == {0.0, 1.0},
        )  # fmt: skip

    def _add(self, chunk: Chunk) -> None:
        options = self._options
        if self._columns is None:
            self._columns = choose_columns(chunk, options)
        columns = self._columns
        chunk = chunk.with_formats(columns.formats)
        if columns.time is None and options.time is None:
            refuse_time_as_key(chunk, columns.keys)
        if self._choices is None:
            self._choices = key_choices(chunk, columns.time, options.targets)
        rows = self._read_values(chunk) if options.has_values else self._read(chunk)
        if rows.times is not None:
            self._order.add(rows.times)
        self._rows += len(chunk)
        self._measured = self._measured or measured_column(chunk, columns.keys)
        given = [chunk.categories(name) for name in self._series.columns]
        self._series.add(group_rows(given, len(chunk)), rows)
        if len(self._series.places) > MAX_KEYS:
            self._refuse_measured_key()
        require_key_count(len(self._series.places), columns.keys, chunk.source)
        if rows.times is not None:
            self._follow_choices(chunk, rows)

    def _read(self, chunk: Chunk) -> ChunkRows:
        """Times alone, which may be missing: then rows have no order."""
        assert self._columns is not None
        if self._columns.time is None or not self._has_times:
            return ChunkRows(chunk.first_row)
        times = times_as_numbers(chunk, self._columns.time)
        self._has_times = not np.isnan(times).any()
        if not self._has_times:
            self._order, self._choices = TimeOrder(), []
            self._series.totals["out_of_order"] = 0
            return ChunkRows(chunk.first_row)
        return ChunkRows(chunk.first_row, times, ranks(times))

    def _read_values(self, chunk: Chunk) -> ChunkRows:
        """Times, and which targets and features are known."""
        columns = self._columns
        assert columns is not None
        before = columns.features
        rows = columns.read(chunk, drops_text=self._options.features is None)
        dropped = [k for k, name in enumerate(before) if name not in columns.features]
        for one in (self._series, *(self._choices or ())):
            one.drop_features(dropped)
        known = ~np.isnan(rows.y)
        if len(self._levels) <= 2:
            self._levels.update(np.unique(rows.y[known])[:3].tolist())
        seen = ChunkRows(chunk.first_row, known=known, present=~np.isnan(rows.x))
        instants = rows.times.instants
        if instants is None:
            return seen
        times = as_numbers(instants)
        clock = rows.times.local() if instants.dtype.kind == "M" else None
        return seen._replace(times=times, ranks=ranks(times), clock=clock)

    def _follow_choices(self, chunk: Chunk, rows: ChunkRows) -> None:
        """Look at the series that each choice of a key makes of the rows."""
        choices = self._choices or []
        if self._options.keys is not None:  # Only times tell which key is a better one.
            rows = ChunkRows(rows.first_row, rows.times, rows.ranks)
        names = {name for one in choices for name in one.columns}
        cells = {name: key_cells(chunk, name) for name in names}
        self._choices = []
        for one in choices:
            own = [cells[name] for name in one.columns]
            known = [column for column in own if column is not None]
            if len(known) == len(own):
                one.add(group_rows(known, len(chunk)), rows)
                if not one.is_lost(self._order):
                    self._choices.append(one)

    def _best_choice(self) -> KeyChoice | None:
        order = self._order
        if not order.looks_like_several_series():
            return None
        likely = [one for one in self._choices or () if one.is_likely(order)]
        return min(
            likely, key=lambda one: (len(one.columns), len(one.places)), default=None
        )

    def _is_done(self) -> bool:
        """Whether later rows have nothing to tell."""
        options, columns = self._options, self._columns
        assert columns is not None
        has_times = columns.time is not None and self._has_times
        if options.has_values or (options.keys is None and has_times):
            return False
        if not options.keys or options.formats is not None:
            return not columns.has_named_time
        if self._rows >= LOOK_ROWS:
            unordered = self._series.totals["out_of_order"].sum()
            return bool(unordered <= MIN_REPEATS * self._rows)
        return not has_times and self._measured is None

    def _refuse_measured_key(self) -> None:
        """Raise if numbers of the key have decimals, and its series hardly any rows."""
        count = len(self._series.places)
        is_resumed = self._options.formats is not None
        is_right = self._measured is None or self._rows >= MIN_ROWS_PER_KEY * count
        if is_right or is_resumed:
            return
        raise InvalidParameterError(
            f"--key names {self._measured!r}, whose numbers have decimals: it would "
            f"make {count:,} series of {self._rows:,} rows. A key says which series a "
            f"row belongs to, such as a shop or a sensor; without --key the rows are "
            f"one series."
        )


def scan_table(open_table: OpenTable, options: ScanOptions) -> Scan:
    """Read a table once, or its first rows where these tell all that is wanted."""
    with open_table() as table:
        chunks, held = table.chunks(), list[Chunk]()
        columns, falling = hold_falling_rows(chunks, options, held)
        if falling is not None:
            backward = _Scanner(options)
            backward.scan(reverse_rows([*held]))
            is_glued = falling.may_be_glued() and backward.found_key() is not None
            if falling.fall_throughout() or is_glued:
                return backward.finish(table, newest_first=True)
        scanner = _Scanner(options, columns)
        scanner.scan(chain(held, chunks))
        return scanner.finish(table, newest_first=False)


def _time_texts(values: list[float], is_clock: bool) -> list[str]:
    """Times as text: to the day if all are midnights, else to the minute or second."""
    if not is_clock:
        return [f"{value:,.15g}" for value in values]
    moments = np.array([round(value / 1e9) for value in values]).astype("datetime64[s]")
    for unit in ("D", "m"):
        if (moments == moments.astype(f"datetime64[{unit}]")).all():
            moments = moments.astype(f"datetime64[{unit}]")
            break
    return [str(moment).replace("T", " ") for moment in moments]
