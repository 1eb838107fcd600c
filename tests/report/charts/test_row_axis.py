import re
from dataclasses import replace
from itertools import combinations, pairwise

import altair as alt
import numpy as np
import pytest
import vl_convert

from tests.report import example_studies
from thalweg.report.charts.chart_elements import VEGA_LITE, RowAxis, base_chart
from thalweg.report.study_sections import study_section
from thalweg.report.time_text import DAY, format_time

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


def moved(times, rows, seconds):
    """The times with those of the first buckets later or earlier."""
    first = times.last_round <= rows
    low, high = times.low.copy(), times.high.copy()
    low[first] += seconds
    high[first] += seconds
    return replace(times, low=low, high=high)


@pytest.mark.parametrize("years", [2, -2])
def test_rows_whose_times_go_back_stand_at_their_numbers(years):
    hours = example_studies.hours()
    last = np.searchsorted(hours.last_round, example_studies.ROUNDS - 100)
    rows = 100 if years > 0 else int(hours.last_round[last])
    # A first day that is years too late, or a last one that is years too early.
    times = moved(hours, rows, abs(years) * 365 * DAY)
    study = example_studies.full(times=times)
    axis = RowAxis.from_study(study)
    assert axis.field == "row" and axis.label(1) == "row 1"
    assert dict(study_section(study).facts)["time"].endswith("charts go by rows")


@pytest.mark.parametrize(("back", "field"), [(1, "time"), (2, "time"), (3, "row")])
def test_clocks_that_go_back_an_hour_leave_the_axis_of_times(back, field):
    seconds = START + 3600.0 * np.arange(200)
    seconds[100:] -= 3600.0 * (back + 1)
    assert RowAxis.from_times(np.arange(1, 201), seconds).field == field


def test_the_last_rows_stand_at_their_numbers_if_their_times_go_back():
    rows, seconds = np.arange(11, 31), START + 3600.0 * np.arange(20)
    assert RowAxis.from_times(rows, seconds).field == "time"
    mixed = np.append(seconds[10:], seconds[:10])
    axis = RowAxis.from_times(rows, mixed)
    assert axis.field == "row" and axis.rounds == 30
    unknown = np.where(seconds > START, seconds, np.nan)
    assert RowAxis.from_times(rows, unknown).field == "row"
    assert RowAxis.from_times(rows, None).field == "row"


def test_the_date_of_a_row_is_its_own_where_it_is_known():
    axis = RowAxis.from_study(example_studies.full())
    assert axis.date_label(701, "2016-12-30T09:30:00+02:00") == "30 December 2016"
    assert axis.date_label(701, "17.5") == "30 January 2020"
    assert axis.date_label(701) == "30 January 2020"
    no_times = RowAxis.from_study(example_studies.bare())
    assert no_times.date_label(7, "2016-12-30T09:30:00") == "30 December 2016"
    assert no_times.date_label(7, "17.5") == "row 7"


def test_a_time_is_written_as_people_write_it():
    assert format_time(START) == "1 January 2020, 00:00"
    assert format_time(START, date_only=True) == "1 January 2020"
    assert format_time(-86_400.0, date_only=True) == "31 December 1969"


def tick_labels(first, days, width):
    """The labels of the ticks of a chart, each as its one or two lines."""
    rows = np.arange(1, 101)
    seconds = np.linspace(first, first + days * DAY, 100)
    axis = RowAxis(100, rows.astype(float), seconds)
    chart = base_chart({**axis.columns(rows), "y": rows}).mark_line()
    chart = chart.encode(x=axis.x(), y=alt.Y("y:Q").axis(None))
    spec = chart.add_params(*axis.params()).properties(width=width).to_dict()
    svg = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)
    texts = re.findall(r"<text[^>]*>(.*?)</text>", svg)
    return [
        re.findall(r"<tspan[^>]*?(?:/>|>([^<]*))", text) or [text] for text in texts
    ]


@pytest.mark.parametrize("days", [1, 3, 4.5, 6, 9, 30, 59, 61, 200, 800, 1501, 3000])
@pytest.mark.parametrize("width", [300, 700, 1100])
@pytest.mark.parametrize("start", [0.0, 0.3])
def test_neighbouring_ticks_have_different_labels(days, width, start):
    labels = tick_labels(START + start * DAY, days, width)
    assert labels
    assert all(one != other for one, other in pairwise(labels)), labels
    # Between two labels of hours that are the same there is one of a day.
    hours = [k for k, label in enumerate(labels) if ":" in label[0]]
    for one, other in combinations(hours, 2):
        if labels[one][0] == labels[other][0]:
            between = labels[one + 1 : other + 1]
            assert any(":" not in label[0] or label[1:] != [""] for label in between)


def test_half_days_are_written_as_hours():
    labels = tick_labels(START, 5.5, 1000)
    assert [label[0] for label in labels[:4]] == ["1 Jan", "12:00", "2 Jan", "12:00"]
