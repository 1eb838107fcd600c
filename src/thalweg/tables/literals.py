"""What the text in a cell means: missing, a number, a time, or just text.

One rule for every format. Missing is an empty cell, NA, N/A, #N/A, NaN, null, None, ?
or -, in capital letters or small ones.
A number is written with a decimal point and without thousands separators; true and
false are 1 and 0. A time is ISO 8601: 2024-01-31, 2024-01-31 18:30 or
2024-01-31T18:30:00.5+01:00, in the years 1678 to 2261, which 64 bits of nanoseconds
hold; without an offset the zone of its clock is not told. 31/01/2024 is text, for no
rule tells a day from a month. Blanks around are no part of it.
"""

import re
from datetime import UTC, datetime, timedelta
from math import inf, nan
from typing import Literal, NamedTuple

Kind = Literal["number", "text", "time", "other"]
"""What a column holds; of lists, objects, bytes and durations nothing is made."""

MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-")
"""What says that a value is not known, in small letters."""
_MISSING = frozenset(MISSING)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NAMED = {"true": 1.0, "false": 0.0} | {
    sign + name: inf if sign != "-" else -inf
    for sign in ("", "+", "-")
    for name in ("inf", "infinity")
}
_TIME = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ](?P<hour>[0-9]{2})(?::(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]{1,9}))?)?)?"
    r"(?P<zone>Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOT_A_TIME = -(2**63)
"""Nanoseconds that NumPy reads as NaT, for a missing time and for no offset."""


class Moment(NamedTuple):
    """A time in nanoseconds."""

    since: int  # 1970 in UTC
    ahead: int = NOT_A_TIME  # of UTC, where an offset is written


def is_missing(text: str) -> bool:
    """Whether the cell says that its value is not known."""
    return text.strip().lower() in _MISSING


def number(text: str) -> float | None:
    """The number in a cell, NaN where it is missing, None where it is text."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return float(text)
    text = text.lower()
    return nan if text in _MISSING else _NAMED.get(text)


def moment(text: str) -> Moment | None:
    """The time in a cell, since ``NOT_A_TIME`` where missing, None where text."""
    text = text.strip()
    if text.lower() in _MISSING:
        return Moment(NOT_A_TIME)
    parts = _TIME.fullmatch(text)
    if parts is None:
        return None
    clock = (parts[name] or "00" for name in ("hour", "minute", "second"))
    zone = parts["zone"]
    try:
        found = datetime.fromisoformat(f"{parts['day']}T{':'.join(clock)}{zone or 'Z'}")
        since = found - _EPOCH
    except (ValueError, OverflowError):  # the 30th of February, an offset of 25 hours
        return None
    seconds = since // timedelta(seconds=1)
    ticks = seconds * 10**9 + int((parts["fraction"] or "").ljust(9, "0"))
    if abs(ticks) >= 2**63:
        return None
    return Moment(ticks, ahead(zone)) if zone else Moment(ticks)


def ahead(zone: str) -> int:
    """Nanoseconds ahead of UTC of Z, +02, +0200 or +02:00."""
    if zone == "Z":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[3:].lstrip(":") or 0)
    return (-minutes if zone[0] == "-" else minutes) * 60 * 10**9


def has_separators(text: str) -> bool:
    """Whether it would be a number but for commas, such as 1,234.5 or 1,5."""
    return "," in text and number(text.replace(",", "")) is not None


def kind(text: str) -> Kind:
    """What a column is whose first cell holds this text; a number where missing."""
    if number(text) is not None:
        return "number"
    return "text" if moment(text) is None else "time"
