"""Features that users give: those of the origin, or known in advance, of the step.

Each is less its mean and in units of its deviation, or of its mean change where that
is more: a feature that is 0 nearly always has next to no deviation. What is known only
at the origin enters the regression of every step as it was then. What is known in
advance enters as it will be at the step; the forecasts that the rules learn from were
made without it, so its part is added to them when the round has come: the coefficients,
means and units of when the forecast was made times the feature. (Of single candidates
it is the coefficients of now.)
"""

import math

from thalweg.kernels.forecaster.forecaster_layout import (
    CHANGES,
    EFFECT,
    EFFECT_OFFSET,
    EFFECT_UNIT,
    LANES,
    LAST_GIVEN,
    LOWEST_OBSERVED,
    MEAN,
    MEAN_CHANGE,
    NONLINEAR,
    OFFSET,
    ORIGIN_MEAN,
    ORIGIN_UNIT,
    POOL_MEMBERS,
    RECURSIVE,
    ROUNDS,
    VALUE_COUNT,
    VARIANCE,
)
from thalweg.kernels.forecaster.holiday_effects import effect_ahead
from thalweg.kernels.forecaster.known_effects import limit_effect
from thalweg.kernels.forecaster.nonlinear_features import SECOND_UNIT
from thalweg.kernels.forecaster.step_features import scale_feature
from thalweg.kernels.jit import inline_function, inner_function

MIN_GIVEN_SHARE = 1 / 5000
"""The least share of a round in the mean and variance of a given feature."""


@inner_function
def learn_given(moments, given, t):
    """Update mean, variance and mean change of the features in round t."""
    share = max(1 / (t + 1), MIN_GIVEN_SHARE)
    for i in range(given.size):
        if t == 0:
            moments[OFFSET, i] = given[i]
        before = given[i] - moments[MEAN, i]
        moments[MEAN, i] += share * before
        square = before * (given[i] - moments[MEAN, i])
        moments[VARIANCE, i] += share * (square - moments[VARIANCE, i])
        change = abs(given[i] - moments[LAST_GIVEN, i])
        if t > 0 and change > 0:
            moments[CHANGES, i] += 1
            part = max(1 / moments[CHANGES, i], MIN_GIVEN_SHARE)
            moments[MEAN_CHANGE, i] += part * (change - moments[MEAN_CHANGE, i])
        moments[LAST_GIVEN, i] = given[i]


@inline_function
def unit_of(moments, i):
    """The unit of a feature: its deviation, or its mean change where that is more."""
    return max(math.sqrt(moments[VARIANCE, i]), moments[MEAN_CHANGE, i])


@inline_function
def in_units(feature, mean, unit):
    """The feature less its mean, in units; 0 where it never varied."""
    return scale_feature(feature - mean, unit) if unit > 0 else 0.0


@inner_function
def set_given_row(moments, given, row):
    """Set the features in units of their own."""
    for i in range(given.size):
        row[i] = in_units(given[i], moments[MEAN, i], unit_of(moments, i))


@inner_function
def set_origin_units(s, slot):
    """Remember what the forecasts of this origin are made with."""
    moments, units = s.given_moments, s.origin_units[slot]
    for i in range(units.shape[1]):
        units[ORIGIN_MEAN, i], units[ORIGIN_UNIT, i] = (
            moments[MEAN, i],
            unit_of(moments, i),
        )
        units[EFFECT_OFFSET, i] = moments[OFFSET, i]
        units[EFFECT_UNIT, i], units[EFFECT, i] = moments[MEAN_CHANGE, i], 0.0
    for j in range(s.known_coefficients.shape[1]):
        for i in range(units.shape[1]):
            s.known_coefficients[slot, j, i] = 0.0


@inner_function
def set_known_coefficients(s, w, slot, j):
    """Remember the mixture's coefficients on known features, in the model j, in units
    of the series."""
    base = w.row.size - w.given_row.size
    for i in range(w.is_known.size):
        if w.is_known[i] > 0:
            total, first = 0.0, 0.0
            for lane in range(LANES):
                total += w.weights[lane] * s.theta[j, base + i, lane]
                first += s.theta[0, base + i, lane]
            total += w.weights[RECURSIVE] * first / LANES
            total += w.weights[NONLINEAR] * _nonlinear_coefficient(s, w, j, base + i)
            s.known_coefficients[slot, j, i] = s.origins[slot, 1] * total


