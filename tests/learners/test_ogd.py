import numpy as np
import pytest

from thalweg.domains import Ball
from thalweg.errors import InvalidParameterError
from thalweg.learners.ogd import OnlineGradientDescent
from thalweg.losses import Function, Functions, Round, SquaredError
from thalweg.types import Block


def random_block():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    return Block(x, y, rng.uniform(0, 2, size=200))


def hostile_block():
    """The same direction for ever, with targets that flip sign and, at times, spike."""
    x = np.tile([1.0, 1.0, -1.0], (200, 1))
    y = 10.0 * (-1.0) ** np.arange(200)
    y[::17] *= 1e6
    return Block(x, y)


def oracle(theta, step_size, radius, block):
    played = []
    for t, (x, y, weight, _) in enumerate(block.rounds(), start=1):
        played.append(theta)
        theta = theta - step_size / np.sqrt(t) * weight * (x @ theta - y) * x
        norm = np.sqrt(theta @ theta)
        if norm > radius:
            theta = theta * radius / norm
    return np.array(played)


@pytest.mark.parametrize("make", [random_block, hostile_block])
@pytest.mark.parametrize("step_size", [0.01, 1.0, 20.0])
def test_every_point_played_is_the_oracles(make, step_size):
    learner = OnlineGradientDescent(step_size, Ball(0.8))
    start = np.array([0.5, 0.0, -0.2])
    state = learner.init(start)
    _, trace = learner.run(state, SquaredError(), make(), record=("theta",))
    expected = oracle(start, step_size, 0.8, make())
    np.testing.assert_allclose(trace.theta, expected, rtol=1e-9, atol=1e-12)


def test_regret_is_of_order_root_t_against_an_adversary_who_sees_the_point():
    """D²√T/2c + cG²(√T - ½), with c = D/G: by Σ 1/√t ≤ 2√T - 1."""
    T, G, D = 400, 3.0, 2.0
    learner = OnlineGradientDescent(D / G, Ball(D / 2))
    state, total, total_loss = learner.init(np.zeros(2)), np.zeros(2), 0.0
    rng = np.random.default_rng(0)
    for _ in range(T):
        push = state.theta if state.theta.any() else rng.normal(size=2)
        slope = G * push / np.linalg.norm(push)
        total_loss += slope @ state.theta
        total += slope
        state = learner.update(state, linear(slope))
    regret = total_loss + D / 2 * np.linalg.norm(total)
    assert 0 < regret <= G * D * (1.5 * np.sqrt(T) - 0.5)


def linear(slope):
    f = Function(lambda theta: slope @ theta, lambda theta: slope)
    return Round(Functions([f]), None, 0.0)


@pytest.mark.parametrize("step_size", [0.0, -1.0, float("inf"), float("nan"), "1"])
def test_a_step_size_outside_its_range_is_refused(step_size):
    with pytest.raises(InvalidParameterError, match=r"'step_size' .* in \(0, inf\)"):
        OnlineGradientDescent(step_size)


def test_a_start_outside_the_domain_is_refused():
    with pytest.raises(InvalidParameterError, match="must lie in its domain"):
        OnlineGradientDescent(domain=Ball(1.0)).init(np.ones(3))
