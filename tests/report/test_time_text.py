import numpy as np
import pytest

from thalweg.report.charts.chart_elements import RowAxis
from thalweg.report.time_text import period_unit, short_times


def times(first, last, unit, step=1):
    return np.arange(first, last, step, dtype=f"datetime64[{unit}]")


def nanoseconds(values):
    return values.astype("datetime64[ns]")


MONTHS = times("1960-11", "1961-02", "M")


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (MONTHS, ["1960-11", "1960-12", "1961-01"]),
        (times("1960-01", "1961-01", "M", 6), ["1960-Q1", "1960-Q3"]),
        (times("1960-10", "1961-05", "M", 3), ["1960-Q4", "1961-Q1", "1961-Q2"]),
        (times("1960", "1962", "Y"), ["1960", "1961"]),
        (times("1960-02", "1960-09", "M", 3), ["1960-02", "1960-05", "1960-08"]),
        (
            (MONTHS + 1).astype("datetime64[D]") - 1,
            ["1960-11", "1960-12", "1961-01"],
        ),
        (times("1960-01-01", "1960-01-03", "D"), ["1960-01-01", "1960-01-02"]),
        (times("1960-12-01", "1960-12-02", "D"), ["1960-12-01"]),
        (times("1960-12-01T06", "1960-12-01T07", "h"), ["1960-12-01 06:00"]),
    ],
)
def test_times_are_as_short_as_their_rows_allow(values, texts):
    assert short_times(nanoseconds(values)) == texts


def test_earlier_rows_tell_that_one_row_is_a_month():
    earlier = nanoseconds(MONTHS)
    assert short_times(nanoseconds(times("1961-02", "1961-03", "M")), earlier) == [
        "1961-02"
    ]


def test_repeated_months_are_no_months():
    assert period_unit(nanoseconds(np.repeat(MONTHS, 2))) is None
    assert period_unit(np.array([1.0, 2.0])) is None


def test_charts_write_months_quarters_and_years():
    for values, text in ((MONTHS, "1960-12"), (times("1960", "1963", "Y"), "1961")):
        seconds = values.astype("datetime64[s]").astype(float)
        axis = RowAxis(3, np.arange(1.0, 4.0), seconds)
        assert axis.label(2) == axis.date_label(2) == text
    quarters = times("1960-01", "1960-10", "M", 3).astype("datetime64[s]").astype(float)
    assert RowAxis(3, np.arange(1.0, 4.0), quarters).label(3) == "1960-Q3"
    # Of rows in between the times are not known: they may be months.
    years = times("1960", "1963", "Y").astype("datetime64[s]").astype(float)
    assert RowAxis(25, np.array([1.0, 13.0, 25.0]), years).label(13) == "1961-01"
