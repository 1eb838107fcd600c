"""The Tracker against River, persistence and the paper's meta-algorithm.

Public streams, cut at 60,000 rows. Every model predicts, then learns; its error is the
mean square of the scored rounds over the target's variance on them. Rivals get inputs
and target standardised with the mean and deviation of the whole stream, known before it
begins, and an intercept; the Tracker gets the raw numbers. Of a rival's settings the
best in hindsight counts.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from river import linear_model, optim

from thalweg import discounts
from thalweg.evaluation.peers import forecast
from thalweg.lab.accuracy.rounds import burn_in, mean_square, standard
from thalweg.lab.datasets import load
from thalweg.learners import Experts, RecursiveLeastSquares, Tracker
from thalweg.losses import SquaredError
from thalweg.types import Block, FloatArray

STREAMS = (
    "cgm", "treasury", "bikeshare", "metro", "beijing_pm", "flights",
    "jpm_hedge", "ibm_hedge", "trump",
)  # fmt: skip
ROWS, BAYESIAN_ROWS = 60_000, 20_000  # River's smoothing inverts a matrix every round
DIVERGED = 5.0
RIDGE = 0.01  # of the meta-algorithm's experts, kept
OPTIMISERS: tuple[Callable[[], Any], ...] = (
    lambda: optim.SGD(0.01),  # River's default, with 0.01 for the intercept
    lambda: optim.SGD(0.001),
    lambda: optim.Adam(0.01),
    lambda: optim.AdaGrad(0.1),
    # What follows, and other rates for the intercept, is only in the best of all.
    lambda: optim.AdaGrad(1.0),
    lambda: optim.RMSProp(0.01),
)
PLAIN = 4
INTERCEPT_RATES = (0.01, 0.1, 0.5)
STEP_BOUNDS = (1.0, 0.1, 0.01, 0.001)  # C; at River's default, 1, NMSE > 1.3 everywhere
SMOOTHING = (None, 0.99, 0.999)


class RivalRow(NamedTuple):
    """One stream: the Tracker's NMSE, and each rival's over it."""

    stream: str
    rounds: int
    tracker: float
    default: float  # River's LinearRegression as it comes
    plain: float  # with the best of four optimisers
    best: float  # with the best of six, and of three rates for the intercept
    passive: float  # River's PARegressor, with the best of four bounds on its steps
    bayesian: float  # River's BayesianLinearRegression; the Tracker on the same rows
    persistence: float
    meta: float


def rivals(name: str, rows: int = ROWS) -> RivalRow:
    """Run everything on the first rows of one public stream."""
    task = load(name)
    x, y, naive = task.x[:rows], task.y[:rows], task.persistence[:rows]
    scaled, target = standard(task.x)[:rows], standard(task.y)[:rows]
    ours = _tracker(x, y)
    error, few = nmse(ours, y), slice(BAYESIAN_ROWS)
    passive = [nmse(forecast(m, scaled, target), target) for m in passive_models()]
    linear = [nmse(forecast(m, scaled, target), target) for m in linear_models()]
    with_one = np.column_stack([scaled, np.ones(len(y))])
    bayesian = min(
        nmse(forecast(model, with_one[few], target[few]), target[few])
        for model in bayesian_models()
    )
    return RivalRow(
        name, len(y), error,
        _ratio(linear[0], error),
        _ratio(min(linear[:PLAIN]), error),
        _ratio(min(linear), error),
        _ratio(min(passive), error),
        _ratio(bayesian, nmse(ours[few], y[few])),
        _ratio(nmse(naive, y), error),
        _ratio(nmse(_meta(with_one, target), target), error),
    )  # fmt: skip


def nmse(prediction: FloatArray, y: FloatArray) -> float:
    """Mean squared error over variance; infinite if it is not a number."""
    error = mean_square(prediction, y) / float(y[burn_in(len(y)) :].var())
    return error if np.isfinite(error) else np.inf


def lost(rows: Sequence[RivalRow], names: Iterable[str]) -> dict[str, float]:
    """The streams on which one of these rivals is not above the Tracker, by how far."""
    least = {row.stream: min(getattr(row, name) for name in names) for row in rows}
    return {stream: value for stream, value in least.items() if value <= 1}


def _ratio(rival: float, ours: float) -> float:
    """A rival's NMSE over the Tracker's; infinite if the rival diverged."""
    return rival / ours if rival <= DIVERGED else np.inf


def _tracker(x: FloatArray, y: FloatArray) -> FloatArray:
    """The Tracker's predictions, no setting touched."""
    learner = Tracker()
    start = learner.init(np.zeros(x.shape[1]))
    return learner.run(start, SquaredError(), Block(x, y))[1].prediction


def _meta(x: FloatArray, y: FloatArray) -> FloatArray:
    """Algorithm 2 over kept-ridge least squares on the grid of Theorem 7, D = 1.

    λ = α = 1/(4Y²), for which exp(-λ(y-p)²/2) is concave in p while |y|, |p| ≤ Y. It is
    told Y, the largest target to come, and T.
    """
    experts = (
        RecursiveLeastSquares(gamma, ridge=RIDGE, floor=RIDGE, leaky=True)
        for gamma in discounts.grid(len(y), 1.0)
    )
    learner = Experts(tuple(experts), 1 / (4 * float(np.abs(y).max()) ** 2))
    start = learner.init(np.zeros(x.shape[1]))
    return learner.run(start, SquaredError(), Block(x, y))[1].prediction


def linear_models() -> Iterable[Any]:
    """River's LinearRegression: the default first, then those of the best of four."""
    for rate, optimiser in product(INTERCEPT_RATES, OPTIMISERS):
        yield linear_model.LinearRegression(optimiser(), intercept_lr=rate)


def passive_models() -> Iterable[Any]:
    """River's PARegressor, from bold to timid."""
    make: Any = linear_model.PARegressor
    return (make(C=bound) for bound in STEP_BOUNDS)


def bayesian_models() -> Iterable[Any]:
    """River's BayesianLinearRegression, with and without forgetting."""
    return (linear_model.BayesianLinearRegression(smoothing=s) for s in SMOOTHING)


CHOICES = len(OPTIMISERS) * len(INTERCEPT_RATES)
