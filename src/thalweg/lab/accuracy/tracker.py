"""The Tracker against the best fixed (γ, ridge) pair in hindsight, on one stream.

Every learner predicts, then learns. The pairs keep their ridge, A_t = γA_{t-1} + xxᵀ +
(1-γ)δI, and are given inputs and target standardised with the whole stream's mean and
deviation, and an intercept; the Tracker gets the raw numbers.
"""

import time
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

import numpy as np

from thalweg.kernels.ridge_regression import discounted_ridge
from thalweg.lab.accuracy.rounds import burn_in, mean_square, standard
from thalweg.learners import Tracker
from thalweg.losses import SquaredError
from thalweg.types import Block, FloatArray, Trace

DISCOUNTS = (1.0, 0.9995, 0.999, 0.995, 0.99, 0.98, 0.95, 0.9, 0.8, 0.6)
RIDGES = (1e-4, 1e-2, 1.0)
LEVEL = 0.9
"""Of the intervals whose coverage is measured."""


class Row(NamedTuple):
    """One stream. From ``tracker`` to ``never_forget``: errors over the best pair's."""

    stream: str
    features: int
    rounds: int
    discount: float  # of the best pair
    ridge: float
    nmse: float  # the best pair's mean squared error over the target's variance
    tracker: float
    features_only: float  # a Tracker that sees labels only through what it learnt
    persistence: float
    never_forget: float  # the best ridge at γ = 1
    covered: float
    micros: float  # the Tracker's, a round


def accuracy(name: str, x: FloatArray, y: FloatArray) -> Row:
    """Run everything on one stream: features (T, n), labels (T,)."""
    fixed = pair_errors(x, y)
    best = min(fixed, key=fixed.__getitem__)
    trace, micros = _timed(Tracker(coverage=LEVEL), x, y)
    blind = _run(Tracker(information="features"), x, y)
    scored = y[burn_in(len(y)) :]
    low, high = trace.extras["interval"][burn_in(len(y)) :].T

    def ratio(prediction: FloatArray) -> float:
        return mean_square(prediction, y) / fixed[best]

    return Row(
        name, x.shape[1], len(y), *best, fixed[best] / float(scored.var()),
        ratio(trace.prediction), ratio(blind.prediction), ratio(np.append(0.0, y[:-1])),
        min(fixed[1.0, ridge] for ridge in RIDGES) / fixed[best],
        float(np.mean((low <= scored) & (scored <= high))), micros,
    )  # fmt: skip


def pair_errors(x: FloatArray, y: FloatArray) -> dict[tuple[float, float], float]:
    """The mean squared error of every pair, in the target's own unit."""
    rows, target = np.column_stack([standard(x), np.ones(len(y))]), standard(y)
    return {
        pair: mean_square(discounted_ridge(rows, target, *pair), target)
        * float(y.var())
        for pair in product(DISCOUNTS, RIDGES)
    }


def geometric_mean(ratios: Iterable[float]) -> float:
    """The mean of ratios, for which 2 and ½ cancel."""
    return float(np.exp(np.mean(np.log(list(ratios)))))


def _timed(learner: Tracker, x: FloatArray, y: FloatArray) -> tuple[Trace, float]:
    """The trace with its intervals, and µs a round without."""
    _run(learner, x[:2], y[:2])  # compiled by now
    began = time.perf_counter()
    _run(learner, x, y)
    micros = 1e6 * (time.perf_counter() - began) / len(y)
    return _run(learner, x, y, ("interval",)), micros


def _run(
    learner: Tracker, x: FloatArray, y: FloatArray, record: tuple[str, ...] = ()
) -> Trace:
    start = learner.init(np.zeros(x.shape[1]))
    return learner.run(start, SquaredError(), Block(x, y), record)[1]
