from dataclasses import replace

import numpy as np

from tests.report import example_studies
from thalweg.report.row_axis import RowAxis, format_time

START = 1_577_836_800.0
"""1 January 2020 in seconds since 1970."""


def test_rows_stand_at_their_times():
    axis = RowAxis.from_study(example_studies.full())
    rows = np.array([1, 2, 701, example_studies.ROUNDS])
    np.testing.assert_allclose(axis.times(rows), START + 3600.0 * (rows - 1))
    assert axis.field == "time"
    assert axis.label(701) == "30 January 2020, 04:00"
    assert axis.date_label(701) == "30 January 2020"


def test_rows_without_times_stand_at_their_numbers():
    axis = RowAxis.from_study(example_studies.bare())
    assert axis.field == "row" and axis.label(1234) == "row 1,234"
    assert "time" not in axis.columns([1, 2])


def test_times_that_are_missing_are_interpolated_and_never_go_back():
    times = example_studies.hours()
    high = times.high.copy()
    high[10:20] = np.nan
    high[30] = high[25]
    axis = RowAxis.from_study(example_studies.full(times=replace(times, high=high)))
    every = axis.times(np.arange(1, example_studies.ROUNDS + 1))
    assert np.isfinite(every).all() and (np.diff(every) >= 0).all()


def test_a_time_is_written_as_people_write_it():
    assert format_time(START) == "1 January 2020, 00:00"
    assert format_time(START, date_only=True) == "1 January 2020"
    assert format_time(-86_400.0, date_only=True) == "31 December 1969"
