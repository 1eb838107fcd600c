r"""A bank of exponential smoothing models, and their weighted mean.

Also known as: Holt-Winters, ETS, simple (SES), Holt's linear and damped trend
smoothing. Level, damped trend and season follow each known value y:

.. math:: b_t = \ell_{t-1} + \varphi\, r_{t-1}, \quad
          \ell_t = \alpha (y - s_{t-m}) + (1 - \alpha) b_t

.. math:: r_t = \beta (\ell_t - \ell_{t-1}) + (1 - \beta) \varphi\, r_{t-1}, \quad
          s_t = \gamma (y - \ell_t) + (1 - \gamma) s_{t-m}

or with quotients y / s and y / ℓ where the season multiplies. The forecast h steps
ahead is ℓ + (φ + … + φ^h) r plus, or times, the season. There are 20 pairs of α and β,
each with three γ and both kinds of season where there is one. While few values are
known, 1/(number of values) and 1/(number of seasons) are the least α and γ, so that
first values count alike.

Models are weighed by about their last 100 errors one step ahead (forecast_weights.py).
A model's level and forecasts stay within the range of all values, widened by half of
it, and above a tenth of the lowest value where seasons multiply.
These models stop counting at the first value that is not above 0.
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from thalweg.kernels.compiler.jit import inner_function, kernel
from thalweg.kernels.compiler.layout import Layout, Range, Shape, whole
from thalweg.kernels.forecast_weights import (
    learn_discounted,
    set_weights,
    weighted_mean,
)

ALPHAS = (0.02, 0.1, 0.3, 0.6, 0.95)
BETAS = (0.0, 0.02, 0.1, 0.3)
GAMMAS = (0.05, 0.15, 0.4)
"""Shares of a new value in level, trend and season. With half as many models the error
of the pool (forecast_pool.py) was 2 % larger."""
DAMPING = 0.97
PAIRS = len(ALPHAS) * len(BETAS)
ADDITIVE = PAIRS * len(GAMMAS)
MODELS = 2 * ADDITIVE
"""Limit of the number of models: first those whose season is added, then those whose
season multiplies. Without a season only the first ``PAIRS`` differ."""
ALPHA = np.tile(np.repeat(ALPHAS, len(BETAS)), MODELS // PAIRS)
BETA = np.tile(BETAS, MODELS // len(BETAS))
GAMMA = np.tile(np.repeat(GAMMAS, PAIRS), 2)
RATE, DISCOUNT = 0.5, 0.99
"""η and d of the weights."""
UNSCORED = 2
"""Number of first values whose errors do not count: all models forecast them alike."""
NO_LOSS = -1.0
MAX_SEASON = 512
"""Limit of a season's length: each of its phases takes 120 numbers of the state."""
RANGE_MARGIN, LEAST_SHARE, MAX_FACTOR = 0.5, 0.1, 10.0

# The entries of ``SmoothingState.counters``.
ROUNDS, VALUES, LOWEST, HIGHEST, WEIGHT = range(5)
LEGAL_COUNTERS = {
    ROUNDS: whole(2**52), VALUES: whole(f"counters[{ROUNDS}]"), WEIGHT: Range(0, np.inf)
}  # fmt: skip

Array = np.ndarray


class SmoothingState(NamedTuple):
    """What is remembered; zeros before the first value."""

    # Rounds and values so far, their range, N.
    counters: Annotated[Array, Shape(8, legal=LEGAL_COUNTERS)]
    level: Annotated[Array, Shape("models")]
    trend: Annotated[Array, Shape("models")]
    losses: Annotated[Array, Shape("models")]  # NO_LOSS of models that do not count
    season: Annotated[Array, Shape("season", "models")]


STATE = Layout(
    "exponential smoothing", SmoothingState, version=3, dimensions=("season", "models")
)
unpack = STATE.unpack


@inner_function
def modelled_season(season):
    """The season of the models, which is 1 where there is none or it is too long."""
    return season if season <= MAX_SEASON else 1


def dimensions(season: int, has_products: bool = True) -> dict[str, int]:
    """The dimensions of a state; ``season`` is 1 without a season.

    Without products no season multiplies, and forecasts do not depend on where zero is.
    """
    modelled = modelled_season(season)
    models = MODELS if has_products else ADDITIVE
    return {"season": modelled, "models": models if modelled > 1 else PAIRS}


def new_state(season: int, has_products: bool = True) -> np.ndarray:
    """The state before the first round."""
    sizes = dimensions(season, has_products)
    packed = np.zeros(STATE.size(**sizes))
    state: Any = STATE.views(packed, **sizes)
    state.season[:, ADDITIVE:] = 1.0
    return packed


