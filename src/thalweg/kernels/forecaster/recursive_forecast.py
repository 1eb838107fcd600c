"""The recursive forecast: one step ahead, with its own forecasts as the next values.

Also known as: iterated multi-step forecasting. It uses the mean coefficients of the
first step's regressions, so that it learns from the newest errors; the direct
regressions of step h have learnt only from origins at least h rounds ago.
"""

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster.step_features import (
    level_of,
    scale_feature,
    set_origin_features,
    set_step_features,
    value_at,
)


@inner_function
def set_path(s, covariate_row, is_future, scale, low, high, workspace):
    """Set ``workspace.path`` to the forecasts of all steps, within low and high.

    ``covariate_row`` holds the covariates in units of their own; future covariates are
    left out.
    """
    path, theta, row = workspace.path, workspace.coefficients, workspace.row
    base = row.size - covariate_row.size
    season, cycle = s.profile.shape[1], s.cycle_profile.shape[1]
    rounds = int(s.counters[layout.ROUNDS])
    for j in range(row.size):
        total = 0.0
        for lane in range(layout.LANES):
            total += s.theta[0, j, lane]
        theta[j] = total / layout.LANES
    constant_part = 0.0
    for i in range(covariate_row.size):
        if is_future[i] == 0:
            constant_part += theta[base + i] * covariate_row[i]
    level_sum, cycle_sum = s.counters[layout.LEVEL_SUM], s.counters[layout.CYCLE_SUM]
    for h in range(path.size):
        t = rounds - 1 + h  # the round before the step
        level = level_of(level_sum, t + 1, season)
        cycle_level = level_of(cycle_sum, t + 1, cycle)
        set_origin_features(s, path, t, level, cycle_level, scale, workspace.lags, row)
        set_step_features(s, path, t, 1, level, scale, row)
        total = constant_part
        for j in range(base):
            total += theta[j] * row[j]
        value = min(max(level + scale * total, low), high)
        path[h] = value
        level_sum += value - _value_at_or_zero(s, path, t + 1 - season)
        cycle_sum += value - _value_at_or_zero(s, path, t + 1 - cycle)


@inner_function
def forecast_recursive(s, w, j, t, h, level, scale, candidates):
    """The forecast of step h."""
    return scale_feature(w.path[h - 1] - level, scale)


@inner_function
def _value_at_or_zero(s, path, r):
    """The value that leaves a rolling sum: that of round r, or 0 before the first."""
    return value_at(s, path, r) if r >= 0 else 0.0
