"""The features of the nonlinear regressions: context, waves, products and hinges.

They follow those of the step (step_features.py), lags and covariates. Products
let the size of one effect depend on another, as seasons may multiply, and as an anomaly
may last longer at one time of day than at another. Hinges max(0, a u + b v - c) of
pairs of inputs do so for thresholds. All are in units in which a ridge of
``CURVATURE_RIDGE`` stands for one of ``RIDGE`` or ``SECOND_RIDGE``, so that the
Tracker's solver can be used as it is.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster.step_features import (
    known_lag,
    known_share,
    profile_at,
    scale_feature,
    value_at,
)
from thalweg.kernels.forecaster.step_regressions import RIDGE
from thalweg.kernels.tracker.curvature import CURVATURE_RIDGE

SECOND_RIDGE = 40.0
"""The ridge of all but the features of the step: they need more evidence."""
RECENT_VALUES = 4
"""Number of values whose anomalies are averaged."""
NEIGHBOURS = 2
"""Number of phases on each side whose values are averaged."""
MIN_ORIGIN_SHARE = 1e-4
"""Minimum share of an origin in the mean level and in the sizes of inputs."""
MAX_PRODUCT, MAX_INPUT = 20.0, 5.0
"""Limits of a feature, and of an input of the hinges in units of its mean size."""
MIN_INPUT_SIZE = 1e-9
"""Minimum mean size of an input: smaller ones are rounding, and left out."""
UNIT = math.sqrt(CURVATURE_RIDGE / RIDGE)
SECOND_UNIT = math.sqrt(CURVATURE_RIDGE / SECOND_RIDGE)

# Hinges are spread evenly over pairs of inputs, directions and thresholds: multiples of
# irrational numbers, modulo 1, are a sequence of low discrepancy (Weyl).
_PAIRS = [(i, j) for i in range(layout.HINGE_INPUTS) for j in range(i)]
_CHOSEN = np.array([_PAIRS[37 * k % len(_PAIRS)] for k in range(layout.HINGES)])
_ANGLES = 2 * np.pi * (np.arange(1, layout.HINGES + 1) * (math.sqrt(5) - 1) / 2 % 1)
HINGE_FIRST, HINGE_SECOND = _CHOSEN[:, 0].copy(), _CHOSEN[:, 1].copy()
HINGE_COSINE, HINGE_SINE = np.cos(_ANGLES), np.sin(_ANGLES)
HINGE_BIAS = 1.2 * (2 * (np.arange(1, layout.HINGES + 1) * math.sqrt(2) % 1) - 1)


@inner_function
def set_origin_context(s, path, t, level, scale, context):
    """Set what is the same for all steps from round t on; learns the mean level."""
    counters, season = s.counters, s.profile.shape[1]
    cycle = s.cycle_profile.shape[1]
    counters[layout.ORIGIN_COUNT] += 1
    share = max(1 / counters[layout.ORIGIN_COUNT], MIN_ORIGIN_SHARE)
    counters[layout.MEAN_LEVEL] += share * (level - counters[layout.MEAN_LEVEL])
    total = 0.0
    for i in range(min(RECENT_VALUES, t + 1)):
        total += value_at(s, path, t - i) - level - profile_at(s, t - i)
    context[layout.LAST_ANOMALIES] = scale_feature(total / RECENT_VALUES, scale)
    context[layout.LEVEL_SEASON_AGO] = _level_before(s, t, season, season, level, scale)
    context[layout.LEVEL_CYCLE_AGO] = _level_before(s, t, cycle, season, level, scale)
    context[layout.LEVEL_AHEAD] = _level_before(
        s, t, cycle - season, season, level, scale
    )
    context[layout.LEVEL_ANOMALY] = scale_feature(
        level - counters[layout.MEAN_LEVEL], scale
    )
    context[layout.SLOW_PROFILE_NOW] = scale_feature(_slow_profile_at(s, t), scale)


@inner_function
def _level_before(s, t, lag, season, level, scale):
    """The level ``lag`` rounds before round t, less the present level; 0 while it is
    unknown, then growing with ``known_share``."""
    share = known_share(t, lag, lag, season)
    if share == 0:
        return 0.0
    before = s.levels[(t - lag) % s.levels.size]
    return share * scale_feature(before - level, scale)


@inner_function
def _slow_profile_at(s, r):
    """The slow profile at round r; the season's, where that phase is new."""
    phase = r % s.slow_profile.size
    if s.cycle_profile[1, phase] > 0:
        return s.slow_profile[phase]
    return s.profile[0, r % s.profile.shape[1]]


@inner_function
def set_step_context(s, path, t, h, level, scale, context):
    """Set what differs from step to step."""
    target = t + h
    context[layout.SLOW_PROFILE] = scale_feature(_slow_profile_at(s, target), scale)
    at, total = max(target - known_lag(h, s.profile.shape[1]), 0), 0.0
    for i in range(1, NEIGHBOURS + 1):
        total += value_at(s, path, max(at - i, 0)) + value_at(s, path, min(at + i, t))
    context[layout.NEIGHBOURS_AGO] = scale_feature(
        total / (2 * NEIGHBOURS) - level, scale
    )
    total = 0.0
    for i in range(1, NEIGHBOURS + 1):
        total += profile_at(s, target - i) + profile_at(s, target + i)
    context[layout.PROFILE_NEIGHBOURS] = scale_feature(total / (2 * NEIGHBOURS), scale)


