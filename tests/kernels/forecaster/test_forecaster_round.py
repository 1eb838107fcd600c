"""The Forecaster's kernels equal a slow definition of a round."""

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

CASES = {
    "no season": (5, (1, 1), (), ()),
    "a season": (9, (7, 7), (), ()),
    "two seasons": (6, (4, 12), (), ()),
    "two seasons, neither divides the other": (6, (5, 8), (), ()),
    "a cycle of many seasons": (4, (2, 21), (), ()),
    "a season of which neighbours share a spread": (3, (50, 50), (), ()),
    "further lags": (3, (6, 6), (5, 11), ()),
    "a feature known at the origin": (4, (5, 5), (), (False,)),
    "a feature known in advance": (4, (5, 5), (), (True,)),
    "features of both kinds": (7, (3, 6), (4,), (True, False, True)),
    "thinned steps": (40, (6, 12), (), ()),
    "thinned steps, known features": (31, (4, 4), (), (True, False)),
}
"""Horizon, season and cycle, lags, and which given features are known in advance."""


ZERO_BASED = {
    "counts": (5, (4, 4), (), ()),
    "counts, a feature known in advance": (4, (5, 5), (), (True,)),
}
"""Cases whose values begin at 0, of which forecasts without that limit are below."""


def made_up_counts(rows, given, seed):
    """Values of which half are 0, and the others few; features that matter."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, given))
    y = np.maximum(np.round(rng.normal(size=rows) + x.sum(axis=1)), 0.0)
    y[rows // 2] = np.nan
    return y, x


def made_up_series(rows, given, seed):
    """Values with a season, jumps, outliers and gaps; features that matter."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, given)) * 10.0 ** np.arange(given) + 3
    y = 20 + 3 * np.sin(np.arange(rows)) + 0.3 * np.cumsum(rng.normal(size=rows))
    y += x @ (1 / 10.0 ** np.arange(given)) + rng.normal(size=rows)
    y[rows // 2 :] += 8
    y[rng.random(rows) < 0.05] *= 5
    y[3 * rows // 4] = 1e4
    y[rng.random(rows) < 0.08] = np.nan
    y[rows // 3 : rows // 3 + 4] = np.nan
    y[0] = 20.0
    return y, x


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES | ZERO_BASED)
def test_a_round_equals_its_definition(name):
    horizon, seasons, lags, known = (CASES | ZERO_BASED)[name]
    rows = 110 if COMPILED else 18
    make = made_up_counts if name in ZERO_BASED else made_up_series
    y, x = make(rows, len(known), seed=len(name))
    settings = ForecasterSettings(horizon, lags, len(known), known)
    state = ForecasterState(settings, Seasons(*seasons))
    slow = ForecasterDefinition(modelled_steps(horizon), *seasons, lags, known)
    # Of the sizes of the values, as forecasts may be next to zero.
    close = {"rtol": 1e-9, "atol": 1e-9 * np.nanmax(abs(y))}
    for t in range(rows):
        state.play(y[t : t + 1], x[t : t + 1])
        slow.observe(y[t], x[t])
        future = x[t + 1 : t + 1 + horizon]
        np.testing.assert_allclose(
            state.forecast(future), slow.forecast(future), **close, err_msg=f"round {t}"
        )
        if t % 20 == 17:
            for kind, offsets in zip(
                ("value_errors", "total_errors"), state.offsets(0.8), strict=True
            ):
                expected = slow.offsets(0.8, kind)
                np.testing.assert_allclose(offsets, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(
    "name", ["features of both kinds", "counts, a feature known in advance"]
)
def test_a_run_gives_the_forecasts_of_single_rounds(name):
    horizon, seasons, lags, known = (CASES | ZERO_BASED)[name]
    make = made_up_counts if name in ZERO_BASED else made_up_series
    y, x = make(40 if COMPILED else 12, len(known), seed=1)
    settings = ForecasterSettings(horizon, lags, len(known), known)
    run, single = (ForecasterState(settings, Seasons(*seasons)) for _ in range(2))
    forecasts, bands = run.play(y, x, 0.9)
    for t in range(len(y)):
        single.play(y[t : t + 1], x[t : t + 1])
        mean = single.forecast(x[t + 1 :])
        np.testing.assert_array_equal(forecasts[t], mean)
        ends = mean[:, None] + single.offsets(0.9)[0]
        if single.starts_at_zero:
            ends[:, 0] = np.maximum(ends[:, 0], 0.0)
        np.testing.assert_array_equal(bands[t], ends)
    np.testing.assert_array_equal(run.packed, single.packed)
