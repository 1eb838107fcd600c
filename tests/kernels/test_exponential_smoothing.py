"""The bank of exponential smoothing models, held to its formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.tsa.holtwinters import Holt

from tests.kernels.plain_forecasts import smoothing_forecasts
from thalweg.kernels import exponential_smoothing as smoothing


def forecasts_of(values, season, horizon=1, cuts=()):
    packed = smoothing.new_state(season)
    sizes, parts = smoothing.dimensions(season).values(), []
    for start, stop in zip([0, *cuts], [*cuts, len(values)], strict=True):
        out = np.empty(stop - start)
        smoothing.play(packed, *sizes, values[start:stop], horizon, out)
        parts.append(out)
    return np.concatenate(parts)


@pytest.mark.parametrize("season", [1, 4])
@pytest.mark.parametrize("horizon", [1, 6])
@pytest.mark.parametrize("level", [0.0, 30.0])
def test_the_bank_equals_its_formulas(season, horizon, level):
    rng = np.random.default_rng(season)
    values = level + np.tile([1.0, 5.0, 2.0, 4.0], 15) + rng.normal(size=60)
    values[[0, 7, 8, 30]] = np.nan
    expected = smoothing_forecasts(values, season, horizon)
    made = forecasts_of(values, season, horizon)
    np.testing.assert_allclose(made, expected, rtol=1e-9, atol=1e-12)


def test_a_model_of_the_bank_is_that_of_statsmodels():
    """Holt's damped trend, once the first values no longer count alike."""
    rng = np.random.default_rng(5)
    values = 50 + np.cumsum(rng.normal(size=300))
    k = [*zip(smoothing.ALPHA, smoothing.BETA, strict=True)].index((0.3, 0.1))
    packed = smoothing.new_state(1)
    out = np.empty(300)
    sizes = smoothing.dimensions(1)
    smoothing.play(packed, *sizes.values(), values, 1, out)
    state = smoothing.STATE.views(packed, **sizes)
    fit = Holt(values, damped_trend=True, initialization_method="estimated").fit(
        smoothing_level=0.3, smoothing_trend=0.1, damping_trend=0.97, optimized=False
    )
    forecast = state.level[k] + 0.97 * state.trend[k]
    assert forecast == pytest.approx(fit.forecast(1)[0], rel=1e-6)


def test_a_season_that_multiplies_is_forecast_where_a_sum_of_parts_fails():
    rows = np.arange(120)
    values = np.exp(0.02 * rows) * np.tile([1.0, 2.0, 0.5, 3.0], 30)
    made = forecasts_of(values, 4)[40:-1]
    errors = abs(made / values[41:] - 1)
    assert errors.mean() < 0.05
    without_season = abs(values[41:] - values[40:-1]) / values[41:]
    assert without_season.mean() > 0.5


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 8), st.integers(0, 300), st.integers(0, 2**32),
    st.sampled_from([-150, -20, 0, 3, 150]), st.lists(st.integers(1, 79), unique=True),
)  # fmt: skip
def test_forecasts_are_within_the_range_of_values_and_the_same_in_pieces(
    season, horizon, seed, exponent, cuts
):
    rng = np.random.default_rng(seed)
    values = rng.standard_t(1.5, 80).clip(-1e3, 1e3) / 1e3
    values = (values + rng.choice([0, 2])) * 10.0**exponent
    values[rng.random(80) < 0.2] = np.nan
    made = forecasts_of(values, season, horizon + 1)
    assert np.isfinite(made).all()
    known = np.nan_to_num(values)
    low = np.minimum.accumulate(known)
    high = np.maximum.accumulate(known)
    margin = (0.5 + 1e-9) * (high - low)
    first = int((~np.isnan(values)).argmax())
    low[: first + 1] = high[: first + 1] = known[first]
    assert (made[first:] >= (low - margin)[first:] - 1e-9 * abs(low[first:])).all()
    assert (made[first:] <= (high + margin)[first:] + 1e-9 * abs(high[first:])).all()
    in_pieces = forecasts_of(values, season, horizon + 1, sorted(cuts))
    np.testing.assert_array_equal(in_pieces, made)


def test_a_constant_is_forecast_exactly():
    assert (forecasts_of(np.full(50, 21.3), 7) == 21.3).all()


def test_a_season_of_too_many_rows_is_not_modelled():
    long = smoothing.MAX_SEASON + 1
    assert smoothing.new_state(long).size == smoothing.new_state(1).size
    assert smoothing.dimensions(7)["season"] == 7
