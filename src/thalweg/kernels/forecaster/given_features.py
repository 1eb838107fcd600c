"""Features that users give: those of the origin, or known in advance, of the step.

Each is less its mean and in units of its deviation. What is known only at the origin
enters the regression of every step as it was then. What is known in advance enters as
it will be at the step; the forecasts that the rules learn from were made without it, so
its part, θ·x with θ as it is now, is added to them when the round has come.
"""

import math

from thalweg.kernels.forecaster.forecaster_layout import LANES, RECURSIVE, ROUNDS
from thalweg.kernels.forecaster.step_features import scale_feature
from thalweg.kernels.forecaster.step_mixture import set_weights
from thalweg.kernels.jit import inline_function, inner_function

MIN_GIVEN_SHARE = 1 / 5000
"""The least share of a round in the mean and variance of a given feature."""


@inner_function
def learn_given(moments, given, t):
    """Update mean and variance of the features in round t (Welford's recursion)."""
    share = max(1 / (t + 1), MIN_GIVEN_SHARE)
    for i in range(given.size):
        before = given[i] - moments[0, i]
        moments[0, i] += share * before
        moments[1, i] += share * (before * (given[i] - moments[0, i]) - moments[1, i])


@inner_function
def set_given_row(moments, given, row):
    """Set the features in units of their deviation; 0 where one never varied."""
    for i in range(given.size):
        row[i] = 0.0
        if moments[1, i] > 0:
            row[i] = scale_feature(given[i] - moments[0, i], math.sqrt(moments[1, i]))


@inner_function
def add_known_part(s, w, t):
    """Add what is known of round t to the forecasts of it, and to their features."""
    slots, known = len(s.forecasts), 0.0
    for i in range(w.is_known.size):
        known += w.is_known[i]
    if known == 0:
        return
    for h in range(1, min(t, slots - 1) + 1):
        slot, j = (t - h) % slots, int(w.model_of[h - 1])
        scale = s.origins[slot, 1]
        if scale > 0:
            part = known_part(s, w, j)
            s.forecasts[slot, h - 1] += scale * part
            if h == int(w.step_of[j]):
                _complete_candidates(s, w, j, slot)


@inner_function
def copy_forecasts(s, w, future, forecasts):
    """Copy the newest forecasts, with what is known of the k next rows: (k, given)."""
    slot = max(int(s.counters[ROUNDS]) - 1, 0) % len(s.forecasts)
    scale = s.origins[slot, 1]
    for h in range(s.forecasts.shape[1]):
        forecasts[h] = s.forecasts[slot, h]
        if scale > 0 and h < len(future) and w.is_known.size > 0:
            set_given_row(s.given_moments, future[h], w.given_row)
            forecasts[h] += scale * known_part(s, w, int(w.model_of[h]))


@inner_function
def known_part(s, w, j):
    """What the features of ``w.given_row`` known in advance add to a forecast, in units
    of the scale, in the regressions of model j; sets the parts of all lanes.
    """
    set_weights(s.losses[j], s.error_counts[j], w.step_of[j], w.weights)
    total = w.weights[RECURSIVE] * _lane_parts(s, w, 0)
    _lane_parts(s, w, j)
    for lane in range(LANES):
        total += w.weights[lane] * w.lane_predictions[lane]
    return total


@inner_function
def _lane_parts(s, w, j):
    """Set the part of every lane; returns their mean."""
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
    """Add the parts that ``known_part`` has set to the candidates and features."""
    for lane in range(LANES):
        s.candidates[slot, j, lane] += w.lane_predictions[lane]
    s.candidates[slot, j, RECURSIVE] += _lane_parts(s, w, 0)
    base = w.row.size - w.given_row.size
    for i in range(w.is_known.size):
        if w.is_known[i] > 0:
            s.features[slot, j, base + i] = w.given_row[i]