@inner_function
def set_inputs(w, row, context, target, inputs):
    """Set the inputs of the hinges, in units of the scale."""
    phase = target % w.season_waves.shape[1]
    cycle_phase = target % w.cycle_waves.shape[1]
    inputs[0] = row[layout.LAST] - row[layout.CYCLE_PROFILE_NOW]
    inputs[1] = row[layout.SEASON_AGO] - row[layout.PROFILE_SEASON_AGO]
    inputs[2] = row[layout.CYCLE_AGO] - row[layout.CYCLE_PROFILE]
    inputs[3] = context[layout.LAST_ANOMALIES]
    inputs[4], inputs[5] = row[layout.CYCLE_PROFILE], row[layout.PROFILE]
    inputs[6] = row[layout.CYCLE_LEVEL]
    inputs[7] = row[layout.LAST] - row[layout.LAST_BUT_ONE]
    inputs[8] = row[layout.SEASON_BEFORE] - row[layout.PROFILE_NOW]
    for i in range(2):
        inputs[9 + i] = w.season_waves[i, phase]
        inputs[11 + i] = w.cycle_waves[i, cycle_phase]
    inputs[13] = context[layout.LEVEL_ANOMALY]
    inputs[14], inputs[15] = (
        context[layout.LEVEL_SEASON_AGO],
        context[layout.LEVEL_CYCLE_AGO],
    )


@inner_function
def learn_sizes(s, inputs):
    """Update the mean size of each input."""
    share = max(1 / s.counters[layout.ORIGIN_COUNT], MIN_ORIGIN_SHARE)
    for k in range(layout.HINGE_INPUTS):
        s.input_sizes[k] += share * (abs(inputs[k]) - s.input_sizes[k])


@inner_function
def set_nonlinear_row(s, w, row, context, target, out):
    """Set all features of the step at round ``target``, in units of their ridge."""
    set_inputs(w, row, context, target, w.hinge_inputs)
    at = _set_linear(row, context, out)
    at = _set_products(w, row, context, target, out, at)
    inputs = w.hinge_inputs
    for k in range(layout.HINGE_INPUTS):
        size = s.input_sizes[k]
        is_used = size > MIN_INPUT_SIZE
        inputs[k] = _clip(inputs[k] / size, MAX_INPUT) if is_used else 0.0
    for k in range(layout.HINGES):
        ahead = HINGE_COSINE[k] * inputs[HINGE_FIRST[k]]
        ahead += HINGE_SINE[k] * inputs[HINGE_SECOND[k]]
        out[at + k] = SECOND_UNIT * max(ahead - HINGE_BIAS[k], 0.0)


@inner_function
def _clip(feature, limit):
    return min(max(feature, -limit), limit)


@inner_function
def _second(feature):
    """A feature of the second order, limited and in its unit."""
    return SECOND_UNIT * _clip(feature, MAX_PRODUCT)


@inner_function
def _set_linear(row, context, out):
    """Set the features of the regressions, and the context."""
    for i in range(row.size):
        out[i] = (UNIT if i < layout.OWN_FEATURES else SECOND_UNIT) * row[i]
    at = row.size
    for i in range(context.size):
        out[at + i] = _second(context[i])
    return at + context.size


@inner_function
def _set_products(w, row, context, target, out, at):
    """Set waves and products; ``inputs`` begin with three anomalies."""
    phase = target % w.season_waves.shape[1]
    cycle_phase = target % w.cycle_waves.shape[1]
    profile, level = row[layout.CYCLE_PROFILE], context[layout.LEVEL_ANOMALY]
    last, season_ago = w.hinge_inputs[0], w.hinge_inputs[1]
    out[at] = _second(last * profile)
    out[at + 1] = _second(row[layout.CYCLE_LEVEL] * profile)
    out[at + 2] = _second(season_ago * profile)
    out[at + 3] = _second(last * row[layout.PROFILE])
    out[at + 4], out[at + 5] = _second(level * profile), _second(level * last)
    at += 6
    for i in range(layout.SEASON_WAVES):
        out[at + i] = SECOND_UNIT * w.season_waves[i, phase]
    at += layout.SEASON_WAVES
    for i in range(layout.CYCLE_WAVES):
        out[at + i] = SECOND_UNIT * w.cycle_waves[i, cycle_phase]
    at += layout.CYCLE_WAVES
    for i in range(4):
        for k in range(3):
            out[at] = _second(w.season_waves[i, phase] * w.hinge_inputs[k])
            at += 1
    for i in range(2):
        out[at + i] = _second(w.season_waves[i, phase] * level)
    return at + 2
