"""Hostile but legal stretches: everything stays finite, and what was learnt returns."""

import numpy as np
import pytest

from thalweg.domains import Everywhere
from thalweg.learners import DiscountedNewton, Experts, RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.types import Block

LOSS = SquaredError()
NORMAL, HOSTILE = 300, 400


def hostile(kind, x, y):
    """The stretch, spoilt."""
    rounds, n = x.shape
    spoilt, label = x.copy(), y.copy()
    match kind:
        case "quiet":
            spoilt[:, -1] = 0
        case "zero":
            spoilt[:] = 0
        case "frozen":
            spoilt[:] = x[0]
        case "collinear":
            spoilt[:] = x[:, :1] * np.linspace(1, -0.7, n)
        case "duplicated":
            spoilt[:] = x[:, :1]
        case "tiny":
            spoilt *= 1e-300
        case "small":
            spoilt *= 1e-12
        case "huge":
            spoilt *= 1e12
        case "denormal":
            spoilt *= 5e-324 / np.abs(x).max()
        case "outliers in y":
            label[::7] = 1e12
        case "one outlier in x":
            spoilt[rounds // 2, 0] = 1e12
        case "alternating":
            spoilt[::2] *= 1e6
            spoilt[1::2] *= 1e-6
    return spoilt, label


KINDS = (
    "quiet", "zero", "frozen", "collinear", "duplicated", "tiny", "small", "huge",
    "denormal", "outliers in y", "one outlier in x", "alternating",
)  # fmt: skip
SETTINGS = {
    "rls": lambda gamma: RecursiveLeastSquares(gamma),
    "floor": lambda gamma: RecursiveLeastSquares(gamma, floor=0.01),
    "leaky": lambda gamma: RecursiveLeastSquares(gamma, floor=0.01, leaky=True),
    "newton": lambda gamma: DiscountedNewton(gamma, 1.0, 1.0, "hessian", Everywhere()),
    "experts": lambda gamma: Experts(
        tuple(RecursiveLeastSquares(gamma**k) for k in (1, 2)), 0.1
    ),
}


def stream(kind, n, gamma, seed=0):
    rng = np.random.default_rng(seed)
    back = int(60 / (1 - gamma))
    x = rng.normal(size=(NORMAL + HOSTILE + 2 * back, n))
    y = x @ rng.normal(size=n) + 0.1 * rng.normal(size=len(x))
    part = slice(NORMAL, NORMAL + HOSTILE)
    x[part], y[part] = hostile(kind, x[part], y[part])
    return Block(x, y), NORMAL + HOSTILE, back


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gamma", [0.5, 0.9])
@pytest.mark.parametrize("make", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("n", [1, 3])
def test_the_error_returns_to_a_fresh_learners(kind, gamma, make, n):
    block, end, back = stream(kind, n, gamma)
    learner = make(gamma)
    state, trace = learner.run(learner.init(np.zeros(n)), LOSS, block)
    _, fresh = learner.run(learner.init(np.zeros(n)), LOSS, block[end:])
    assert np.isfinite(trace.prediction).all() and np.isfinite(state.theta).all()
    assert trace.loss[end + back :].mean() <= 2 * fresh.loss[back:].mean()


@pytest.mark.parametrize("n", [100, 500])
@pytest.mark.parametrize("gamma", [0.5, 0.99, 1.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fewer_rows_than_features_stay_finite(n, gamma, dtype):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, n)) * rng.choice([1e-6, 1.0, 1e6], n)
    block = Block(x, rng.normal(size=60))
    for ridge in (1.0, 0.0):
        learner = RecursiveLeastSquares(gamma, ridge)
        state, trace = learner.run(learner.init(np.zeros(n, dtype)), LOSS, block)
        assert np.isfinite(trace.prediction).all() and np.isfinite(state.theta).all()
