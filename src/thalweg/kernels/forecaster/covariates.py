"""Past and future covariates in the regressions of every step.

A covariate is centred and in units of its standard deviation, or of its mean change if
that is larger: a feature that is nearly always 0 has hardly any deviation. A *past
covariate* is known up to the origin, and enters the regression of every step with its
value at the origin. A *future covariate* is known in advance (also: known feature,
exogenous regressor) and enters with its value at the step. Stored forecasts are made
without future covariates, so their part is added when the round has come: the
covariates times the coefficients, in the means and units, of the origin. (The parts of
single candidates use the present coefficients.)
"""

import math

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster.candidates import PLACES
from thalweg.kernels.forecaster.covariate_effects import limit_effect
from thalweg.kernels.forecaster.holiday_effects import effect_ahead
from thalweg.kernels.forecaster.nonlinear_features import SECOND_UNIT
from thalweg.kernels.forecaster.step_features import scale_feature

RECURSIVE, NONLINEAR = PLACES["recursive"], PLACES["nonlinear"]
MIN_COVARIATE_SHARE = 1 / 5000
"""Minimum share of a round in the mean and variance of a covariate."""


@inner_function
def learn_covariates(moments, covariates, t):
    """Update mean, variance and mean change of the covariates in round t."""
    share = max(1 / (t + 1), MIN_COVARIATE_SHARE)
    for i in range(covariates.size):
        if t == 0:
            moments[layout.OFFSET, i] = covariates[i]
        before = covariates[i] - moments[layout.MEAN, i]
        moments[layout.MEAN, i] += share * before
        square = before * (covariates[i] - moments[layout.MEAN, i])
        moments[layout.VARIANCE, i] += share * (square - moments[layout.VARIANCE, i])
        change = abs(covariates[i] - moments[layout.LAST_COVARIATE, i])
        if t > 0 and change > 0:
            moments[layout.CHANGES, i] += 1
            part = max(1 / moments[layout.CHANGES, i], MIN_COVARIATE_SHARE)
            moments[layout.MEAN_CHANGE, i] += part * (
                change - moments[layout.MEAN_CHANGE, i]
            )
        moments[layout.LAST_COVARIATE, i] = covariates[i]


@inner_function
def unit_of(moments, i):
    """The unit of a covariate: the larger of its deviation and its mean change."""
    return max(math.sqrt(moments[layout.VARIANCE, i]), moments[layout.MEAN_CHANGE, i])


@inner_function
def in_units(feature, mean, unit):
    """The feature less its mean, in units; 0 where it never varied."""
    return scale_feature(feature - mean, unit) if unit > 0 else 0.0


@inner_function
def set_covariate_row(moments, covariates, row):
    """Set the covariates in their own units."""
    for i in range(covariates.size):
        row[i] = in_units(covariates[i], moments[layout.MEAN, i], unit_of(moments, i))


@inner_function
def set_origin_units(s, slot):
    """Store the units with which the forecasts of this origin are made."""
    moments, units = s.covariate_moments, s.origin_units[slot]
    for i in range(units.shape[1]):
        units[layout.ORIGIN_MEAN, i] = moments[layout.MEAN, i]
        units[layout.ORIGIN_UNIT, i] = unit_of(moments, i)
        units[layout.EFFECT_OFFSET, i] = moments[layout.OFFSET, i]
        units[layout.EFFECT_UNIT, i] = moments[layout.MEAN_CHANGE, i]
        units[layout.EFFECT, i] = 0.0
    for j in range(s.future_coefficients.shape[1]):
        for i in range(units.shape[1]):
            s.future_coefficients[slot, j, i] = 0.0


@inner_function
def set_future_coefficients(s, w, slot, j):
    """Store the mixture's coefficients on future covariates, in the model j, in units
    of the series."""
    base = w.row.size - w.covariate_row.size
    for i in range(w.is_future.size):
        if w.is_future[i] > 0:
            total, first = 0.0, 0.0
            for lane in range(layout.LANES):
                total += w.weights[lane] * s.theta[j, base + i, lane]
                first += s.theta[0, base + i, lane]
            total += w.weights[RECURSIVE] * first / layout.LANES
            total += w.weights[NONLINEAR] * _nonlinear_coefficient(s, w, j, base + i)
            s.future_coefficients[slot, j, i] = s.origins[slot, 1] * total


