r"""The effects of features known in advance, which are taken away before all else.

Also known as: regression with autoregressive errors, RegARIMA, dynamic regression. The
series is y = β·x + r: r is what the steps forecast, and β·x of coming rows is added. So
last values, seasons and profiles are those of r, and a jump of y that x explains is no
news to them.

β is estimated by a regression in error-correction form, one step ahead,

.. math:: \Delta y_t = \beta\cdot\Delta x_t + \alpha\cdot s_{t-1} + \pi\cdot x_{t-1}
          + \rho\cdot x_{t-L} + \varepsilon_t

where s are the last change, the mean, and the values a season and a cycle before, all
less the last value, and L is the season. With all that was known one row before in the
regression, β is estimated from what was news in x (Frisch and Waugh), which makes it
right for series that wander as for those that do not: regressions of one random walk on
another see effects where there are none. Lanes and outlier weights are those of
step_regressions.py. The same regressions without features compete with them by their
recent errors, so features of no use have effects near 0.
"""

import math

from thalweg.kernels.forecaster.forecaster_layout import (
    CHANGE,
    CHANGE_COUNT,
    CHANGE_TERM,
    CONSTANT_TERM,
    CYCLE_TERM,
    DISCOUNT,
    EFFECT,
    EFFECT_CANDIDATES,
    EFFECT_COUNT,
    FEATURE_CHANGE,
    FEATURE_LAG,
    FEATURE_LEVEL,
    FEATURE_TERMS,
    HIGHEST_GIVEN,
    LANES,
    LOWEST_GIVEN,
    MEAN,
    MEAN_CHANGE,
    MEAN_TERM,
    ROUNDS,
    RUNNING_MEAN,
    SEASON_TERM,
    SERIES_TERMS,
)
from thalweg.kernels.forecaster.step_features import MIN_SCALE, scale_feature
from thalweg.kernels.forecaster.step_mixture import LOSS_MEMORY, MAX_LOSS
from thalweg.kernels.forecaster.step_regressions import (
    limit_leverage,
    set_outlier_weights,
)
from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.simd import WIDTH, broadcast, fma, load, store
from thalweg.kernels.tracker.solve import back_substitute, factorise

EFFECT_RIDGE = 0.1
"""The ridge of all terms, which counts as a tenth of a round."""
EFFECT_SHARPNESS = 0.5
"""A regression that is worse by a share of q after N errors has a weight of
exp(-N q / 2), as Akaike weights are."""
FEATURE_PRIOR = 0.5
"""The weight of a regression with features before any error is known; without: 1."""
MIN_MEAN_SHARE = 1 / 5000
"""The least share of a value in the running mean and in the mean change."""
MAX_RELATIVE_CHANGE, TRUSTED_CHANGES = 15.0, 20
"""A change of more than 15 mean changes counts as 15, after the first 20."""
MAX_EFFECT = 10.0
"""Effects are at most ten times the range of all values."""


@inline_function
def limit_effect(counters, effect):
    """The effect within ``MAX_EFFECT`` ranges of the values."""
    most = MAX_EFFECT * (counters[HIGHEST_GIVEN] - counters[LOWEST_GIVEN])
    return min(max(effect, -most), most)


@inner_function
def set_effects(s, w, slot):
    """Set the effect of one unit of each known feature, for forecasts of an origin."""
    _set_effect_weights(s, w.effect_weights)
    scale = s.counters[CHANGE]
    for k in range(w.known_at.size):
        total, term = 0.0, SERIES_TERMS + FEATURE_TERMS * k + FEATURE_CHANGE
        for lane in range(LANES):
            total += w.effect_weights[lane] * s.effect_theta[term, lane]
        s.origin_units[slot, EFFECT, int(w.known_at[k])] = scale * total


@inner_function
def learn_effects(s, w, y, given, is_missing):
    """Learn the next value y and the features of its round."""
    counters, t = s.counters, int(s.counters[ROUNDS])
    recent = s.recent_values.size
    if not is_missing:
        if t > 1 and counters[CHANGE] > 0:
            _set_terms(s, w, t, given)
            change = y - s.recent_values[(t - 1) % recent]
            _learn_regression(s, w, scale_feature(change, _scale(counters)))
        _learn_series(s, t, y)
    s.recent_values[t % recent] = y
    for k in range(w.known_at.size):
        s.recent_known[t % recent, k] = given[int(w.known_at[k])]


@inline_function
def _scale(counters):
    return max(counters[CHANGE], MIN_SCALE)


