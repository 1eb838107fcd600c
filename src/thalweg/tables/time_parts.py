"""Times that a table writes in several columns: a date and a clock, or year to hour.

They are joined to one column of times, which comes first and is called by the names of
its parts, ``Date + Time``. Joined without asking are, where no column holds times with
a clock:

- a column of dates and one of clocks (14:00, 14:00:00, 14.00.00, 2:00 PM), or one of
  whole numbers from 0 to 24 that is called hour or the like. Either the dates repeat in
  the first rows, or the column of clocks is called what clocks are called: a time of
  sunrise for every day is no clock of the rows;
- columns of whole numbers called year, month and day, perhaps with hour, or year and
  month or year and quarter alone, where no other column holds dates.

The parts stay in the table, but are no features and no keys unless they are named.
Hour 24 is hour 0 of the next day.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.errors import StreamError
from thalweg.tables.cells import Categorical, CellError, Cells, PythonCells
from thalweg.tables.chunk import Chunk, first_rows
from thalweg.tables.date_detection import holds_days
from thalweg.tables.date_literals import DATE_ORDERS, DateOrder, parse_date
from thalweg.tables.literals import Kind, NumberStyle, parse_number
from thalweg.tables.timestamps import Timestamps
from thalweg.types import FloatArray

JOINT = " + "
"""Between the names of parts, in the name of the column that they are joined to."""
CLOCK_NAMES = frozenset(
    {"time", "clock", "hour", "hours", "hr", "hrs", "hh", "timeofday", "time of day",
     "zeit", "uhrzeit", "uhr", "stunde", "heure", "hora", "ora"}
)  # fmt: skip
"""What columns of clocks are called, in small letters."""
HOUR_NAMES = frozenset({"hour", "hours", "hr", "hrs", "hh", "stunde", "heure", "hora"})
CALENDAR_NAMES = {
    "year": ("year", "yr", "yyyy", "jahr"),
    "month": ("month", "mo", "mon", "mnth", "mm", "monat"),
    "quarter": ("quarter", "qtr", "quartal", "trimestre"),
    "day": ("day", "dy", "dd", "dom", "mday", "tag"),
    "hour": tuple(sorted(HOUR_NAMES)),
}
"""What columns of whole numbers are called that are parts of a date."""
_LIMITS = {
    "year": (1700, 2260), "month": (1, 12), "quarter": (1, 4), "day": (1, 31),
    "hour": (0, 24),
}  # fmt: skip
_CLOCK = re.compile(
    r"([0-9]{1,2})(?::([0-9]{2})(?::([0-9]{2})(?:\.[0-9]+)?)?|"
    r"\.([0-9]{2})\.([0-9]{2}))(?: ?([ap])\.?m\.?)?",
    re.IGNORECASE,
)
_DIGITS_OF_DATES = (len("202401"), len("20240131"))
_HOUR = 3600 * 10**9
_MISSING = np.iinfo(np.int64).min

IntArray = npt.NDArray[np.int64]


class TimeParts(NamedTuple):
    """The columns that are joined."""

    # One column of dates; or year, month and perhaps day; or year and quarter.
    dates: tuple[str, ...]
    clock: str | None  # of clocks or hours

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are joined."""
        return (*self.dates, *(() if self.clock is None else (self.clock,)))


class JoinedTimeCells:
    """Cells of dates, and nanoseconds since midnight that are added to them."""

    def __init__(self, dates: Cells, clocks: IntArray) -> None:
        self._dates, self._clocks = dates, clocks

    def __len__(self) -> int:
        return len(self._clocks)

    def slice_rows(self, start: int, stop: int) -> "JoinedTimeCells":
        """The cells from ``start`` to before ``stop``."""
        dates = self._dates.slice_rows(start, stop)
        return JoinedTimeCells(dates, self._clocks[start:stop])

    def take_rows(self, rows: npt.NDArray[np.intp]) -> "JoinedTimeCells":
        """The cells of some rows, in this order."""
        return JoinedTimeCells(self._dates.take_rows(rows), self._clocks[rows])

    def kind(self) -> Kind:
        """They are times."""
        return "time"

    def numbers(self, style: NumberStyle = "plain") -> FloatArray:
        """Times are no numbers."""
        texts = self._dates.categories().levels
        raise CellError(0, texts[0] if texts else "")

    def timestamps(self, order: DateOrder = "month first") -> Timestamps:
        """The dates with their clocks, without an offset from UTC."""
        dates = self._dates.timestamps(order)
        instants = dates.instants.astype(np.int64)
        is_missing = ~dates.is_known() | (self._clocks == _MISSING)
        joined = np.where(is_missing, _MISSING, instants + self._clocks)
        return Timestamps(joined.view("datetime64[ns]"), dates.offsets)

    def categories(self) -> Categorical:
        """The dates as text, as ``distinct_texts`` has them."""
        return self._dates.categories()

    def distinct_texts(self) -> list[str] | None:
        """The dates, which tell whether the day or the month comes first."""
        return self._dates.distinct_texts()


