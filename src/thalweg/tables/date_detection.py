"""Which columns hold dates, and whether the month or the day comes first in them."""

import re
from itertools import filterfalse, islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.tables.cells import CellError, Cells
from thalweg.tables.date_literals import (
    DATE_ORDERS,
    FIRST_SHORT_YEAR,
    DateOrder,
    UnixUnit,
    is_ambiguous,
    is_fiscal,
    month_and_number,
    parse_date,
)
from thalweg.tables.timestamps import Timestamps

TIME_NAMES = (
    "date", "datetime", "timestamp", "time", "ds", "year", "t", "day", "dt", "ts",
    "when", "period", "epoch", "unix", "unixtime", "datum", "tag",
)  # fmt: skip
"""Names of columns that hold times, in small letters, the likeliest first.

They make times of numbers that could be something else: of days such as 20240131, of
seconds since 1970 (also in ``sale_date``, say), and of any numbers that rise within
each series (``schema.find_time_column``).
"""
DATE_NAMES = re.compile(f"(?:.*[^a-z])?(?:{'|'.join(TIME_NAMES)})", re.IGNORECASE)
"""Names of columns whose numbers are days or seconds if they are such numbers."""
MONTH_NAMES = re.compile(
    r"(?:.*[^a-z])?(?:months?|monat|mois|mes|mese|ym|yyyymm|yearmonth)", re.IGNORECASE
)
"""Names of columns whose whole numbers of six digits are months."""
MIN_INCREASING_DAYS = 3
"""Minimum number of increasing whole numbers that are taken for days, whatever their
column is called; for months too, if they are in more than one year, as 202401 to
202412 could be a counter."""
MIN_TIME_ROWS = 20
"""Minimum number of known rows for a few to be the exception."""
MAX_NON_TIMES, MAX_NON_TIME_SHARE = 5, 0.01
"""Limits of the cells that are no times in a column of times; one always may be."""
_FIRST_DAY, _LAST_DAY = 18000101, 21991231
_FIRST_MONTH, _LAST_MONTH = 180001, 219912


_LAST_DAY_OF_MONTH = 31


class FoundTimes(NamedTuple):
    """How a column of times is written: the order of day and month, or a unit."""

    order: DateOrder
    ambiguous_text: str | None = None  # a date, if the other order reads all as well
    assumption: str | None = None  # what was taken for what, for a note
    unix_unit: UnixUnit = ""  # of numbers since 1970


def holds_days(name: str, cells: Cells) -> bool:
    """Whether a column of plain numbers is one of days (20240131) or months (202401).

    All are of the years 1800 to 2199, and the column is called like a date, or they
    only increase.
    """
    values = cells.numbers()
    values = values[~np.isnan(values)]
    if not len(values):
        return False
    are_months = ((values >= _FIRST_MONTH) & (values <= _LAST_MONTH)).all()
    are_days = ((values >= _FIRST_DAY) & (values <= _LAST_DAY)).all()
    if not are_months and not are_days:
        return False
    increases = len(values) >= MIN_INCREASING_DAYS and bool((np.diff(values) > 0).all())
    is_named = DATE_NAMES.fullmatch(name.strip()) is not None
    if are_months:
        increases = increases and values[0] // 100 < values[-1] // 100
        is_named = is_named or MONTH_NAMES.fullmatch(name.strip()) is not None
    return (increases or is_named) and _read_times(cells, "month first") is not None


def find_date_order(
    cells: Cells, texts: list[str], dayfirst: bool | None
) -> FoundTimes | None:
    """The order in which all cells are times; None if they are no times.

    Where both orders are possible: that in which times turn less often, then that in
    which they go back less often, then that whose steps are more even, then the month
    first, or the day where the numbers are separated by dots.
    """
    if not any(parse_date(texts[0], order) for order in DATE_ORDERS):
        return None
    if not _may_be_months(texts):
        return None
    read = {order: _read_times(cells, order) for order in DATE_ORDERS}
    possible = [order for order in DATE_ORDERS if read[order] is not None]
    if dayfirst is not None:
        # Where that cannot be, the row that contradicts is named when it is read.
        return FoundTimes(usual_order("", dayfirst)) if possible else None
    ambiguous_text = next(filter(_has_two_readings, texts), None)
    if len(possible) < 2 or ambiguous_text is None:
        return FoundTimes(possible[0], None, _assumption(texts)) if possible else None
    month, day = (_unevenness(read[order]) for order in DATE_ORDERS)
    if month == day:
        return FoundTimes(usual_order(ambiguous_text), ambiguous_text)
    return FoundTimes("month first" if month < day else "day first", ambiguous_text)


