"""The Tracker against the best fixed (γ, ridge) pair in hindsight, on one stream.

Prequential evaluation (test-then-train): every learner predicts, then learns. The pairs
are exponentially weighted least squares with a retained ridge, A_t = γA_{t-1} + xxᵀ +
(1-γ)δI, and get an intercept, and inputs and target standardised with the whole
stream's mean and deviation; the Tracker gets the raw numbers.
"""

import time
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

import numpy as np

from thalweg.kernels.ridge_regression import discounted_ridge
from thalweg.learners import Tracker
from thalweg.losses import SquaredError
from thalweg.types import Block, FloatArray, Trace

DISCOUNTS = (1.0, 0.9995, 0.999, 0.995, 0.99, 0.98, 0.95, 0.9, 0.8, 0.6)
RIDGES = (1e-4, 1e-2, 1.0)
COVERAGE = 0.9
"""Nominal coverage of the prediction intervals whose true coverage is measured."""


class TrackerAccuracy(NamedTuple):
    """One stream. From ``tracker`` to ``never_forget``: errors over the best pair's."""

    stream: str
    features: int
    rounds: int
    discount: float  # of the best pair
    ridge: float
    nmse: float  # the best pair's mean squared error over the target's variance
    tracker: float
    features_only: float  # a Tracker whose experts see no past targets as features
    persistence: float
    never_forget: float  # the best ridge at γ = 1
    covered: float  # the share of targets inside the Tracker's intervals
    micros: float  # microseconds a round of the Tracker


def measure_tracker(name: str, x: FloatArray, y: FloatArray) -> TrackerAccuracy:
    """Run the Tracker and all pairs on one stream: features (T, n), targets (T,)."""
    fixed = pair_errors(x, y)
    best = min(fixed, key=fixed.__getitem__)
    trace, micros = _run_and_time(Tracker(coverage=COVERAGE), x, y)
    features_only = _run(Tracker(information="features"), x, y)
    scored = y[burn_in(len(y)) :]
    low, high = trace.extras["interval"][burn_in(len(y)) :].T

    def ratio(prediction: FloatArray) -> float:
        return mean_square(prediction, y) / fixed[best]

    return TrackerAccuracy(
        name, x.shape[1], len(y), *best, fixed[best] / float(scored.var()),
        ratio(trace.prediction), ratio(features_only.prediction),
        ratio(np.append(0.0, y[:-1])),
        min(fixed[1.0, ridge] for ridge in RIDGES) / fixed[best],
        float(np.mean((low <= scored) & (scored <= high))), micros,
    )  # fmt: skip


def burn_in(rounds: int) -> int:
    """How many rounds are not scored: 500, or 100 on streams of at most 5,000."""
    return 100 if rounds <= 5000 else 500


def standardise(values: FloatArray) -> FloatArray:
    """Mean 0 and deviation 1, column by column; a constant column becomes zeros."""
    spread = values.std(axis=0)
    return np.asarray((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1))


def mean_square(prediction: FloatArray, y: FloatArray) -> float:
    """The mean squared error of the scored rounds."""
    return float(np.mean((y - prediction)[burn_in(len(y)) :] ** 2))


def pair_errors(x: FloatArray, y: FloatArray) -> dict[tuple[float, float], float]:
    """The mean squared error of every pair, in the target's own unit."""
    target = standardise(y)
    rows = np.column_stack([standardise(x), np.ones(len(y))])
    return {
        pair: mean_square(discounted_ridge(rows, target, *pair), target)
        * float(y.var())
        for pair in product(DISCOUNTS, RIDGES)
    }


def geometric_mean(ratios: Iterable[float]) -> float:
    """The geometric mean of ratios, for which 2 and ½ cancel."""
    return float(np.exp(np.mean(np.log(list(ratios)))))


def _run_and_time(
    learner: Tracker, x: FloatArray, y: FloatArray
) -> tuple[Trace, float]:
    """The trace with its intervals, and microseconds a round without them."""
    _run(learner, x[:2], y[:2])  # compiles the kernel
    start = time.perf_counter()
    _run(learner, x, y)
    micros = 1e6 * (time.perf_counter() - start) / len(y)
    return _run(learner, x, y, ("interval",)), micros


def _run(
    learner: Tracker, x: FloatArray, y: FloatArray, record: tuple[str, ...] = ()
) -> Trace:
    start = learner.init(np.zeros(x.shape[1]))
    return learner.run(start, SquaredError(), Block(x, y), record)[1]
