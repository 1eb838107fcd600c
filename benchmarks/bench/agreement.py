"""Comparison of predictions before anything is timed: do all solve one problem?"""

from collections.abc import Sequence

import numpy as np

from benchmarks.bench.bench_results import Agreement
from benchmarks.bench.bench_stream import BenchStream
from benchmarks.bench.implementations import Implementation
from thalweg.learners import RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.types import Block, FloatArray

ROUNDS = 300
TOLERANCE = 1e-6
"""Of the spread of y. Rounding alone stays below 10⁻⁸ over so few rounds."""


def check_agreement(implementation: Implementation, stream: BenchStream) -> Agreement:
    """How far its predictions are from thalweg's, at the same γ and ridge."""
    name, head, n = implementation.name, stream.head(ROUNDS), stream.x.shape[1]
    settings = implementation.discount, implementation.ridge
    try:
        predictions = implementation.prepare(head, *settings)()
    except Exception as error:  # another library may raise anything
        return Agreement(name, n, np.inf, f"failed: {error}")
    # Without a prior the first n rounds determine nothing.
    first = 0 if implementation.ridge else 2 * n
    differences = np.abs(predictions - reference_predictions(head, *settings))[first:]
    largest = differences.max() / head.y.std()
    difference = float(largest) if np.isfinite(largest) else np.inf
    if not implementation.is_same_algorithm:
        return Agreement(name, n, difference, "another algorithm")
    outcome = "agrees" if difference <= TOLERANCE else "disagrees"
    return Agreement(name, n, difference, outcome)


def reference_predictions(
    stream: BenchStream, discount: float, ridge: float
) -> FloatArray:
    """The predictions of thalweg's own recursive least squares."""
    learner = RecursiveLeastSquares(discount, ridge)
    start = learner.init(np.zeros(stream.x.shape[1]))
    block = Block(stream.x, stream.y)
    return learner.run(start, SquaredError(), block)[1].prediction


def exclude_failures(
    implementations: Sequence[Implementation], agreements: Sequence[Agreement]
) -> list[Implementation]:
    """The implementations that did not fail."""
    failed = {agreement.name for agreement in agreements if agreement.has_failed}
    return [
        implementation
        for implementation in implementations
        if implementation.name not in failed
    ]
