"""Features of a target's past: held to slow versions of what is pooled, and to means
by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thalweg as tw
from tests.kernels.plain_forecasts import pooled_forecasts, smoothing_forecasts
from thalweg.autoregression.forecaster_state import ForecasterState
from thalweg.autoregression.past_features import (
    MAX_FORECAST_DELAY,
    PastState,
    carry_last,
)
from thalweg.autoregression.past_forecasts import forecaster_settings
from thalweg.calendar.row_clock import CLOCK_ROWS, NO_TIME, RowClock
from thalweg.calendar.season_finder import DAY, Seasons, find_seasons
from thalweg.rules import obeys

HOUR, RNG = DAY // 24, np.random.default_rng(7)
START = np.datetime64("2024-01-05T06:00", "ns").astype(np.int64)
T = 260
POSITIONS = np.delete(np.arange(T + 40), [70, 71, *range(130, 168)])
TIMES = START + POSITIONS * HOUR
Y = np.sin(POSITIONS * np.pi / 12) + 0.3 * RNG.normal(size=T)
Y[[30, 31, 99]] = np.nan


def features_of(y, times, delay=0, cuts=()):
    """The features of all rows, played in pieces; the state is checked after each."""
    state, clock, made = PastState.initial(1, delay), RowClock(), []
    for start, stop in zip([0, *cuts], [*cuts, len(y)], strict=True):
        clock, filled = clock.advance(times[start:stop])
        state, features = state.advance(y[start:stop, None], filled, clock, delay)
        made.append(features)
        assert is_possible_past(state, clock, 1, stop, delay)
    return np.vstack(made)


def forecast_by_hand(y, positions, row, seasons, phases=None):
    """The forecast of a row by the pool of what is made of the rows before it.

    ``phases`` of rows are those of their positions in the cycle.
    """
    positions = positions[: row + 1] - positions[0]
    season, cycle = seasons
    phases = positions % cycle if phases is None else phases
    made = np.full((row, 5), np.nan)
    for last in range(row):
        values = np.full(positions[last + 1], np.nan)
        values[positions[: last + 1]] = y[: last + 1]
        made[last, 0] = single_forecast(values, seasons)
        if np.nanmin(values) > 0:
            by_logarithms = np.exp(single_forecast(np.log(values), seasons))
            made[last, 1] = min(by_logarithms, 2 * np.nanmax(values))
        made[last, 3] = values[~np.isnan(values)][-1]
        means = (
            mean_by_hand(y[: last + 1], of[: last + 1], last + 1, ahead=of[last + 1])
            for of in (phases[: row + 1], phases[: row + 1] % season)
        )
        mean = next((mean for mean in means if mean is not None), None)
        made[last, 4] = np.nan if mean is None else mean
    series = np.full(positions[row], np.nan)
    series[positions[:row]] = y[:row]
    smoothed = smoothing_forecasts(series, season, 1)
    made[:, 2] = smoothed[positions[1:] - 1]
    return pooled_forecasts(y[:row], made, 0)[-1]


def single_forecast(values, seasons):
    """That of a forecaster of the last step alone, which has no analogues."""
    state = ForecasterState(forecaster_settings(0), Seasons(*seasons))
    return state.play_last_step(values)[-1]


def mean_by_hand(y, phases, row, delay=0, ahead=None):
    """The mean of a phase, in which a value counts for a tenth at least."""
    mean, count = 0.0, 0
    phase = phases[row] if ahead is None else ahead
    for value in y[: max(row - delay, 0)][phases[: max(row - delay, 0)] == phase]:
        if not np.isnan(value):
            count += 1
            mean += max(1 / count, 0.1) * (value - mean)
    return mean if count else None


def assert_equal(made, expected):
    assert made == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("level", [0, 5])
@pytest.mark.parametrize("row", [8, 9, 24, 40, 72, 130, 131, 200])
def test_the_forecast_is_that_of_the_pool_on_the_grid_of_times(row, level):
    """At level 5 all values are above 0, so that their logarithms are in it."""
    made = features_of(Y + level, TIMES)[row, 0]
    expected = forecast_by_hand(Y + level, POSITIONS, row, (24, 168))
    assert_equal(made, expected)


def test_before_the_grid_is_known_rows_are_counted_and_have_no_season():
    made = features_of(Y, TIMES)
    assert made[0].tolist() == [0, 0]
    for row in (1, 2, 7):
        by_hand = forecast_by_hand(Y, np.arange(T), row, (1, 1))
        assert_equal(made[row, 0], by_hand)
        assert made[row, 1] == mean_by_hand(Y, np.zeros(T), row)


@pytest.mark.parametrize("delay", [0, 3])
def test_the_mean_is_that_of_the_same_hour_of_the_week_or_else_of_the_day(delay):
    made = features_of(Y, TIMES, delay)
    hours = POSITIONS % 168
    kinds = set()
    for row in range(CLOCK_ROWS + delay, T):
        means = (
            mean_by_hand(Y, hours, row, delay),
            mean_by_hand(Y, hours % 24, row, delay),
        )
        expected = next((mean for mean in means if mean is not None), made[row, 0])
        kinds.add(means.index(expected) if expected in means else 2)
        assert made[row, 1] == expected
    assert kinds >= {0, 1}


def test_seasons_are_looked_for_in_the_values_where_there_are_no_times():
    y = np.tile([5.0, 1.0, 2.0, 8.0, 3.0], 24) + 0.1 * RNG.normal(size=120)
    made = features_of(y, np.full(120, NO_TIME))
    assert find_seasons(y[:24]) == Seasons(5, 5)
    for row, search in ((24, 24), (53, 36), (60, 54), (119, 81)):
        seasons = find_seasons(y[:search])
        assert_equal(made[row, 0], forecast_by_hand(y, np.arange(120), row, seasons))
        means = (mean_by_hand(y, np.arange(120) % n, row) for n in reversed(seasons))
        assert made[row, 1] == next(mean for mean in means if mean is not None)


def test_with_a_delay_the_forecast_looks_further_ahead():
    times = START + np.arange(100) * HOUR
    made = features_of(Y[:100], times, 4)
    state, clock = PastState.initial(1, 4), RowClock()
    clock, filled = clock.advance(times[:90])
    state, _ = state.advance(Y[:90, None], filled, clock, 4)
    packed = state.targets[0].forecasts.forecaster
    settings = forecaster_settings(4)
    own = ForecasterState(settings, Seasons(24, 168), packed).forecast(np.empty((0, 0)))
    expected = ForecasterState(settings, Seasons(24, 168)).play_last_step(Y[:85])[-1]
    assert own[4] == expected
    smoothed = smoothing_forecasts(Y[:85], 24, 5)[-1]
    span = sorted([own[4], smoothed, Y[84], made[89, 1]])
    assert span[0] <= made[89, 0] <= span[-1]
    assert not made[:5].any()


def test_with_a_long_delay_the_forecast_is_the_last_known_value():
    delay = MAX_FORECAST_DELAY + 1
    made = features_of(Y, np.full(T, NO_TIME), delay)
    assert made[delay + 1 :, 0].tolist()[:30] == Y[:30].tolist()
    assert made[delay + 1 + 31, 0] == Y[29]


@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 5), st.lists(st.integers(1, 119), max_size=4, unique=True),
    st.sampled_from([HOUR, DAY, 1800 * 10**9, 7 * DAY, 365 * DAY, 0]),
    st.integers(0, 119), st.integers(0, 2**32),
)  # fmt: skip
def test_features_know_no_future_and_no_cuts(delay, cuts, step, last, seed):
    rng = np.random.default_rng(seed)
    gaps = np.where(rng.random(120) < 0.1, rng.integers(-3, 40, 120), 1)
    times = START + np.cumsum(np.where(np.arange(120) < 30, 1, gaps)) * step
    times[rng.random(120) < 0.05] = NO_TIME
    if rng.random() < 0.7:
        times[:24] = START + np.arange(24) * step
    y = np.cumsum(rng.normal(size=120)) + 10 * np.sin(np.arange(120) * np.pi / 6)
    y[rng.random(120) < 0.1] = np.nan
    whole = features_of(y, times, delay)
    assert np.isfinite(whole).all()
    np.testing.assert_array_equal(features_of(y, times, delay, sorted(cuts)), whole)
    other = y.copy()
    other[last:] = rng.normal(size=120 - last) * 1e3
    known = last + delay + 1
    np.testing.assert_array_equal(
        features_of(other, times, delay)[:known], whole[:known]
    )


@pytest.mark.parametrize("delay", [0, 2])
def test_a_question_gets_the_features_that_the_row_gets(delay):
    state, clock = PastState.initial(1, delay), RowClock()
    for row in range(60):
        stamp = TIMES[row : row + 1]
        asked = state.query(clock.fill(stamp), clock, delay)
        clock, filled = clock.advance(stamp)
        state, made = state.advance(Y[row : row + 1, None], filled, clock, delay)
        np.testing.assert_array_equal(asked, made)
    ahead = np.array([NO_TIME, TIMES[60], TIMES[60] + 5 * HOUR, TIMES[3]])
    together = state.query(clock.fill(ahead), clock, delay)
    single = [state.query(clock.fill(ahead[k : k + 1]), clock, delay) for k in range(4)]
    np.testing.assert_array_equal(together, np.vstack(single))
    np.testing.assert_array_equal(together[0], together[1])


def test_a_long_gap_costs_no_more_than_some_cycles_and_stays_in_phase():
    times = START + np.arange(60) * HOUR
    late = np.append(times, times[-1] + 10**6 * HOUR)
    near = np.append(times, times[-1] + (168 + 10**6 % 168) * HOUR)
    y = np.append(Y[200:], 1.0)
    np.testing.assert_array_equal(
        features_of(y, late)[-1, 0], features_of(y, near)[-1, 0]
    )


def is_possible_past(state, clock, targets, rows, delay):
    """Whether an encoder's state may hold these, after so many rows."""
    scope = SimpleNamespace(seen=rows, delay=delay, k=targets, clock=clock, rows=rows)
    is_legal_clock = obeys(RowClock, clock) and clock.rows == rows
    return is_legal_clock and obeys(PastState, state, (scope,))