def find_non_times(cells: Cells, texts: list[str]) -> npt.NDArray[np.intp]:
    """The positions of the few cells that are no times in a column otherwise of times,
    such as the last line of a report, its total; none where it is no such column."""
    none = np.empty(0, np.intp)
    if not any(map(_is_time, texts[:2])):
        return none
    others = list(islice(filterfalse(_is_time, texts), MAX_NON_TIMES + 1))
    if not 0 < len(others) <= MAX_NON_TIMES:
        return none
    column = cells.categories()
    known = int((column.codes >= 0).sum())
    codes = [code for code, level in enumerate(column.levels) if level in others]
    positions = np.flatnonzero(np.isin(column.codes, codes))
    most = min(MAX_NON_TIMES, max(1, int(MAX_NON_TIME_SHARE * known)))
    return positions if known >= MIN_TIME_ROWS and len(positions) <= most else none


def _may_be_months(texts: list[str]) -> bool:
    """Whether no texts such as Jan-15 are days; there may be no such texts.

    They are months if times, with the number as the year, turn and go back no more
    often than with the number as the day. Of one month alone, they are days.
    """
    pairs = [pair for pair in map(month_and_number, texts) if pair is not None]
    if len(pairs) < 2:
        return True
    months, numbers = np.array(pairs).T
    if (numbers < 1).any() or (numbers > _LAST_DAY_OF_MONTH).any():
        return True
    if (months == months[0]).all():
        return False
    years = np.where(numbers >= FIRST_SHORT_YEAR, numbers, numbers + 100)
    by_year = _turns(12 * years + months)
    return by_year <= _turns(_LAST_DAY_OF_MONTH * months + numbers)


def _assumption(texts: list[str]) -> str | None:
    """What is taken for what, where a column of times does not say it all."""
    text = next((text for text in texts if month_and_number(text)), None)
    if text is not None:
        return f"{text!r} is taken as {_month_text(text)}, not as a day of the month"
    text = next(filter(is_fiscal, texts), None)
    if text is None:
        return None
    parsed = parse_date(text)
    assert parsed is not None
    month = np.datetime64(parsed.instant, "ns").astype("datetime64[M]").astype(int)
    year, quarter = 1970 + int(month) // 12, int(month) % 12 // 3 + 1
    return (
        f"{text!r} is taken as quarter {quarter} of the year {year}, for nobody knows "
        f"in which month a fiscal year begins"
    )


def _month_text(text: str) -> str:
    """The month as people write it, such as February 2019."""
    return day_text(text, "month first").partition(" ")[2]


def _is_time(text: str) -> bool:
    return any(parse_date(text, order) is not None for order in DATE_ORDERS)


def _has_two_readings(text: str) -> bool:
    """Whether it is another day if day and month are exchanged."""
    month, day = (parse_date(text, order) for order in DATE_ORDERS)
    return is_ambiguous(text) and month != day


def usual_order(text: str, dayfirst: bool | None = None) -> DateOrder:
    """The order of day and month where no row tells; ``dayfirst`` is what a user said.

    31.01.2024 is how dates are written where the day comes first.
    """
    if dayfirst is None:
        dayfirst = "." in text[:3]
    return "day first" if dayfirst else "month first"


def day_text(text: str, order: DateOrder) -> str:
    """The day as people write it, such as 1 February 2019."""
    parsed = parse_date(text, order)
    assert parsed is not None
    day = np.datetime64(parsed.instant, "ns").astype("datetime64[D]").item()
    return f"{day.day} {day:%B} {day.year}"


def _read_times(cells: Cells, order: DateOrder) -> Timestamps | None:
    try:
        return cells.timestamps(order)
    except CellError:
        return None


def _unevenness(times: Timestamps | None) -> tuple[int, int, float]:
    """How often times turn, and go back, and the longest step over the shortest.

    The newest row may come first, so that all times go back and none turns.
    """
    assert times is not None
    instants = times.instants[times.is_known()].view(np.int64)
    steps = np.diff(np.unique(instants))
    unevenness = float(steps.max() / steps.min()) if len(steps) else 1.0
    return *_turns(instants), unevenness


def _turns(times: npt.NDArray[np.int64]) -> tuple[int, int]:
    """How often times turn, and how often they go back."""
    goes_back = int((np.diff(times) < 0).sum())
    return min(goes_back, int((np.diff(times) > 0).sum())), goes_back
