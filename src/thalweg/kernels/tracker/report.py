"""What the Tracker knows about itself, from the weights of its coming forecast."""

import math

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.tracker.errors import interval_offsets
from thalweg.kernels.tracker.layout import (
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
from thalweg.kernels.tracker.mixture import combine_weights


@inline_function
def record(records, t, forecast, s, rule_workspace, level):
    """Keep of round ``t`` what is wanted."""
    theta, weights, interval = records.theta, records.weights, records.interval
    if len(records.forecast):
        records.forecast[t] = forecast
    if len(theta) or len(weights) or len(records.memory):
        combine_weights(
            rule_workspace.rule_weights,
            rule_workspace.expert_weights,
            RULES,
            rule_workspace.forecast_weights,
        )
    if len(theta):
        slope(s.experts, rule_workspace.forecast_weights, theta[t])
    if len(weights):
        for k in range(EXPERTS):
            weights[t, k] = rule_workspace.forecast_weights[k]
    if len(records.memory):
        records.memory[t] = memory(s.counters, rule_workspace.forecast_weights)
    if len(interval):
        down, up = interval_offsets(s.counters, s.recent_errors, level)
        interval[t, 0], interval[t, 1] = forecast + down, forecast + up


@inner_function
def memory(counters, weights):
    """exp Σ w_k ln min(M_k, t), the last value's M being 1; 0 before any label."""
    t = counters[ROUNDS]
    if t == 0:
        return 0.0
    total = 0.0
    for k in range(LAST_VALUE):
        total += weights[k] * math.log(min(MEMORIES[k % MEMORY_COUNT], t))
    return math.exp(total)


@inline_function
def slope(experts, weights, out):
    """How the forecast moves with x: the mean of the experts' coefficients, (n,)."""
    for j in range(out.size):
        out[j] = 0.0
        for lane in range(experts.shrunk.shape[1]):
            out[j] += weights[SHRUNK + lane] * experts.shrunk[j, lane]
        for lane in range(LEVEL_LANES):
            out[j] += weights[ANCHORED + lane] * experts.anchored[j, lane]
        for g in range(MEMORY_COUNT):
            out[j] += weights[AUTOREGRESSIVE + g] * experts.autoregressive[j, g]
