"""Dates with a clock in pyarrow's arrays, such as 1/31/2024 18:30, read fast.

Rows have few different dates and few different clocks, each of which is read once. What
a text means is said in ``date_literals``; tests compare the two.
"""

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.tables.date_literals import (
    NOT_A_TIME,
    DateOrder,
    is_three_numbers,
    parse_date,
)
from thalweg.tables.timestamps import TimeArray

_ISO_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_MAX_INSTANT = 2**63 - 24 * 3600 * 10**9
"""Nanoseconds to which a clock can be added."""


def nanoseconds(values: Any, zone: str | None) -> TimeArray:
    """Times or ISO texts as nanoseconds; ArrowInvalid where one is no time."""
    if getattr(values.type, "unit", "") != "ns":
        # Only from microseconds does pyarrow check that nanoseconds can hold a time;
        # versions 18 to 22 do not check it from other units.
        values = values.cast(pa.timestamp("us", zone))
    times = values.cast(pa.timestamp("ns", zone))
    return np.asarray(times.to_numpy(zero_copy_only=False), "datetime64[ns]")


def starts_with_iso(texts: Any) -> bool:
    """Whether the first text that is not missing begins like an ISO time."""
    known = texts.drop_null()
    return len(known) > 0 and _ISO_DAY.match(known[0].as_py()) is not None


def dates_with_clocks(texts: Any, order: DateOrder) -> TimeArray | None:
    """The times of texts that are all three numbers, a blank and a clock; else None."""
    known = texts.drop_null()
    if not len(known) or " " not in known[0].as_py():
        return None
    parts = pc.split_pattern(texts, " ", max_splits=1)
    try:
        dates, clocks = (pc.list_element(parts, i).dictionary_encode() for i in (0, 1))
    except pa.ArrowInvalid:  # A text has no blank.
        return None
    days = [_instant(text, order) for text in dates.dictionary.to_pylist()]
    hours = [_clock(text) for text in clocks.dictionary.to_pylist()]
    if None in days or None in hours:
        return None
    day_codes, clock_codes = (
        part.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        for part in (dates, clocks)
    )
    # The code -1 of a missing time finds the last level.
    instants = np.array([*days, NOT_A_TIME], np.int64)[day_codes]
    instants += np.array([*hours, 0], np.int64)[clock_codes]
    return np.asarray(instants.view("datetime64[ns]"))


def _instant(date: str, order: DateOrder) -> int | None:
    parsed = parse_date(date, order) if is_three_numbers(date) else None
    is_legal = parsed is not None and abs(parsed.instant) < _MAX_INSTANT
    return parsed.instant if parsed is not None and is_legal else None


def _clock(text: str) -> int | None:
    """Nanoseconds since midnight; None with an offset, or where it is no clock."""
    parsed = parse_date(f"1970-01-01 {text}")
    return parsed.instant if parsed and parsed.offset == NOT_A_TIME else None
