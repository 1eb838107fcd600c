"""Diagnostics of a round, recorded on request: weights, slope, memory, interval."""

import math

from thalweg.kernels.compiler.jit import inline_function, inner_function
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.autoregressive import solve_autoregressive
from thalweg.kernels.tracker.mixture import combine_weights, set_weights
from thalweg.kernels.tracker.prediction_interval import interval_offsets
from thalweg.kernels.tracker.solve import back_substitute


@inner_function
def record_round(records, t, forecast, s, workspace, coverage):
    """Fill row ``t`` of those records that are not empty."""
    rules = workspace.rules
    theta, weights, interval = records.theta, records.weights, records.interval
    forecast_weights = rules.forecast_weights
    if len(records.forecast):
        records.forecast[t] = forecast
    if s.counters[layout.ROUNDS] > 0 and (
        len(theta) or len(weights) or len(records.memory)
    ):
        # With full confidence in every expert, so that they do not depend on x.
        set_weights(s.rules, rules, rules.full_confidence)
        rule_weights, expert_weights = rules.rule_weights, rules.expert_weights
        combine_weights(rule_weights, expert_weights, layout.RULES, forecast_weights)
    if len(theta):
        set_slope(s, workspace, forecast_weights, theta[t])
    if len(weights):
        for k in range(layout.EXPERTS):
            weights[t, k] = forecast_weights[k]
    if len(records.memory):
        records.memory[t] = effective_memory(s.counters, forecast_weights)
    if len(interval):
        down, up = interval_offsets(s.counters, s.recent_errors, coverage)
        interval[t, 0], interval[t, 1] = forecast + down, forecast + up
    if len(records.intervals):
        for k in range(len(layout.INTERVAL_LEVELS)):
            level = layout.INTERVAL_LEVELS[k]
            down, up = interval_offsets(s.counters, s.recent_errors, level)
            records.intervals[t, k, 0] = forecast + down
            records.intervals[t, k, 1] = forecast + up


@inner_function
def effective_memory(counters, weights):
    """exp Σ w_k ln min(M_k, t), where M of the last value is 1; 0 before any label."""
    t = counters[layout.ROUNDS]
    if t == 0:
        return 0.0
    total = 0.0
    for k in range(layout.DISTRIBUTED_LAG):
        total += weights[k] * math.log(min(layout.MEMORIES[k % layout.MEMORY_COUNT], t))
    for i in range(layout.DISTRIBUTED_COUNT):
        memory = min(layout.DISTRIBUTED_MEMORIES[i], t)
        total += weights[layout.DISTRIBUTED_LAG + i] * math.log(memory)
    return math.exp(total)


@inline_function
def set_slope(s, workspace, weights, out):
    """Set the slope of the forecast in x: the mean of all coefficients, (n,).

    The correction for curvature has its own slope everywhere, and is left out.
    """
    lower, shrunk = workspace.experts.lower, workspace.experts.solution
    theta, anchored = workspace.lags.solution, s.experts.anchored
    back_substitute(lower, out.size, out.size, layout.LANES, shrunk)
    solve_autoregressive(workspace.lags.lower, lower, theta)
    for j in range(out.size):
        out[j] = 0.0
        for lane in range(layout.LANES):
            out[j] += weights[layout.SHRUNK + lane] * shrunk[j, lane]
        for lane in range(layout.LEVEL_LANES):
            out[j] += weights[layout.ANCHORED + lane] * anchored[j, lane]
        for lane in range(layout.MEMORY_COUNT):
            out[j] += weights[layout.AUTOREGRESSIVE + lane] * theta[j, lane]
        for lane in range(layout.DISTRIBUTED_COUNT):
            here = s.distributed_lag.theta[j, lane]
            out[j] += weights[layout.DISTRIBUTED_LAG + lane] * here
