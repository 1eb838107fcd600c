"""Periods of a stream in words: the same hour last week, the same month last year."""

from thalweg.calendar.time_grid import TimeGrid
from thalweg.calendar.weekdays import DAY, count_weekdays

HOUR, WEEK = DAY // 24, 7 * DAY
YEAR_ROWS = {1: ("month", 12), 3: ("quarter", 4)}
"""Rows of a year by the months between rows, and what a row is called."""


def ago_words(grid: TimeGrid | None, period: int) -> str:
    """The value ``period`` rows ago: "the same hour yesterday"."""
    words = None if grid is None else _ago(grid, period)
    return words or f"the value {period:,} rows ago"


def position_words(grid: TimeGrid | None, period: int) -> str:
    """All values at the same position of a period: "the same hour of the week"."""
    words = None if grid is None else _position(grid, period)
    return words or f"every {period:,}th row back"


def _ago(grid: TimeGrid, period: int) -> str | None:
    if grid.months:
        name, rows = YEAR_ROWS.get(grid.months, ("months", 0))
        return (
            f"the same {name} last year" if period == rows else "the value a year ago"
        )
    length, row = _length(grid, period), _row_name(grid)
    if grid.step < DAY:
        return {
            HOUR: "the value an hour ago",
            DAY: f"the same {row} yesterday",
            WEEK: f"the same {row} last week",
        }.get(length)
    return {WEEK: f"the same {row} last week"}.get(
        length, f"the same {row} last year" if length >= 364 * DAY else None
    )


def _position(grid: TimeGrid, period: int) -> str | None:
    if grid.months:
        name, rows = YEAR_ROWS.get(grid.months, ("months", 0))
        return f"the same {name}" if period == rows else "the same part of the year"
    length, row = _length(grid, period), _row_name(grid)
    if grid.step < DAY:
        return {
            HOUR: "the same time of the hour",
            DAY: "the same hour" if row == "hour" else "the same time of day",
            WEEK: f"the same {row} of the week",
        }.get(length)
    if length == WEEK:
        return "the same weekday"
    return f"the same {row} of the year" if length >= 364 * DAY else None


def _length(grid: TimeGrid, period: int) -> int:
    """How long ``period`` rows are, in nanoseconds."""
    if not grid.weekdays:
        return grid.step * period
    return period * WEEK // count_weekdays(grid.weekdays)


def _row_name(grid: TimeGrid) -> str:
    """What a row is called: an hour, a day, a week, or a time."""
    return {HOUR: "hour", DAY: "day", WEEK: "week"}.get(grid.step, "time")
