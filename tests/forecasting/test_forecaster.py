"""The Forecaster: updates equal runs, files go on to the last bit."""

import numpy as np
import pytest

from thalweg import Forecaster
from thalweg.errors import StreamError


def series(rows=400, season=12, seed=0):
    rng = np.random.default_rng(seed)
    pattern = 3 * np.sin(2 * np.pi * np.arange(rows) / season)
    y = 10 + pattern + np.cumsum(0.1 * rng.normal(size=rows)) + rng.normal(size=rows)
    y[rng.random(rows) < 0.05] = np.nan
    return y


@pytest.mark.parametrize("season", [None, 12, (6, 12)])
def test_updates_give_the_forecasts_of_a_run(season):
    y = series()
    backtest = Forecaster(horizon=5, season=season).run(y)
    forecaster = Forecaster(horizon=5, season=season)
    for t, value in enumerate(y):
        forecaster.update(value)
        if t % 37 == 36:
            forecast = forecaster.forecast()
            np.testing.assert_array_equal(forecast.mean, backtest.mean[t])
            np.testing.assert_array_equal(forecast.low, backtest.low[t])
            np.testing.assert_array_equal(forecast.high, backtest.high[t])


@pytest.mark.parametrize("cut", [0, 1, 20, 30, 250])
def test_a_saved_forecaster_goes_on_to_the_last_bit(tmp_path, cut):
    y = series()
    whole = Forecaster(horizon=5).update(y).forecast()
    first = Forecaster(horizon=5)
    if cut:
        first.update(y[:cut])
    first.save(tmp_path / "forecaster.thalweg")
    after = Forecaster.load(tmp_path / "forecaster.thalweg").update(y[cut:]).forecast()
    np.testing.assert_array_equal(after.mean, whole.mean)
    np.testing.assert_array_equal(after.high, whole.high)
    np.testing.assert_array_equal(after.totals.low, whole.totals.low)


def test_a_season_that_was_found_is_as_if_it_had_been_given():
    y = series()
    found = Forecaster(horizon=5).update(y)
    assert found.seasons.season == 12
    given = Forecaster(horizon=5, season=tuple(found.seasons)).update(y)
    np.testing.assert_array_equal(found.forecast().mean, given.forecast().mean)


def test_rows_that_are_missing_in_time_are_missing_values():
    y = series()
    times = np.datetime64("2026-01-01", "ns") + np.arange(len(y)) * np.timedelta64(
        1, "h"
    )
    there = ~np.isnan(y)
    with_gaps = Forecaster(horizon=5).update(y[there], time=times[there])
    without = Forecaster(horizon=5, season=(24, 168)).update(
        y[: np.flatnonzero(there)[-1] + 1]
    )
    np.testing.assert_array_equal(with_gaps.forecast().mean, without.forecast().mean)
    assert with_gaps.forecast().times[0] == times[
        np.flatnonzero(there)[-1]
    ] + np.timedelta64(1, "h")


def test_a_time_that_comes_twice_is_refused_and_nothing_changes():
    times = np.arange("2026-01-01", "2026-01-11", dtype="datetime64[D]")
    forecaster = Forecaster(horizon=2).update(np.arange(10.0), time=times)
    before = forecaster.forecast().mean
    with pytest.raises(StreamError, match="2026-01-10.* comes twice"):
        forecaster.update(1.0, time=times[-1])
    np.testing.assert_array_equal(forecaster.forecast().mean, before)


def daily_pattern(rows=1500, seed=3):
    rng = np.random.default_rng(seed)
    pattern = 10 + 3 * np.sin(2 * np.pi * np.arange(rows) / 24)
    walk = 0.1 * np.cumsum(rng.normal(size=rows))
    return pattern + walk + 0.5 * rng.normal(size=rows)


def late_error(y, first=700):
    errors = Forecaster(horizon=6, season=24).run(y).errors[first:]
    return float(np.sqrt(np.nanmean(errors**2)))


@pytest.mark.parametrize("rows", [25, 30, 60])
def test_a_constant_beginning_does_no_harm_later(rows):
    y = daily_pattern()
    late = late_error(np.append(np.full(rows, y[0]), y), 700 + rows)
    assert late < 1.1 * late_error(y)


def test_a_gap_after_the_first_season_does_no_harm_later():
    y = daily_pattern()
    gap = y.copy()
    gap[23:29] = np.nan
    assert late_error(gap) < 1.05 * late_error(y)


@pytest.mark.parametrize("size", [1e3, 1e6, 1e12])
def test_one_outlier_does_little_harm_later(size):
    y = daily_pattern()
    spike = y.copy()
    spike[400] += size
    assert late_error(spike) < 1.6 * late_error(y)


