r"""The effects of future covariates, which are subtracted from the series first.

Also known as: regression with autoregressive errors, RegARIMA, dynamic regression. The
series is y = β·x + r: the steps forecast r, and β·x of the coming rows is added. So
last values, seasons and profiles are those of r, and a jump of y that x explains does
not affect them.

β is estimated by a regression in error-correction form, one step ahead,

.. math:: \Delta y_t = \beta\cdot\Delta x_t + \alpha\cdot s_{t-1} + \pi\cdot x_{t-1}
          + \rho\cdot x_{t-L} + \varepsilon_t

where s are the last change, the mean, and the values a season and a cycle before, all
less the last value, and L is the season. As the regression includes what was known one
row before, β is estimated from the innovations of x (Frisch and Waugh), which is valid
for stationary series and for random walks alike: a plain regression of one random walk
on another finds spurious effects. Lanes and outlier weights are those of
step_regressions.py. The same regressions without covariates compete with them by their
recent errors, so irrelevant covariates have effects near 0.
"""

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.forecast_weights import set_weights
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster.step_features import MIN_SCALE, scale_feature
from thalweg.kernels.forecaster.step_mixture import LOSS_MEMORY, learn_losses
from thalweg.kernels.forecaster.step_regressions import (
    learn_moments,
    limit_leverage,
    predict_lanes,
    set_outlier_weights,
)
from thalweg.kernels.tracker.solve import back_substitute, factorise

EFFECT_RIDGE = 0.1
"""Ridge of all terms: it counts as a tenth of a round."""
EFFECT_SHARPNESS = 0.5
"""Rate of the weights, as in Akaike weights: a regression whose error is larger by a
share of q after N errors has the weight exp(-N q / 2)."""
FEATURE_PRIOR = 0.5
"""The weight of a regression with features before any error is known; without: 1."""
MIN_MEAN_SHARE = 1 / 5000
"""Minimum share of a value in the running mean and in the mean change."""
MAX_RELATIVE_CHANGE, TRUSTED_CHANGES = 15.0, 20
"""Limit of a change, in mean changes, and number of first changes without it."""
MAX_EFFECT = 10.0
"""Limit of effects, in units of the range of all values."""


@inner_function
def limit_effect(counters, effect):
    """The effect within ``MAX_EFFECT`` ranges of the values."""
    size = counters[layout.HIGHEST_ORIGINAL] - counters[layout.LOWEST_ORIGINAL]
    most = MAX_EFFECT * size
    return min(max(effect, -most), most)


@inner_function
def set_effects(s, w, slot):
    """Set the effect of a unit of each future covariate, for forecasts of an origin."""
    _set_effect_weights(s, w.effect_weights)
    scale = s.counters[layout.CHANGE]
    for k in range(w.future_at.size):
        total, term = 0.0, layout.SERIES_TERMS + layout.FEATURE_TERMS * k
        term += layout.FEATURE_CHANGE
        for lane in range(layout.LANES):
            total += w.effect_weights[lane] * s.effect_theta[term, lane]
        s.origin_units[slot, layout.EFFECT, int(w.future_at[k])] = scale * total


@inner_function
def learn_effects(s, w, y, covariates, is_missing):
    """Learn the next value y and the covariates of its round."""
    counters, t = s.counters, int(s.counters[layout.ROUNDS])
    recent = s.recent_values.size
    if not is_missing:
        if t > 1 and counters[layout.CHANGE] > 0:
            _set_terms(s, w, t, covariates)
            change = y - s.recent_values[(t - 1) % recent]
            _learn_regression(s, w, scale_feature(change, _scale(counters)))
        _learn_series(s, t, y)
    s.recent_values[t % recent] = y
    for k in range(w.future_at.size):
        s.recent_future[t % recent, k] = covariates[int(w.future_at[k])]


@inner_function
def _scale(counters):
    return max(counters[layout.CHANGE], MIN_SCALE)


