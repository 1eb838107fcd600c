"""Naive forecasts of any horizon and delay, held to loops over the known values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.calendar.season_finder import Seasons
from thalweg.errors import PersistenceError
from thalweg.forecasting.naive import (
    CYCLE,
    DRIFT,
    LAST,
    MEAN,
    SEASON,
    NaiveForecasts,
    complete,
    mean_period,
)

RNG = np.random.default_rng(4)


def expected_forecast(at, values, asked, seasons):
    """The five forecasts of one position from values at others; NaN where none."""
    made = np.full(5, np.nan)
    if not len(values):
        return made
    last_at, last = at[-1], values[-1]
    rows = last_at - at[0]
    made[LAST] = last
    made[DRIFT] = last + (asked - last_at) * ((last - values[0]) / rows if rows else 0)
    periods = {SEASON: seasons.season, CYCLE: seasons.cycle}
    for column, period in (*periods.items(), (MEAN, mean_period(seasons))):
        same = values[at % period == asked % period]
        has_own = seasons.season > 1 and not (
            column == CYCLE and seasons.cycle == seasons.season
        )
        if len(same) and has_own:
            made[column] = same.mean() if column == MEAN else same[-1]
    return made


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([Seasons(1, 1), Seasons(4, 4), Seasons(3, 12), Seasons(5, 31)]),
    st.integers(1, 9), st.integers(0, 5),
    st.lists(st.integers(0, 60), max_size=4),
)  # fmt: skip
def test_forecasts_are_their_definitions_however_values_are_cut(
    seasons, horizon, delay, cuts
):
    at = np.cumsum(RNG.integers(1, 3, 60))
    values, asked = RNG.normal(size=60), at + horizon
    known = np.maximum(np.arange(60) + 1 - delay, 0)
    naive, parts = NaiveForecasts(seasons), []
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), 60], strict=True):
        # The values that come to be known in this part, and those before them.
        first, last = (max(end - delay, 0) for end in (start, stop))
        part = naive.play(
            at[first:last], values[first:last], asked[start:stop],
            known[start:stop] - first,
        )  # fmt: skip
        parts.append(part)
        restored = NaiveForecasts(Seasons())
        restored.restore(naive.snapshot())
        naive = restored
    made = np.concatenate(parts)
    for row in range(60):
        past = slice(known[row])
        expected = expected_forecast(at[past], values[past], asked[row], seasons)
        np.testing.assert_allclose(made[row], expected, rtol=1e-9, atol=1e-12)


def test_a_method_without_a_value_repeats_the_next_simpler_one():
    nan = np.nan
    made = np.array([[1.0, nan, nan, nan, 9.0], [1.0, 2.0, nan, nan, 9.0],
                     [1.0, nan, 3.0, nan, 9.0], [1.0, 2.0, 3.0, 4.0, 9.0]])  # fmt: skip
    assert complete(made)[:, :4].tolist() == [
        [1, 1, 1, 1], [1, 2, 2, 2], [1, 1, 3, 3], [1, 2, 3, 4],
    ]  # fmt: skip


def test_the_mean_is_of_the_cycle_where_its_phases_have_values():
    assert mean_period(Seasons(24, 168)) == 168
    assert mean_period(Seasons(7, 365)) == 7  # 7 does not divide it
    assert mean_period(Seasons(60, 1440)) == 60  # 24 seasons are too many
    assert mean_period(Seasons(12, 12)) == 12


def test_what_no_forecasts_remember_is_refused():
    naive = NaiveForecasts(Seasons(3, 12))
    snapshot = naive.snapshot()
    for change in (
        {"season": np.zeros(13)},
        {"means": np.zeros((2, 3))},
        {"means": np.full((2, 12), 0.5)},
        {"last": np.zeros(3)},
    ):
        with pytest.raises(PersistenceError):
            naive.restore(snapshot._replace(**change))
