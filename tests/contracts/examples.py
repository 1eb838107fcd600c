"""Example settings of every public learner, loss and domain, for the contract tests.

A new class is listed here as well as in its package's ``__all__``; where it is not,
``test_examples.py`` fails and names it.
"""

import numpy as np

from thalweg import domains, learners, losses
from thalweg.domains import Ball, Domain
from thalweg.learners import Learner, RecursiveLeastSquares
from thalweg.losses import Function, Logistic, Loss, SquaredError, Tracking
from thalweg.types import Block

START = np.array([0.1, -0.05, 0.02])
"""A point in three dimensions that lies in the domain of every example learner."""
ROUNDS = 60

LEARNERS = {
    learners.Ader: lambda: (learners.Ader(100, 30.0, Ball(3.0)), SquaredError()),
    learners.AggregatingExperts: lambda: (
        learners.AggregatingExperts(
            tuple(RecursiveLeastSquares(gamma) for gamma in (1.0, 0.9, 0.5)), 3.0
        ),
        SquaredError(),
    ),
    learners.ClippedRLS: lambda: (
        learners.ClippedRLS(-1.0, 1.5, RecursiveLeastSquares(0.9)),
        SquaredError(),
    ),
    learners.ConstantStepGradient: lambda: (
        learners.ConstantStepGradient(2.0, 0.5, Ball(3.0)),
        Tracking(),
    ),
    learners.DirectionalRLS: lambda: (
        learners.DirectionalRLS(0.9, 0.5),
        SquaredError(),
    ),
    learners.DiscountedGradient: lambda: (
        learners.DiscountedGradient(0.9, "tracking", domain=Ball(3.0)),
        Tracking(),
    ),
    learners.DiscountedNewton: lambda: (
        learners.DiscountedNewton(0.9, 0.5, 1.0, "hessian", Ball(0.3)),
        SquaredError(),
    ),
    learners.Experts: lambda: (learners.Experts(mixing_rate=0.2), SquaredError()),
    learners.FollowTheLeadingHistory: lambda: (
        learners.FollowTheLeadingHistory(
            learners.OnlineNewtonStep(30.0, 0.01, Ball(3.0)), 0.01
        ),
        SquaredError(),
    ),
    learners.GeneralLeastSquares: lambda: (
        learners.GeneralLeastSquares(0.9),
        losses.LinearMap(),
    ),
    learners.LastValue: lambda: (learners.LastValue(), SquaredError()),
    learners.LogisticTracker: lambda: (learners.LogisticTracker(), Logistic()),
    learners.OnlineGradientDescent: lambda: (
        learners.OnlineGradientDescent(0.1, Ball(3.0)),
        SquaredError(),
    ),
    learners.OnlineNewtonStep: lambda: (
        learners.OnlineNewtonStep(30.0, 0.01, Ball(3.0)),
        SquaredError(),
    ),
    learners.RecursiveLeastSquares: lambda: (
        RecursiveLeastSquares(discount=0.9, ridge=0.5, floor=0.01, leaky=True),
        SquaredError(),
    ),
    learners.RestartExperts: lambda: (learners.RestartExperts(3.0), SquaredError()),
    learners.SlidingWindow: lambda: (
        learners.SlidingWindow(window=20, ridge=0.01),
        SquaredError(),
    ),
    learners.Tracker: lambda: (learners.Tracker(), SquaredError()),
}
"""A function for each learner that gives settings, and a loss they accept."""


def _function(t):
    return Function(
        lambda theta: float(np.sum(np.cosh(theta - np.sin(t)))),
        lambda theta: np.sinh(theta - np.sin(t)),
        lambda theta: np.diag(np.cosh(theta - np.sin(t))),
    )


LOSSES = {
    losses.Functions: lambda: losses.Functions([_function(t) for t in range(ROUNDS)]),
    losses.Huber: lambda: losses.Huber(width=0.7, ridge=0.1),
    losses.LinearMap: losses.LinearMap,
    losses.Logistic: losses.Logistic,
    losses.SquaredError: losses.SquaredError,
    losses.Tracking: losses.Tracking,
}
"""A function for each loss that gives an instance."""

DOMAINS = {
    domains.Ball: lambda: Ball(0.8),
    domains.Box: lambda: domains.Box([-1.0, -0.5, 0.2], [1.0, 0.3, 2.0]),
    domains.Ellipsoid: lambda: domains.Ellipsoid(
        [0.5, -0.2, 0.1], [[4.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]]
    ),
    domains.Everywhere: domains.Everywhere,
    domains.Polytope: lambda: domains.Polytope(
        np.vstack([-np.eye(3), [[1.0, 2.0, 1.0], [1.0, 0.0, -1.0]]]),
        [0.2, 0.1, 0.0, 2.0, 0.5],
    ),
    domains.Simplex: lambda: domains.Simplex(1.5),
}
"""A function for each domain that gives one in three dimensions."""


def public_classes(package, base):
    """The concrete subclasses of ``base`` that the package lists, in its order."""
    listed = [getattr(package, name) for name in package.__all__]
    kinds = [kind for kind in listed if isinstance(kind, type)]
    return [
        kind
        for kind in kinds
        if issubclass(kind, base) and not getattr(kind, "__abstractmethods__", None)
    ]


def example_learners():
    """(learner, loss) for every public learner that has an example."""
    kinds = public_classes(learners, Learner)
    return [LEARNERS[kind]() for kind in kinds if kind in LEARNERS]


def example_losses():
    """An instance of every public loss that has an example."""
    return [LOSSES[kind]() for kind in public_classes(losses, Loss) if kind in LOSSES]


def example_domains():
    """An instance of every public domain that has an example."""
    kinds = public_classes(domains, Domain)
    return [DOMAINS[kind]() for kind in kinds if kind in DOMAINS]


def example_block(loss, weighted=True):
    """Rounds in three dimensions that the loss accepts."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(ROUNDS, 3)), rng.normal(size=ROUNDS)
    if isinstance(loss, Tracking):
        x, y = None, rng.uniform(-0.5, 0.5, size=(ROUNDS, 3))
    elif isinstance(loss, losses.LinearMap):
        x, y = rng.normal(size=(ROUNDS, 2, 3)), rng.normal(size=(ROUNDS, 2))
    elif isinstance(loss, losses.Functions):
        x, y = None, loss.block().y[:ROUNDS]
    elif isinstance(loss, Logistic):
        y = 1.0 * (y > 0)
    if not weighted:
        return Block(x, y)
    return Block(x, y, rng.uniform(0, 2, ROUNDS), rng.uniform(0, 3, ROUNDS))
