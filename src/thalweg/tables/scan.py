"""The scan of a table: all that a command wants to know before it plays the rows.

One pass finds how columns are written, which one holds the times, whether the newest
rows come first, which columns tell several series apart, and what each series holds.

- Rows whose times go back or repeat are most often several series, one below the other
  or row by row. The key is the column, or the pair of columns, of text or whole
  numbers within each of whose values times rise, but for a few rows that repeat a time,
  as where summer time ends. All choices are followed from the first rows on.
- Times that fall throughout are those of exports of banks and web pages, whose newest
  rows come first; in a table of several series within each of them. A few short steps
  forward are allowed. Rows are held as long as that is possible, to be taken in reverse
  order; that of rows in order of time is known after the first chunk.
- Numbers called ``year`` or the like are times if they rise within each series.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.calendar.row_clock import GRID_ROWS
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.tables.cells import Categorical
from thalweg.tables.chunk import Chunk
from thalweg.tables.row_filters import require_reversible, reverse_rows
from thalweg.tables.row_keys import (
    MAX_KEYS,
    IntArray,
    Key,
    RowGroups,
    group_rows,
    require_key_count,
)
from thalweg.tables.scanned_columns import (
    NO_TIME,
    ScannedColumns,
    ScanOptions,
    choose_columns,
)
from thalweg.tables.schema import is_unnamed
from thalweg.tables.table import Table
from thalweg.tables.time_parts import part_names
from thalweg.tables.timestamps import TimeArray
from thalweg.types import FloatArray

MIN_REPEATS = 0.01
"""Share of rows not later than the row before from which rows look like several series;
or one long step back does."""
SHORT_STEP_BACK = 0.01
"""Within a key a step back may be this share of the whole span, in a few rows."""
LONG_STEP_BACK = 0.25
"""A step back is long if it is this share of the whole span of times."""
MIN_ROWS_PER_KEY = 5
"""Minimum rows of a key in the mean: what differs in each row is no key."""
MIN_CHANCE_REPEATS = 3.0
"""Number of repeated times that a key has to explain: as many would be left by chance
if rows fell into as many groups at random."""
CHANCE_SHARE = 0.25
"""Limit of the repeats that a key leaves, as a share of those left by chance."""
MAX_COLUMNS = 8
"""Limit of columns that may be keys: the leftmost of text, then of whole numbers."""
PATIENCE_ROWS = 10_000
"""Number of rows after which a key with a quarter of them out of order is given up."""
MAX_RISES = 0.01
"""Share of steps that may go forward in a table whose newest rows come first."""
MAX_OUT_OF_ORDER = 0.1
"""Share of rows that may be no later than one before: a forecast leaves those out."""
LOOK_ROWS = 100_000
"""Number of rows by which a key that was named is judged before a run."""

OpenTable = Callable[[], Table]
BoolArray = npt.NDArray[np.bool_]


class StepBack(NamedTuple):
    """A row that is earlier than the row before."""

    row: int  # counted from 1
    before: float  # the time of the row before
    time: float


class TimeOrder:
    """Whether the rows of a table are in order of time."""

    def __init__(self) -> None:
        self.rows = 0
        self.repeats = 0  # rows that are not later than the row before
        self.first_repeat: int | None = None  # the first such row, counted from 1
        self.steps_back = 0  # rows that are earlier than the row before
        self.first_back: StepBack | None = None
        self.longest_back = 0.0
        self._first, self._last = np.inf, -np.inf
        self._before = np.nan

    def add(self, times: FloatArray) -> None:
        """Take the times of the next rows, as numbers."""
        before = np.append(self._before, times)
        steps = np.diff(before)
        self.steps_back += int((steps < 0).sum())
        if self.first_back is None and self.steps_back:
            k = int((steps < 0).argmax())
            self.first_back = StepBack(self.rows + k + 1, before[k], before[k + 1])
        is_repeat = steps <= 0
        if self.first_repeat is None and is_repeat.any():
            self.first_repeat = self.rows + int(is_repeat.argmax()) + 1
        self.repeats += int(is_repeat.sum())
        self.longest_back = max(self.longest_back, float(np.nanmax([0.0, *-steps])))
        self._first = min(self._first, float(times.min()))
        self._last = max(self._last, float(times.max()))
        self._before, self.rows = float(times[-1]), self.rows + len(times)

    @property
    def span(self) -> float:
        """From the earliest time to the latest."""
        return self._last - self._first

    def has_broken_dates(self) -> bool:
        """Whether a few steps go back, one far: wrong dates, or years put together."""
        are_few = 0 < self.steps_back <= max(1, MIN_REPEATS * self.rows)
        return are_few and self.longest_back > SHORT_STEP_BACK * self.span

    def looks_like_several_series(self) -> bool:
        """Whether many rows repeat a time, or one goes far back."""
        is_far = self.longest_back > 0
        is_far &= self.longest_back >= LONG_STEP_BACK * self.span
        return is_far or self.repeats > MIN_REPEATS * self.rows


class SeriesScan(NamedTuple):
    """What the scan has seen of one series."""

    first_row: int  # of the table
    last_row: int
    rows: int
    known: int  # rows with a target
    future: int  # rows after the last target
    out_of_order: int  # rows that are not later than one before
    present: Any  # (m,) in how many of the future rows each feature is known


class ChunkRows(NamedTuple):
    """What the scan looks at in the rows of a chunk."""

    first_row: int  # of the table
    times: FloatArray | None = None  # (T,) in order, as numbers
    ranks: IntArray | None = None  # (T,) of the times among those of the chunk
    known: BoolArray | None = None  # (T,) whether a target is
    present: BoolArray | None = None  # (T, m) whether features are
    clock: TimeArray | None = None  # (T,) times by local clocks


_TOTALS = np.dtype(
    [("first_row", "i8"), ("last_row", "i8"), ("rows", "i8"), ("known", "i8"),
     ("future", "i8"), ("out_of_order", "i8"), ("last", "f8"), ("latest", "f8")]
)  # fmt: skip


class KeyChoice:
    """Columns that may be the key, and the series that these would tell apart."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.columns = columns
        self.places: dict[Key, int] = {}  # in the arrays below
        self.totals = np.zeros(0, _TOTALS)
        self.present: IntArray = np.zeros((0, 0), np.intp)
        self.repeats = 0  # rows that are not later than the row before of their key
        self.steps_back = 0  # rows that are earlier
        self.longest_back = 0.0
        self.first_times: TimeArray = np.empty(0, "datetime64[ns]")

    def add(self, groups: RowGroups, rows: ChunkRows) -> None:
        """Take the next rows."""
        at, order = (
            self._find_places(groups.keys),
            np.argsort(groups.group, kind="stable"),
        )
        counts = np.bincount(groups.group)
        stops = np.cumsum(counts)
        starts, totals = stops - counts, self.totals
        is_new = totals["rows"][at] == 0
        first = rows.first_row + order[starts]
        totals["first_row"][at] = np.where(is_new, first, totals["first_row"][at])
        totals["last_row"][at] = rows.first_row + order[stops - 1]
        totals["rows"][at] += counts
        if rows.times is not None and rows.ranks is not None:
            self._add_times(rows.times[order], rows.ranks[order], at, counts)
        if rows.known is not None and rows.present is not None:
            self._add_values(rows.known[order], rows.present[order], at, counts)
        if rows.clock is not None and len(self.first_times) < GRID_ROWS:
            own = rows.clock[order[np.repeat(at, counts) == 0]]
            self.first_times = np.append(self.first_times, own)[:GRID_ROWS]

    def _find_places(self, keys: Sequence[Key]) -> IntArray:
        places = [self.places.setdefault(key, len(self.places)) for key in keys]
        missing = len(self.places) - len(self.totals)
        if missing:
            new = np.zeros(missing, _TOTALS)
            new["last"] = new["latest"] = -np.inf
            self.totals = np.append(self.totals, new)
        return np.array(places, np.intp)

    def _add_times(
        self, times: FloatArray, ranks: IntArray, at: IntArray, counts: IntArray
    ) -> None:
        """Take times that are sorted by key."""
        stops, totals = np.cumsum(counts), self.totals
        starts = stops - counts
        before = np.append(np.nan, times[:-1])
        before[starts] = totals["last"][at]
        steps = times - before
        self.repeats += int((steps <= 0).sum())
        self.steps_back += int((steps < 0).sum())
        self.longest_back = max(self.longest_back, -float(steps.min()))
        # The highest rank so far within each key: later keys have higher ones.
        levels = np.repeat(np.arange(len(at)), counts) * (len(times) + 1) + ranks
        highest = np.maximum.accumulate(levels)
        is_late = np.append(False, levels[1:] <= highest[:-1])
        is_late |= times <= np.repeat(totals["latest"][at], counts)
        totals["out_of_order"][at] += np.add.reduceat(is_late.astype(np.intp), starts)
        latest = np.maximum.reduceat(times, starts)
        totals["latest"][at] = np.maximum(totals["latest"][at], latest)
        totals["last"][at] = times[stops - 1]

    def _add_values(
        self, known: BoolArray, present: BoolArray, at: IntArray, counts: IntArray
    ) -> None:
        """Take targets and features that are sorted by key."""
        starts, totals = np.cumsum(counts) - counts, self.totals
        missing = len(totals) - len(self.present)
        shape = (missing, present.shape[1])
        if not len(self.present):
            self.present = np.zeros(shape, np.intp)
        elif missing:
            self.present = np.append(self.present, np.zeros(shape, np.intp), axis=0)
        positions = np.arange(len(known))
        last = np.maximum.reduceat(np.where(known, positions, -1), starts)
        is_after = positions > np.repeat(last, counts)
        ahead = np.add.reduceat(is_after.astype(np.intp), starts)
        goes_on = last < 0  # no target is known in these rows
        totals["known"][at] += np.add.reduceat(known.astype(np.intp), starts)
        totals["future"][at] = ahead + goes_on * totals["future"][at]
        if present.shape[1]:
            flags = (present & is_after[:, None]).astype(np.intp)
            there = np.add.reduceat(flags, starts, axis=0)
            self.present[at] = there + goes_on[:, None] * self.present[at]

    def drop_features(self, positions: Sequence[int]) -> None:
        """Forget columns that turned out to be no features."""
        if len(self.present):
            self.present = np.delete(self.present, positions, axis=1)

    def is_lost(self, order: TimeOrder) -> bool:
        """Whether these columns are no key, whatever comes."""
        if len(self.places) > MAX_KEYS:
            return True
        is_unordered = self.repeats > LONG_STEP_BACK * order.rows
        is_unordered |= self.longest_back > LONG_STEP_BACK * order.span
        return order.rows >= PATIENCE_ROWS and is_unordered

    def is_likely(self, order: TimeOrder) -> bool:
        """Whether several keys, each with several rows, explain the steps back."""
        keys = len(self.places)
        return (
            self.longest_back <= SHORT_STEP_BACK * order.span
            and self.repeats <= MIN_REPEATS * order.rows
            and keys >= 2
            and order.rows >= MIN_ROWS_PER_KEY * keys
            and order.repeats >= (keys - 1) / 2
            and self._explains_more_than_chance(order)
        )

    def _explains_more_than_chance(self, order: TimeOrder) -> bool:
        """Whether groups made at random would leave more repeated times than these.

        Two rows of one time fall into the same of K random groups once in K times, so
        that many small groups explain any times. Where series come one after the other,
        random groups would leave a step back in each.
        """
        by_chance = order.repeats / len(self.places)
        is_explained = self.repeats <= CHANCE_SHARE * by_chance
        return order.steps_back > 0 or (
            by_chance >= MIN_CHANCE_REPEATS and is_explained
        )

    def series(self) -> dict[Key, SeriesScan]:
        """What was seen of each series, in the order in which they begin."""
        fields = [self.totals[name].tolist() for name in SeriesScan._fields[:-1]]
        present = self.present if len(self.present) else [None] * len(self.places)
        rows = zip(self.places, *fields, present, strict=True)
        return {key: SeriesScan(*others) for key, *others in rows}


