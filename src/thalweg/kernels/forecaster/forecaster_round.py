"""The kernels that Python calls: learn values and forecast, one after the other."""

import math

from thalweg.kernels.compiler.jit import inner_function, kernel
from thalweg.kernels.compiler.record import record_function
from thalweg.kernels.forecast_weights import weighted_mean
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster.candidates import (
    begin_candidates,
    learn_candidates,
    set_candidates,
)
from thalweg.kernels.forecaster.covariate_effects import learn_effects, set_effects
from thalweg.kernels.forecaster.covariates import (
    add_future_part,
    copy_forecasts,
    future_effect,
    learn_covariates,
    set_covariate_row,
    set_future_coefficients,
    set_origin_units,
    starts_at_zero,
)
from thalweg.kernels.forecaster.holiday_effects import effect_ahead, pass_row
from thalweg.kernels.forecaster.nonlinear_features import (
    learn_sizes,
    set_inputs,
    set_nonlinear_row,
    set_origin_context,
    set_step_context,
)
from thalweg.kernels.forecaster.nonlinear_regression import (
    WEIGHT_LANE,
    learn_nonlinear,
    solve_now_and_then,
)
from thalweg.kernels.forecaster.phase_spread import (
    learn_size,
    learn_spread,
    spread_at,
)
from thalweg.kernels.forecaster.recursive_forecast import set_path
from thalweg.kernels.forecaster.step_features import (
    MIN_RELATIVE_DEVIATION,
    known_lag,
    learn_value,
    level_of,
    scale_feature,
    scale_of,
    set_origin_features,
    set_step_features,
)
from thalweg.kernels.forecaster.step_mixture import (
    learn_losses,
    limit_candidates,
    set_mixture_weights,
)
from thalweg.kernels.forecaster.step_pool import (
    learn_pool,
    learn_pooled_value,
    pool_forecasts,
    set_pool_weights,
    set_smoothed,
)
from thalweg.kernels.forecaster.step_regressions import (
    learn_lanes,
    limit_leverage,
    set_outlier_weights,
)
from thalweg.kernels.tracker import tracker_layout
from thalweg.kernels.tracker.prediction_interval import interval_offsets, learn_error

record = record_function(layout.BUFFER, layout.ForecasterBuffer, layout.TABLE)

RANGE_MARGIN = 0.5
"""Share of the range of all values by which forecasts may exceed it on each side."""
EARLY_ROUNDS = 2
"""Number of rounds after the first season before regressions begin."""
MAX_REACH = 1.5
"""Limit of a band's reach, in units of the largest error of its step."""
BAND_MARGIN, MIN_LIMIT_ROUNDS, MIN_LIMIT_HORIZONS = 1.0, 20, 2
"""Share of the range of all values by which bands may exceed it on each side; and the
minimum number of values, plus that of horizons, before this limit applies."""


@kernel(ieee_division=True, nogil=True)
def play(
    buffer, y, covariates, coverage, small_sample_bounds, forecasts, bands, marks,
    first_day,
):  # fmt: skip
    """Learn the values y (T,), NaN where one is missing, and forecast after each.

    Shapes: buffer as ``layout.BUFFER`` says; covariates (T or more, covariates);
    forecasts (T, horizon) and bands (T, horizon, 2), to be filled in, or of length 0.
    ``small_sample_bounds`` (steps, k) is the minimum reach of a band in each direction,
    in mean errors, with fewer than k errors, or 0. Future covariates are those of the
    rounds that they belong to; beyond the last row they have no effect. If 0 is the
    lowest value (``starts_at_zero``), no band goes below. ``marks`` (D, 3) is what is
    known in advance of the days from ``first_day`` on (holiday_effects.py), for one day
    more than effects are stored; of length 0 without holidays.
    """
    s, w = record(buffer).state, record(buffer).workspace
    for t in range(y.size):
        observe_day(s, w, y[t], covariates[t], marks, first_day)
        if len(forecasts) > 0:
            copy_forecasts(s, w, covariates[t + 1 :], forecasts[t])
        if len(bands) > 0:
            _set_step_bands(s, w, coverage, small_sample_bounds, bands[t])
            if starts_at_zero(s.counters):
                for h in range(len(bands[t])):
                    bands[t, h, 0] = max(bands[t, h, 0], -forecasts[t, h])


