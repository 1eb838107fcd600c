"""Public holidays of the Forecaster: found out, added to forecasts, saved."""

import numpy as np
import pandas as pd
import pytest

import thalweg as tw
from thalweg.calendar.public_holidays import COUNTRIES, day_marks
from thalweg.errors import PersistenceError
from thalweg.kernels.forecaster import forecaster_layout as layout

DAYS = pd.date_range("2021-01-04", "2023-01-20", freq="D")


def shop(country="US", freq="12h", zone=None):
    """Sales that fall on Sundays and holidays, with little noise."""
    times = pd.date_range(DAYS[0], DAYS[-1], freq=freq, tz=zone)
    local = times.tz_localize(None).normalize()
    first = DAYS[0].to_datetime64().astype("datetime64[D]").astype(int)
    marks = day_marks(int(first), len(DAYS))[(local - DAYS[0]).days]
    is_holiday = marks[:, 1] >> COUNTRIES.index(country) & 1 == 1
    is_quiet = (marks[:, 0] == 6) | is_holiday
    rng = np.random.default_rng(0)
    y = np.where(is_quiet, 20.0, 100.0) + rng.normal(size=len(times))
    return pd.Series(y, times), is_holiday & (marks[:, 0] < 5)


@pytest.mark.parametrize(
    ("country", "freq", "zone"),
    [("US", "12h", None), ("DE", "D", None), ("US", "6h", "America/New_York")],
)
def test_a_holiday_is_foreseen(country, freq, zone):
    sold, is_holiday = shop(country, freq, zone)
    forecaster = tw.Forecaster(horizon=2)
    backtest = forecaster.run(sold)
    assert forecaster.holidays == country
    rows = np.flatnonzero(is_holiday)[-6:]
    error = np.abs(backtest.mean[rows - 1, 0] - sold.to_numpy()[rows])
    assert error.mean() < 25  # 80 where nothing is known of holidays
    without = tw.Forecaster(horizon=2, calendar=False, season=7)
    assert without.update(sold).holidays is None


def test_updates_equal_a_run_to_the_last_bit():
    sold, _ = shop()
    for season in (None, 14):
        whole, single = (tw.Forecaster(3, season=season) for _ in range(2))
        backtest = whole.run(sold)
        for time, value in sold.items():
            single.update(value, time=time)
        assert whole.holidays == single.holidays == "US"
        np.testing.assert_array_equal(single.forecast().mean, whole.forecast().mean)
        np.testing.assert_array_equal(single.forecast().mean, backtest.mean[-1])
        np.testing.assert_array_equal(single.forecast().low, backtest.low[-1])


def test_a_saved_forecaster_goes_on(tmp_path):
    sold, _ = shop()
    whole = tw.Forecaster(3).update(sold)
    half = tw.Forecaster(3).update(sold[:1000])
    half.save(tmp_path / "shop.thalweg")
    loaded = tw.Forecaster.load(tmp_path / "shop.thalweg").update(sold[1000:])
    np.testing.assert_array_equal(loaded.forecast().mean, whole.forecast().mean)
    assert loaded.holidays == "US"


@pytest.mark.parametrize("value", [-1.0, 0.5, 33.0, 1e300])
@pytest.mark.parametrize("place", [layout.DAY, layout.ROW_OF_DAY, layout.COUNTRY])
def test_a_day_that_no_state_has_is_refused(tmp_path, place, value):
    forecaster = tw.Forecaster(3).update(shop()[0][:101])
    forecaster._model[0].views.day_counters[place] = value
    forecaster.save(tmp_path / "damaged.thalweg")
    with pytest.raises(PersistenceError, match=r"cannot be loaded: its 'forecaster"):
        tw.Forecaster.load(tmp_path / "damaged.thalweg")


def test_forecasts_of_counts_stay_above_zero_on_holidays():
    sold, _ = shop()
    counts = np.maximum((sold - 22) // 5, 0.0)
    backtest = tw.Forecaster(4).run(counts)
    assert (backtest.mean >= 0).all() and (backtest.low[10:] >= 0).all()


def test_features_known_in_advance_go_with_holidays():
    sold, _ = shop()
    x = np.random.default_rng(1).normal(size=(len(sold), 1))
    whole, single = (tw.Forecaster(2, known=True) for _ in range(2))
    y = sold + 10 * x[:, 0]
    whole.run(y, x)
    for k in range(0, len(y), 7):
        single.update(y[k : k + 7], x[k : k + 7])
    future = np.zeros((2, 1))
    assert whole.holidays == "US"
    np.testing.assert_array_equal(
        single.forecast(future=future).mean, whole.forecast(future=future).mean
    )


def test_a_weekday_without_sales_has_none_on_dates_that_were_unusual():
    """Of two years the 24th is a Saturday with many sales, then a closed Sunday."""
    days = pd.date_range("2022-01-03", "2023-12-22", freq="D")
    rng = np.random.default_rng(0)
    sold = rng.poisson(40, len(days)) + 45.0 * ((days.month == 12) & (days.day == 24))
    sold[days.day_of_week == 6] = 0.0
    forecast = tw.Forecaster(horizon=10).update(pd.Series(sold, days)).forecast()
    coming = pd.DatetimeIndex(forecast.times)
    is_closed = coming.day_of_week == 6
    assert pd.Timestamp("2023-12-24") in coming[is_closed]
    np.testing.assert_allclose(forecast.mean[is_closed], 0.0, atol=2.0)
    assert forecast.mean[~is_closed].min() > 20.0
