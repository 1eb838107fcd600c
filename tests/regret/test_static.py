"""The best fixed point is the one other solvers find, in a domain and without."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint, minimize

from thalweg import streams
from thalweg.domains import Ball, Box, Ellipsoid, Everywhere, Polytope, Simplex
from thalweg.errors import InvalidParameterError, ThalwegError
from thalweg.losses import (
    Function,
    Functions,
    Huber,
    LinearMap,
    Logistic,
    SquaredError,
    Tracking,
)
from thalweg.regret import static
from thalweg.regret.best_point import comparator_losses
from thalweg.types import Block, Trace

SQUARED = SquaredError()
N = 3
DOMAINS = [
    Ball(0.4),
    Box([-0.2, 0.1, -1.0], [0.3, 0.5, -0.5]),
    Simplex(),
    Ellipsoid([0.1, 0.0, 0.2], np.diag([4.0, 9.0, 30.0])),
    Polytope(np.vstack([np.eye(3), -np.eye(3), np.ones((1, 3))]), [0.3] * 6 + [0.2]),
]


def regression(seed, rounds=200, scale=1.0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rounds, N))
    y = x @ np.array([1.0, -2.0, 0.5]) + rng.standard_normal(rounds)
    return Block(x * scale, y)


def idle(block, loss):
    """A trace that always predicts 0."""
    shape = np.shape(block.y)
    return Trace.from_predictions(np.zeros(shape), block, loss)


def total(block, loss, theta):
    return comparator_losses(block, loss, np.tile(theta, (len(block), 1))).sum()


def cone_of(domain):
    """The domain for scipy's general solver."""
    if isinstance(domain, Ball):
        square = domain.radius**2
        return [NonlinearConstraint(lambda z: z @ z, 0, square, jac=lambda z: 2 * z)]
    if isinstance(domain, Box):
        return [LinearConstraint(np.eye(N), domain.low, domain.high)]
    if isinstance(domain, Simplex):
        return [
            LinearConstraint(np.eye(N), 0, np.inf),
            LinearConstraint(np.ones((1, N)), 1, 1),
        ]
    if isinstance(domain, Ellipsoid):
        c, E = domain.centre, domain.shape
        size = NonlinearConstraint(
            lambda z: (z - c) @ E @ (z - c), 0, 1, jac=lambda z: 2 * E @ (z - c)
        )
        return [size]
    return [LinearConstraint(domain.normals, -np.inf, domain.offsets)]


def general_solver(block, loss, domain):
    result = minimize(
        lambda z: total(block, loss, z),
        domain.project(np.zeros(N)),
        constraints=cone_of(domain),
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return result.fun


@pytest.mark.parametrize("scale", [1.0, np.array([1e-6, 1.0, 1e6])])
def test_the_best_point_equals_a_dense_solve(scale):
    block = regression(1, scale=scale)
    result = static(idle(block, SQUARED), block, SQUARED)
    # At equal scales: at these, normal equations would have no digits left.
    x = block.x / scale
    dense = np.linalg.solve(x.T @ x, x.T @ block.y) / scale
    assert result.comparator == pytest.approx(dense, rel=1e-9)
    least = total(block, SQUARED, dense)
    assert result.comparator_loss == pytest.approx(least, rel=1e-12)
    assert result.total == pytest.approx(0.5 * block.y @ block.y - least, rel=1e-12)
    assert result.path_length == result.gap == 0


def test_dependent_features_leave_the_loss_well_defined():
    block = regression(2)
    twice = Block(np.hstack([block.x, block.x[:, :1], 0 * block.x[:, :1]]), block.y)
    once = static(idle(block, SQUARED), block, SQUARED)
    result = static(idle(twice, SQUARED), twice, SQUARED)
    assert result.total == pytest.approx(once.total, rel=1e-12)
    held = static(idle(twice, SQUARED), twice, SQUARED, Box([-0.5] * 5, [0.5] * 5))
    # Two columns alike share what one may carry: 1.0 for the first feature.
    wide = Box([-1.0, -0.5, -0.5], [1.0, 0.5, 0.5])
    alike = static(idle(block, SQUARED), block, SQUARED, wide)
    assert held.comparator_loss == pytest.approx(alike.comparator_loss, rel=1e-9)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda d: type(d).__name__)
@pytest.mark.parametrize(
    "loss", [SQUARED, Logistic(), Huber(0.5), Huber(0.5, 0.1)], ids=repr
)
def test_a_general_solver_finds_nothing_better_in_a_domain(domain, loss):
    block = regression(3, rounds=80)
    if isinstance(loss, Logistic):
        block = Block(block.x, (block.y > 0).astype(float))
    trace = Trace(np.zeros(80), comparator_losses(block, loss, np.zeros((80, N))))
    result = static(trace, block, loss, domain)
    assert domain.contains(result.comparator)
    other = general_solver(block, loss, domain)
    # SLSQP may leave the domain by a little and so be better by a little.
    assert result.comparator_loss == pytest.approx(other, rel=1e-6)
    assert result.gap <= 1e-8 * trace.loss.sum()
    assert result.total == pytest.approx(trace.loss.sum() - result.comparator_loss)


