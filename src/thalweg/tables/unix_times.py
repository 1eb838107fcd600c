"""Unix time: numbers of seconds, or of parts of them, since 1970 in UTC.

Also known as: epoch, POSIX time. A column of plain numbers holds such times if it is
called like one (``ts``, ``epoch``, ``timestamp``, ``event_time``, …), and all numbers
of the first rows are in the years 2000 to 2099 in one unit: these lie a factor of 1,000
apart, so that no number is in two.
"""

import numpy as np

from thalweg.tables.cells import CellError, Cells
from thalweg.tables.date_detection import DATE_NAMES
from thalweg.tables.date_literals import UnixUnit
from thalweg.tables.timestamps import TimeArray, Timestamps
from thalweg.types import FloatArray

PARTS: dict[UnixUnit, int] = {
    "seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9
}  # fmt: skip
"""How many of each unit a second has."""
FIRST_SECOND, LAST_SECOND = 946_684_800, 4_102_444_799
"""The first second of 2000, the last one of 2099."""
MAX_SECONDS = 9.2e9
"""Times further from 1970 are no 64 bits of nanoseconds."""


def find_unix_unit(name: str, cells: Cells) -> UnixUnit:
    """The unit in which plain numbers are times; "" if they are none."""
    is_named = DATE_NAMES.fullmatch(name.strip()) is not None
    values = cells.numbers()
    values = values[~np.isnan(values)]
    if not is_named or not len(values):
        return ""
    low, high = values.min(), values.max()
    for unit, parts in PARTS.items():
        if FIRST_SECOND * parts <= low and high <= LAST_SECOND * parts:
            return unit
    return ""


def unix_times(cells: Cells, unit: UnixUnit) -> Timestamps:
    """The numbers as times in UTC, exact to a microsecond, NaT where missing."""
    values = cells.numbers()
    seconds = values / PARTS[unit]
    beyond = np.flatnonzero(np.abs(seconds) > MAX_SECONDS)
    if len(beyond):
        raise CellError(int(beyond[0]), float(values[beyond[0]]))
    return Timestamps(_instants(values, unit))


def _instants(values: FloatArray, unit: UnixUnit) -> TimeArray:
    per_microsecond = PARTS["microseconds"] / PARTS[unit]
    known = ~np.isnan(values)
    instants = np.full(len(values), np.datetime64("NaT", "ns"))
    micros = np.rint(values[known] * per_microsecond).astype(np.int64)
    instants[known] = micros.view("datetime64[us]").astype("datetime64[ns]")
    return instants
