"""Sections about forecasts: what they say, and what their charts show."""

import numpy as np
import pytest

from thalweg.evaluation.forecast_result import make_result
from thalweg.evaluation.forecast_run import ForecastRun, ForecastSettings, TimedRows
from thalweg.evaluation.series_clock import RowTimes
from thalweg.models import Forecaster
from thalweg.report.forecast_sections import forecast_section, overview_section

ROWS, HORIZON = 200, 6


def values_of(count, seed=0):
    noise = np.random.default_rng(seed).normal(size=count)
    return 5 + np.sin(np.arange(count) / 24 * 2 * np.pi) + 0.1 * noise


VALUES = values_of(ROWS)


def result_of(step, count=ROWS, seed=0, key=()):
    times = None if step is None else np.datetime64("2024-01-01", "ns")
    stamps = None if step is None else times + np.arange(count) * step
    y = values_of(count, seed)
    run = ForecastRun(ForecastSettings(HORIZON))
    run.play(TimedRows(y, RowTimes(stamps), np.empty((count, 0))))
    return make_result(run, "stream.csv", "load", key)


@pytest.mark.parametrize(
    ("step", "when"),
    [
        (np.timedelta64(1, "h"), "at 9 January 2024, 08:00"),
        (np.timedelta64(1, "D"), "on 19 July 2024"),
        (None, "in the next row"),
    ],
)
def test_the_headline_says_what_is_expected_when(step, when):
    section = forecast_section(result_of(step))
    assert when in section.headline and "load is expected to be" in section.headline
    assert "that of the best naive forecast" in section.headline
    assert [tile.title for tile in section.tiles][:2] == [
        "Next value", f"Sum of the next {HORIZON}",
    ]  # fmt: skip


def test_the_chart_has_the_values_the_band_and_the_forecast_before():
    result = result_of(np.timedelta64(1, "h"))
    figure, steps = forecast_section(result).all_figures()
    spec = figure.chart.to_dict()
    (data,) = (layer["data"]["values"] for layer in [spec])
    (columns,) = data
    count = len(columns["row"])
    assert columns["observed"][-HORIZON:] == [None] * HORIZON
    assert columns["ahead"][-HORIZON:] == pytest.approx(result.forecast.mean, rel=1e-5)
    # From the first of the last HORIZON rows, each step at the row that it is of.
    past = columns["past"][-2 * HORIZON : -HORIZON]
    made = Forecaster(HORIZON).update(
        VALUES[: ROWS - HORIZON + 1], time=result.tail_times[: ROWS - HORIZON + 1]
    )
    assert past[0] is None
    assert past[1:] == pytest.approx(made.forecast().mean[:-1], rel=1e-5)
    assert columns["time"][count - HORIZON] - columns["time"][0] == 3_600_000 * (
        count - HORIZON
    )
    assert spec["usermeta"]["zoom"]["x"] == "time"
    assert steps.name == "steps"


def test_a_series_too_short_for_a_backtest_has_no_errors_to_show():
    section = forecast_section(result_of(np.timedelta64(1, "h"), count=8))
    assert [part.name for part in section.folded] == ["values"]
    assert dict(section.facts)["bands held"] == "not known yet"


def test_the_overview_counts_series_and_lists_them():
    hour = np.timedelta64(1, "h")
    results = [result_of(hour, seed=k, key=(f"k{k}",)) for k in range(3)]
    section = overview_section(results, ("site",), "All series")
    (table,) = section.tables
    assert table.columns[0] == "site" and len(table.rows) == 3
    assert "The next values of 3 series" in section.headline


def test_steps_that_were_never_scored_are_shown_as_such():
    rows = 60
    run = ForecastRun(ForecastSettings(rows))
    run.play(TimedRows(values_of(rows), RowTimes(None), np.empty((rows, 0))))
    section = forecast_section(make_result(run, "stream.csv", "load", ()))
    assert "nan" not in str(section.folded).lower().split()
