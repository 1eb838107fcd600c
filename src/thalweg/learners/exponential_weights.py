"""Exponential weights over experts, stored as logarithms.

Also known as: Hedge, multiplicative weights, the exponentially weighted average
forecaster; at rate 1 on log loss, Bayes' rule.
"""

import numpy as np

from thalweg.kernels.rls_bank.exponential_weights import MAX_LOSS
from thalweg.types import FloatArray


def initial_log_weights(count: int) -> FloatArray:
    """log w_1 with w_1^i = (1 + 1/N) / i(i+1), which sum to one."""
    i = np.arange(1, count + 1)
    return np.asarray(np.log((1 + 1 / count) / (i * (i + 1))))


def hedge(log_weights: FloatArray, losses: FloatArray, rate: float) -> FloatArray:
    """log w', normalised, with w'_i in proportion to w_i exp(-rate · loss_i)."""
    # Two shifts that cancel, made while they are exact: a loss of 1e300 would swallow
    # log w, and a greatest log w of -1e300 the logarithm of the sum. Infinite losses
    # are all alike.
    losses = np.minimum(np.asarray(losses, np.float64), MAX_LOSS)
    raised = log_weights - rate * (losses - losses.min())
    raised -= raised.max()
    raised -= np.logaddexp.reduce(raised)
    if raised.min() >= -MAX_LOSS:
        return np.asarray(raised)
    return _limited_hedge(log_weights, losses, rate)


def _limited_hedge(
    log_weights: FloatArray, losses: FloatArray, rate: float
) -> FloatArray:
    """``hedge`` where a logarithm would overflow: none falls below -``MAX_LOSS``.

    A loss that is not a number counts as the largest.
    """
    losses = np.nan_to_num(losses, nan=MAX_LOSS, neginf=-MAX_LOSS)
    excess = np.minimum(rate * (losses - losses.min()), MAX_LOSS)
    raised = log_weights - excess
    raised -= raised.max()
    raised -= np.logaddexp.reduce(raised)
    return np.asarray(np.maximum(raised, -MAX_LOSS))


def weighted_mean(log_weights: FloatArray, points: FloatArray) -> FloatArray:
    """The weighted mean of the points, shape (N, ...), in their own dtype."""
    weights = np.exp(log_weights).astype(points.dtype)
    return np.tensordot(weights, points, axes=1)
