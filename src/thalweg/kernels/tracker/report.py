"""What the Tracker knows about itself, from the weights of its coming forecast."""

import math

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.tracker.errors import reach
from thalweg.kernels.tracker.layout import (
    EXPERTS,
    LABELLED,
    LAST,
    LEVELS,
    MEMORIES,
    PULLED,
    ROUNDS,
    RULES,
    SPANS,
    UNPULLED,
)
from thalweg.kernels.tracker.mixture import combine


@inline_function
def record(records, t, forecast, s, votes, level):
    """Keep of round ``t`` what is wanted."""
    theta, weights, interval = records.theta, records.weights, records.interval
    if len(records.forecast):
        records.forecast[t] = forecast
    if len(theta) or len(weights) or len(records.memory):
        combine(votes.top, votes.shares, RULES, votes.final)
    if len(theta):
        slope(s.experts, votes.final, theta[t])
    if len(weights):
        for k in range(EXPERTS):
            weights[t, k] = votes.final[k]
    if len(records.memory):
        records.memory[t] = memory(s.clock, votes.final)
    if len(interval):
        down, up = reach(s.clock, s.recent, level)
        interval[t, 0], interval[t, 1] = forecast + down, forecast + up


@inner_function
def memory(clock, weights):
    """exp Σ w_k ln min(M_k, t), the last value's M being 1; 0 before any label."""
    t = clock[ROUNDS]
    if t == 0:
        return 0.0
    total = 0.0
    for k in range(LAST):
        total += weights[k] * math.log(min(MEMORIES[k % SPANS], t))
    return math.exp(total)


@inline_function
def slope(known, weights, out):
    """How the forecast moves with x: the mean of the experts' coefficients, (n,)."""
    for j in range(out.size):
        out[j] = 0.0
        for lane in range(known.pulled.shape[1]):
            out[j] += weights[PULLED + lane] * known.pulled[j, lane]
        for lane in range(LEVELS):
            out[j] += weights[UNPULLED + lane] * known.unpulled[j, lane]
        for g in range(SPANS):
            out[j] += weights[LABELLED + g] * known.labelled[j, g]
