"""The Tracker against the best fixed (γ, ridge) pair in hindsight, on one stream.

Prequential evaluation (test-then-train): every learner predicts, then learns. The pairs
are exponentially weighted least squares with a retained ridge, A_t = γA_{t-1} + xxᵀ +
(1-γ)δI, and get an intercept, and inputs and target standardised with the whole
stream's mean and deviation; the Tracker gets the raw numbers.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np

from benchmarks.accuracy.accuracy_streams import AccuracyStream, burn_in
from benchmarks.accuracy.interval_accuracy import IntervalAccuracy, measure_intervals
from benchmarks.ridge_regression import discounted_ridge
from thalweg.learners import Tracker
from thalweg.losses import SquaredError
from thalweg.types import Block, FloatArray, Trace

DISCOUNTS = (1.0, 0.9995, 0.999, 0.995, 0.99, 0.98, 0.95, 0.9, 0.8, 0.6)
RIDGES = (1e-4, 1e-2, 1.0)
COVERAGE = 0.9
"""Nominal coverage of the prediction intervals whose true coverage is measured."""


SEEDS = 5
"""Draws of the Tracker's hinges over which its error is averaged."""


class SeededLearner(NamedTuple):
    """A learner to measure: one for every seed, over which its error is averaged."""

    make: Callable[[int], Tracker]
    seeds: int = 1  # more only where the learner depends on the seed


LEARNERS: Mapping[str, SeededLearner] = {
    "tracker": SeededLearner(lambda seed: Tracker(coverage=COVERAGE, seed=seed), SEEDS),
    # Its experts see no past targets as features.
    "features_only": SeededLearner(
        lambda seed: Tracker("features", coverage=COVERAGE, seed=seed), SEEDS
    ),
}
"""The learners that are measured; the intervals and the time are those of the first."""


class TrackerAccuracy(NamedTuple):
    """One stream: errors over the best pair's, and the first learner's intervals."""

    stream: str
    features: int
    rounds: int
    discount: float  # of the best pair
    ridge: float
    nmse: float  # the best pair's mean squared error over the target's variance
    # Of each learner, of persistence, and of the best ridge at γ = 1 (never_forget).
    errors: Mapping[str, float]
    intervals: IntervalAccuracy
    micros: float  # microseconds a round


class LearnerAccuracy(NamedTuple):
    """One learner on one stream: means over its seeds, and the time of one."""

    error: float  # the mean squared error of the scored rounds
    intervals: IntervalAccuracy
    micros: float  # microseconds of one processor a round, intervals left out


def measure_tracker(
    name: str,
    stream: AccuracyStream,
    learners: Mapping[str, SeededLearner] = LEARNERS,
) -> TrackerAccuracy:
    """Run the learners and all pairs on one stream."""
    fixed = pair_errors(stream)
    best = min(fixed, key=fixed.__getitem__)
    measured = {key: measure_learner(each, stream) for key, each in learners.items()}
    first = next(iter(measured.values()))
    errors = {key: each.error for key, each in measured.items()} | {
        "persistence": mean_square(np.append(0.0, stream.y[:-1]), stream.y),
        "never_forget": min(fixed[1.0, ridge] for ridge in RIDGES),
    }
    return TrackerAccuracy(
        name, stream.x.shape[1], len(stream.y), *best,
        fixed[best] / float(stream.y[burn_in(len(stream.y)) :].var()),
        {key: error / fixed[best] for key, error in errors.items()},
        first.intervals, first.micros,
    )  # fmt: skip


def measure_learner(learner: SeededLearner, stream: AccuracyStream) -> LearnerAccuracy:
    """Run a learner on one stream, once for every seed."""
    errors, intervals = [], []
    for seed in range(learner.seeds):
        trace = _run(learner.make(seed), stream, ("interval",))
        errors.append(mean_square(trace.prediction, stream.y))
        intervals.append(measure_intervals(trace, stream.y, COVERAGE))
    means = IntervalAccuracy(*np.mean(intervals, axis=0).tolist())
    start = time.process_time()  # the kernel is compiled by now
    _run(learner.make(0), stream)
    micros = 1e6 * (time.process_time() - start) / len(stream.y)
    return LearnerAccuracy(float(np.mean(errors)), means, micros)


def mean_square(prediction: FloatArray, y: FloatArray) -> float:
    """The mean squared error of the scored rounds."""
    return float(np.mean((y - prediction)[burn_in(len(y)) :] ** 2))


def pair_errors(stream: AccuracyStream) -> dict[tuple[float, float], float]:
    """The mean squared error of every pair, in the target's own unit."""
    x, target = stream.standardise()
    rows = np.column_stack([x, np.ones(len(target))])
    return {
        pair: mean_square(discounted_ridge(rows, target, *pair), target)
        * stream.scales.y_deviation**2
        for pair in product(DISCOUNTS, RIDGES)
    }


def geometric_mean(ratios: Iterable[float]) -> float:
    """The geometric mean of ratios, for which 2 and ½ cancel."""
    return float(np.exp(np.mean(np.log(list(ratios)))))


def _run(
    learner: Tracker, stream: AccuracyStream, record: tuple[str, ...] = ()
) -> Trace:
    start = learner.init(np.zeros(stream.x.shape[1]))
    return learner.run(start, SquaredError(), Block(stream.x, stream.y), record)[1]
