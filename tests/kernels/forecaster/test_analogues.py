"""Analogues: rings that turn, histories that begin again, sizes, damaged values."""

import numpy as np
import pytest

from tests.kernels.forecaster.forecaster_definition import ForecasterDefinition
from thalweg.autoregression.forecaster_state import (
    ForecasterSettings,
    ForecasterState,
    modelled_steps,
)
from thalweg.calendar.season_finder import Seasons
from thalweg.kernels.compiler.jit import COMPILED
from thalweg.kernels.forecaster import analogues
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster.candidates import PLACES

NO_FEATURES = (0, ())
needs_speed = pytest.mark.skipif(not COMPILED, reason="thousands of rounds")


def days_of_two_kinds(rows, season, seed):
    """Seasons of two shapes, at random."""
    rng = np.random.default_rng(seed)
    shapes = rng.normal(size=(2, season))
    kinds = rng.integers(2, size=-(-rows // season))
    return shapes[kinds].reshape(-1)[:rows] + 0.1 * rng.normal(size=rows)


def new_state(horizon, season, cycle=None):
    settings = ForecasterSettings(horizon, (), *NO_FEATURES)
    return ForecasterState(settings, Seasons(season, cycle or season))


def play(state, y):
    forecasts, _ = state.play(y, np.empty((len(y), 0)), 0.9)
    return forecasts


@pytest.mark.slow
def test_a_ring_that_turns_equals_the_definition(monkeypatch):
    monkeypatch.setattr(analogues, "MAX_SEASONS_BACK", 12)
    rows, season = (140, 4) if COMPILED else (50, 2)
    y = days_of_two_kinds(rows, season, seed=0)
    y[rows // 2] = np.nan
    state = new_state(2, season, 2 * season)
    slow = ForecasterDefinition(modelled_steps(2), season, 2 * season, seasons_back=12)
    for t, value in enumerate(y):
        play(state, y[t : t + 1])
        slow.observe(value)
        np.testing.assert_allclose(
            state.forecast(np.empty((0, 0))), slow.forecast(), 1e-9, 1e-9
        )
    assert 2 * state.views.history.size < rows - season
    assert slow.analogues.origins > 5


@pytest.mark.slow
@needs_speed
def test_a_history_begins_anew_where_values_have_gone_far_away(monkeypatch):
    monkeypatch.setattr(analogues, "MAX_SEASONS_BACK", 12)
    y = days_of_two_kinds(190, 4, seed=1)
    y[70:] += 1e8
    state = new_state(3, 4)
    slow = ForecasterDefinition(modelled_steps(3), 4, 4, seasons_back=12)
    starts = []
    for t, value in enumerate(y):
        play(state, y[t : t + 1])
        slow.observe(value)
        starts.append(int(state.views.counters[layout.HISTORY_START]))
        assert starts[-1] == (slow.analogues.start or 0)
    assert sorted(set(starts)) == [0, 4, 104] and slow.analogues.origins > 20
    candidates = state.views.candidates[(len(y) - 1) % 4, :, PLACES["analogues"]]
    expected = slow.analogues.forecasts(slow.scale())
    np.testing.assert_allclose(candidates, expected, 1e-6, 1e-9)


@needs_speed
def test_analogues_know_days_of_two_kinds():
    """A regression takes the mean of both; analogues see which one it is."""
    season, rows = 24, 4000
    y = days_of_two_kinds(rows, season, seed=2)
    state = new_state(12, season)
    play(state, y)
    losses = state.views.losses
    linear = losses[:, : layout.LANES].min(axis=1)
    assert (losses[5:, PLACES["analogues"]] < 0.8 * linear[5:]).all()


@needs_speed
@pytest.mark.parametrize("power", [-480, 480])
def test_forecasts_of_huge_and_tiny_values_are_those_of_others(power):
    y = days_of_two_kinds(400, 6, seed=3)
    usual, other = (play(new_state(5, 6), y * factor) for factor in (1.0, 2.0**power))
    np.testing.assert_array_equal(other, usual * 2.0**power)


@needs_speed
def test_an_outlier_leaves_no_rounding():
    y = days_of_two_kinds(6000, 7, seed=4)
    y[1000] = 1e140
    state = new_state(4, 7)
    assert np.isfinite(play(state, y)).all()
    history, at = state.views.history.view(np.float32), len(y) - 1
    for j in range(0, state.views.season_sums.size, 50):
        last = at - 7 * j
        values = history[np.arange(last - 6, last + 1) % history.size]
        total = values.astype(float).sum()
        assert state.views.season_sums[j] == pytest.approx(total, rel=1e-9, abs=1e-9)


def test_no_history_is_kept_where_there_are_no_analogues():
    settings = ForecasterSettings(24, (), *NO_FEATURES)
    for season in (1, 5000):
        views = ForecasterState(settings, Seasons(season, season)).views
        assert views.history.size == views.distances.size == 0
    last_only = settings._replace(last_only=True)
    assert ForecasterState(last_only, Seasons(24, 168)).views.history.size == 0
    views = ForecasterState(settings, Seasons(24, 168)).views
    assert 16_000 < 2 * views.history.size <= analogues.MAX_HISTORY
