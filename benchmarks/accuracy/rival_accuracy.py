"""The Tracker against River, persistence and the paper's meta-algorithm.

Public streams, cut at 60,000 rows. Every model predicts, then learns (prequential
evaluation); its error is the normalised mean squared error (NMSE), that of the scored
rounds over the target's variance on them. Rivals get an intercept, and inputs and
target standardised with the mean and deviation of the whole stream, known before it
begins; the Tracker gets the raw numbers. Of a rival's settings the best in hindsight
counts.
"""

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from river import linear_model, optim

from benchmarks.accuracy.accuracy_streams import as_published, burn_in
from benchmarks.accuracy.tracker_accuracy import mean_square
from benchmarks.public_streams import load_stream
from thalweg import discounts
from thalweg.evaluation.prequential import predictions
from thalweg.learners import Experts, RecursiveLeastSquares, Tracker
from thalweg.losses import SquaredError
from thalweg.types import Block, FloatArray

STREAMS = (
    "cgm", "treasury", "bikeshare", "metro", "beijing_pm", "flights",
    "jpm_hedge", "ibm_hedge", "trump",
)  # fmt: skip
MAX_ROWS = 60_000
BAYESIAN_ROWS = 20_000  # fewer, as River's smoothing inverts a matrix every round
DIVERGED = 5.0
"""An NMSE above this counts as divergence."""
RIDGE = 0.01  # retained by the meta-algorithm's experts
OPTIMISERS: tuple[Callable[[], Any], ...] = (
    lambda: optim.SGD(0.01),  # River's default, with 0.01 for the intercept
    lambda: optim.SGD(0.001),
    lambda: optim.Adam(0.01),
    lambda: optim.AdaGrad(0.1),
    # What follows, and other rates for the intercept, is only in the best of all.
    lambda: optim.AdaGrad(1.0),
    lambda: optim.RMSProp(0.01),
)
COMMON_OPTIMISERS = 4
"""The first ones, at River's default rate for the intercept."""
INTERCEPT_RATES = (0.01, 0.1, 0.5)
STEP_BOUNDS = (1.0, 0.1, 0.01, 0.001)  # C; at River's default, 1, NMSE > 1.3 everywhere
SMOOTHING = (None, 0.99, 0.999)


class RivalAccuracy(NamedTuple):
    """One stream: the Tracker's NMSE, and each rival's over it."""

    stream: str
    rounds: int
    tracker: float
    default: float  # River's LinearRegression as it comes
    best_of_four: float  # with the best of four optimisers
    best: float  # with the best of six, and of three rates for the intercept
    passive: float  # River's PARegressor, with the best of four bounds on its steps
    bayesian: float  # River's BayesianLinearRegression; the Tracker on the same rows
    persistence: float
    meta: float


def measure_rivals(name: str, rows: int = MAX_ROWS) -> RivalAccuracy:
    """Run the Tracker and all rivals on the first rows of one public stream."""
    stream = load_stream(name)
    x, y, naive = stream.x[:rows], stream.y[:rows], stream.persistence[:rows]
    scaled, target = as_published(stream, rows).standardise()
    tracker = _run_tracker(x, y)
    error, first = nmse(tracker, y), slice(BAYESIAN_ROWS)
    block = Block(scaled, target)
    passive = [nmse(predictions(m, block), target) for m in passive_models()]
    linear = [nmse(predictions(m, block), target) for m in linear_models()]
    with_intercept = np.column_stack([scaled, np.ones(len(y))])
    first_block = Block(with_intercept[first], target[first])
    bayesian = min(
        nmse(predictions(model, first_block), target[first])
        for model in bayesian_models()
    )
    return RivalAccuracy(
        name, len(y), error,
        _ratio(linear[0], error),
        _ratio(min(linear[:COMMON_OPTIMISERS]), error),
        _ratio(min(linear), error),
        _ratio(min(passive), error),
        _ratio(bayesian, nmse(tracker[first], y[first])),
        _ratio(nmse(naive, y), error),
        _ratio(nmse(_run_meta(with_intercept, target), target), error),
    )  # fmt: skip


def nmse(prediction: FloatArray, y: FloatArray) -> float:
    """Mean squared error over variance; infinite if it is not a number."""
    error = mean_square(prediction, y) / float(y[burn_in(len(y)) :].var())
    return error if np.isfinite(error) else np.inf


def _ratio(rival: float, tracker: float) -> float:
    """A rival's NMSE over the Tracker's; infinite if the rival diverged."""
    return rival / tracker if rival <= DIVERGED else np.inf


def _run_tracker(x: FloatArray, y: FloatArray) -> FloatArray:
    """The Tracker's predictions, no setting touched."""
    learner = Tracker()
    start = learner.init(np.zeros(x.shape[1]))
    return learner.run(start, SquaredError(), Block(x, y))[1].prediction


def _run_meta(x: FloatArray, y: FloatArray) -> FloatArray:
    """Algorithm 2 over leaky least squares on the grid of Theorem 7, D = 1.

    λ = α = 1/(4Y²), for which exp(-λ(y-p)²/2) is concave in p while |y|, |p| ≤ Y. It
    knows T and Y, the largest target to come.
    """
    experts = (
        RecursiveLeastSquares(gamma, ridge=RIDGE, floor=RIDGE, leaky=True)
        for gamma in discounts.grid(len(y), 1.0)
    )
    learner = Experts(tuple(experts), 1 / (4 * float(np.abs(y).max()) ** 2))
    start = learner.init(np.zeros(x.shape[1]))
    return learner.run(start, SquaredError(), Block(x, y))[1].prediction


def linear_models() -> Iterable[Any]:
    """River's LinearRegression: the default, the other common ones, then the rest."""
    for rate, optimiser in product(INTERCEPT_RATES, OPTIMISERS):
        yield linear_model.LinearRegression(optimiser(), intercept_lr=rate)


def passive_models() -> Iterable[Any]:
    """River's PARegressor, from large to small steps."""
    make: Any = linear_model.PARegressor
    return (make(C=bound) for bound in STEP_BOUNDS)


def bayesian_models() -> Iterable[Any]:
    """River's BayesianLinearRegression, with and without forgetting."""
    return (linear_model.BayesianLinearRegression(smoothing=s) for s in SMOOTHING)