def test_what_no_run_has_left_is_refused():
    state, clock = PastState.initial(1, 0), RowClock()
    clock, filled = clock.advance(TIMES[:50])
    state, _ = state.advance(Y[:50, None], filled, clock, 0)
    assert is_possible_past(state, clock, 1, 50, 0)
    past = state.targets[0]
    forecasts = past.forecasts

    def damaged_by(**fields):
        return past._replace(forecasts=forecasts._replace(**fields))

    def searched(**fields):
        return past._replace(search=past.search._replace(**fields))

    for damage in (
        damaged_by(forecaster=forecasts.forecaster[:-1]),
        damaged_by(forecaster=forecasts.forecaster * np.nan),
        damaged_by(forecaster=-forecasts.forecaster),
        damaged_by(logarithms=np.ones(7)), damaged_by(highest=np.inf),
        damaged_by(smoothing=forecasts.smoothing[1:]),
        damaged_by(smoothing=-1 - forecasts.smoothing),
        damaged_by(pool=forecasts.pool[1:]), damaged_by(pool=forecasts.pool + 0.5),
        past._replace(forecasts=None), searched(seasons=Seasons(24, 167)),
        searched(grid_fields=None), searched(grid_fields=(0, 1, 0, 0, 0)),
        searched(is_settled=False), past._replace(latest=np.inf),
        past._replace(history=np.zeros(3)),
        past._replace(means=past.means._replace(cycle=np.zeros((2, 3)))),
    ):  # fmt: skip
        damaged = state._replace(targets=(damage,))
        assert not is_possible_past(damaged, clock, 1, 50, 0)
    for damaged in (
        state._replace(rows=3), state._replace(times=()), state._replace(targets=()),
        state._replace(values=np.zeros((0, 1))), state._replace(times=(2**63,)),
    ):  # fmt: skip
        assert not is_possible_past(damaged, clock, 1, 50, 0)
    for wrong in (
        clock._replace(rows=3), clock._replace(first_times=()),
        clock._replace(first_grid=(0, 0, 0, 0)), clock._replace(first_grid=7),
        clock._replace(last_time="late"), clock._replace(backward_row=51),
    ):  # fmt: skip
        assert not is_possible_past(state, wrong, 1, 50, 0)


