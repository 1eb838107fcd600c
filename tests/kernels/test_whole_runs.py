"""Every whole-array kernel against the pure updates, small enough for plain Python."""

import numpy as np
import pytest

from thalweg.domains import Ball, Box, Everywhere
from thalweg.learners import (
    DiscountedGradient,
    DiscountedNewton,
    Experts,
    Learner,
    RecursiveLeastSquares,
)
from thalweg.losses import Huber, Logistic, SquaredError, Tracking
from thalweg.types import Block

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 3)), RNG.uniform(size=40)
RATES = RNG.uniform(0, 2, size=(2, 40))
RATES[0, 5] = 0.0  # a round that weighs nothing
LINEAR = Block(X, Y, *RATES)
POINTS = Block(None, RNG.uniform(-0.5, 0.5, size=(40, 3)), *RATES)
BOX = Box([-0.2, -0.2, 0.0], [0.3, 0.1, 0.2])
RLS = RecursiveLeastSquares

CASES = [
    (RLS(0.9), SquaredError(), LINEAR),
    (RLS(0.9, ridge=0.0), SquaredError(), LINEAR),
    (RLS(0.9, floor=0.1), SquaredError(), LINEAR),
    (RLS(0.9, floor=0.1, leaky=True), SquaredError(), LINEAR),
    (RLS(0.5), SquaredError(), Block(X * [1, 0, 0], Y)),
    (Experts((RLS(1.0), RLS(0.9), RLS(0.5, floor=0.1))), SquaredError(), LINEAR),
    (DiscountedNewton(0.9, 0.5, domain=Ball(0.3)), SquaredError(), LINEAR),
    (DiscountedNewton(0.9, 0.5, domain=BOX), Logistic(), LINEAR),
    (DiscountedNewton(0.9, curvature="hessian"), Huber(0.3), LINEAR),
    (DiscountedNewton(0.9, 1.0, 1.0, "hessian", Ball(0.2)), Logistic(), LINEAR),
    (DiscountedGradient(0.9, "tracking", domain=Ball(0.3)), Tracking(), POINTS),
    (DiscountedGradient(0.9, "smooth", 0.5, 4.0, BOX), Tracking(), POINTS),
    (DiscountedGradient(0.9, "smooth", 0.5, 4.0, BOX), Logistic(), LINEAR),
    (DiscountedGradient(1.0, domain=Everywhere()), Huber(0.3), LINEAR),
]


NAMES = [f"{i}-{type(case[0]).__name__}" for i, case in enumerate(CASES)]


@pytest.mark.parametrize("learner, loss, block", CASES, ids=NAMES)
def test_the_kernel_equals_the_updates(learner, loss, block):
    start = learner.init(np.zeros(3))
    fast, ours = learner.run(start, loss, block, ("theta",))
    slow, theirs = Learner._play(learner, start, loss, block, ("theta",))
    for name in ("prediction", "loss", "theta"):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-12
        )
    np.testing.assert_allclose(fast.theta, slow.theta, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("targets", [1, 3])
def test_targets_share_one_factor_and_nothing_else(targets):
    y = RNG.normal(size=(40, targets))
    learner = RLS(0.9, floor=0.1, leaky=True)
    together, trace = learner.run(
        learner.init(np.zeros((3, targets))), SquaredError(), Block(X, y, *RATES)
    )
    for j in range(targets):
        alone, one = learner.run(
            learner.init(np.zeros(3)), SquaredError(), Block(X, y[:, j], *RATES)
        )
        np.testing.assert_array_equal(together.theta[:, j], alone.theta)
        np.testing.assert_array_equal(together.factor, alone.factor)
        np.testing.assert_array_equal(trace.prediction[:, j], one.prediction)
