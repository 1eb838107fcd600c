"""When clocks shift by an hour: the rules of summer time (daylight saving time).

Daylight saving time is its other name. The dates follow from a few rules, so no time
zone database is read. Where several time zones follow one rule at the same local time,
as in North America, the instant is that of one in the middle, up to two hours off.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from thalweg.types import FloatArray

LAST_YEAR = 2100
"""After it no summer time is known."""


class Sunday(NamedTuple):
    """A Sunday of a month, and when clocks shift on it or near it."""

    month: int
    number: int  # the first is 1; -1 is the last
    hour: int  # of that Sunday in UTC, below 0 on the day before


class Rule(NamedTuple):
    """Summer time in some years, from one Sunday to another."""

    first_year: int
    last_year: int
    start: Sunday
    end: Sunday


RULES: tuple[tuple[Rule, ...], ...] = (
    (  # Europe
        Rule(1981, 1995, Sunday(3, -1, 1), Sunday(9, -1, 1)),
        Rule(1996, LAST_YEAR, Sunday(3, -1, 1), Sunday(10, -1, 1)),
    ),
    (  # North America
        Rule(1987, 2006, Sunday(4, 1, 8), Sunday(10, -1, 8)),
        Rule(2007, LAST_YEAR, Sunday(3, 2, 8), Sunday(11, 1, 8)),
    ),
    (Rule(2008, LAST_YEAR, Sunday(10, 1, -8), Sunday(4, 1, -8)),),  # Australia
    (Rule(2008, LAST_YEAR, Sunday(9, -1, -10), Sunday(4, 1, -10)),),  # New Zealand
)
"""Rules of regions. The order is that of the bits, and part of saved states."""


def summer_times(seconds: FloatArray) -> FloatArray:
    """The regions that have summer time, as bits in the order of ``RULES``.

    ``seconds`` (T,) are times in UTC since 1970; where one is NaN, so is the result.
    """
    times, regions = _changes()
    places = np.searchsorted(times, seconds, side="right")
    return np.where(np.isfinite(seconds), regions[places], np.nan)


@lru_cache(maxsize=1)
def _changes() -> tuple[FloatArray, FloatArray]:
    """When summer time begins or ends anywhere, and the bits before, between, after."""
    changes = sorted(
        (_seconds(year, sunday), region, is_start)
        for region, rules in enumerate(RULES)
        for rule in rules
        for year in range(rule.first_year, rule.last_year + 1)
        for sunday, is_start in ((rule.start, True), (rule.end, False))
    )
    bits, regions = 0, [0]
    for _, region, is_start in changes:
        bits = bits | 1 << region if is_start else bits & ~(1 << region)
        regions.append(bits)
    return np.array([one[0] for one in changes]), np.array(regions, float)


def _seconds(year: int, sunday: Sunday) -> float:
    """When clocks shift in a year, in seconds since 1970."""
    if sunday.number > 0:
        first = datetime(year, sunday.month, 1, tzinfo=UTC)
        day = first + timedelta(6 - first.weekday() + 7 * (sunday.number - 1))
    else:
        last = datetime(year, sunday.month + 1, 1, tzinfo=UTC) - timedelta(1)
        day = last - timedelta((last.weekday() + 1) % 7)
    return (day + timedelta(hours=sunday.hour)).timestamp()