@inner_function
def _set_terms(s, w, t, given):
    """Set the terms of round t; round t - 1 is the last one that is remembered."""
    values, known, terms = s.recent_values, s.recent_known, w.terms
    season, cycle, recent = s.profile.shape[1], s.cycle_profile.shape[1], values.size
    scale, last = _scale(s.counters), values[(t - 1) % recent]
    terms[CONSTANT_TERM] = 1.0
    terms[CHANGE_TERM] = scale_feature(last - values[(t - 2) % recent], scale)
    terms[MEAN_TERM] = scale_feature(s.counters[RUNNING_MEAN] - last, scale)
    terms[SEASON_TERM], terms[CYCLE_TERM] = 0.0, 0.0
    if season > 1 and t >= season:
        terms[SEASON_TERM] = scale_feature(values[(t - season) % recent] - last, scale)
    if cycle > season and t >= cycle:
        terms[CYCLE_TERM] = scale_feature(values[(t - cycle) % recent] - last, scale)
    lagged = max(t - max(season, 2), 0) % recent
    for k in range(w.known_at.size):
        i, first = int(w.known_at[k]), SERIES_TERMS + FEATURE_TERMS * k
        mean, unit = s.given_moments[MEAN, i], s.given_moments[MEAN_CHANGE, i]
        before = known[(t - 1) % recent, k]
        for term in range(first, first + FEATURE_TERMS):
            terms[term] = 0.0
        if unit > 0:
            terms[first + FEATURE_CHANGE] = scale_feature(given[i] - before, unit)
            terms[first + FEATURE_LEVEL] = scale_feature(before - mean, unit)
            terms[first + FEATURE_LAG] = scale_feature(known[lagged, k] - before, unit)


@inner_function
def _learn_regression(s, w, label):
    """Learn one change, in units of the mean change."""
    terms, predictions, count = w.terms, w.effect_predictions, s.counters[EFFECT_COUNT]
    _predict(s.effect_theta, terms, terms.size, predictions, 0)
    _predict(s.series_theta, terms, SERIES_TERMS, predictions, LANES)
    for lane in range(LANES):
        w.lane_errors[lane] = abs(predictions[lane] - label)
    set_outlier_weights(w.lane_errors, s.effect_errors[0], count, w.lane_weights)
    share = max(1 / (count + 1), 1 / LOSS_MEMORY)
    for k in range(EFFECT_CANDIDATES):
        error = predictions[k] - label
        square = min(error * error, MAX_LOSS)
        s.effect_losses[0, k] += share * (square - s.effect_losses[0, k])
    limit_leverage(terms, w.lane_weights)
    _learn_moments(s.effect_moments, terms, label, w.lane_weights)
    factorise(s.effect_moments, w.effect_ridge, w.effect_lower, w.effect_work)
    n = terms.size
    back_substitute(w.effect_lower, n, n, LANES, s.effect_theta)
    # The leading rows of a factor are the factor of the leading rows.
    back_substitute(w.effect_lower, n, SERIES_TERMS, LANES, s.series_theta)
    s.counters[EFFECT_COUNT] = count + 1


@inner_function
def _predict(theta, terms, size, predictions, first):
    """Set predictions[first + lane] = Σ_{j < size} θ_j terms_j for all lanes."""
    for lane in range(0, LANES, WIDTH):
        total = broadcast(0.0)
        for j in range(size):
            total = fma(load(theta, (j, lane)), terms[j], total)
        store(predictions, first + lane, total)


@inner_function
def _learn_moments(moments, terms, label, weights):
    """Update the moments (n + 1, n, LANES) with one round."""
    n = terms.size
    for lane in range(0, LANES, WIDTH):
        gamma, w = load(DISCOUNT, lane), load(weights, lane)
        for i in range(n + 1):
            factor = w * (terms[i] if i < n else label)
            for j in range(min(i + 1, n)):
                updated = fma(gamma, load(moments, (i, j, lane)), factor * terms[j])
                store(moments, (i, j, lane), updated)


@inner_function
def _set_effect_weights(s, weights):
    """Set the weights of the regressions with features, then of those without."""
    losses, total = s.effect_losses[0], 0.0
    lowest = losses[0]
    for k in range(1, EFFECT_CANDIDATES):
        lowest = min(lowest, losses[k])
    c = EFFECT_SHARPNESS * min(s.counters[EFFECT_COUNT], LOSS_MEMORY)
    for k in range(EFFECT_CANDIDATES):
        excess = 0.0
        if losses[k] > lowest:
            excess = c * (losses[k] / lowest - 1) if lowest > 0 else math.inf
        prior = FEATURE_PRIOR if k < LANES else 1.0
        weights[k] = prior * math.exp(-min(excess, 700.0))
        total += weights[k]
    for k in range(EFFECT_CANDIDATES):
        weights[k] /= total


@inner_function
def _learn_series(s, t, y):
    """Learn the mean, the mean change and the range of the series as it was given."""
    counters = s.counters
    if t == 0:
        counters[LOWEST_GIVEN], counters[HIGHEST_GIVEN] = y, y
    counters[LOWEST_GIVEN] = min(counters[LOWEST_GIVEN], y)
    counters[HIGHEST_GIVEN] = max(counters[HIGHEST_GIVEN], y)
    share = max(1 / (t + 1), MIN_MEAN_SHARE)
    counters[RUNNING_MEAN] += share * (y - counters[RUNNING_MEAN])
    if t == 0:
        return
    change = abs(y - s.recent_values[(t - 1) % s.recent_values.size])
    if counters[CHANGE_COUNT] >= TRUSTED_CHANGES:
        change = min(change, MAX_RELATIVE_CHANGE * counters[CHANGE])
    if change > 0:
        counters[CHANGE_COUNT] += 1
        share = max(1 / counters[CHANGE_COUNT], MIN_MEAN_SHARE)
        counters[CHANGE] += share * (change - counters[CHANGE])
