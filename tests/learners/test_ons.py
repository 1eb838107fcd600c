import numpy as np
import pytest

from thalweg.domains import Ball, Everywhere
from thalweg.errors import InvalidParameterError
from thalweg.learners.ons import OnlineNewtonStep
from thalweg.losses import SquaredError
from thalweg.types import Block


def random_block():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    return Block(x, y, rng.uniform(0, 2, size=200))


def hostile_block():
    """Nearly one direction only, with targets that flip sign and, at times, spike."""
    rng = np.random.default_rng(1)
    x = np.array([1.0, 1.0, -1.0]) + 1e-3 * rng.normal(size=(200, 3))
    y = 3.0 * (-1.0) ** np.arange(200)
    y[::17] *= 100
    return Block(x, y)


def oracle(theta, G, alpha, radius, block):
    diameter = 2 * radius
    beta = 0.5 * min(1 / (4 * G * diameter), alpha)
    A = np.eye(theta.size) / (beta**2 * diameter**2)
    played = []
    for x, y, weight, _ in block.rounds():
        played.append(theta)
        grad = weight * (x @ theta - y) * x
        A = A + np.outer(grad, grad)
        theta = nearest(theta - np.linalg.inv(A) @ grad / beta, A, radius)
    return np.array(played)


def nearest(point, A, radius):
    """On the sphere (A + μI)z = A·point, and ‖z‖ falls as μ grows: bisection."""
    if np.linalg.norm(point) <= radius:
        return point
    low, high = 0.0, 1e6 * np.trace(A)
    for _ in range(200):
        mu = (low + high) / 2
        z = np.linalg.solve(A + mu * np.eye(len(A)), A @ point)
        low, high = (mu, high) if np.linalg.norm(z) > radius else (low, mu)
    return z


@pytest.mark.parametrize("make", [random_block, hostile_block])
@pytest.mark.parametrize(("G", "alpha"), [(1.0, 1.0), (0.2, 0.5), (30.0, 0.01)])
def test_every_point_played_is_the_oracles(make, G, alpha):
    learner = OnlineNewtonStep(G, alpha, Ball(0.8))
    start = np.array([0.5, 0.0, -0.2])
    state = learner.init(start)
    _, trace = learner.run(state, SquaredError(), make(), record=("theta",))
    expected = oracle(start, G, alpha, 0.8, make())
    np.testing.assert_allclose(trace.theta, expected, rtol=1e-9, atol=1e-9)


def test_the_constants_are_those_worked_out_by_hand():
    """D = 4, so β = ½min{1/80, ¼} = 1/160 and ε = 160²/16."""
    learner = OnlineNewtonStep(gradient_bound=5.0, exp_concavity=0.25, domain=Ball(2.0))
    assert learner.beta == pytest.approx(1 / 160, rel=1e-15)
    information = learner.init(np.zeros(3)).information
    np.testing.assert_allclose(information, 1600 * np.eye(3), rtol=1e-15)


def test_regret_is_of_order_log_t_against_an_adversary_who_sees_the_prediction():
    """Their bound as recalled: 5(1/α + GD) n log T; here |x| ≤ 1, |y| ≤ 1, D = 2."""
    T, n, G, alpha = 1000, 3, 2.0, 0.25
    rng = np.random.default_rng(0)
    x = rng.normal(size=(T, n))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = np.empty(T)
    learner = OnlineNewtonStep(G, alpha, Ball(1.0))
    state, total_loss = learner.init(np.zeros(n)), 0.0
    for t in range(T):
        p = learner.predict(state, x[t])
        y[t] = -1.0 if p > 0.3 * x[t, 0] else 1.0
        total_loss += 0.5 * (p - y[t]) ** 2
        state, _ = learner.run(state, SquaredError(), Block(x[t : t + 1], y[t : t + 1]))
    best = np.linalg.lstsq(x, y)[0]
    assert np.linalg.norm(best) <= 1
    regret = total_loss - 0.5 * np.sum((x @ best - y) ** 2)
    assert 0 < regret <= 5 * (1 / alpha + G * 2) * n * np.log(T)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ((0.0, 1.0), r"'gradient_bound' .* must be in \(0, inf\)"),
        ((1.0, -1.0), r"'exp_concavity' .* must be in \(0, inf\)"),
        ((1.0, 1.0, Everywhere()), r"'radius' .* of Everywhere must be in \(0, inf\)"),
    ],
)
def test_settings_outside_their_range_are_refused(settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        OnlineNewtonStep(*settings)
