"""Dates and times in text, as files write them.

ISO 8601 (2024-01-31, 2024-01-31T18:30:00.5+01:00) and what is as clear: 2024/1/31,
20240131, Jan 31 2024, 31-Jan-2024, 31 January 2024; 2024-01, 01/2024, 2024M01, 202401
and Jan 2024 (the first day of the month); 2024Q1, Q1-24 and 1Q24 (of the quarter);
2024-W05 (its Monday). FY24 Q1 is a quarter of that year. Jan-24 is a month, which may
be wrong where days have no year (``date_detection``). In 01/02/2024 no rule tells a day
from a month, so that the reader says which comes first. Years of two digits are 1969 to
2068. A clock may follow a day, of 24 hours or with AM and PM, and then an offset from
UTC. Times are in the years 1678 to 2261, which 64 bits of nanoseconds hold; without an
offset the time zone is not known.
"""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Literal, NamedTuple

DateOrder = Literal["month first", "day first"]
"""Which comes first in 01/02/2024."""
DATE_ORDERS: tuple[DateOrder, DateOrder] = ("month first", "day first")
UnixUnit = Literal["", "seconds", "milliseconds", "microseconds", "nanoseconds"]
"""The unit of numbers that are times since 1970 (``unix_times``); "" for no such."""
NOT_A_TIME = -(2**63)
"""Nanoseconds that NumPy reads as NaT, for a missing time and for no offset."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_SHORT_YEAR = 69
"""69 is 1969 and 68 is 2068, as POSIX has it."""
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august",
    "september", "october", "november", "december",
)  # fmt: skip
_MONTH_OF = {name[:size]: i + 1 for i, name in enumerate(MONTHS) for size in (3, 9)}
_MONTH_OF["sept"] = 9

_CLOCK = (
    r"(?:(?:T|,? +)(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]{1,9}))?)?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
    r"(?: ?(?P<offset>Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?))?)?"
)
_WEEKDAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*\.?,? +)?"
_YEAR, _DAY = "(?P<year>[0-9]{4})", "(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_NAME = rf"(?P<name>{'|'.join((*MONTHS, *(m[:3] for m in MONTHS), 'sept'))})\.?"
_GAP = "[-/., ]{1,2}"
_CLEAR_DATES = (
    rf"{_YEAR}(?P<mark>[-/.])(?P<month>[0-9]{{1,2}})(?P=mark)(?P<day>[0-9]{{1,2}})",
    r"(?P<year>[0-9]{4})(?P<month>[0-9]{2})(?P<day>[0-9]{2})",
    rf"{_NAME}{_GAP}{_DAY}{_GAP}{_YEAR}",
    rf"{_DAY}{_GAP}{_NAME}{_GAP}(?P<year>[0-9]{{4}}|[0-9]{{2}})",
    rf"{_YEAR}{_GAP}{_NAME}{_GAP}{_DAY}",
)
_ANY_YEAR = "(?P<year>[0-9]{4}|[0-9]{2})"
_QUARTER, _APOSTROPHE = "(?P<quarter>[1-4])", "['’]"
_CLEAR_PERIODS = (
    rf"{_YEAR}[-/](?P<month>[0-9]{{1,2}})",
    rf"(?P<month>[0-9]{{1,2}})[-/]{_YEAR}",
    rf"{_YEAR}[- ]?M(?P<month>[0-9]{{1,2}})",
    r"(?P<year>(?:1[89]|2[01])[0-9]{2})(?P<month>[0-9]{2})",
    rf"(?:FY ?{_APOSTROPHE}?)?{_ANY_YEAR}[-/ ]{{0,2}}Q{_QUARTER}",
    rf"Q{_QUARTER}[-/ ]{{0,2}}(?:FY ?)?{_YEAR}",
    rf"Q{_QUARTER}(?:[-/ ]{{1,2}}(?:FY ?)?{_APOSTROPHE}?|{_APOSTROPHE}){_ANY_YEAR}",
    rf"{_QUARTER}Q[-/ ]?{_APOSTROPHE}?{_ANY_YEAR}",
    rf"{_YEAR}-?W(?P<week>[0-9]{{2}})(?:-?(?P<weekday>[1-7]))?",
    rf"{_NAME}(?:{_GAP})?{_YEAR}",
    rf"{_NAME}(?:{_GAP}{_APOSTROPHE}?|{_APOSTROPHE})(?P<year>[0-9]{{2}})",
    rf"{_YEAR}{_GAP}{_NAME}",
)
_MONTH_AND_NUMBER = re.compile(rf"{_NAME}{_GAP}(?P<number>[0-9]{{2}})", re.IGNORECASE)
_FISCAL = re.compile(r"(?:Q[1-4][-/ ]*)?FY.*", re.IGNORECASE)
_CLEAR = tuple(
    re.compile(pattern, re.IGNORECASE | re.ASCII)
    for pattern in (
        *(_WEEKDAY + day + _CLOCK.replace("T|", "(?-i:T)|") for day in _CLEAR_DATES),
        *_CLEAR_PERIODS,
    )
)
_NUMBERS = re.compile(
    _WEEKDAY + r"(?P<one>[0-9]{1,2})(?P<mark>[-/.])(?P<two>[0-9]{1,2})(?P=mark)"
    r"(?P<year>[0-9]{4}|[0-9]{2})" + _CLOCK
)
_THREE_NUMBERS = re.compile("[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}")
_DATE_LIKE = re.compile(
    r"(?=.*(?<![0-9])(?:1[6-9]|2[01])[0-9]{2}(?![0-9]))"
    r"[0-9]{1,4}\.?[-/., ]+(?:[^\W\d]+\.?[-/., ]+)?[0-9]{1,4}(?![0-9]).{0,20}"
)


class ParsedTime(NamedTuple):
    """A time as integers of nanoseconds."""

    instant: int  # since 1970 in UTC
    offset: int = NOT_A_TIME  # ahead of UTC, where one is written


def parse_date(text: str, order: DateOrder = "month first") -> ParsedTime | None:
    """The time in a text without blanks around it; None where it holds none."""
    match = next((m for pattern in _CLEAR if (m := pattern.fullmatch(text))), None)
    if match is None:
        match = _NUMBERS.fullmatch(text)
        if match is None or not _has_full_year(match):
            return None
    groups = match.groupdict()
    try:
        return _with_clock(_day(groups, order), groups)
    except (ValueError, OverflowError):  # the 30th of February, an offset of 25 hours
        return None


def is_ambiguous(text: str) -> bool:
    """Whether it is a date of three numbers, which may begin with a day or a month."""
    return _NUMBERS.fullmatch(text) is not None


def is_three_numbers(text: str) -> bool:
    """Whether it may be a date of three numbers, without a clock."""
    return _THREE_NUMBERS.fullmatch(text) is not None


def month_and_number(text: str) -> tuple[int, int] | None:
    """Month and number of Jan-15, of which nobody knows whether it is day or year."""
    match = _MONTH_AND_NUMBER.fullmatch(text)
    if match is None:
        return None
    return _MONTH_OF[match["name"].lower()], int(match["number"])


def is_fiscal(text: str) -> bool:
    """Whether it is a quarter of a fiscal year, which may begin in any month."""
    return _FISCAL.fullmatch(text) is not None and parse_date(text) is not None


def looks_like_date(text: str) -> bool:
    """Whether it has a year and another number beside it, in whatever order.

    Also Jan-15, where that is a day.
    """
    is_day = month_and_number(text) is not None
    return is_day or _DATE_LIKE.fullmatch(text) is not None


def parse_offset(text: str) -> int:
    """Nanoseconds ahead of UTC of Z, UTC, GMT, +02, +0200 or +02:00."""
    if text in ("Z", "UTC", "GMT"):
        return 0
    minutes = int(text[1:3]) * 60 + int(text[3:].lstrip(":") or 0)
    return (-minutes if text[0] == "-" else minutes) * 60 * 10**9


def _has_full_year(match: re.Match[str]) -> bool:
    """Whether a date of numbers is more than a version such as 1.2.14 or 1-2-14."""
    is_padded = len(match["one"]) == len(match["two"]) == 2
    return (
        len(match["year"]) == 4
        or match["mark"] == "/"
        or (match["mark"] == "." and is_padded)
    )


def _day(groups: dict[str, str | None], order: DateOrder) -> date:
    """The day, or the first day of the month, the quarter or the week."""
    get, digits = groups.get, groups["year"] or ""
    year = int(digits)
    if len(digits) == 2:
        year += 1900 if year >= FIRST_SHORT_YEAR else 2000
    if get("one"):
        one, two = int(groups["one"] or 0), int(groups["two"] or 0)
        return date(year, *((one, two) if order == "month first" else (two, one)))
    if get("week"):
        weekday = int(groups["weekday"] or 1)
        return date.fromisocalendar(year, int(groups["week"] or 0), weekday)
    if get("quarter"):
        return date(year, 3 * int(groups["quarter"] or 0) - 2, 1)
    name = get("name")
    month = int(groups["month"] or 0) if name is None else _MONTH_OF[name.lower()]
    return date(year, month, int(get("day") or 1))


def _with_clock(day: date, groups: dict[str, str | None]) -> ParsedTime | None:
    get = groups.get
    hour, minute, second = (
        int(get(name) or 0) for name in ("hour", "minute", "second")
    )
    half, offset = get("half"), get("offset")
    if half is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half in "Pp" else 0)
    elif get("hour") and not get("minute") and len(get("hour") or "") < 2:
        return None
    time = datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=UTC)
    ahead = 0 if offset is None else parse_offset(offset)
    if abs(ahead) >= 24 * 3600 * 10**9:
        return None
    seconds = (time - _EPOCH) // timedelta(seconds=1)
    fraction = int((get("fraction") or "").ljust(9, "0"))
    instant = seconds * 10**9 + fraction - ahead
    if abs(instant) >= 2**63:
        return None
    return ParsedTime(instant) if offset is None else ParsedTime(instant, ahead)
