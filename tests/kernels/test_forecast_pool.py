"""The pool of forecasts, held to a slow version of itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.plain_forecasts import pool_sets, pooled_forecasts
from thalweg.kernels import forecast_pool as pool


def pooled(values, forecasts, delay=0, cuts=()):
    packed, parts = np.zeros(pool.STATE.size(delay=delay)), []
    for start, stop in zip([0, *cuts], [*cuts, len(values)], strict=True):
        out = np.empty(stop - start)
        pool.play(packed, delay, values[start:stop], forecasts[start:stop], out)
        parts.append(out)
    return np.concatenate(parts)


def forecasts_of(values, rng):
    """Forecasts with errors of several sizes; some are not made."""
    rows = len(values)
    forecasts = np.nan_to_num(values)[:, None] + rng.normal(size=(rows, 5)) * [
        1, 0.5, 2, 0.7, 3
    ]  # fmt: skip
    forecasts[rows // 2 :, 1] = np.nan  # logarithms end
    forecasts[: rows // 4, 4] = np.nan  # the phase is new
    return forecasts


@pytest.mark.parametrize("delay", [0, 3])
def test_the_pool_equals_a_slow_version(delay):
    rng = np.random.default_rng(delay)
    values = rng.normal(size=200)
    values[rng.random(200) < 0.1] = np.nan
    forecasts = forecasts_of(values, rng)
    expected = pooled_forecasts(values, forecasts, delay)
    np.testing.assert_allclose(pooled(values, forecasts, delay), expected, rtol=1e-9)


def test_the_sets_are_those_of_the_slow_version():
    assert sorted(pool.SETS) == sorted(
        sum(2**member for member in one) for one in pool_sets()
    )


def test_the_best_forecast_wins_in_time():
    rng = np.random.default_rng(0)
    values = rng.normal(size=2000)
    forecasts = np.column_stack([np.append(values[1:], 0)] * 5)
    forecasts[:, [0, 1, 3, 4]] += 3 + rng.normal(size=(2000, 4))
    made = pooled(values, forecasts)
    np.testing.assert_allclose(made[50:-1], values[51:], atol=1e-3)


@settings(deadline=None, max_examples=50)
@given(
    st.integers(0, 5), st.sampled_from([1e-150, 1.0, 1e150]), st.integers(0, 2**32),
    st.lists(st.integers(1, 59), unique=True),
)  # fmt: skip
def test_the_pool_is_a_mean_of_what_is_pooled_and_the_same_in_pieces(
    delay, unit, seed, cuts
):
    rng = np.random.default_rng(seed)
    values = unit * rng.normal(size=60).clip(-1, 1)
    values[rng.random(60) < 0.2] = np.nan
    forecasts = unit * rng.normal(size=(60, 5)).clip(-1, 1)
    forecasts[rng.random((60, 5)) < 0.3] = np.nan
    forecasts[:, 0] = unit * rng.normal(size=60).clip(-1, 1)
    made = pooled(values, forecasts, delay)
    room = 1e-9 * unit
    assert (made >= np.nanmin(forecasts, axis=1) - room).all()
    assert (made <= np.nanmax(forecasts, axis=1) + room).all()
    np.testing.assert_array_equal(pooled(values, forecasts, delay, sorted(cuts)), made)