def joined_name(names: Sequence[str]) -> str:
    """The name of the column that these are joined to."""
    return JOINT.join(names)


def split_joined(name: str | None) -> tuple[str, ...]:
    """The names in that of a joined column; none if it is the name of one column."""
    return () if name is None or JOINT not in name else tuple(name.split(JOINT))


def part_names(name: str | None, columns: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns that were joined to the column ``name``; none if it is one itself."""
    parts = split_joined(name)
    return parts if all(part in columns for part in parts) else ()


def joined_note(name: str, columns: Mapping[str, Any]) -> str | None:
    """A sentence about the columns that were joined to ``name``; None if none were."""
    parts = part_names(name, columns)
    if not parts:
        return None
    *others, last = map(repr, parts)
    return (
        f"Columns {', '.join(others)} and {last} are joined to the times of the rows; "
        f"--time NAME takes one of them."
    )


def find_time_parts(chunk: Chunk, given: Sequence[str] = ()) -> TimeParts | None:
    """The columns to be joined, by the first rows of a table.

    ``given``: the columns that a user names; an error says why they cannot be joined.
    """
    rows = first_rows(chunk)
    if given:
        return _given_parts(rows, given, chunk.source)
    dates = []
    for name, cells in rows.items():
        has_clock = _has_clock(name, cells)
        if has_clock:
            return None
        if has_clock is False:
            dates.append(name)
    if not dates:
        return _calendar_parts(rows)
    clocks = [name for name, cells in rows.items() if _holds_clocks(name, cells)]
    named = [name for name in clocks if name.strip().lower() in CLOCK_NAMES]
    # A pipe shows one row, of which the dates cannot repeat.
    repeats = _has_repeats(rows[dates[0]])
    if repeats:
        chosen = [*named, *clocks]
    else:
        chosen = named if chunk.sample is None else _texts_only(rows, named)
    return TimeParts((dates[0],), chosen[0]) if chosen else None


def join_time_parts(chunk: Chunk, parts: TimeParts) -> Chunk:
    """The chunk with the joined column before all others."""
    name = joined_name(parts.names)
    if name in chunk.cells or any(part not in chunk.cells for part in parts.names):
        return chunk
    sample = chunk.sample
    if sample is not None and name not in sample:
        sample = {name: _join(sample, parts), **sample}
    cells = {name: _join(chunk.cells, parts), **chunk.cells}
    return replace(chunk, cells=cells, sample=sample)


def _join(rows: Mapping[str, Cells], parts: TimeParts) -> JoinedTimeCells:
    if len(parts.dates) == 1:
        dates = rows[parts.dates[0]]
    else:
        columns = np.stack(
            [_calendar_numbers(name, rows[name]) for name in parts.dates], axis=1
        )
        dates = PythonCells([_date_text(row) for row in columns.tolist()])
    clocks = np.zeros(len(dates), np.int64)
    if parts.clock is not None:
        clocks = _clock_times(rows[parts.clock])
    return JoinedTimeCells(dates, clocks)


def _calendar_numbers(name: str, cells: Cells) -> FloatArray:
    """Years, months or days, NaN where a cell is none; of quarters their first months.

    Cells are looked at one by one, for a column was chosen by its first rows.
    """
    numbers = _any_numbers(cells)
    numbers = np.where(numbers == np.floor(numbers), numbers, np.nan)
    is_quarter = name.strip().lower() in CALENDAR_NAMES["quarter"]
    return 3 * numbers - 2 if is_quarter else numbers


def _date_text(row: list[float]) -> str | None:
    """A date in ISO 8601; None where a part of it is missing."""
    if not all(np.isfinite(row)):
        return None
    year, *others = map(int, row)
    return "-".join([f"{year:04d}", *(f"{part:02d}" for part in others)])


def _clock_times(cells: Cells) -> IntArray:
    """Nanoseconds since midnight of clocks or hours; the smallest number: missing."""
    hours = _any_numbers(cells)
    is_hour = (hours >= 0) & (hours <= 24) & (hours == np.floor(hours))
    known = np.where(is_hour, hours, 0).astype(np.int64)
    times = np.where(is_hour, known * _HOUR, _MISSING)
    try:
        column = cells.categories()
    except CellError:
        return times
    clocks = [_parse_clock(level) for level in column.levels]
    found = [_MISSING if time is None else time for time in clocks]
    return np.maximum(times, np.array([*found, _MISSING], np.int64)[column.codes])


def _any_numbers(cells: Cells) -> FloatArray:
    """The cells as numbers, NaN where they are none."""
    try:
        return cells.numbers()
    except CellError:
        pass
    try:
        column = cells.categories()
    except CellError:
        return np.full(len(cells), np.nan)
    numbers = [parse_number(level) for level in column.levels]
    known = [np.nan if number is None else number for number in numbers]
    return np.array([*known, np.nan])[column.codes]


def _parse_clock(text: str) -> int | None:
    """Nanoseconds since midnight of a clock; None where it is none."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        return None
    hour, minute = int(match[1]), int(match[2] or match[4] or 0)
    second = int(match[3] or match[5] or 0)
    if match[6] is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match[6] in "Pp" else 0)
    seconds = 3600 * hour + 60 * minute + second
    is_clock = minute < 60 and second < 60 and seconds <= 24 * 3600
    return seconds * 10**9 if is_clock else None


