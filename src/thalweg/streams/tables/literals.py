"""What the text in a cell means: missing, a number, a time, or just text.

One rule for every format. Missing is an empty cell, NA, NaN, nan, null, None, ? or -.
A number is written with a decimal point and without thousands separators; true and
false are 1 and 0. A time is ISO 8601: 2024-01-31, 2024-01-31 18:30 or
2024-01-31T18:30:00.5+01:00, in the years 1678 to 2261, which 64 bits of nanoseconds
hold; without an offset it is taken as UTC. 31/01/2024 is text, for no rule tells a day
from a month. Blanks around are no part of it.
"""

import re
from datetime import UTC, datetime, timedelta
from math import inf, nan
from typing import Literal

Kind = Literal["number", "text", "time", "other"]
"""What a column holds; of lists, objects, bytes and durations nothing is made."""

MISSING = ("", "NA", "NaN", "nan", "null", "None", "?", "-")
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
"""Nanoseconds of a missing time, which NumPy reads as NaT."""


def is_missing(text: str) -> bool:
    """Whether the cell says that its value is not known."""
    return text.strip() in _MISSING


def number(text: str) -> float | None:
    """The number in a cell, NaN where it is missing, None where it is text."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return float(text)
    return nan if text in _MISSING else _NAMED.get(text.lower())


def nanoseconds(text: str) -> int | None:
    """The time in a cell since 1970, ``NOT_A_TIME`` where missing, None where text."""
    text = text.strip()
    if text in _MISSING:
        return NOT_A_TIME
    parts = _TIME.fullmatch(text)
    if parts is None:
        return None
    clock = (parts[name] or "00" for name in ("hour", "minute", "second"))
    try:
        moment = datetime.fromisoformat(
            f"{parts['day']}T{':'.join(clock)}{parts['zone'] or 'Z'}"
        )
        since = moment - _EPOCH
    except (ValueError, OverflowError):  # the 30th of February, an offset of 25 hours
        return None
    seconds = since // timedelta(seconds=1)
    ticks = seconds * 10**9 + int((parts["fraction"] or "").ljust(9, "0"))
    return ticks if abs(ticks) < 2**63 else None


def has_separators(text: str) -> bool:
    """Whether it would be a number but for commas, such as 1,234.5 or 1,5."""
    return "," in text and number(text.replace(",", "")) is not None


def kind(text: str) -> Kind:
    """What a column is whose first cell holds this text; a number where missing."""
    if number(text) is not None:
        return "number"
    return "text" if nanoseconds(text) is None else "time"
