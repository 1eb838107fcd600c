r"""The pool of forecasts: their mean, weighted by discounted squared errors.

What is weighed are forecasts, or means of several: they are often better than any of
their parts.

.. math:: L_j \gets d L_j + (y - f_j)^2, \quad N \gets d N + 1, \quad
          w_j \propto p_j \exp(-\eta N (L_j - L_{min}) / L_{min})

with the prior weights p, so that with a mean loss of twice the best a forecast has the
weight e^{-ηN} beside it, where the priors are equal. Also known as: exponentially
weighted average or softmax on discounted losses, as one of the Tracker's rules
(tracker/softmax.py). Where the best has no loss at all, those with one have no weight.
"""

import math

from thalweg.kernels.compiler.jit import inner_function

MAX_EXPONENT = 700.0
"""Limit of the exponent, so that weights are normal numbers."""


@inner_function
def set_weights(losses, sharpness, weights):
    """Turn prior weights (m,) into weights, by losses (m,), in place.

    ``sharpness`` is η N. A prior of 0 is that of a forecast that is not there: one at
    least has to be.
    """
    best, total = math.inf, 0.0
    for j in range(weights.size):
        if weights[j] > 0.0 and losses[j] < best:
            best = losses[j]
    for j in range(weights.size):
        if weights[j] > 0.0 and losses[j] > best:
            excess = 0.0
            if best > 0.0:
                excess = min(sharpness * ((losses[j] - best) / best), MAX_EXPONENT)
            weights[j] *= math.exp(-excess) if best > 0.0 else 0.0
        total += weights[j]
    for j in range(weights.size):
        weights[j] /= total


@inner_function
def learn_discounted(losses, forecasts, y, discount, limit):
    """L ← d L + min((y - f)², limit) for all forecasts (m,) of a value.

    One that was not made, NaN, has the error of the first. Losses below 0 stay: they
    are of forecasts that do not count.
    """
    for j in range(losses.size):
        if losses[j] >= 0.0:
            made = forecasts[0] if math.isnan(forecasts[j]) else forecasts[j]
            error = made - y
            losses[j] = discount * losses[j] + min(error * error, limit)


@inner_function
def set_means(forecasts, sets, means):
    """Set the mean of each set's forecasts that are there; NaN without any.

    The sets are bits: 1 for the first forecast, 2 for the second, 4 for the third.
    """
    for j in range(means.size):
        total, count = 0.0, 0
        for k in range(forecasts.size):
            if sets[j] >> k & 1 and not math.isnan(forecasts[k]):
                total += forecasts[k]
                count += 1
        means[j] = total / count if count > 0 else math.nan


@inner_function
def weighted_mean(forecasts, weights):
    """The weighted mean of forecasts; where the weight is 0 there need not be one.

    Summed from the first on, so that where all agree the sum is exact.
    """
    mean = forecasts[0]
    for j in range(1, weights.size):
        if weights[j] > 0.0:
            mean += weights[j] * (forecasts[j] - forecasts[0])
    return mean
