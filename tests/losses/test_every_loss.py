"""What every loss promises. A new loss is picked up from ``losses.__all__``."""

import pickle

import numpy as np
import pytest

from tests.contracts.examples import LOSSES, example_losses
from thalweg.domains import Ball, Box, Everywhere
from thalweg.losses import (
    Functions,
    Huber,
    LinearMap,
    Logistic,
    Loss,
    SquaredError,
    Tracking,
)
from thalweg.types import Block

every_loss = pytest.mark.parametrize(
    "loss", example_losses(), ids=lambda loss: type(loss).__name__
)
COMPUTED = [
    SquaredError(),
    Tracking(),
    LinearMap(),
    Logistic(),
    Huber(0.7),
    Huber(5.0),
    Huber(0.7, ridge=0.1),
]
N = 3


def rounds_of(loss, rng, count=40, n=N, weighted=False):
    weight = rng.uniform(0.1, 2, count) if weighted else None
    if isinstance(loss, Tracking):
        return Block(None, rng.normal(size=(count, n)), weight)
    if isinstance(loss, LinearMap):
        m = int(rng.integers(1, 5))
        return Block(
            rng.normal(size=(count, m, n)), rng.normal(size=(count, m)), weight
        )
    if isinstance(loss, Functions):
        return Block(None, loss.block().y[:count])
    y = rng.normal(size=count)
    y = rng.uniform(size=count) if isinstance(loss, Logistic) else y
    return Block(rng.normal(size=(count, n)), y, weight)


@every_loss
def test_gradients_equal_finite_differences(loss):
    rng = np.random.default_rng(0)
    for x, y, _, _ in rounds_of(loss, rng).rounds():
        theta = rng.normal(size=N)
        step = 1e-6 * np.eye(N)
        slopes = [
            (loss.value(theta + h, x, y) - loss.value(theta - h, x, y)) / 2e-6
            for h in step
        ]
        np.testing.assert_allclose(loss.grad(theta, x, y), slopes, atol=1e-6)


@pytest.mark.parametrize("loss", [loss for loss in COMPUTED if hasattr(loss, "mean")])
def test_a_prediction_is_best_for_its_mean_label(loss):
    """No other prediction loses less where the label is the expected one: φ′ = 0."""
    p = np.linspace(-8, 8, 41)
    # Slopes of Logistic are differences of numbers below 1: one rounding is left.
    atol = np.finfo(float).eps
    np.testing.assert_allclose(loss.slope(p, loss.mean(p)), 0, atol=atol)
    for prediction, label in zip(p, loss.mean(p), strict=True):
        best = loss.best_prediction(label)
        assert best == pytest.approx(prediction, rel=1e-12, abs=1e-12)


@every_loss
def test_hessians_equal_finite_differences(loss):
    rng = np.random.default_rng(1)
    for x, y, _, _ in rounds_of(loss, rng).rounds():
        theta = rng.normal(size=N)
        if isinstance(loss, Huber) and abs(abs(x @ theta - y) - loss.width) < 1e-4:
            continue  # the curvature jumps there
        step = 1e-6 * np.eye(N)
        rows = [
            (loss.grad(theta + h, x, y) - loss.grad(theta - h, x, y)) / 2e-6
            for h in step
        ]
        hess = loss.hess(theta, x, y)
        np.testing.assert_allclose(hess, rows, atol=1e-6)
        root = loss.hess_root(theta, x, y)
        np.testing.assert_allclose(root.T @ root, hess, atol=1e-12)


@pytest.mark.parametrize("loss", COMPUTED, ids=repr)
@pytest.mark.parametrize("n", [1, N])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", ["ball", "box"])
def test_constants_hold_all_over_the_domain(loss, n, weighted, shape):
    rng = np.random.default_rng(2)
    domain = Ball(1.5) if shape == "ball" else Box(np.full(n, -0.5), np.full(n, 2.0))
    block = rounds_of(loss, rng, n=n, weighted=weighted)
    ell, u, alpha, G = loss.constants(domain, block)
    assert 0 <= ell <= u < np.inf and 0 <= alpha and 0 < G < np.inf
    for x, y, weight, _ in block.rounds():
        for _ in range(20):
            theta = domain.project(2 * rng.normal(size=n))
            grad = weight * loss.grad(theta, x, y)
            eigenvalue = np.linalg.eigvalsh(weight * loss.hess(theta, x, y))
            assert ell <= eigenvalue[0] * (1 + 1e-12) + 1e-12
            assert eigenvalue[-1] <= u * (1 + 1e-12)
            assert np.linalg.norm(grad) <= G * (1 + 1e-12)
            concave = weight * loss.hess(theta, x, y) - alpha * np.outer(grad, grad)
            assert np.linalg.eigvalsh(concave)[0] >= -1e-9 * (1 + alpha * G**2)


@pytest.mark.parametrize("loss", [SquaredError(), Logistic(), Huber(0.7)], ids=repr)
def test_constants_are_attained(loss):
    """They are not merely safe: some point of the domain attains u, α and G."""
    rng = np.random.default_rng(3)
    block = rounds_of(loss, rng, count=5, n=2)
    _, u, alpha, G = loss.constants(Ball(1.0), block)
    size, concave, curve = 0.0, np.inf, 0.0
    for x, y, _, _ in block.rounds():
        for p in np.linspace(-1, 1, 2001) * np.linalg.norm(x):
            slope, curvature = float(loss.slope(p, y)), float(loss.curvature(p, y))
            size = max(size, abs(slope) * np.linalg.norm(x))
            curve = max(curve, curvature * x @ x)
            if slope:
                concave = min(concave, curvature / slope**2)
    np.testing.assert_allclose([size, concave, curve], [G, alpha, u], rtol=1e-6)


def test_no_constant_is_invented_where_none_holds():
    block = Block(np.ones((2, 2)), np.zeros(2))
    constants = SquaredError().constants(Everywhere(), block)
    assert constants.gradient_bound == np.inf
    assert constants.exp_concavity == constants.strong_convexity == 0


@every_loss
def test_settings_survive_a_round_trip(loss):
    if isinstance(loss, Functions):
        pytest.skip("Python functions cannot be stored")
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert hash(loss) == hash(LOSSES[type(loss)]())


@every_loss
def test_is_a_loss(loss):
    assert isinstance(loss, Loss)