@kernel(ieee_division=True, nogil=True)
def set_forecasts(buffer, future, forecasts):
    """Set the forecasts (horizon,) after the last value; ``future`` (k, covariates)."""
    s, w = record(buffer).state, record(buffer).workspace
    copy_forecasts(s, w, future, forecasts)


@kernel(ieee_division=True, nogil=True)
def set_bands(buffer, coverage, small_sample_bounds, offsets, total_offsets):
    """Set how far below and above each step, and their sums, values may lie: (H, 2);
    ``small_sample_bounds`` as in ``play``."""
    s, w = record(buffer).state, record(buffer).workspace
    _set_step_bands(s, w, coverage, small_sample_bounds, offsets)
    counters, errors = s.total_counters, s.total_errors
    _set_bands(w, coverage, small_sample_bounds, counters, errors, total_offsets)
    _limit_bands(
        s.largest_errors[1], w, small_sample_bounds, s.total_counters, total_offsets
    )


@inner_function
def _set_step_bands(s, w, coverage, small_sample_bounds, offsets):
    """Offsets of all steps, in units of the spread of the rounds that they are for."""
    _set_bands(
        w, coverage, small_sample_bounds, s.step_counters, s.step_errors, offsets
    )
    counters, horizon = s.counters, len(offsets)
    rounds = int(counters[layout.ROUNDS])
    forecasts = s.forecasts[(rounds - 1) % len(s.forecasts)]
    for i in range(horizon):
        spread = spread_at(s, rounds + i)
        offsets[i, 0] *= spread
        offsets[i, 1] *= spread
    _limit_bands(s.largest_errors[0], w, small_sample_bounds, s.step_counters, offsets)
    enough = MIN_LIMIT_ROUNDS + MIN_LIMIT_HORIZONS * horizon
    if counters[layout.VALUE_COUNT] < enough or w.future_at.size > 0:
        return
    lowest, highest = counters[layout.LOWEST], counters[layout.HIGHEST]
    margin = BAND_MARGIN * (highest - lowest)
    for i in range(horizon):
        low, high = lowest - margin - forecasts[i], highest + margin - forecasts[i]
        offsets[i, 0] = max(offsets[i, 0], min(low, 0.0))
        offsets[i, 1] = min(offsets[i, 1], max(high, 0.0))


@inner_function
def _limit_bands(largest_errors, w, small_sample_bounds, counters, offsets):
    """Let no band reach further than ``MAX_REACH`` of the largest errors there were,
    where enough are known.

    Quantiles are of errors in units of the scale at their time. One that came when the
    scale was small would make bands of many times its own size when it is large.
    """
    for i in range(len(offsets)):
        j = int(w.model_of[i])
        if counters[j, tracker_layout.ERROR_COUNT] >= small_sample_bounds.shape[1]:
            reach = MAX_REACH * largest_errors[j]
            offsets[i, 0] = max(offsets[i, 0], -reach)
            offsets[i, 1] = min(offsets[i, 1], reach)


@inner_function
def _set_bands(w, coverage, small_sample_bounds, counters, errors, offsets):
    """Offsets of all steps; linear between steps that have regressions of their own."""
    before, low_before, high_before = 0, 0.0, 0.0
    for j in range(w.step_of.size):
        h = int(w.step_of[j])
        low, high = interval_offsets(counters[j], errors[j], coverage)
        known_errors = int(counters[j, tracker_layout.ERROR_COUNT])
        if 0 < known_errors < small_sample_bounds.shape[1]:
            reach = small_sample_bounds[j, known_errors]
            reach *= counters[j, tracker_layout.SLOW_ERROR_MEAN]
            if reach > 0:
                low, high = min(low, -reach), max(high, reach)
        for i in range(before + 1, h + 1):
            part = (i - before) / (h - before)
            if part == 1 or math.isinf(high):
                offsets[i - 1, 0], offsets[i - 1, 1] = low, high
            else:
                offsets[i - 1, 0] = low_before + part * (low - low_before)
                offsets[i - 1, 1] = high_before + part * (high - high_before)
        before, low_before, high_before = h, low, high


@inner_function
def observe_day(s, w, y, covariates, marks, first_day):
    """Learn the value of one round less the effect of its day, and forecast."""
    counters, effect = s.counters, 0.0
    is_missing, has_days = math.isnan(y), s.day_values.size > 0
    if not is_missing:
        if counters[layout.VALUE_COUNT] == 0 or y < counters[layout.LOWEST_OBSERVED]:
            counters[layout.LOWEST_OBSERVED] = y
    if has_days:
        effect = effect_ahead(s, 0)
    observe(s, w, y - effect, covariates)
    if has_days and counters[layout.ROUNDS] > 0:
        pass_row(s, w, y, marks, first_day)


