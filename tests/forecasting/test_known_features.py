"""Features that are known in advance: what they explain is no news to a forecaster."""

import numpy as np
import pytest

from thalweg import Forecaster
from thalweg.autoregression.forecaster_state import ForecasterSettings, ForecasterState
from thalweg.calendar.season_finder import Seasons
from thalweg.kernels.tracker import tracker_layout as layout

ROWS = 1500


def rmse(errors):
    return float(np.sqrt(np.nanmean(errors**2)))


def autoregression(noise, coefficient):
    y = np.zeros(len(noise))
    for t in range(1, len(y)):
        y[t] = coefficient * y[t - 1] + noise[t]
    return y


def test_a_jump_that_is_known_in_advance_is_forecast():
    rng = np.random.default_rng(0)
    x = (np.cumsum(rng.random(ROWS) < 0.02) % 2) * 1.0
    y = 10 + 3 * x + 0.1 * rng.normal(size=ROWS)
    errors = Forecaster(1, known=True).run(y, x[:, None]).errors[:-1, 0]
    jumps = np.flatnonzero(np.diff(x))
    assert np.abs(errors[jumps[jumps > 500]]).mean() < 0.15
    assert np.abs(errors[500:]).mean() < 0.1


def test_a_series_that_a_known_feature_explains_is_forecast_exactly():
    x = np.random.default_rng(0).normal(size=ROWS + 3)
    y = 3 * x
    forecaster = Forecaster(3, known=True).update(y[:ROWS], x[:ROWS, None])
    mean = forecaster.forecast(future=x[ROWS:, None]).mean
    np.testing.assert_allclose(mean, y[ROWS:], atol=0.01)


RNG = np.random.default_rng(5)
NOISE, X = RNG.normal(size=ROWS), RNG.normal(size=ROWS)
WAVE = np.sin(np.arange(ROWS) * 2 * np.pi / 12)
SLOW_X = autoregression(RNG.normal(size=ROWS), 0.95)
PROMOTION = 1.0 * (X > 1.3)
# The series less the effect of the feature, the effect, the feature, the season. Errors
# of a forecaster that is given the former alone are the best to be had.
EXPLAINED = {
    "noise": (0.3 * NOISE, 3 * X, X, None),
    "a season": (10 + 2 * WAVE + 0.3 * NOISE, 3 * X, X, 12),
    "a season to be found": (10 + 2 * WAVE + 0.3 * NOISE, 3 * X, X, None),
    "a slow feature": (0.3 * NOISE, 3 * SLOW_X, SLOW_X, 1),
    "a random walk": (np.cumsum(NOISE), 3 * SLOW_X, SLOW_X, 1),
    "an autoregression": (autoregression(NOISE, 0.9), 3 * X, X, 1),
    "rare promotions": (2 * WAVE + 0.3 * NOISE, 5 * PROMOTION, PROMOTION, 12),
    "other units": (0.3 * NOISE, 3 * X, 1e6 + 1e3 * X, None),
}


@pytest.mark.parametrize("name", EXPLAINED)
def test_what_a_known_feature_explains_is_as_if_it_were_not_there(name):
    rest, effect, x, season = EXPLAINED[name]
    errors = Forecaster(3, season, known=True).run(rest + effect, x[:, None]).errors
    best = Forecaster(3, season).run(rest).errors
    for step in range(3):
        assert rmse(errors[500:, step]) < 1.04 * rmse(best[500:, step])


@pytest.mark.parametrize("kind", ["noise", "walk", "autoregression", "season"])
@pytest.mark.parametrize("known", [True, False])
def test_features_of_no_use_do_no_harm(kind, known):
    ratios = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        noise, x = rng.normal(size=1000), rng.normal(size=(1000, 1))
        y = {
            "noise": noise,
            "walk": np.cumsum(noise),
            "autoregression": autoregression(noise, 0.8),
            "season": 2 * np.sin(np.arange(1000) * 2 * np.pi / 12) + noise,
        }[kind]
        x = np.cumsum(x, axis=0) if kind == "walk" else x
        season = 12 if kind == "season" else 1
        errors = Forecaster(3, season, known=known).run(y, x).errors[200:]
        ratios.append(rmse(errors) / rmse(Forecaster(3, season).run(y).errors[200:]))
    assert np.mean(ratios) < 1.01


def test_the_series_itself_as_a_known_feature_leaves_no_error():
    y = 20 + 5 * WAVE[:300] + np.cumsum(NOISE[:300])
    errors = Forecaster(6, known=True).run(y, y[:, None]).errors[100:]
    assert np.nanmax(np.abs(errors)) < 0.02


def test_bands_are_those_of_forecasts_with_known_rows():
    y, x = 3 * X + autoregression(NOISE, 0.5), X[:, None]
    inside = Forecaster(4, known=True).run(y, x).is_inside[300:]
    share = np.nanmean(inside, axis=0)
    assert ((share > 0.87) & (share < 0.93)).all()


def test_the_errors_that_count_are_those_of_forecasts_that_were_made():
    y, x = 3 * X[:80] + NOISE[:80], X[:80, None]
    forecaster, forecasts = Forecaster(5, 4, known=True), []
    for t in range(80):
        state = forecaster._model[0]
        before = None if state is None else state.views.mean_sizes.copy()
        forecaster.update(y[t], x[t])
        after = forecaster._model[0].views
        for h in range(1, min(t, 5) + 1):
            count, size = after.step_counters[h - 1, layout.ERROR_COUNT], before[h - 1]
            error = abs(y[t] - forecasts[t - h][h - 1])
            expected = size + (error - size) / count
            assert after.mean_sizes[h - 1] == pytest.approx(expected, rel=1e-9)
        future = np.append(x[t + 1 : t + 6], np.zeros((5, 1)), axis=0)[:5]
        forecasts.append(forecaster.forecast(future=future).mean)


@pytest.mark.parametrize("season", [None, 12])
def test_updates_give_the_forecasts_of_a_run_with_known_features(season):
    y, x = 10 + 2 * WAVE[:130] + X[:130] + NOISE[:130], X[:130, None]
    backtest = Forecaster(4, season, known=True).run(y, x)
    forecaster = Forecaster(4, season, known=True)
    for t in range(126):
        forecaster.update(y[t], x[t])
        forecast = forecaster.forecast(future=x[t + 1 : t + 5])
        # Where rows are learnt again, the run had made its forecast before.
        if t + 1 not in (24, 36, 54, 81, 121):
            np.testing.assert_array_equal(forecast.mean, backtest.mean[t])
            np.testing.assert_array_equal(forecast.low, backtest.low[t])


def test_rows_that_are_learnt_again_have_the_effects_of_now():
    y, x = 3 * X[:60] + NOISE[:60], X[:60, None]
    state = ForecasterState(ForecasterSettings(3, (), 1, (True,)), Seasons(1, 1))
    state.play(y, x)
    again = state.learn_again(y, x)
    expected = again.without_effects(y, x)
    size = again.views.values.size
    kept = again.views.values[np.arange(60 - size, 60) % size]
    np.testing.assert_allclose(kept, expected[-size:], rtol=1e-9)
    np.testing.assert_array_equal(again.views.step_errors, state.views.step_errors)
    np.testing.assert_array_equal(again.views.effect_theta, state.views.effect_theta)
    assert again.rounds == 60