def _has_clock(name: str, cells: Cells) -> bool | None:
    """Whether a column of times has clocks; None where it holds no times."""
    texts = cells.distinct_texts()
    if texts:
        if not any(parse_date(texts[0], order) for order in DATE_ORDERS):
            is_day = texts[0].isdecimal() and len(texts[0]) in _DIGITS_OF_DATES
            return False if is_day and _holds_days(name, cells) else None
        if texts[0].isdecimal() and not _holds_days(name, cells):
            return None
        return any(":" in text for text in texts)
    if cells.kind() == "time":
        instants = cells.timestamps().instants
        return bool((instants != instants.astype("datetime64[D]")).any())
    return False if _holds_days(name, cells) else None


def _holds_days(name: str, cells: Cells) -> bool:
    try:
        return holds_days(name, cells)
    except CellError:
        return False


def _holds_clocks(name: str, cells: Cells) -> bool:
    """Whether all cells are clocks, or hours in a column that is called so."""
    texts = cells.distinct_texts()
    if texts and all(_parse_clock(text) is not None for text in texts):
        return True
    return name.strip().lower() in HOUR_NAMES and _is_in_limits(cells, "hour")


def _texts_only(rows: Mapping[str, Cells], names: Sequence[str]) -> list[str]:
    """The columns of clocks, without those of hours."""
    return [name for name in names if _whole_numbers(rows[name]) is None]


def _has_repeats(dates: Cells) -> bool:
    """Whether one date is that of several rows."""
    try:
        codes = dates.categories().codes
    except CellError:
        return False
    known = codes[codes >= 0]
    return len(np.unique(known)) < len(known)


def _calendar_parts(rows: Mapping[str, Cells]) -> TimeParts | None:
    """Columns of years, months, days and hours, by their names."""
    found = {}
    for part, names in CALENDAR_NAMES.items():
        for name in rows:
            is_named = name.strip().lower() in names
            if part not in found and is_named and _is_in_limits(rows[name], part):
                found[part] = name
    if {"year", "quarter"} <= found.keys() and "month" not in found:
        return TimeParts((found["year"], found["quarter"]), None)
    if not {"year", "month"} <= found.keys():
        return None
    has_day = "day" in found
    dates = ("year", "month", "day") if has_day else ("year", "month")
    clock = found.get("hour") if has_day else None
    return TimeParts(tuple(found[part] for part in dates), clock)


def _given_parts(
    rows: Mapping[str, Cells], given: Sequence[str], source: str
) -> TimeParts:
    """The columns that a user names, in any of the ways in which they may be joined."""
    parts = _calendar_parts({name: rows[name] for name in given})
    if parts is not None and set(parts.names) == set(given):
        return parts
    date, *others = given
    if len(others) == 1:
        return TimeParts((date,), others[0])
    raise StreamError(
        f"--time names the columns {', '.join(map(repr, given))} of {source}, which "
        f"cannot be joined to times: a date and a clock can, or year, month, day and "
        f"hour, or year and quarter."
    )


def _is_in_limits(cells: Cells, part: str) -> bool:
    """Whether a column holds whole numbers that may be such parts of a date."""
    numbers, (low, high) = _whole_numbers(cells), _LIMITS[part]
    if numbers is None:
        return False
    known = numbers[~np.isnan(numbers)]
    return len(known) > 0 and bool(((known >= low) & (known <= high)).all())


def _whole_numbers(cells: Cells) -> FloatArray | None:
    """The cells as whole numbers, NaN where missing; None where they are none."""
    try:
        numbers = cells.numbers()
    except CellError:
        return None
    known = numbers[~np.isnan(numbers)]
    is_whole = np.isfinite(known).all() and (known == np.floor(known)).all()
    return numbers if is_whole else None
