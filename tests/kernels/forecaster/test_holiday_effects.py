"""Holidays: the kernel equals its definition, and all else forecasts the rest."""

import numpy as np
import pytest

from tests.kernels.forecaster.holidays_definition import HolidayDefinition
from thalweg.autoregression.forecaster_state import ForecasterSettings, ForecasterState
from thalweg.calendar.public_holidays import COUNTRIES, DayGrid, day_marks
from thalweg.calendar.season_finder import Seasons
from thalweg.kernels.compiler.jit import COMPILED

FIRST_DAY = 15_000  # 2011-01-26
pytestmark = pytest.mark.skipif(not COMPILED, reason="years of rows, in plain Python")


def made_up_days(rows, days, country, seed=0):
    """Values (days, rows) with quiet Sundays and holidays, and a closed 25 December."""
    rng = np.random.default_rng(seed)
    marks = day_marks(FIRST_DAY, days + 100)
    shape = 10 + 5 * np.sin(np.linspace(0, np.pi, rows))
    bit = COUNTRIES.index(country)
    is_holiday = marks[:days, 1] >> bit & 1 == 1
    is_quiet = (marks[:days, 0] == 6) | is_holiday
    y = np.where(is_quiet[:, None], 0.4, 1.0) * shape
    y[marks[:days, 2] == 1] = 1.0
    y += 0.3 * rng.normal(size=y.shape)
    y[rng.random(y.shape) < 0.03] = np.nan
    y[200] = np.nan
    y[40, 0] = 1e6
    y[0, 0] = 10.0
    return y, marks


@pytest.mark.parametrize(
    ("rows", "horizon", "first_row"), [(1, 5, 0), (4, 4, 0), (4, 11, 2), (24, 24, 7)]
)
@pytest.mark.slow
def test_effects_and_forecasts_equal_their_definition(rows, horizon, first_row):
    days = 900
    values, marks = made_up_days(rows, days, "US")
    grid = DayGrid(rows, first_row, FIRST_DAY)
    seasons = Seasons(7, 7) if rows == 1 else Seasons(rows, 7 * rows)
    settings = ForecasterSettings(horizon, (), 0, ())
    state = ForecasterState(settings._replace(days=grid), seasons)
    plain = ForecasterState(settings, seasons)
    values[0, :first_row] = np.nan
    values[0, first_row] = 10.0
    lead = 1 + (horizon - 1) // rows
    slow = HolidayDefinition(rows, lead)
    for day in range(days):
        slow.learn(day, values[day], marks)
    y = values.ravel()[first_row:]
    forecasts, bands = state.play(y, np.empty((len(y), 0)), 0.9)
    effects = np.concatenate([slow.effect(day) for day in range(days + lead + 1)])
    effects = effects[first_row:]
    rest, rest_bands = plain.play(y - effects[: len(y)], np.empty((len(y), 0)), 0.9)
    ahead = np.lib.stride_tricks.sliding_window_view(effects[1:], horizon)[: len(y)]
    assert np.abs(effects).max() > 3
    close = {"rtol": 1e-6, "atol": 1e-6}
    np.testing.assert_allclose(forecasts, rest + ahead, **close)
    np.testing.assert_allclose(
        bands - forecasts[..., None], rest_bands - rest[..., None], rtol=1e-4, atol=1e-4
    )
    assert state.holiday_country == "US" == COUNTRIES[slow.country]


@pytest.mark.parametrize("country", ["US", "DE", "JP"])
def test_the_country_is_found(country):
    values, _ = made_up_days(4, 800, country, seed=3)
    settings = ForecasterSettings(4, (), 0, (), days=DayGrid(4, 0, FIRST_DAY))
    state = ForecasterState(settings, Seasons(4, 28))
    state.play(values.ravel(), np.empty((values.size, 0)))
    assert state.holiday_country == country


@pytest.mark.slow
def test_noise_has_no_country_and_no_effects():
    rng = np.random.default_rng(1)
    settings = ForecasterSettings(4, (), 0, (), days=DayGrid(4, 0, FIRST_DAY))
    for seed in range(20):
        y = rng.normal(size=4 * 800)
        if seed % 2:  # week-ends that differ, holidays that do not
            y += 5 * np.repeat((np.arange(800) + 2) % 7 >= 5, 4)
        state = ForecasterState(settings, Seasons(4, 28))
        state.play(y, np.empty((len(y), 0)))
        assert state.holiday_country is None


@pytest.mark.parametrize("size", [1e-150, 1e-9, 1e9, 1e150])
def test_huge_and_tiny_values_give_finite_forecasts(size):
    values, _ = made_up_days(4, 800, "US")
    y = values.ravel() / np.nanmax(values) * size
    settings = ForecasterSettings(6, (), 0, (), days=DayGrid(4, 0, FIRST_DAY))
    state = ForecasterState(settings, Seasons(4, 28))
    forecasts, _ = state.play(y, np.empty((len(y), 0)), 0.9)
    assert np.isfinite(forecasts).all() and np.isfinite(state.packed).all()


@pytest.mark.slow
def test_many_years_of_noise_have_no_country():
    y = np.random.default_rng(4).normal(size=24 * 4000)
    settings = ForecasterSettings(2, (), 0, (), days=DayGrid(24, 0, FIRST_DAY))
    state = ForecasterState(settings, Seasons(24, 168))
    state.play(y, np.empty((len(y), 0)))
    assert state.holiday_country is None


def test_a_run_can_be_cut_anywhere():
    values, _ = made_up_days(4, 800, "US")
    y, rng = values.ravel(), np.random.default_rng(2)
    settings = ForecasterSettings(9, (), 0, (), days=DayGrid(4, 0, FIRST_DAY))
    whole, cut = (ForecasterState(settings, Seasons(4, 28)) for _ in range(2))
    whole.play(y, np.empty((len(y), 0)))
    for part in np.split(y, np.sort(rng.choice(len(y), 40))):
        cut.play(part, np.empty((len(part), 0)))
        cut = cut.copy()
    np.testing.assert_array_equal(whole.packed, cut.packed)
