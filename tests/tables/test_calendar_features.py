"""Sines and cosines of the place in the day, the week and the year."""

import math
from datetime import datetime

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thalweg.tables.timestamps import CALENDAR_FEATURES, calendar_features


@given(st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1)))
def test_features_are_positions_in_day_week_and_year(moment):
    result = calendar_features(np.array([moment], "datetime64[ns]"))[0]
    turns = (
        (moment.hour * 60 + moment.minute) / (24 * 60),
        moment.weekday() / 7,
        (moment.timetuple().tm_yday - 1) / 365.25,
    )
    expected = [f(2 * math.pi * turn) for turn in turns for f in (math.sin, math.cos)]
    # The angle is rounded once more on one side than on the other.
    assert np.abs(result - expected).max() <= 1e-14
    assert len(result) == len(CALENDAR_FEATURES)


def test_a_missing_time_has_missing_features():
    result = calendar_features(np.array(["NaT", "1970-01-01"], "datetime64[ns]"))
    assert np.isnan(result[0]).all()
    assert not np.isnan(result[1]).any()