def test_the_last_known_value_is_carried():
    carried = carry_last(np.nan, np.array([np.nan, 1.0, np.nan, 2.0, np.nan]))
    np.testing.assert_array_equal(carried, [np.nan, np.nan, 1, 1, 2, 2])


WORKING = np.arange(0, 280)[np.arange(0, 280) % 7 < 5]  # days from a Monday on
MONDAY = np.datetime64("2024-01-01", "ns").astype(np.int64)


@pytest.mark.parametrize("row", [24, 25, 40, 100, 199])
def test_weeks_without_some_days_have_so_many_rows(row):
    y = np.sin(np.arange(200) * 2 * np.pi / 5) + RNG.normal(size=200)
    made = features_of(y, MONDAY + WORKING * DAY)[row]
    rows = np.arange(len(y))
    assert_equal(made[0], forecast_by_hand(y, rows, row, (5, 261), WORKING % 7))
    assert made[1] == mean_by_hand(y, WORKING % 7, row)


def test_before_24_rows_each_day_may_have_a_row():
    y = RNG.normal(size=200)
    made = features_of(y, MONDAY + WORKING * DAY)[23, 0]
    assert_equal(made, forecast_by_hand(y, WORKING, 23, (7, 365), WORKING % 7))


# From day 32 on: the first 24 rows, days 0 to 31, show which weekdays have rows.
@given(st.sets(st.integers(32, 275)), st.lists(st.integers(1, 180), max_size=3))
@settings(max_examples=25, deadline=None)
def test_rows_on_other_days_leave_the_forecast_as_it_is(extra, cuts):
    """Some days are missing, and others come that had no rows before."""
    rng = np.random.default_rng(0)
    is_extra = {day for day in extra if day % 7 > 4}
    missing = {day for day in extra if day % 7 < 3 and day > 40}
    days = np.array(sorted({*WORKING.tolist(), *is_extra} - missing))
    y = rng.normal(size=len(days))
    whole = features_of(y, MONDAY + days * DAY)
    in_parts = features_of(y, MONDAY + days * DAY, cuts=sorted(set(cuts)))
    np.testing.assert_array_equal(in_parts, whole)
    is_working = days % 7 < 5
    without = features_of(y[is_working], MONDAY + days[is_working] * DAY)
    np.testing.assert_array_equal(whole[is_working, 0], without[:, 0])