@inner_function
def _set_terms(s, w, t, covariates):
    """Set the terms of round t; round t - 1 is the last one stored."""
    values, known, terms = s.recent_values, s.recent_future, w.terms
    season, cycle, recent = s.profile.shape[1], s.cycle_profile.shape[1], values.size
    scale, last = _scale(s.counters), values[(t - 1) % recent]
    terms[layout.CONSTANT_TERM] = 1.0
    terms[layout.CHANGE_TERM] = scale_feature(last - values[(t - 2) % recent], scale)
    terms[layout.MEAN_TERM] = scale_feature(
        s.counters[layout.RUNNING_MEAN] - last, scale
    )
    terms[layout.SEASON_TERM], terms[layout.CYCLE_TERM] = 0.0, 0.0
    if season > 1 and t >= season:
        terms[layout.SEASON_TERM] = scale_feature(
            values[(t - season) % recent] - last, scale
        )
    if cycle > season and t >= cycle:
        terms[layout.CYCLE_TERM] = scale_feature(
            values[(t - cycle) % recent] - last, scale
        )
    lagged = max(t - max(season, 2), 0) % recent
    for k in range(w.future_at.size):
        i, first = int(w.future_at[k]), layout.SERIES_TERMS + layout.FEATURE_TERMS * k
        mean = s.covariate_moments[layout.MEAN, i]
        unit = s.covariate_moments[layout.MEAN_CHANGE, i]
        before = known[(t - 1) % recent, k]
        for term in range(first, first + layout.FEATURE_TERMS):
            terms[term] = 0.0
        if unit > 0:
            terms[first + layout.FEATURE_CHANGE] = scale_feature(
                covariates[i] - before, unit
            )
            terms[first + layout.FEATURE_LEVEL] = scale_feature(before - mean, unit)
            terms[first + layout.FEATURE_LAG] = scale_feature(
                known[lagged, k] - before, unit
            )


@inner_function
def _learn_regression(s, w, label):
    """Learn one change, in units of the mean change."""
    terms, predictions = w.terms, w.effect_predictions
    count = s.counters[layout.EFFECT_COUNT]
    predict_lanes(s.effect_theta, terms, predictions)
    of_series = terms[: layout.SERIES_TERMS]
    predict_lanes(s.series_theta, of_series, predictions[layout.LANES :])
    for lane in range(layout.LANES):
        w.lane_errors[lane] = abs(predictions[lane] - label)
    set_outlier_weights(w.lane_errors, s.effect_errors[0], count, w.lane_weights)
    learn_losses(s.effect_losses[0], count, predictions, label)
    limit_leverage(terms, w.lane_weights)
    learn_moments(s.effect_moments, terms, label, w.lane_weights)
    factorise(s.effect_moments, w.effect_ridge, w.effect_lower, w.effect_work)
    n = terms.size
    back_substitute(w.effect_lower, n, n, layout.LANES, s.effect_theta)
    # The leading rows of a factor are the factor of the leading rows.
    back_substitute(
        w.effect_lower, n, layout.SERIES_TERMS, layout.LANES, s.series_theta
    )
    s.counters[layout.EFFECT_COUNT] = count + 1


@inner_function
def _set_effect_weights(s, weights):
    """Set the weights of the regressions with features, then of those without."""
    for k in range(layout.EFFECT_CANDIDATES):
        weights[k] = FEATURE_PRIOR if k < layout.LANES else 1.0
    count = min(s.counters[layout.EFFECT_COUNT], LOSS_MEMORY)
    set_weights(s.effect_losses[0], EFFECT_SHARPNESS * count, weights)


@inner_function
def _learn_series(s, t, y):
    """Learn the mean, the mean change and the range of the original series."""
    counters = s.counters
    if t == 0:
        counters[layout.LOWEST_ORIGINAL], counters[layout.HIGHEST_ORIGINAL] = y, y
    counters[layout.LOWEST_ORIGINAL] = min(counters[layout.LOWEST_ORIGINAL], y)
    counters[layout.HIGHEST_ORIGINAL] = max(counters[layout.HIGHEST_ORIGINAL], y)
    share = max(1 / (t + 1), MIN_MEAN_SHARE)
    counters[layout.RUNNING_MEAN] += share * (y - counters[layout.RUNNING_MEAN])
    if t == 0:
        return
    change = abs(y - s.recent_values[(t - 1) % s.recent_values.size])
    if counters[layout.CHANGE_COUNT] >= TRUSTED_CHANGES:
        change = min(change, MAX_RELATIVE_CHANGE * counters[layout.CHANGE])
    if change > 0:
        counters[layout.CHANGE_COUNT] += 1
        share = max(1 / counters[layout.CHANGE_COUNT], MIN_MEAN_SHARE)
        counters[layout.CHANGE] += share * (change - counters[layout.CHANGE])
