"""Where a time is in its day, week and year, as sines and cosines.

Looked up in tables, to the minute and to the day: NumPy's own sine may differ in the
last bit with an element's place in its array, and chunks may be cut anywhere.
"""

from math import cos, pi, sin

import numpy as np

from thalweg.tables.moments import TimeArray
from thalweg.types import FloatArray

NAMES = ("hour sin", "hour cos", "weekday sin", "weekday cos", "year sin", "year cos")
_MINUTES = 24 * 60
_THURSDAY = 3  # 1 January 1970, where Monday is 0


def _circle(entries: int, period: float) -> FloatArray:
    angles = [2 * pi * step / period for step in range(entries)]
    return np.array([(sin(angle), cos(angle)) for angle in angles])


_DAY = _circle(_MINUTES, _MINUTES)
_WEEK = _circle(7, 7)
_YEAR = _circle(366, 365.25)


def calendar(times: TimeArray) -> FloatArray:
    """The six features of each time on the wall, (T, 6); NaN where it is missing."""
    gaps = np.isnat(times)
    known = np.where(gaps, np.datetime64(0, "ns"), times)
    days = known.astype("datetime64[D]")
    minute = (known - days).astype("timedelta64[m]").astype(np.int64)
    weekday = (days.astype(np.int64) + _THURSDAY) % 7
    new_year = known.astype("datetime64[Y]").astype("datetime64[D]")
    features = np.hstack(
        [_DAY[minute], _WEEK[weekday], _YEAR[(days - new_year).astype(np.int64)]]
    )
    features[gaps] = np.nan
    return features
