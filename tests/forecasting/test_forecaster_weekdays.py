"""Forecasts of daily series that have no rows on some weekdays."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thalweg as tw
from thalweg.calendar.season_finder import Seasons
from thalweg.errors import PersistenceError
from thalweg.forecasting.forecaster_file import FIELD, LAYOUT

RNG = np.random.default_rng(11)
DAYS = pd.bdate_range("2023-01-02", periods=300)
Y = pd.Series(
    10 + 3 * np.sin(2 * np.pi * np.arange(300) / 5) + RNG.normal(size=300), DAYS
)
FUTURE = pd.bdate_range(DAYS[-1], periods=9)[1:]


def are_equal(one, other):
    """Whether two forecasts are the same to the last bit."""
    parts = ("mean", "low", "high")
    return all((getattr(one, p) == getattr(other, p)).all() for p in parts)


def test_forecasts_are_those_of_rows_without_times_and_a_week_of_five():
    forecaster = tw.Forecaster(8).update(Y)
    assert forecaster.seasons == Seasons(5, 261)
    ahead = forecaster.forecast()
    np.testing.assert_array_equal(ahead.times, FUTURE.to_numpy())
    rows = tw.Forecaster(8, season=(5, 261)).update(Y.to_numpy())
    assert are_equal(ahead, rows.forecast())


@settings(max_examples=10, deadline=None)
@given(st.sets(st.integers(0, 6), min_size=2, max_size=6), st.integers(0, 6))
def test_any_weekdays_from_any_day_on(weekdays, start):
    days = pd.date_range("2024-01-01", periods=200) + pd.Timedelta(start, "D")
    days = days[np.isin(days.day_of_week, list(weekdays))]
    rows, count = len(days) - 10, len(weekdays)
    y = np.random.default_rng(count).normal(size=rows)
    ahead = tw.Forecaster(10).update(y, time=days[:rows]).forecast()
    np.testing.assert_array_equal(ahead.times, days[rows:].to_numpy())
    season = (count, int(365.25 * count / 7 + 0.5))
    assert are_equal(ahead, tw.Forecaster(10, season=season).update(y).forecast())


def test_a_holiday_is_a_missing_value():
    holidays = [30, 31, 120, 200]
    forecaster = tw.Forecaster(8).update(Y.drop(DAYS[holidays]))
    y = Y.to_numpy().copy()
    y[holidays] = np.nan
    rows = tw.Forecaster(8, season=(5, 261)).update(y)
    assert forecaster.rounds == len(Y)
    assert are_equal(forecaster.forecast(), rows.forecast())


@pytest.mark.parametrize("size", [1, 2, 7, 10])
def test_rows_may_come_in_small_pieces(size):
    forecaster = tw.Forecaster(8)
    for start in range(0, len(Y), size):
        forecaster.update(Y[start : start + size])
        if start > 22:
            assert forecaster.forecast().times[0].astype("datetime64[D]").item() in {
                day.date() for day in [*DAYS, *FUTURE]
            }
    assert are_equal(forecaster.forecast(), tw.Forecaster(8).update(Y).forecast())


def test_days_that_have_rows_in_the_first_three_weeks_stay():
    days = pd.date_range("2024-01-01", periods=60)
    forecaster = tw.Forecaster(3)
    for k, day in enumerate(days):
        if day.day_of_week < 5 or k == 19:
            forecaster.update(float(k % 7), time=day)
    assert forecaster.seasons == Seasons(6, 313)  # one of them was a Saturday


def test_features_of_the_first_rows_are_learnt_again_with_them():
    x = RNG.normal(size=(300, 1))
    whole = tw.Forecaster(3, known=True).update(Y, x)
    parts = tw.Forecaster(3, known=True)
    for day in range(40):
        parts.update(Y[day : day + 1], x[day : day + 1])
    parts.update(Y[40:], x[40:])
    future = RNG.normal(size=(3, 1))
    assert parts.seasons == whole.seasons == Seasons(5, 261)
    np.testing.assert_array_equal(
        parts.forecast(future=future).times, whole.forecast(future=future).times
    )


def test_a_later_row_on_another_day_is_left_out_with_a_warning():
    forecaster, same = (tw.Forecaster(2).update(Y) for _ in range(2))
    saturday = DAYS[-1] + pd.Timedelta(1, "D")
    with pytest.warns(UserWarning, match="no rows on Saturdays"):
        forecaster.update(99.0, time=saturday)
    assert are_equal(forecaster.forecast(), same.forecast())
    days = [saturday, saturday + pd.Timedelta(1, "D"), FUTURE[0]]
    with pytest.warns(UserWarning, match="2 rows, the first at 2024-02-24"):
        forecaster.update([99.0, 98.0, 5.0], time=days)
    assert are_equal(forecaster.forecast(), same.update(5.0).forecast())
    assert forecaster.rounds == len(Y) + 1


def test_rows_of_the_future_may_be_of_all_days():
    x = pd.DataFrame({"price": RNG.normal(size=300)}, DAYS)
    forecaster = tw.Forecaster(8, known=["price"]).update(Y, x)
    every = pd.date_range(FUTURE[0], FUTURE[-1])
    price = pd.DataFrame({"price": RNG.normal(size=len(every))}, every)
    ahead = forecaster.forecast(future=price)
    assert are_equal(ahead, forecaster.forecast(future=price.loc[FUTURE]))


@pytest.mark.parametrize("rows", [1, 9, 15, 21, 22, 300])
def test_a_file_continues_on_the_same_days(rows, tmp_path):
    forecaster = tw.Forecaster(8).update(Y[:1])
    for k in range(1, rows):
        forecaster.update(Y[k : k + 1])
    forecaster.save(tmp_path / "model.thalweg")
    loaded = tw.Forecaster.load(tmp_path / "model.thalweg")
    for k in range(rows, 40):
        forecaster.update(Y[k : k + 1])
        loaded.update(Y[k : k + 1])
    np.testing.assert_array_equal(loaded.forecast().times, forecaster.forecast().times)
    assert are_equal(loaded.forecast(), forecaster.forecast())
    assert loaded.seasons == Seasons(5, 261)


@pytest.mark.parametrize("weekdays", [1, 127, 128, 0b1100000, -3, 5.0])
def test_weekdays_that_no_series_has_are_refused(weekdays, tmp_path):
    saved = tw.Forecaster(2).update(Y).saved_model()
    record = saved.extra[FIELD]
    grid = record.progress.grid._replace(weekdays=weekdays)
    progress = record.progress._replace(grid=grid)
    saved.extra[FIELD] = record._replace(progress=progress)
    tw.persistence.save(tmp_path / "model.thalweg", saved)
    with pytest.raises(PersistenceError, match="progress.grid.weekdays"):
        tw.Forecaster.load(tmp_path / "model.thalweg")


def test_a_file_of_an_older_version_is_refused_by_its_version(tmp_path):
    saved = tw.Forecaster(2).update(Y).saved_model()
    saved.extra[FIELD] = saved.extra[FIELD]._replace(layout=LAYOUT - 1)
    tw.persistence.save(tmp_path / "model.thalweg", saved)
    with pytest.raises(PersistenceError, match=f"layout is version {LAYOUT - 1}"):
        tw.Forecaster.load(tmp_path / "model.thalweg")


def frame(rows=300):
    return pd.DataFrame({"unique_id": "a", "ds": DAYS[:rows], "y": Y.to_numpy()[:rows]})


@pytest.mark.parametrize("freq", [None, "B", DAYS.freq])
def test_a_long_frame_goes_on_on_the_days_that_it_has(freq):
    made = tw.forecast(frame(), 8, freq=freq)
    assert list(made["ds"]) == list(FUTURE)
    assert (made["Tracker"] == tw.Forecaster(8).update(Y).forecast().mean).all()
    windows = tw.cross_validation(frame(), 4, n_windows=2, freq=freq)
    assert list(windows["ds"][-4:]) == list(DAYS[-4:])


def test_a_frequency_says_more_than_a_few_rows():
    made = tw.forecast(frame(6), 3, freq="B")
    assert list(made["ds"]) == list(DAYS[6:9])
    rows = tw.Forecaster(3, season=(5, 261)).update(Y.to_numpy()[:6])
    assert (made["Tracker"] == rows.forecast().mean).all()
    every = tw.forecast(frame(), 3, freq="D")
    assert list(every["ds"]) == list(pd.date_range(DAYS[-1], periods=4)[1:])


def test_known_features_of_a_long_frame_may_be_of_all_days():
    df = frame().assign(price=RNG.normal(size=300))
    every = pd.date_range(FUTURE[0], FUTURE[-1])
    later = pd.DataFrame(
        {"unique_id": "a", "ds": every, "price": RNG.normal(size=len(every))}
    )
    made = tw.forecast(df, 8, X_df=later)
    assert made.equals(tw.forecast(df, 8, X_df=later[later["ds"].isin(FUTURE)]))


def test_no_warning_comes_of_a_series_of_all_days():
    days = pd.date_range("2024-01-01", periods=100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ahead = tw.Forecaster(2).update(pd.Series(RNG.normal(size=100), days))
    assert ahead.seasons == Seasons(7, 365)