class FallingTimes:
    """How often times rise and fall from row to row of each key.

    Rises are what steps back would be if time went backwards.
    """

    def __init__(self, keys: tuple[str, ...] | None) -> None:
        self.keys = keys
        self.order, self._series = TimeOrder(), KeyChoice(keys or ())

    def add(self, chunk: Chunk, time: str) -> bool:
        """Take the next rows; returns whether the newest rows may come first."""
        times = times_as_numbers(chunk, time)
        if np.isnan(times).any():
            return False
        self.order.add(-times)
        cells = [chunk.categories(name) for name in self._series.columns]
        rows = ChunkRows(chunk.first_row, -times, _ranks(-times))
        self._series.add(group_rows(cells, len(chunk)), rows)
        has_ties = self._series.repeats > self._series.steps_back
        if has_ties and chunk.kind(time) == "number":  # These are hardly times.
            return False
        return self._rise_rarely() or (self.keys is None and self._rises_are_fewer(1))

    def fall_throughout(self) -> bool:
        """Whether no step goes forward, but for a few short ones."""
        is_short = self._series.longest_back <= SHORT_STEP_BACK * self.order.span
        return self._falls > 0 and is_short and self._rise_rarely()

    def may_be_glued(self) -> bool:
        """Whether rows may be series, with the newest rows first in each."""
        return self.keys is None and self._series.steps_back > 0

    def are_likely(self) -> bool:
        """Whether so few steps go forward that they may be those between series."""
        return self._rises_are_fewer(MIN_ROWS_PER_KEY - 1)

    @property
    def _falls(self) -> int:
        series = self._series
        return self.order.rows - len(series.places) - series.repeats

    def _rise_rarely(self) -> bool:
        return self._series.steps_back <= MAX_RISES * self._falls

    def _rises_are_fewer(self, times: int) -> bool:
        return times * self._series.steps_back < self._falls