@kernel(ieee_division=True)
def play(packed, season, models, values, horizon, out):
    """Learn values (T,), NaN where missing; after each, forecast into ``out`` (T,).

    ``season`` and ``models`` are the state's dimensions. The forecast is that of the
    value ``horizon`` rounds later.
    """
    s = unpack(packed, 0, season, models)
    forecasts, weights = np.empty(models), np.empty(models)
    for t in range(values.size):
        learn_round(s, season, values[t], forecasts)
        out[t] = 0.0
        if s.counters[VALUES] > 0.0:
            set_model_weights(s, weights)
            out[t] = mean_forecast(s, season, horizon, weights, forecasts)


@inner_function
def learn_round(s, season, y, forecasts):
    """Learn the value of a round, NaN where it is missing."""
    if not math.isnan(y):
        if s.counters[VALUES] == 0.0:
            _begin(s, y)
        else:
            _learn(s, season, y, forecasts)
        s.counters[VALUES] += 1
    s.counters[ROUNDS] += 1


@inner_function
def set_model_weights(s, weights):
    """Set the weights of the models, by their errors one step ahead."""
    for k in range(weights.size):
        weights[k] = 1.0 if s.losses[k] >= 0.0 else 0.0
    set_weights(s.losses, RATE * s.counters[WEIGHT], weights)


@inner_function
def mean_forecast(s, season, horizon, weights, forecasts):
    """The weighted mean of all forecasts of the value ``horizon`` rounds ahead.

    A value has to be known.
    """
    _set_forecasts(s, season, horizon, forecasts)
    return weighted_mean(forecasts, weights)


@inner_function
def _model_count(s):
    """Number of the first models that may count: no other does."""
    count = s.losses.size
    return ADDITIVE if count > ADDITIVE and s.losses[ADDITIVE] < 0.0 else count


@inner_function
def _begin(s, y):
    """Take the first value for the level of all models."""
    s.counters[LOWEST], s.counters[HIGHEST] = y, y
    s.level.fill(y)
    _end_products(s, y)


@inner_function
def _end_products(s, y):
    """Let no model with a season that multiplies count, if y is not above 0."""
    if y <= 0.0:
        for k in range(ADDITIVE, s.losses.size):
            s.losses[k] = NO_LOSS


@inner_function
def _learn(s, season, y, forecasts):
    """Score the forecasts of this round by its value, and let the models learn it."""
    c = s.counters
    if c[VALUES] >= UNSCORED:
        _set_forecasts(s, season, 1, forecasts)
        learn_discounted(s.losses, forecasts, y, DISCOUNT, math.inf)
        c[WEIGHT] = DISCOUNT * c[WEIGHT] + 1.0
    c[LOWEST], c[HIGHEST] = min(c[LOWEST], y), max(c[HIGHEST], y)
    _end_products(s, y)
    phase, seasons = int(c[ROUNDS]) % season, 1 + int(c[ROUNDS]) // season
    for k in range(_model_count(s)):
        is_product = k >= ADDITIVE
        if s.losses[k] < 0.0:
            continue
        alpha, own = max(ALPHA[k], 1.0 / (c[VALUES] + 1.0)), s.season[phase, k]
        expected = _within(s, k, s.level[k] + DAMPING * s.trend[k])
        value = y / own if is_product else y - own
        level = _within(s, k, alpha * value + (1.0 - alpha) * expected)
        step = level - s.level[k]
        s.trend[k] = BETA[k] * step + (1.0 - BETA[k]) * DAMPING * s.trend[k]
        s.level[k] = level
        if season > 1:
            gamma = max(GAMMA[k], 1.0 / seasons)
            value = y / level if is_product else y - level
            own = (1.0 - gamma) * own + gamma * value
            if is_product:
                own = min(max(own, 1.0 / MAX_FACTOR), MAX_FACTOR)
            s.season[phase, k] = own


@inner_function
def _set_forecasts(s, season, horizon, forecasts):
    """Set the forecasts of the value ``horizon`` rounds after the last."""
    phase = (int(s.counters[ROUNDS]) + horizon - 1) % season
    reach = DAMPING * (1.0 - DAMPING**horizon) / (1.0 - DAMPING)
    for k in range(_model_count(s)):
        forecasts[k] = 0.0
        if s.losses[k] >= 0.0:
            level = s.level[k] + reach * s.trend[k]
            if k >= ADDITIVE:
                forecasts[k] = _within(s, k, level * s.season[phase, k])
            else:
                forecasts[k] = _within(s, k, level + s.season[phase, k])


@inner_function
def _within(s, k, value):
    """The value within the range of all values so far, widened."""
    low, high = s.counters[LOWEST], s.counters[HIGHEST]
    margin = RANGE_MARGIN * (high - low)
    least = low - margin
    if k >= ADDITIVE:
        least = max(least, LEAST_SHARE * low)
    return min(max(value, least), high + margin)
