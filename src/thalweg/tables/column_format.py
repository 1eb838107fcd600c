"""How one column of a table is written, where the first cell alone does not say it."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from thalweg.tables.cells import CellError, Cells
from thalweg.tables.date_detection import DATE_NAMES
from thalweg.tables.date_literals import DATE_ORDERS, DateOrder, UnixUnit, parse_date
from thalweg.tables.literals import Kind, NumberStyle, parse_styled_number
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
    """The unit in which plain numbers are times since 1970 in UTC; "" if they are none.

    Also known as: Unix time, epoch, POSIX time. A column of plain numbers holds such
    times if it is called like one (``ts``, ``epoch``, ``timestamp``, ``event_time``,
    …), and all numbers of the first rows are in the years 2000 to 2099 in one unit:
    these lie a factor of 1,000 apart, so that no number is in two.
    """
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


TIME_EXAMPLES = "such as 2024-01-31, 2024-01-31T18:30:00 or Jan 31 2024"
_MARKS: dict[NumberStyle, str] = {"decimal point": ".", "decimal comma": ","}
Setting = Callable[[str, str], str]
"""How a user says it: ``Chunk.setting``."""


class ColumnFormat(NamedTuple):
    """What a column holds and how; all rows of a run are read so."""

    name: str
    kind: Kind
    number_style: NumberStyle = "plain"
    date_order: DateOrder = "month first"
    unix_unit: UnixUnit = ""  # of numbers that are times

    def timestamps(self, cells: Cells) -> Timestamps:
        """The cells as times."""
        if self.unix_unit:
            return unix_times(cells, self.unix_unit)
        return cells.timestamps(self.date_order)


PLAIN = ColumnFormat("", "number")
"""The format of columns that have no other."""


def decimal_hint(
    value: Any, known: ColumnFormat, setting: Setting, texts: Sequence[str] = ()
) -> str:
    """What to say of a cell that is a number in another style than its column's.

    ``texts`` are cells of a column that is read as plain numbers: all of them must be
    numbers in the other style.
    """
    texts = texts if known.number_style == "plain" else ()
    for style, mark in _MARKS.items():
        if not isinstance(value, str) or parse_styled_number(value, style) is None:
            continue
        no_number = (text for text in texts if parse_styled_number(text, style) is None)
        culprit = next(no_number, None)
        if culprit is not None:
            return (
                f" in plain digits, and {culprit!r} in the same column is none with a "
                f"{style} either"
            )
        wanted = setting("decimal", mark)
        other = "comma" if style == "decimal point" else "point"
        if known.number_style != "plain" or style == "decimal comma":
            return f" with a decimal {other}; read all with a {style}: {wanted}"
        return f" in plain digits; read thousands separators as well: {wanted}"
    return ""


def order_hint(value: Any, known: ColumnFormat, setting: Setting) -> str:
    """What to say of a cell that is no time: the order of day and month, or how."""
    first, last = DATE_ORDERS
    other = last if known.date_order == first else first
    if isinstance(value, str) and parse_date(value.strip(), other) is not None:
        wanted = setting("dayfirst", str(other == "day first"))
        return f" with the {known.date_order}; read all with the {other}: {wanted}"
    return f" {TIME_EXAMPLES}"