@pytest.mark.parametrize("loss", [Logistic(), Huber(0.5), Huber(0.5, 0.1)], ids=repr)
def test_newton_ends_where_the_gradient_vanishes(loss):
    block = regression(4, rounds=300)
    if isinstance(loss, Logistic):
        noisy = np.random.default_rng(0).random(300) < 0.2
        block = Block(block.x, ((block.y > 0) ^ noisy).astype(float))
    trace = Trace(np.zeros(300), comparator_losses(block, loss, np.zeros((300, N))))
    theta = static(trace, block, loss).comparator
    grads = [loss.grad(theta, x, y) for x, y in zip(block.x, block.y, strict=True)]
    # A gap of 1e-16 of the loss leaves a gradient of the order of its root.
    assert np.abs(np.sum(grads, axis=0)).max() <= 1e-8 * np.abs(grads).sum()


def test_the_best_point_to_track_is_the_weighted_mean_projected():
    rng = np.random.default_rng(5)
    y, weight = rng.standard_normal((50, N)) + 1, rng.uniform(0, 2, 50)
    block = Block(None, y, weight)
    mean = (weight[:, None] * y).sum(axis=0) / weight.sum()
    loss = Tracking()
    assert static(idle(block, loss), block, loss).comparator == pytest.approx(mean)
    held = static(idle(block, loss), block, loss, Ball(0.5)).comparator
    assert held == pytest.approx(0.5 * mean / np.linalg.norm(mean))


def test_maps_and_several_targets_equal_their_stacked_rows():
    rng = np.random.default_rng(6)
    A, b = rng.standard_normal((40, 2, N)), rng.standard_normal((40, 2))
    block = Block(A, b)
    result = static(idle(block, LinearMap()), block, LinearMap())
    stacked = np.linalg.lstsq(A.reshape(-1, N), b.ravel())[0]
    assert result.comparator == pytest.approx(stacked, rel=1e-10)
    x, y = rng.standard_normal((40, N)), rng.standard_normal((40, 4))
    block = Block(x, y)
    result = static(idle(block, SQUARED), block, SQUARED)
    assert result.comparator == pytest.approx(np.linalg.lstsq(x, y)[0], rel=1e-10)
    with pytest.raises(InvalidParameterError, match="constrains one target"):
        static(idle(block, SQUARED), block, SQUARED, Ball(1.0))


def test_functions_are_minimised_too():
    bowls = [
        Function(
            lambda z, c=c: float(np.cosh(z - c).sum()),
            lambda z, c=c: np.sinh(z - c),
            lambda z, c=c: np.diag(np.cosh(z - c)),
        )
        for c in (-1.0, 0.0, 2.0)
    ]
    loss = Functions(bowls)
    trace = Trace(np.zeros(3), np.zeros(3))
    result = static(trace, loss.block(), loss, Box([-3.0, 0.5], [3.0, 3.0]))
    residual = sum(np.sinh(result.comparator[0] - c) for c in (-1.0, 0.0, 2.0))
    assert abs(residual) <= 1e-6
    assert result.gap <= 1e-8 * result.comparator_loss
    with pytest.raises(InvalidParameterError, match="dimension shows in neither"):
        static(trace, loss.block(), loss, Everywhere())


def test_a_minimum_that_newton_cannot_reach_is_refused_not_reported():
    straight = Function(
        lambda z: float(z[0]), lambda z: np.ones(1), lambda z: np.zeros((1, 1))
    )
    loss = Functions([straight])
    half = Polytope(np.array([[1.0]]), np.array([0.0]))
    with pytest.raises(ThalwegError):
        static(Trace(np.zeros(1), np.zeros(1)), loss.block(), loss, half)


def test_a_domain_can_only_raise_the_comparator_loss():
    block = streams.rotating(300, N, seed=2).block
    trace = idle(block, SQUARED)
    totals = [static(trace, block, SQUARED, Ball(r)).total for r in (0.01, 0.1, 1, 9)]
    assert totals == sorted(totals)
    assert totals[-1] == pytest.approx(static(trace, block, SQUARED).total, rel=1e-12)


@pytest.mark.parametrize("domain", [Box(-1, 1), Box([-np.inf] * N, [0.0] * N)])
def test_no_domain_is_left_out_where_there_are_several_targets(domain):
    rng = np.random.default_rng(0)
    block = Block(rng.standard_normal((40, N)), rng.standard_normal((40, 4)))
    with pytest.raises(InvalidParameterError, match="constrains one target"):
        static(idle(block, SQUARED), block, SQUARED, domain)


def test_a_box_of_scalars_binds_the_comparator_as_one_of_arrays_does():
    rng = np.random.default_rng(1)
    block = Block(rng.standard_normal((40, N)), 9 * rng.standard_normal(40))
    boxes = Box(-0.1, 0.1), Box(np.full(N, -0.1), np.full(N, 0.1))
    first, second = (static(idle(block, SQUARED), block, SQUARED, box) for box in boxes)
    assert first.comparator_loss == second.comparator_loss