class FoundKey(NamedTuple):
    """Columns within whose values times rise, and how many series they tell apart."""

    columns: tuple[str, ...]
    series: int

    def names(self) -> str:
        """The columns as a sentence names them."""
        return " and ".join(map(repr, self.columns))

    def option(self) -> str:
        """How to name them."""
        return f"--key {','.join(self.columns)}"


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
        if self.columns.has_named_time:
            table.named_time = self.columns.time
        return table

    def key_notes(self) -> tuple[str, ...]:
        """What was taken as the key, and how to say otherwise; none if it was given."""
        found = self.found_key
        if found is None or not self.is_key_found:
            return ()
        return (
            f"The rows are {found.series:,} series, told apart by {found.names()}: "
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
            self._choices = _key_choices(chunk, columns.time, options.targets)
        rows = self._read_values(chunk) if options.has_values else self._read(chunk)
        if rows.times is not None:
            self._order.add(rows.times)
        self._rows += len(chunk)
        self._measured = self._measured or _measured_column(chunk, columns.keys)
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
        return ChunkRows(chunk.first_row, times, _ranks(times))

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
        times = _as_numbers(instants)
        clock = rows.times.local() if instants.dtype.kind == "M" else None
        return seen._replace(times=times, ranks=_ranks(times), clock=clock)

    def _follow_choices(self, chunk: Chunk, rows: ChunkRows) -> None:
        """Look at the series that each choice of a key makes of the rows."""
        choices = self._choices or []
        if self._options.keys is not None:  # Only times tell which key is a better one.
            rows = ChunkRows(rows.first_row, rows.times, rows.ranks)
        names = {name for one in choices for name in one.columns}
        cells = {name: _key_cells(chunk, name) for name in names}
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
        columns, falling = _hold_falling_rows(chunks, options, held)
        if falling is not None:
            backward = _Scanner(options)
            backward.scan(reverse_rows([*held]))
            is_glued = falling.may_be_glued() and backward.found_key() is not None
            if falling.fall_throughout() or is_glued:
                return backward.finish(table, newest_first=True)
        scanner = _Scanner(options, columns)
        scanner.scan(chain(held, chunks))
        return scanner.finish(table, newest_first=False)


def _hold_falling_rows(
    chunks: Iterable[Chunk], options: ScanOptions, held: list[Chunk]
) -> tuple[ScannedColumns | None, FallingTimes | None]:
    """Hold rows as long as the newest ones may come first.

    Returns the columns, and how times fall, where all rows are held.
    """
    if options.time == NO_TIME:
        return None, None
    falling, columns, cells = FallingTimes(options.keys), None, 0
    for chunk in chunks:
        held.append(chunk)
        columns = columns or choose_columns(chunk, options)
        if columns.time is None:
            return columns, None
        try:
            if not falling.add(chunk.with_formats(columns.formats), columns.time):
                return columns, None
        except StreamError:  # What is wrong with a row, its reader says.
            return columns, None
        cells += len(chunk) * len(chunk.cells)
        if falling.are_likely():
            require_reversible(cells, chunk.source, columns.time)
    return columns, falling


def _key_choices(
    chunk: Chunk, time: str | None, targets: Sequence[str]
) -> list[KeyChoice]:
    """Columns of text, then those of whole numbers, one by one, then pairs of them."""
    if time is None:
        return []
    others = (*targets, time)
    parts = [part for name in others for part in part_names(name, chunk.cells)]
    names = [name for name in chunk.cells if name not in (*others, *parts)]
    names = [name for name in names if not is_unnamed(name)]
    text = [name for name in names if chunk.kind(name) == "text"]
    numbers = [name for name in names if chunk.kind(name) == "number"]
    names = [*text, *numbers][:MAX_COLUMNS]
    return [
        *(KeyChoice((name,)) for name in names),
        *map(KeyChoice, combinations(names, 2)),
    ]


def _key_cells(chunk: Chunk, name: str) -> Categorical | None:
    """The cells of a column that may be of the key; None if it cannot."""
    with suppress(StreamError):  # a cell that is neither text nor a number
        if _has_decimals(chunk, name):
            return None
        cells = chunk.categories(name)
        return cells if len(cells.levels) <= MAX_KEYS else None
    return None


def _measured_column(chunk: Chunk, keys: tuple[str, ...]) -> str | None:
    """The first column of the key with a number that is not whole."""
    return next((name for name in keys if _has_decimals(chunk, name)), None)


def _has_decimals(chunk: Chunk, name: str) -> bool:
    if chunk.kind(name) != "number":
        return False
    numbers = chunk.numbers(name)
    known = numbers[~np.isnan(numbers)]
    return bool((known != np.floor(known)).any())


def times_as_numbers(chunk: Chunk, time: str) -> FloatArray:
    """The times of a chunk in order, as numbers: nanoseconds since 1970 or as they are.

    Differences of 256 nanoseconds or less are lost.
    """
    if chunk.kind(time) == "number":
        return chunk.numbers(time)
    return _as_numbers(chunk.timestamps(time).instants)


def _as_numbers(times: Any) -> FloatArray:
    if times.dtype.kind != "M":
        return np.asarray(times, np.float64)
    numbers = times.astype(np.int64).astype(np.float64)
    return np.where(np.isnat(times), np.nan, numbers)


def _ranks(times: FloatArray) -> IntArray:
    return np.unique(times, return_inverse=True)[1].reshape(-1)


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


def refuse_time_as_key(chunk: Chunk, keys: Sequence[str]) -> None:
    """Raise if the rows have no times but in a column of the key."""
    for name in keys:
        if chunk.kind(name) == "time":
            raise InvalidParameterError(
                f"--key names {name!r}, which holds the times of the rows. A key says "
                f"which series a row belongs to; if these do, say --time none."
            )