@inner_function
def _nonlinear_coefficient(s, w, j, i):
    """The nonlinear regression's coefficient on feature i, for the model j."""
    return SECOND_UNIT * s.nonlinear_theta[int(w.group_of[j]), i]


@inner_function
def future_effect(s, w, slot, covariates):
    """The effect of future covariates on the series, as estimated at an origin."""
    units, total = s.origin_units[slot], 0.0
    for i in range(w.is_future.size):
        if w.is_future[i] > 0:
            offset, unit = units[layout.EFFECT_OFFSET, i], units[layout.EFFECT_UNIT, i]
            total += units[layout.EFFECT, i] * in_units(covariates[i], offset, unit)
    return limit_effect(s.counters, total)


@inner_function
def future_part(s, w, slot, j, covariates):
    """The part of a forecast of an origin that future covariates add in the model j,
    beyond their effect."""
    units, total = s.origin_units[slot], 0.0
    for i in range(w.is_future.size):
        if w.is_future[i] > 0:
            feature = in_units(
                covariates[i],
                units[layout.ORIGIN_MEAN, i],
                units[layout.ORIGIN_UNIT, i],
            )
            total += s.future_coefficients[slot, j, i] * feature
    return total


@inner_function
def add_future_part(s, w, t, covariates, effect):
    """Add the future covariates of round t to its forecasts and their features.

    Forecasts are of the series less ``effect``, that of round t as seen just before.
    """
    slots = len(s.forecasts)
    for h in range(1, min(t, slots - 1) + 1):
        slot, j = (t - h) % slots, int(w.model_of[h - 1])
        difference = future_effect(s, w, slot, covariates) - effect
        part = future_part(s, w, slot, j, covariates)
        s.forecasts[slot, h - 1] += difference + part
        if s.origins[slot, 1] > 0 and h == int(w.step_of[j]):
            _complete_candidates(s, w, j, slot)
            if s.smoothing.size > 0:
                # It was added to the pooled forecast, and so to all that is pooled.
                for k in range(layout.POOL_MEMBERS):
                    s.pool_members[slot, j, k] += part / s.origins[slot, 1]


@inner_function
def copy_forecasts(s, w, future, forecasts):
    """Copy the newest forecasts, with the covariates ``future`` of the next rows, (k,
    covariates), and the effects of holidays.

    No forecast is below 0 where values are not (``starts_at_zero``).
    """
    slot = max(int(s.counters[layout.ROUNDS]) - 1, 0) % len(s.forecasts)
    is_bounded = starts_at_zero(s.counters)
    for h in range(s.forecasts.shape[1]):
        forecasts[h] = s.forecasts[slot, h]
        if w.future_at.size > 0 and h < len(future):
            j = int(w.model_of[h])
            part = future_part(s, w, slot, j, future[h])
            forecasts[h] += future_effect(s, w, slot, future[h]) + part
        if s.day_values.size > 0:
            forecasts[h] += effect_ahead(s, h)
        if is_bounded:
            forecasts[h] = max(forecasts[h], 0.0)


@inner_function
def starts_at_zero(counters):
    """Whether 0 is the lowest value: counts, sales, rain."""
    return counters[layout.VALUE_COUNT] > 0 and counters[layout.LOWEST_OBSERVED] == 0


@inner_function
def _set_lane_parts(s, w, j):
    """Set the part of future covariates in every lane; returns the mean."""
    total, base = 0.0, w.row.size - w.covariate_row.size
    for lane in range(layout.LANES):
        part = 0.0
        for i in range(w.is_future.size):
            if w.is_future[i] > 0:
                part += s.theta[j, base + i, lane] * w.covariate_row[i]
        w.lane_predictions[lane] = part
        total += part
    return total / layout.LANES


@inner_function
def _complete_candidates(s, w, j, slot):
    """Add the parts of future covariates to the candidates, and set the features."""
    s.candidates[slot, j, RECURSIVE] += _set_lane_parts(s, w, 0)
    _set_lane_parts(s, w, j)
    for lane in range(layout.LANES):
        s.candidates[slot, j, lane] += w.lane_predictions[lane]
    base = w.row.size - w.covariate_row.size
    for i in range(w.is_future.size):
        if w.is_future[i] > 0:
            feature = w.covariate_row[i]
            part = _nonlinear_coefficient(s, w, j, base + i) * feature
            s.candidates[slot, j, NONLINEAR] += part
            s.features[slot, j, base + i] = feature