@inner_function
def observe(s, w, y, covariates):
    """Learn the value of one round, NaN where it is missing, and forecast all steps.

    Missing values before the first known one are skipped.
    """
    counters = s.counters
    t, is_missing = int(counters[layout.ROUNDS]), math.isnan(y)
    value, effect = y, 0.0
    if is_missing and t == 0:
        return
    if w.future_at.size > 0:
        set_covariate_row(s.covariate_moments, covariates, w.covariate_row)
        effect = future_effect(s, w, (t - 1) % len(s.forecasts), covariates)
        add_future_part(s, w, t, covariates, effect)
        value = y - effect
    if is_missing:
        # The forecast stands for the value, so that the season goes on.
        value = s.forecasts[(t - 1) % len(s.forecasts), 0]
        counters[layout.LAST_MISSING] = t + 1
    else:
        learn_steps(s, w, t, value)
    is_frozen = counters[layout.IS_FROZEN] > 0
    if w.future_at.size > 0 and not is_frozen:
        learn_effects(s, w, value + effect if is_missing else y, covariates, is_missing)
    learn_value(s, value, is_missing)
    if s.smoothing.size > 0:
        learn_pooled_value(s, w, t, math.nan if is_missing else value)
    level = level_of(counters[layout.LEVEL_SUM], t + 1, s.profile.shape[1])
    learn_candidates(s, t, value, level)
    if covariates.size > 0:
        if not is_frozen:
            learn_covariates(s.covariate_moments, covariates, t)
        set_covariate_row(s.covariate_moments, covariates, w.covariate_row)
        set_origin_units(s, t % len(s.forecasts))
    if w.future_at.size > 0:
        set_effects(s, w, t % len(s.forecasts))
    forecast_steps(s, w, t)


@inner_function
def learn_steps(s, w, t, y):
    """Learn the value y of round t in every step that it was forecast for."""
    total, summed = 0.0, 0  # of the last values, and how many they are
    size = max(abs(s.counters[layout.LOWEST]), abs(s.counters[layout.HIGHEST]))
    rounding = MIN_RELATIVE_DEVIATION * size
    spread, relative_size, compared = spread_at(s, t), 0.0, 0
    for j in range(w.step_of.size):
        h = int(w.step_of[j])
        if t < h:
            break
        slot = (t - h) % len(s.forecasts)
        while summed < h:
            total += y if summed == 0 else s.values[(t - summed) % s.values.size]
            summed += 1
        level, scale = s.origins[slot, 0], s.origins[slot, 1]
        if scale > 0:
            learn_step(s, w, j, slot, t, scale_feature(y - level, scale))
        error, scales = y - s.forecasts[slot, h - 1], s.error_scales[slot, j]
        error = without_rounding(error, rounding)
        relative = learn_size(s, j, error)
        s.largest_errors[0, j] = max(s.largest_errors[0, j], abs(error))
        if relative >= 0:
            relative_size, compared = relative_size + relative, compared + 1
        learn_error(s.step_counters[j], s.step_errors[j], error / spread, scales[0])
        if s.counters[layout.LAST_MISSING] <= t - h + 1:
            error = total
            for i in range(h):
                error -= s.forecasts[slot, i]
            error = without_rounding(error, h * rounding)
            s.largest_errors[1, j] = max(s.largest_errors[1, j], abs(error))
            learn_error(s.total_counters[j], s.total_errors[j], error, scales[1])
    if compared > 0:
        learn_spread(s, t, relative_size / compared)


@inner_function
def without_rounding(error, rounding):
    """The error; 0 where it is no more than rounding, which would be a scale for later
    errors that makes them a million times too large."""
    return 0.0 if abs(error) <= rounding else error


