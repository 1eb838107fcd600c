"""What a forecaster takes and what it refuses, and hostile but legal series."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg import Forecaster
from thalweg.errors import InvalidParameterError, StreamError

DAYS = np.arange("2026-01-01", "2026-02-10", dtype="datetime64[D]")
Y = np.sin(np.arange(40)) + 0.1 * np.arange(40)
X = np.random.default_rng(0).normal(size=(40, 2))


def with_features():
    names = ("heat", "wind")
    frame = pd.DataFrame(X, columns=names)
    return Forecaster(3, known=("heat",)).update(Y, frame, DAYS)


REFUSED = {
    "infinite": (lambda f: f.update(np.inf, [1, 2]), "Row 0 of y .* Got inf"),
    "huge": (lambda f: f.update([1.0, 1e151], np.ones((2, 2))), "Row 1 of y"),
    "text": (lambda f: f.update("much", [1, 2]), "values y"),
    "two series": (lambda f: f.update(np.ones((2, 2))), r"Got shape \(2, 2\)"),
    "no features": (lambda f: f.update(1.0), "learnt with 2 features. Got 0"),
    "more features": (lambda f: f.update(1.0, [1, 2, 3]), "2 features. Got 3"),
    "too few rows": (lambda f: f.update([1.0, 2], [[1, 2]]), "one row of features"),
    "a missing feature": (
        lambda f: f.update(1.0, {"heat": np.nan, "wind": 1.0}, "2026-02-10"),
        "Feature heat is missing in row 0 .* known in advance",
    ),
    "a huge feature": (
        lambda f: f.update(1.0, {"heat": -1e200, "wind": 1.0}, "2026-02-10"),
        "Feature heat of row 0",
    ),
    "another name": (
        lambda f: f.update(1.0, {"heat": 1, "rain": 2}),
        "are heat, wind. Got heat, rain",
    ),
    "time backwards": (
        lambda f: f.update(1.0, [1, 2], "2026-01-03"),
        "2026-01-03.* after a later",
    ),
    "features that are no rows": (
        lambda f: f.update([1.0, 2.0], [0.5, 1.0, 2.0]),
        r"one row of features for each value. Got 2 values and features of shape \(3,",
    ),
    "time twice": (lambda f: f.update(1.0, [1, 2], DAYS[-1]), "comes twice"),
    "two of a time": (
        lambda f: f.update([1.0, 2], X[:2], ["2026-02-11", "2026-02-11"]),
        "row 1 .* comes twice",
    ),
    "off the grid": (
        lambda f: f.update(1.0, [1, 2], "2026-02-11T12:00"),
        "not on the grid of times: rows are 1 day apart",
    ),
    "no time at all": (lambda f: f.update(1.0, [1, 2], "NaT"), "row 0 .* is missing"),
    "times too few": (
        lambda f: f.update([1.0, 2], X[:2], DAYS[-1:] + np.timedelta64(1, "D")),
        "Got 2 values and 1 times",
    ),
    "no future": (lambda f: f.forecast(), "needs 'future', the 3 coming rows"),
    "short future": (lambda f: f.forecast(future=[1.0]), "must have 3 rows. Got 1"),
    "future without": (
        lambda f: f.forecast(future={"wind": [1, 2, 3]}),
        "lacks the feature 'heat'",
    ),
    "missing future": (
        lambda f: f.forecast(future=[1, np.nan, 3]),
        "Feature heat of row 1 of 'future'",
    ),
    "wide future": (lambda f: f.forecast(future=np.ones((3, 5))), "column for each"),
    "a data frame": (
        lambda f: f.update(pd.DataFrame({"sold": [1.0]}), [1, 2]),
        r"columns sold: choose one, such as df\['sold'\]",
    ),
    "features of other times": (
        lambda f: f.update(
            pd.Series([1.0], pd.DatetimeIndex(["2026-02-10"])),
            pd.DataFrame({"heat": [1], "wind": [2]}, pd.DatetimeIndex(["2026-02-11"])),
        ),
        "in row 0 .* theirs is 2026-02-11.* that of y is 2026-02-10",
    ),
    "a future of other times": (
        lambda f: f.forecast(
            future=pd.DataFrame(
                {"heat": [1, 2, 3]}, pd.date_range("2026-02-11", periods=3)
            )
        ),
        "Row 0 .* of 'future' is at 2026-02-11.* forecast's row is at 2026-02-10",
    ),
    "h too large": (lambda f: f.forecast(4), r"'h' .* in \[1, 3\]. Got 4"),
    "half a step": (lambda f: f.forecast(1.5), "'h' .* whole number"),
    "level": (lambda f: f.forecast(interval=1), "'interval'"),
    "level of a run": (lambda f: f.run(Y, X, interval=0), "'interval'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_named_and_leaves_all_as_it_was(name):
    forecaster = with_features()
    before = forecaster.clone()
    call, message = REFUSED[name]
    with pytest.raises((StreamError, InvalidParameterError), match=message):
        call(forecaster)
    assert forecaster.rounds == before.rounds == 40
    for one in (forecaster, before):
        one.update(1.5, [0.5, 0.25], "2026-02-12")
    np.testing.assert_array_equal(
        forecaster.forecast(future=[1, 2, 3]).mean,
        before.forecast(future=[1, 2, 3]).mean,
    )


def test_a_gap_that_must_be_a_mistake_is_refused():
    times = np.datetime64("2026-01-01T00:00") + np.arange(40)
    forecaster = Forecaster(2).update(Y, time=times)
    with pytest.raises(
        StreamError, match=r"leave \d+ rows missing .* more than 100000"
    ):
        forecaster.update(1.0, time="2027-01-01")
    assert forecaster.rounds == 40


@pytest.mark.parametrize(
    ("given_settings", "message"),
    [
        ({"horizon": 0}, "'horizon'"),
        ({"horizon": 2.5}, "'horizon' .* whole number. Got 2.5"),
        ({"horizon": "3"}, "'horizon'"),
        ({"horizon": True}, "'horizon' .* Got True"),
        ({"horizon": 3, "season": 0}, "'season'"),
        ({"horizon": 3, "season": (1, 2, 3)}, "one period or two"),
        ({"horizon": 3, "season": "day"}, "'season'"),
        ({"horizon": 3, "season": 7.5}, "'season' .* whole number"),
        ({"horizon": 3, "lags": 4}, "'lags' .* list of whole numbers. Got 4"),
        ({"horizon": 3, "lags": [0]}, "'lags'"),
        ({"horizon": 10_000}, r"'horizon' .* in \[1, 4000\]"),
        (
            {"horizon": 3, "lags": range(1, 2000)},
            "3 steps, 1,999 lags and 0 features has a state of .* bytes, more than",
        ),
        ({"horizon": 3, "calendar": "yes"}, "'calendar'"),
        ({"horizon": 3, "known": "heat"}, "'known' .* Got 'heat'"),
        ({"horizon": 3, "known": 5}, "'known'"),
        ({"horizon": 3, "known": [-1]}, "'known'"),
    ],
)
def test_settings_that_cannot_be_are_refused_by_name(given_settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        Forecaster(**given_settings)


def test_features_that_make_a_state_too_large_are_refused():
    forecaster = Forecaster(4000, lags=range(1, 150))
    with pytest.raises(InvalidParameterError, match=r"149 lags and 64 features has"):
        forecaster.update(1.0, np.ones(64))
    assert forecaster.update(1.0).rounds == 1


def test_a_known_feature_that_is_not_given_is_refused_by_name():
    forecaster = Forecaster(2, known=["heat"])
    with pytest.raises(StreamError, match="'heat', known in advance, .* given: wind"):
        forecaster.update(1.0, {"wind": 1.0})
    with pytest.raises(StreamError, match="'heat'.* given: none"):
        forecaster.update(1.0)
    assert forecaster.rounds == 0


def test_whole_numbers_of_numpy_are_settings(tmp_path):
    forecaster = Forecaster(np.int64(3), season=np.int32(4), lags=np.array([2]))
    forecaster.update(Y).save(tmp_path / "forecaster.thalweg")
    loaded = Forecaster.load(tmp_path / "forecaster.thalweg")
    assert repr(loaded) == repr(forecaster) == repr(Forecaster(3, 4, (2,)))


def test_series_of_many_kinds_are_the_same():
    expected = Forecaster(3).update(Y, time=DAYS).forecast().mean
    for y, times in (
        (pd.Series(Y, DAYS), None),
        (pd.Series(Y, pd.PeriodIndex(DAYS, freq="D")), None),
        (pd.Series(Y, pd.DatetimeIndex(DAYS, tz="UTC")), None),
        (pd.Series(Y, dtype="Float64"), pd.Series(DAYS)),
        (pl.Series(Y), pl.Series(DAYS)),
        (list(Y), [str(day) for day in DAYS]),
    ):
        np.testing.assert_array_equal(
            Forecaster(3).update(y, time=times).forecast().mean, expected
        )


def test_missing_values_of_many_kinds_are_the_same():
    gap = Y.copy()
    gap[20:22] = np.nan
    expected = Forecaster(3).update(gap).forecast().mean
    listed = [None if np.isnan(value) else value for value in gap]
    for y in (listed, pd.Series(gap, dtype="Float64"), pl.Series(listed)):
        np.testing.assert_array_equal(Forecaster(3).update(y).forecast().mean, expected)


def test_a_missing_feature_is_as_it_was_in_the_row_before():
    x = X.copy()
    x[10:12, 1] = x[25, 1] = np.nan
    filled = pd.DataFrame(x).ffill().to_numpy()
    expected = Forecaster(3, known=(0,)).update(Y, filled)
    single = Forecaster(3, known=(0,))
    for t in range(len(Y)):
        single.update(Y[t], x[t])
    for forecaster in (Forecaster(3, known=(0,)).update(Y, x), single):
        np.testing.assert_array_equal(
            forecaster.forecast(future=[1, 2, 3]).mean,
            expected.forecast(future=[1, 2, 3]).mean,
        )


def test_an_index_of_times_that_fits_is_taken():
    index = pd.DatetimeIndex(DAYS)
    y, x = pd.Series(Y, index), pd.DataFrame(X, index, ["heat", "wind"])
    later = pd.DataFrame({"heat": [1.0, 2, 3]}, pd.date_range("2026-02-10", periods=3))
    forecast = Forecaster(3, known=["heat"]).update(y, x).forecast(future=later)
    expected = with_features().forecast(future=[1, 2, 3])
    np.testing.assert_array_equal(forecast.mean, expected.mean)


@pytest.mark.parametrize("freq", ["MS", "D", "h"])
def test_times_come_back_in_the_zone_that_they_were_given_in(freq, tmp_path):
    index = pd.date_range("2026-03-20", periods=43, freq=freq, tz="Europe/Berlin")
    y = pd.Series(Y, index[:40])
    forecaster = Forecaster(3).update(y)
    assert list(forecaster.forecast().to_pandas()["time"]) == list(index[40:])
    plain = Forecaster(3, season=tuple(forecaster.seasons)).update(Y)
    np.testing.assert_array_equal(forecaster.forecast().mean, plain.forecast().mean)
    origins = Forecaster(3).run(y).to_pandas()["origin"]
    assert list(origins[::3]) == list(index[:40])
    forecaster.save(tmp_path / "zone.thalweg")
    loaded = Forecaster.load(tmp_path / "zone.thalweg").update(1.0, time=index[40])
    assert list(loaded.forecast(2).to_pandas()["time"]) == list(index[41:])


def test_times_with_a_zone_and_without_are_not_mixed():
    naive = Forecaster(2).update(Y, time=DAYS)
    with pytest.raises(StreamError, match="in the zone: none. Got .* the zone: UTC"):
        naive.update(1.0, time=pd.Timestamp("2026-02-10", tz="UTC"))
    aware = Forecaster(2).update(pd.Series(Y, pd.DatetimeIndex(DAYS, tz="UTC")))
    with pytest.raises(StreamError, match="in the zone: UTC. Got .* the zone: none"):
        aware.update(1.0, time="2026-02-10")
    assert naive.rounds == aware.rounds == 40


def test_whole_numbers_are_times_without_a_calendar():
    forecaster = Forecaster(2).update(Y, time=np.arange(100, 180, 2))
    assert forecaster.forecast().times.tolist() == [180, 182]
    np.testing.assert_array_equal(
        forecaster.forecast().mean, Forecaster(2).update(Y).forecast().mean
    )
    assert forecaster.update(1.0, time=184).rounds == 43
    with pytest.raises(StreamError, match="whole numbers"):
        forecaster.update(1.0, time="2026-01-01")


def test_a_backtest_has_the_rows_before_the_first_value_too():
    y = np.append([np.nan, np.nan], Y)
    times = np.arange("2025-12-30", "2026-02-10", dtype="datetime64[D]")
    backtest = Forecaster(3).run(y, time=times)
    frame = backtest.to_pandas()
    assert len(backtest.times) == len(backtest.y) == 42 and len(frame) == 3 * 42
    assert frame["mean"].isna().sum() == 6
    np.testing.assert_array_equal(
        backtest.mean[2:], Forecaster(3).run(Y, time=DAYS).mean
    )


def test_rows_of_no_calendar_season_are_searched_for_one():
    y = np.tile([1.0, 5, 2, 8, 3], 40) + 0.01 * np.random.default_rng(0).normal(
        size=200
    )
    times = np.datetime64("2026-01-01", "s") + 420 * np.arange(200)
    assert Forecaster(3).update(y, time=times).seasons.season == 5
    single = Forecaster(3)
    for value, time in zip(y, times, strict=True):
        single.update(value, time=time)
    assert single.seasons.season == 5


# Series that are legal, and hostile.

N = np.arange(300)
RNG = np.random.default_rng(7)
HOSTILE = {
    "constant": np.full(300, 5.1),
    "zeros": np.zeros(300),
    "a step of 1e12": np.where(N < 150, 0.0, 1e12) + RNG.normal(size=300),
    "from 1e150 to -1e150 and back": np.where(N % 2, 1e150, -1e150),
    "1e150 at random": RNG.choice([1e150, -1e150], 300),
    "one value of 1e150": np.where(N == 150, 1e150, RNG.normal(size=300)),
    "1e-200": 1e-200 * RNG.normal(size=300),
    "next to nothing": 1e-310 * RNG.normal(size=300),
    "a long gap": np.where((N > 30) & (N < 280), np.nan, RNG.normal(size=300)),
    "one value": np.where(N == 3, 2.0, np.nan),
    "all sizes": RNG.normal(size=300) * 10.0 ** RNG.integers(-150, 150, 300),
    "explosive": np.minimum(1.5**N, 1e150),
    "nearly constant": 1e10 + 1e-6 * RNG.normal(size=300),
    "rare values": np.where(RNG.random(300) < 0.03, 1e6, 0.0),
}


def hostile_features(name):
    x = RNG.normal(size=(300, 3))
    x[:, 1] = x[:, 0]  # collinear
    x[:, 2] *= 10.0 ** RNG.integers(-150, 149, 300)
    return np.zeros((300, 3)) if name == "zeros" else x


@pytest.mark.parametrize("season", [None, 1, (4, 12)])
@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_becomes_infinite_on_hostile_series(name, season):
    y, x = HOSTILE[name], hostile_features(name)
    forecaster = Forecaster(26, season, lags=(5,), known=(0, 2))
    backtest = forecaster.run(y, x)
    first = int(np.argmax(~np.isnan(y)))
    assert np.isfinite(backtest.mean[first:]).all()
    assert not np.isnan([backtest.low[first:], backtest.high[first:]]).any()
    # Infinite only before an error of the step is known.
    known = np.cumsum(~np.isnan(backtest.errors), axis=0) > 0
    late = known[:-26, -1][first:]
    assert np.isfinite(backtest.low[first + 26 :][late[: len(y) - first - 26]]).all()
    for future in (np.full((26, 2), 1e150), np.zeros((26, 2))):
        forecast = forecaster.forecast(future=future)
        assert np.isfinite(forecast.mean).all()
        assert np.isfinite(forecast.totals.mean).all()
        assert not np.isnan([*forecast.totals, forecast.low, forecast.high]).any()
    assert np.isfinite(forecaster._model[0].packed).all()


def test_a_series_without_any_value_cannot_be_forecast():
    forecaster = Forecaster(3).update([np.nan] * 50)
    assert forecaster.rounds == 0
    with pytest.raises(StreamError, match="needs a value before"):
        forecaster.forecast()
    assert np.isnan(Forecaster(3).run([np.nan] * 5).mean).all()
    mean = forecaster.update(2.0).forecast().mean
    np.testing.assert_array_equal(mean, [2.0, 2.0, 2.0])


def test_memory_is_flat_over_100_000_values():
    rng = np.random.default_rng(0)
    forecaster = Forecaster(2, season=24)
    y = 5 + np.sin(2 * np.pi * np.arange(100_000) / 24) + rng.normal(size=100_000)
    size = forecaster.update(y[:100])._model[0].packed.nbytes
    forecaster.update(y[100:])
    assert forecaster._model[0].packed.nbytes == size
    assert forecaster._model[1].history is None
    assert forecaster.rounds == 100_000
    assert abs(forecaster.forecast().mean - 5).max() < 2.5


@settings(max_examples=8)
@given(st.integers(0, 99), st.integers(-6, 6), st.sampled_from([0.0, -40.0, 1e3]))
def test_other_units_give_the_same_forecasts_in_them(seed, power, shift):
    rng = np.random.default_rng(seed)
    y = 3 * np.sin(N * 2 * np.pi / 12) + np.cumsum(0.2 * rng.normal(size=300))
    y[rng.random(300) < 0.05] = np.nan
    y[0] = 1.0
    a, b = 10.0**power, shift * 10.0**power
    one, other = (Forecaster(5, 12).run(z) for z in (y, a * y + b))
    size = np.nanmax(abs(a * y + b))
    # Regressions magnify rounding by the condition of their moments.
    np.testing.assert_allclose(other.mean, a * one.mean + b, rtol=0, atol=1e-8 * size)
    expected = a * (one.high - one.low)[20:]
    np.testing.assert_allclose((other.high - other.low)[20:], expected, rtol=1e-3)


@settings(max_examples=10)
@given(st.integers(0, 99), st.sampled_from([5, 30]))
def test_bands_of_higher_levels_contain_those_of_lower(seed, horizon):
    y = np.random.default_rng(seed).standard_t(3, size=90)
    forecaster = Forecaster(horizon, 7).update(y)
    bands = [forecaster.forecast(interval=p) for p in (0.1, 0.5, 0.8, 0.9, 0.99)]
    for narrow, wide in zip(bands, bands[1:], strict=False):
        assert (wide.low <= narrow.low).all() and (narrow.high <= wide.high).all()
        assert (wide.totals.low <= narrow.totals.low).all()
        assert (narrow.totals.high <= wide.totals.high).all()
        assert (narrow.low <= narrow.mean).all()


@settings(max_examples=10)
@given(st.lists(st.integers(0, 199), max_size=4), st.sampled_from([None, (3, 12)]))
def test_a_run_cut_anywhere_is_the_whole_run(cuts, season):
    rng = np.random.default_rng(1)
    y, x = np.sin(np.arange(200)) + rng.normal(size=200), rng.normal(size=(200, 2))
    y[rng.random(200) < 0.1] = np.nan
    whole = Forecaster(4, season).run(y, x)
    forecaster = Forecaster(4, season)
    places = [0, *sorted(cuts), 200]
    pieces = [
        forecaster.run(y[begin:end], x[begin:end])
        for begin, end in zip(places, places[1:], strict=False)
        if end > begin
    ]
    for part in ("mean", "low", "high"):
        joined = np.concatenate([getattr(piece, part) for piece in pieces])
        np.testing.assert_array_equal(joined, getattr(whole, part))
