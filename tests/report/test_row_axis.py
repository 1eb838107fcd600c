import re
from dataclasses import replace
from itertools import combinations, pairwise

import altair as alt
import numpy as np
import pytest
import vl_convert

from tests.report import example_studies
from thalweg.report.chart_elements import VEGA_LITE, base_chart
from thalweg.report.row_axis import DAY, RowAxis, format_time

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