@inner_function
def learn_step(s, w, j, slot, target, label):
    """Learn the label of round ``target``, in units of the scale, in the regressions of
    one step."""
    candidates, count = s.candidates[slot, j], s.error_counts[j]
    for lane in range(layout.LANES):
        w.lane_errors[lane] = abs(candidates[lane] - label)
    set_outlier_weights(w.lane_errors, s.mean_errors[j], count, w.lane_weights)
    learn_losses(s.losses[j], count, candidates, label)
    for k in range(candidates.size):
        s.candidate_errors[j, k] += s.has_candidate[slot, k]
    if s.smoothing.size > 0:
        learn_pool(s, w, j, s.pool_members[slot, j], label)
    row = s.features[slot, j]
    limit_leverage(row, w.lane_weights)
    learn_lanes(s.moments[j], s.theta[j], row, label, w.lane_weights, w)
    s.error_counts[j] = count + 1
    group = int(w.group_of[j])
    set_nonlinear_row(s, w, row, s.contexts[slot, j], target, w.nonlinear_row)
    weight = w.lane_weights[WEIGHT_LANE] / w.group_sizes[group]
    learn_nonlinear(s, w, group, row, label, weight)
    if j == 0 or group != int(w.group_of[j - 1]):
        solve_now_and_then(s, w, group, int(w.step_of[j]))


@inner_function
def forecast_steps(s, w, t):
    """Forecast all steps after round t, the newest one."""
    counters, slot, horizon = s.counters, t % len(s.forecasts), s.forecasts.shape[1]
    season, cycle = s.profile.shape[1], s.cycle_profile.shape[1]
    level = level_of(counters[layout.LEVEL_SUM], t + 1, season)
    cycle_level = level_of(counters[layout.CYCLE_SUM], t + 1, cycle)
    for j in range(w.step_of.size):
        s.error_scales[slot, j, 0] = s.step_counters[j, tracker_layout.ERROR_SCALE]
        s.error_scales[slot, j, 1] = s.total_counters[j, tracker_layout.ERROR_SCALE]
    s.origins[slot, 0], s.origins[slot, 1] = level, 0.0
    # Before values have differed for the first time there is no scale, and nothing to
    # regress on: numbers in a tiny unit would outweigh all later ones.
    if t < season + EARLY_ROUNDS or counters[layout.DEVIATION] == 0:
        for h in range(1, horizon + 1):
            at = max(t + h - known_lag(h, season), 0) if t + 1 >= season else t
            s.forecasts[slot, h - 1] = s.values[at % s.values.size]
        return
    scale = scale_of(counters)
    lowest, highest = counters[layout.LOWEST], counters[layout.HIGHEST]
    margin = RANGE_MARGIN * (highest - lowest)
    low, high = lowest - margin, highest + margin
    s.origins[slot, 1] = scale
    set_path(s, w.covariate_row, w.is_future, scale, low, high, w)
    set_origin_features(s, w.path, t, level, cycle_level, scale, w.lags, w.row)
    set_origin_context(s, w.path, t, level, scale, w.context)
    base = w.row.size - w.covariate_row.size
    for i in range(w.covariate_row.size):
        w.row[base + i] = 0.0 if w.is_future[i] > 0 else w.covariate_row[i]
    if s.smoothing.size > 0:
        set_smoothed(s, w)
    begin_candidates(s, w, slot, t, scale)
    has_candidate = s.has_candidate[slot]
    ends = scale_feature(low - level, scale), scale_feature(high - level, scale)
    model = -1
    for h in range(1, horizon + 1):
        j = int(w.model_of[h - 1])
        if j != model:
            step, errors = int(w.step_of[j]), s.candidate_errors[j]
            set_mixture_weights(
                s.losses[j], int(s.error_counts[j]), errors, has_candidate, step,
                w.priors, w.weights,
            )  # fmt: skip
            if s.smoothing.size > 0:
                set_pool_weights(s, w, j)
            if w.future_at.size > 0:
                set_future_coefficients(s, w, slot, j)
            model = j
        set_step_features(s, w.path, t, h, level, scale, w.row)
        set_step_context(s, w.path, t, h, level, scale, w.context)
        if h == 1:
            set_inputs(w, w.row, w.context, t + h, w.hinge_inputs)
            learn_sizes(s, w.hinge_inputs)
        candidates = s.candidates[slot, j]
        set_candidates(s, w, slot, j, t, h, level, scale, candidates)
        limit_candidates(candidates, *ends)
        forecast = weighted_mean(candidates, w.weights)
        if s.smoothing.size > 0:
            members = s.pool_members[slot, j]
            forecast = pool_forecasts(s, w, h, forecast, level, scale, *ends, members)
        s.forecasts[slot, h - 1] = min(max(level + scale * forecast, low), high)
        if h == int(w.step_of[j]):
            for i in range(w.row.size):
                s.features[slot, j, i] = w.row[i]
            for i in range(w.context.size):
                s.contexts[slot, j, i] = w.context[i]