@inline_function
def _nonlinear_coefficient(s, w, j, i):
    """The nonlinear regression's coefficient on feature i, for the model j."""
    return SECOND_UNIT * s.nonlinear_theta[int(w.group_of[j]), i]


@inner_function
def known_effect(s, w, slot, given):
    """The effect of known features on the series, as it was seen at an origin."""
    units, total = s.origin_units[slot], 0.0
    for i in range(w.is_known.size):
        if w.is_known[i] > 0:
            offset, unit = units[EFFECT_OFFSET, i], units[EFFECT_UNIT, i]
            total += units[EFFECT, i] * in_units(given[i], offset, unit)
    return limit_effect(s.counters, total)


@inner_function
def known_part(s, w, slot, j, given):
    """What known features add to a forecast of an origin in the model j, beyond their
    effect."""
    units, total = s.origin_units[slot], 0.0
    for i in range(w.is_known.size):
        if w.is_known[i] > 0:
            feature = in_units(given[i], units[ORIGIN_MEAN, i], units[ORIGIN_UNIT, i])
            total += s.known_coefficients[slot, j, i] * feature
    return total


@inner_function
def add_known_part(s, w, t, given, effect):
    """Add what is known of round t to the forecasts of it, and to their features.

    Forecasts are of the series less ``effect``, that of round t as seen just before.
    """
    slots = len(s.forecasts)
    for h in range(1, min(t, slots - 1) + 1):
        slot, j = (t - h) % slots, int(w.model_of[h - 1])
        difference = known_effect(s, w, slot, given) - effect
        part = known_part(s, w, slot, j, given)
        s.forecasts[slot, h - 1] += difference + part
        if s.origins[slot, 1] > 0 and h == int(w.step_of[j]):
            _complete_candidates(s, w, j, slot)
            if s.smoothing.size > 0:
                # It was added to the pooled forecast, and so to all that is pooled.
                for k in range(POOL_MEMBERS):
                    s.pool_members[slot, j, k] += part / s.origins[slot, 1]


@inner_function
def copy_forecasts(s, w, future, forecasts):
    """Copy the newest forecasts, with what is known of the k next rows: (k, given),
    and the effects of holidays.

    None is below 0 where values begin there (``starts_at_zero``).
    """
    slot = max(int(s.counters[ROUNDS]) - 1, 0) % len(s.forecasts)
    is_bounded = starts_at_zero(s.counters)
    for h in range(s.forecasts.shape[1]):
        forecasts[h] = s.forecasts[slot, h]
        if w.known_at.size > 0 and h < len(future):
            j = int(w.model_of[h])
            part = known_part(s, w, slot, j, future[h])
            forecasts[h] += known_effect(s, w, slot, future[h]) + part
        if s.day_values.size > 0:
            forecasts[h] += effect_ahead(s, h)
        if is_bounded:
            forecasts[h] = max(forecasts[h], 0.0)


@inner_function
def starts_at_zero(counters):
    """Whether 0 is among the values, and nothing below it: counts, sales, rain."""
    return counters[VALUE_COUNT] > 0 and counters[LOWEST_OBSERVED] == 0


@inner_function
def _set_lane_parts(s, w, j):
    """Set what known features add in every lane; returns the mean."""
    total, base = 0.0, w.row.size - w.given_row.size
    for lane in range(LANES):
        part = 0.0
        for i in range(w.is_known.size):
            if w.is_known[i] > 0:
                part += s.theta[j, base + i, lane] * w.given_row[i]
        w.lane_predictions[lane] = part
        total += part
    return total / LANES


@inline_function
def _complete_candidates(s, w, j, slot):
    """Add the parts of known features to the candidates, and set the features."""
    s.candidates[slot, j, RECURSIVE] += _set_lane_parts(s, w, 0)
    _set_lane_parts(s, w, j)
    for lane in range(LANES):
        s.candidates[slot, j, lane] += w.lane_predictions[lane]
    base = w.row.size - w.given_row.size
    for i in range(w.is_known.size):
        if w.is_known[i] > 0:
            feature = w.given_row[i]
            part = _nonlinear_coefficient(s, w, j, base + i) * feature
            s.candidates[slot, j, NONLINEAR] += part
            s.features[slot, j, base + i] = feature
