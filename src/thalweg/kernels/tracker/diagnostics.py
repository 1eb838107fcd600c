"""Diagnostics of a round, recorded on request: weights, slope, memory, interval."""

import math

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.tracker.mixture import combine_weights
from thalweg.kernels.tracker.prediction_interval import interval_offsets
from thalweg.kernels.tracker.tracker_layout import (
    ANCHORED,
    AUTOREGRESSIVE,
    EXPERTS,
    LAST_VALUE,
    LEVEL_LANES,
    MEMORIES,
    MEMORY_COUNT,
    ROUNDS,
    RULES,
    SHRUNK,
)


@inline_function
def record_round(records, t, forecast, s, workspace, coverage):
    """Fill row ``t`` of those records that are not empty.

    ``workspace`` is that of the rules.
    """
    theta, weights, interval = records.theta, records.weights, records.interval
    forecast_weights = workspace.forecast_weights
    if len(records.forecast):
        records.forecast[t] = forecast
    if len(theta) or len(weights) or len(records.memory):
        rule_weights, expert_weights = workspace.rule_weights, workspace.expert_weights
        combine_weights(rule_weights, expert_weights, RULES, forecast_weights)
    if len(theta):
        set_slope(s.experts, forecast_weights, theta[t])
    if len(weights):
        for k in range(EXPERTS):
            weights[t, k] = forecast_weights[k]
    if len(records.memory):
        records.memory[t] = effective_memory(s.counters, forecast_weights)
    if len(interval):
        down, up = interval_offsets(s.counters, s.recent_errors, coverage)
        interval[t, 0], interval[t, 1] = forecast + down, forecast + up


@inner_function
def effective_memory(counters, weights):
    """exp Σ w_k ln min(M_k, t), where M of the last value is 1; 0 before any label."""
    t = counters[ROUNDS]
    if t == 0:
        return 0.0
    total = 0.0
    for k in range(LAST_VALUE):
        total += weights[k] * math.log(min(MEMORIES[k % MEMORY_COUNT], t))
    return math.exp(total)


@inline_function
def set_slope(experts, weights, out):
    """Set the slope of the forecast in x: the mean of all coefficients, (n,)."""
    for j in range(out.size):
        out[j] = 0.0
        for lane in range(experts.shrunk.shape[1]):
            out[j] += weights[SHRUNK + lane] * experts.shrunk[j, lane]
        for lane in range(LEVEL_LANES):
            out[j] += weights[ANCHORED + lane] * experts.anchored[j, lane]
        for lane in range(MEMORY_COUNT):
            out[j] += weights[AUTOREGRESSIVE + lane] * experts.autoregressive[j, lane]
