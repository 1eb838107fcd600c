"""A forecaster with times is the same however its rows are cut, the first ones too."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg import Forecaster, persistence
from thalweg.errors import PersistenceError, StreamError
from thalweg.forecasting.forecaster_file import FIELD

RNG = np.random.default_rng(5)
DAYS = pd.date_range("2026-01-01", periods=210)
INDEXES = {
    "hours": pd.date_range("2026-03-01", periods=60, freq="h"),
    "hours of a zone": pd.date_range(
        "2026-03-28", periods=60, freq="h", tz="Europe/Berlin"
    ),
    "days of a zone": pd.date_range(
        "2026-03-10", periods=60, freq="D", tz="Europe/Berlin"
    ),
    "days": pd.date_range("2026-01-01", periods=60, freq="D"),
    "business days": pd.bdate_range("2026-01-01", periods=60),
    "Tuesdays and Thursdays": pd.DatetimeIndex(
        [
            day
            for day in pd.date_range("2026-01-01", periods=210)
            if day.weekday() in (1, 3)
        ]
    ),
    "weeks": pd.date_range("2025-01-01", periods=60, freq="7D"),
    "months": pd.date_range("2020-02-01", periods=60, freq="MS"),
    "ends of months": pd.date_range("2020-01-01", periods=60, freq="ME"),
    "quarters": pd.date_range("2010-01-01", periods=60, freq="QS"),
    "seven minutes": pd.date_range("2026-01-01", periods=60, freq="7min"),
}


def learnt(horizon, index, y, x, cuts, known):
    """A forecaster that was given rows in pieces; None where one is refused."""
    forecaster = Forecaster(horizon, known=known)
    places = [0, *sorted(set(cuts)), len(y)]
    for start, stop in zip(places, places[1:], strict=False):
        if stop > start:
            rows = slice(start, stop)
            given_rows = None if x is None else x[rows]
            forecaster.update(y[rows], given_rows, index[rows])
    return forecaster


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(INDEXES)),
    st.lists(st.integers(1, 50), max_size=8),
    st.sets(st.integers(1, 49), max_size=8),
    st.booleans(),
)
def test_any_cut_gives_the_same_forecasts(kind, cuts, absent, has_features):
    rows = [row for row in range(50) if row not in absent]
    index, y = INDEXES[kind][rows], RNG.normal(size=60)[rows]
    x = RNG.normal(size=(60, 1))[rows] if has_features else None
    whole = learnt(3, index, y, x, [], ())
    try:
        cut = learnt(3, index, y, x, cuts, ())
    except StreamError as error:  # rows so few that they seem to be on another grid
        assert "not on the grid" in str(error) or "less than a step" in str(error)
        return
    one, other = whole.forecast(), cut.forecast()
    assert whole.seasons == cut.seasons and whole.grid == cut.grid
    for part in ("mean", "low", "high", "times"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part))
    later = INDEXES[kind][50:]
    for forecaster in (whole, cut):
        forecaster.update(y[:10], None if x is None else x[:10], later)
    np.testing.assert_array_equal(whole.forecast().mean, cut.forecast().mean)


def test_rows_one_by_one_equal_a_run_once_the_grid_is_known():
    index = INDEXES["business days"]
    y = RNG.normal(size=60)
    whole, single = Forecaster(2).run(y, time=index), Forecaster(2)
    pieces = [
        single.run(y[row : row + 1], time=index[row : row + 1]) for row in range(60)
    ]
    for part in ("y", "mean", "low", "high", "times"):
        joined = np.concatenate([getattr(piece, part) for piece in pieces[24:]])
        np.testing.assert_array_equal(joined, getattr(whole, part)[-36:])
    # Weekdays without rows count as missing until they are known.
    assert len(whole.y) == 60 < sum(len(piece.y) for piece in pieces)


def test_forecasts_that_no_time_can_have_are_refused():
    years = pd.date_range("2200-01-01", periods=55, freq="YS").to_numpy()
    forecaster = Forecaster(20).update(RNG.normal(size=55), time=years)
    assert str(forecaster.forecast(7).times[-1])[:4] == "2261"
    whole = np.arange(2**63 - 400, 2**63 - 40, 10, dtype=np.uint64)
    numbers = Forecaster(20).update(RNG.normal(size=36), time=whole)
    for one in (forecaster, numbers):
        with pytest.raises(StreamError, match="later than a time can be"):
            one.forecast()
    with pytest.raises(StreamError, match="at most 9223372036854775807"):
        Forecaster(2).update(1.0, time=np.array([2**63], np.uint64))


@pytest.mark.parametrize(
    "change",
    [
        {"values": np.ones((5, 2))},
        {"values": np.full((6, 1), 1e200)},
        {"values": np.ones((24, 1)), "times": tuple(range(24)), "clock_times": ()},
        {"times": (3, 2, 4, 5, 6, 7)},
        {"times": (1, 2, 3, 4, 5, 6.5)},
        {"clock_times": (1,)},
    ],
)
def test_first_rows_that_no_series_has_are_refused(change, tmp_path):
    days = INDEXES["days of a zone"][:6]
    saved = Forecaster(2).update(np.arange(6.0), time=days).saved_model()
    record = saved.extra[FIELD]
    first_rows = record.progress.first_rows._replace(**change)
    progress = record.progress._replace(first_rows=first_rows)
    saved.extra[FIELD] = record._replace(progress=progress)
    persistence.save(tmp_path / "model.thalweg", saved)
    with pytest.raises(PersistenceError, match="'forecaster.progress.first_rows"):
        Forecaster.load(tmp_path / "model.thalweg")
