"""What the text in a cell means: a missing value, a number, a time, or just text.

One rule for every format. A value is missing where the cell is empty or holds NA, N/A,
#N/A, NaN, null, None, ? or -, in capital letters or small ones. A number is written
with a decimal point and without thousands separators; true and false are 1 and 0. A
time is ISO 8601: 2024-01-31, 2024-01-31 18:30 or 2024-01-31T18:30:00.5+01:00, in the
years 1678 to 2261, which 64 bits of nanoseconds hold; without an offset its time zone
is not known. 31/01/2024 is text, for no rule tells a day from a month. Blanks around a
value are no part of it.
"""

import re
from datetime import UTC, datetime, timedelta
from math import inf, nan
from typing import Literal, NamedTuple

Kind = Literal["number", "text", "time", "other"]
"""What a column holds; lists, objects, bytes and durations are "other" and not used."""

MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-")
"""Texts that stand for a missing value, in small letters."""
_MISSING = frozenset(MISSING)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NUMBER_WORDS = {"true": 1.0, "false": 0.0} | {
    sign + name: inf if sign != "-" else -inf
    for sign in ("", "+", "-")
    for name in ("inf", "infinity")
}
_TIME = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ](?P<hour>[0-9]{2})(?::(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]{1,9}))?)?)?"
    r"(?P<offset>Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOT_A_TIME = -(2**63)
"""Nanoseconds that NumPy reads as NaT, for a missing time and for no offset."""


class ParsedTime(NamedTuple):
    """A time as integers of nanoseconds."""

    instant: int  # since 1970 in UTC
    offset: int = NOT_A_TIME  # ahead of UTC, where one is written


def is_missing(text: str) -> bool:
    """Whether the cell says that its value is missing."""
    return text.strip().lower() in _MISSING


def parse_number(text: str) -> float | None:
    """The number in a cell, NaN where it is missing, None where it is text."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return float(text)
    text = text.lower()
    return nan if text in _MISSING else _NUMBER_WORDS.get(text)


def parse_time(text: str) -> ParsedTime | None:
    """The time in a cell, ``NOT_A_TIME`` where missing, None where it is text."""
    text = text.strip()
    if text.lower() in _MISSING:
        return ParsedTime(NOT_A_TIME)
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    clock = ":".join(match[name] or "00" for name in ("hour", "minute", "second"))
    offset = match["offset"]
    try:
        time = datetime.fromisoformat(f"{match['day']}T{clock}{offset or 'Z'}")
        since_epoch = time - _EPOCH
    except (ValueError, OverflowError):  # the 30th of February, an offset of 25 hours
        return None
    seconds = since_epoch // timedelta(seconds=1)
    nanoseconds = seconds * 10**9 + int((match["fraction"] or "").ljust(9, "0"))
    if abs(nanoseconds) >= 2**63:
        return None
    if not offset:
        return ParsedTime(nanoseconds)
    return ParsedTime(nanoseconds, parse_offset(offset))


def parse_offset(text: str) -> int:
    """Nanoseconds ahead of UTC of Z, +02, +0200 or +02:00."""
    if text == "Z":
        return 0
    minutes = int(text[1:3]) * 60 + int(text[3:].lstrip(":") or 0)
    return (-minutes if text[0] == "-" else minutes) * 60 * 10**9


def has_separators(text: str) -> bool:
    """Whether it would be a number but for commas, such as 1,234.5 or 1,5."""
    return "," in text and parse_number(text.replace(",", "")) is not None


def text_kind(text: str) -> Kind:
    """What a column holds whose first cell is this text; numbers where missing."""
    if parse_number(text) is not None:
        return "number"
    return "text" if parse_time(text) is None else "time"