def test_of_rows_at_one_time_the_last_one_counts_and_the_season_stays_in_place():
    rng = np.random.default_rng(0)
    hours = np.arange(400)
    twice = np.sort(np.append(hours, rng.choice(hours[50:], 60, replace=False)))
    is_last = np.append(np.diff(twice) > 0, True)
    y = 10 * np.sin(twice * np.pi / 12) + rng.normal(size=len(twice))
    made = features_of(y, START + twice * HOUR)
    once = features_of(y[is_last], START + hours * HOUR)
    is_first = np.append(True, np.diff(twice) > 0)
    errors = [
        np.mean((features[100:, 0] - values[100:]) ** 2)
        for features, values in ((made[is_first], y[is_last]), (once, y[is_last]))
    ]
    assert errors[0] < 1.1 * errors[1]


def test_logarithms_end_with_the_first_value_that_has_none():
    y = np.exp(np.sin(np.arange(80) * np.pi / 6) + 0.1 * RNG.normal(size=80))
    y[50] = 0.0
    state, clock = PastState.initial(1, 0), RowClock()
    for stop in (51, 52):
        clock, filled = clock.advance(START + np.arange(clock.rows, stop) * HOUR)
        state, _ = state.advance(
            y[clock.rows - len(filled) : stop, None], filled, clock, 0
        )
        # The last row is learnt with the next one.
        assert len(state.targets[0].forecasts.logarithms) == (
            0 if stop == 52 else len(state.targets[0].forecasts.forecaster)
        )
    whole = features_of(y, START + np.arange(80) * HOUR, cuts=(10, 51, 60))
    np.testing.assert_array_equal(whole, features_of(y, START + np.arange(80) * HOUR))


@pytest.mark.parametrize("delay", [0, 5])
@pytest.mark.parametrize("exponent", [-323, -150, 150])
@pytest.mark.parametrize("lowest", [-1.0, 0.0, 0.1])
def test_features_of_legal_values_are_legal(delay, exponent, lowest):
    rng = np.random.default_rng(abs(exponent))
    y = rng.uniform(lowest, 1, 120) * 10.0**exponent
    made = features_of(y, START + np.arange(120) * HOUR, delay)
    assert np.isfinite(made).all()
    assert abs(made).max() <= 1e150


def test_a_frame_of_the_largest_values_is_learnt():
    y = 1e150 * np.random.default_rng(0).uniform(-1, 1, 60)
    frame = pd.DataFrame(
        {"t": pd.date_range("2024-01-01", periods=60, freq="h"), "y": y}
    )
    assert np.isfinite(tw.Online().run(frame, target="y").prediction).all()
