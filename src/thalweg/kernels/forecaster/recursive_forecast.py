"""The recursive forecast: one step ahead, again and again, as if it had come true.

Also known as: iterated multi-step forecasting. It uses the regressions of the first
step only, the mean of their coefficients, so that it learns from the newest errors; the
direct regressions of step h have seen nothing newer than labels of origins h rounds
ago.
"""

from thalweg.kernels.forecaster.forecaster_layout import (
    CYCLE_SUM,
    LANES,
    LEVEL_SUM,
    ROUNDS,
)
from thalweg.kernels.forecaster.step_features import (
    level_of,
    set_origin_features,
    set_step_features,
    value_at,
)
from thalweg.kernels.jit import inner_function


@inner_function
def set_path(s, given_row, is_known, scale, low, high, workspace):
    """Set ``workspace.path`` to the forecasts of all steps, within low and high.

    ``given_row`` holds the given features in units of their own; those known in
    advance are left out.
    """
    path, theta, row = workspace.path, workspace.coefficients, workspace.row
    base = row.size - given_row.size
    season, cycle = s.profile.shape[1], s.cycle_profile.shape[1]
    rounds = int(s.counters[ROUNDS])
    for j in range(row.size):
        total = 0.0
        for lane in range(LANES):
            total += s.theta[0, j, lane]
        theta[j] = total / LANES
    constant_part = 0.0
    for i in range(given_row.size):
        if is_known[i] == 0:
            constant_part += theta[base + i] * given_row[i]
    level_sum, cycle_sum = s.counters[LEVEL_SUM], s.counters[CYCLE_SUM]
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
def _value_at_or_zero(s, path, r):
    """The value that leaves a rolling sum: that of round r, or none."""
    return value_at(s, path, r) if r >= 0 else 0.0