def early_shares(kind, rows=24, repeats=150):
    """The share of values that bands held, by origin and step, where they were
    finite."""
    rng = np.random.default_rng(3)
    held, finite = np.zeros((rows, 4)), np.zeros((rows, 4))
    for _ in range(repeats):
        noise = rng.normal(size=rows + 4)
        y = {"noise": noise, "walk": np.cumsum(noise)}.get(kind)
        if y is None:
            y = np.array([noise[: t + 1] @ 0.7 ** np.arange(t, -1, -1)
                          for t in range(rows + 4)])  # fmt: skip
        backtest = Forecaster(4, season=1).run(y)
        is_finite = np.isfinite(backtest.low[:rows])
        held += np.where(is_finite, backtest.is_inside[:rows], 0)
        finite += is_finite
    assert (finite[[0, 1, 2, 3], [0, 1, 2, 3]] == 0).all()  # before the first error
    return held[4:] / finite[4:], held[1, 0] / finite[1, 0]


@pytest.mark.parametrize("kind", ["noise", "walk", "autoregression"])
def test_bands_after_a_few_values_hold_what_they_promise(kind):
    shares, first = early_shares(kind)
    assert first > 0.85
    assert shares.mean(axis=1).min() > 0.85 and shares.min() > 0.8


def test_values_that_begin_at_zero_are_never_forecast_below_it():
    """A shop that nearly closed; one value below zero, and the limit is gone."""
    rng = np.random.default_rng(5)
    y = rng.poisson(np.where(np.arange(200) < 150, 6.0, 0.3)).astype(float)
    forecaster = Forecaster(horizon=7, season=7)
    backtest = forecaster.run(y)
    forecast = forecaster.forecast()
    for low in (backtest.mean, backtest.low, forecast.low, forecast.totals.low):
        zeros = np.flatnonzero(y == 0)[0]
        known = low[zeros:] if low.ndim > 1 else low
        assert np.nanmin(known) == 0
    assert (forecast.low <= forecast.mean).all()
    assert (forecaster.update(-3.0).forecast().low < 0).all()
    above = Forecaster(horizon=7, season=7).update(y + 1).forecast()
    assert (above.low < 1).any()  # nothing says that values begin at 1


@pytest.mark.parametrize("rows", [300, 360, 365, 370, 400, 730, 760])
def test_a_year_ago_does_not_take_a_trend_back_by_a_year(rows):
    """A line in daily rows: where the first year ends, forecasts go on as before."""
    rng = np.random.default_rng(1)
    days = np.datetime64("2023-01-01") + np.arange(rows)
    y = 100 - 0.2 * np.arange(rows) + 0.1 * rng.normal(size=rows)
    forecast = Forecaster(horizon=14).update(y, time=days).forecast()
    expected = 100 - 0.2 * np.arange(rows, rows + 14)
    assert abs(forecast.mean - expected).max() < 3  # fifteen days of the trend


def test_an_upheaval_of_the_past_does_not_make_bands_beyond_all_values():
    rng = np.random.default_rng(0)
    t = np.arange(180)
    y = 4000 + 8 * t + 600 * np.sin(t / 6 * np.pi) + rng.normal(0, 20, 180)
    y[120:135] *= 0.55
    forecast = Forecaster(12, 12).update(y).forecast()
    spread = y.max() - y.min()
    assert (forecast.low > y.min() - spread).all()
    assert (forecast.high < y.max() + spread).all()
    # Nor does the band of the year's sum reach further than the worst year's error.
    assert forecast.total.low > 12 * (y[-12:].mean() - 0.7 * y[-12:].mean())


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_band_of_a_sum_reaches_no_further_than_the_sum_of_bands(level):
    """Forecasts of a year, most of which missed by the same amount throughout."""
    rng = np.random.default_rng(1)
    t = np.arange(208)
    y = 1000 + 150 * np.sin(t * 2 * np.pi / 52) + rng.normal(0, 30, 208)
    y[105:] *= 1.4
    forecaster = Forecaster(52, 52).update(y)
    forecast = forecaster.forecast(interval=level)
    least, largest = np.cumsum(forecast.low), np.cumsum(forecast.high)
    totals = forecast.totals
    assert (totals.low >= least).all() and (totals.high <= largest).all()
    assert (totals.low <= totals.mean).all() and (totals.mean <= totals.high).all()
    assert (totals.low == least)[1:].any() or (totals.high == largest)[1:].any()
    shorter = forecaster.forecast(20, interval=level).totals
    np.testing.assert_array_equal(shorter.high, totals.high[:20])
    np.testing.assert_array_equal(shorter.low, totals.low[:20])
