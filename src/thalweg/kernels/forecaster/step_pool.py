r"""The pool of a step: the mixture, and forecasts that learn from few values.

Also known as: forecast combination. The mixture of regressions (step_mixture.py) has
many coefficients, too many for short monthly or yearly series. Two forecasts complement
it: the mean at the same phase of the season, and exponential smoothing
(kernels/exponential_smoothing.py). Each of the three, and the means of the mixture with
one or both others, are weighed by their errors at this step (forecast_weights.py), with
a rate that decreases with the step, as errors of neighbouring origins are correlated
(docs/decisions/forecaster.md).
"""

import math

from thalweg.kernels import exponential_smoothing
from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.forecast_weights import (
    learn_discounted,
    set_means,
    set_weights,
    weighted_mean,
)
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster.step_features import scale_feature
from thalweg.kernels.forecaster.step_mixture import MAX_LOSS

RATE, OVERLAP = 0.3, 0.1
"""The rate of the weights at step h is ``RATE`` / (1 + ``OVERLAP`` (h - 1))."""
DISCOUNT = 0.99
"""Discount of squared errors: about the last 100 count."""
MIXTURE_ERRORS = 50.0
"""After n errors the prior of the mixture is multiplied by (1 + n / 50)²: with many
values the regressions are better than the others, and differences in the last hundred
errors are mostly noise."""
MIN_PHASE_SHARE = 0.1
"""Minimum share of a new value in the mean of its phase: about ten seasons count."""
MAX_IN_UNITS = 1e60
"""Limit of values in units of the first one, whose squares are then finite."""

unpack_smoothing = exponential_smoothing.STATE.unpack


@inner_function
def learn_pooled_value(s, w, t, y):
    """Learn the value of round t, NaN where it is missing: phase mean and smoothing."""
    season, counters = s.phase_means.shape[1], s.counters
    if not math.isnan(y):
        phase = t % season
        s.phase_means[1, phase] += 1
        share = max(1 / s.phase_means[1, phase], MIN_PHASE_SHARE)
        s.phase_means[0, phase] += share * (y - s.phase_means[0, phase])
        if y != 0.0 and counters[layout.VALUE_UNIT] == 0.0:
            exponent = min(max(math.frexp(y)[1], -1000), 1000)
            counters[layout.VALUE_UNIT] = 2.0 ** float(exponent)
        if y != 0.0:
            y = min(max(y / counters[layout.VALUE_UNIT], -MAX_IN_UNITS), MAX_IN_UNITS)
    season = exponential_smoothing.modelled_season(season)
    smoothing = unpack_smoothing(s.smoothing, 0, season, w.smoothing_weights.size)
    exponential_smoothing.learn_round(smoothing, season, y, w.smoothing_forecasts)


@inner_function
def set_smoothed(s, w):
    """Set what exponential smoothing forecasts for all steps."""
    season = exponential_smoothing.modelled_season(s.phase_means.shape[1])
    smoothing = unpack_smoothing(s.smoothing, 0, season, w.smoothing_weights.size)
    exponential_smoothing.set_model_weights(smoothing, w.smoothing_weights)
    for h in range(1, w.smoothed.size + 1):
        mean = exponential_smoothing.mean_forecast(
            smoothing, season, h, w.smoothing_weights, w.smoothing_forecasts
        )
        w.smoothed[h - 1] = s.counters[layout.VALUE_UNIT] * mean


@inner_function
def set_pool_weights(s, w, j):
    """Set the weights of the means at the step of the model j."""
    for k in range(layout.POOL_MEANS):
        w.pool_weights[k] = w.pool_priors[k]
    w.pool_weights[0] *= (1.0 + s.error_counts[j] / MIXTURE_ERRORS) ** 2
    rate = RATE / (1 + OVERLAP * (w.step_of[j] - 1))
    set_weights(s.pool_losses[j], rate * s.pool_counts[j], w.pool_weights)


@inner_function
def pool_forecasts(s, w, h, mixture, level, scale, lowest, highest, members):
    """The pooled forecast of step h, less the level and in units of the scale.

    ``members`` (POOL_MEMBERS,) are set to what is pooled.
    """
    season = s.phase_means.shape[1]
    phase = int(s.counters[layout.ROUNDS] - 1 + h) % season
    members[layout.POOLED_MIXTURE] = mixture
    mean = mixture  # where no value of the phase is known
    if s.phase_means[1, phase] > 0:
        mean = scale_feature(s.phase_means[0, phase] - level, scale)
    members[layout.PHASE_MEAN] = mean
    members[layout.SMOOTHED] = scale_feature(w.smoothed[h - 1] - level, scale)
    for k in range(layout.POOL_MEMBERS):
        members[k] = min(max(members[k], lowest), highest)
    set_means(members, layout.POOL_SETS, w.pool_means)
    return weighted_mean(w.pool_means, w.pool_weights)


@inner_function
def learn_pool(s, w, j, members, label):
    """Learn the label of the step of model j, in units of the scale as the members."""
    set_means(members, layout.POOL_SETS, w.pool_means)
    learn_discounted(s.pool_losses[j], w.pool_means, label, DISCOUNT, MAX_LOSS)
    s.pool_counts[j] = DISCOUNT * s.pool_counts[j] + 1.0
