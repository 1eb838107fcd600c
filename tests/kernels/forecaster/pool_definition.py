"""The pool of a step, written down slowly and plainly: all values are remembered.

Exponential smoothing is that of its kernel, which has a definition of its own
(tests/kernels/plain_forecasts.py): here one bank for each step, of the values as they
came, in a power of two for their unit.
"""

import math

import numpy as np

from tests.kernels.forecaster.effects_definition import limit, running_mean
from tests.kernels.plain_forecasts import loss_weights
from thalweg.kernels import exponential_smoothing
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster import step_mixture, step_pool

SETS = ((0,), (1,), (2,), (0, 1), (0, 2), (0, 1, 2))
"""Which of mixture, phase mean and smoothing are averaged."""


class PooledSeries:
    """What is known of the series: means of the phases, and exponential smoothing."""

    def __init__(self, season, horizon):
        self.season, self.unit = season, 0.0
        self.values = []  # NaN where missing
        self.banks = [
            exponential_smoothing.new_state(season, has_products=False)
            for _ in range(horizon)
        ]
        self.smoothed = np.zeros(horizon)

    def learn(self, y):
        self.values.append(y)
        if self.unit == 0 and y != 0 and not np.isnan(y):
            self.unit = 2.0 ** math.frexp(y)[1]
        made, value = np.empty(1), np.array([y / self.unit if self.unit else y])
        for h, bank in enumerate(self.banks, start=1):
            sizes = exponential_smoothing.dimensions(self.season, has_products=False)
            exponential_smoothing.play(bank, *sizes.values(), value, h, made)
            self.smoothed[h - 1] = self.unit * made[0]

    def phase_mean(self, h):
        """The mean at the phase h rounds after the last value; None before any."""
        alike = self.values[(len(self.values) - 1 + h) % self.season :: self.season]
        known = [y for y in alike if not np.isnan(y)]
        return running_mean(known, step_pool.MIN_PHASE_SHARE) if known else None

    def members(self, h, mixture, level, scale, ends):
        """What is pooled, less the level and in units of the scale."""
        mean = self.phase_mean(h)
        mean = mixture if mean is None else limit((mean - level) / scale)
        smoothed = limit((self.smoothed[h - 1] - level) / scale)
        return np.clip([mixture, mean, smoothed], *ends)


class Pool:
    """The pool of one step, and the errors of all that it weighs."""

    def __init__(self, step):
        self.step, self.squares = step, []

    def learn(self, members, label):
        errors = np.array([np.mean(members[list(one)]) for one in SETS]) - label
        self.squares.append(np.minimum(errors**2, step_mixture.MAX_LOSS))

    def weights(self):
        discounts = step_pool.DISCOUNT ** np.arange(len(self.squares))[::-1]
        losses = [0.0] * len(SETS)
        if self.squares:
            losses = (discounts @ np.array(self.squares)).tolist()
        rate = step_pool.RATE / (1 + step_pool.OVERLAP * (self.step - 1))
        weights = loss_weights(losses, discounts.sum(), rate)
        share = 1 + len(self.squares) / step_pool.MIXTURE_ERRORS
        weights[0] *= layout.POOL_PRIOR[0] * share**2
        return weights / weights.sum()

    def forecast(self, members):
        means = [np.mean(members[list(one)]) for one in SETS]
        return float(self.weights() @ means)
