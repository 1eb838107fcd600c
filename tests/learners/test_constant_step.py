import numpy as np
import pytest

from thalweg.domains import Ball
from thalweg.errors import InvalidParameterError
from thalweg.learners.constant_step import ConstantStepGradient
from thalweg.losses import Tracking
from thalweg.types import Block


def random_block():
    rng = np.random.default_rng(0)
    return Block(None, rng.normal(size=(200, 3)), rng.uniform(0, 2, size=200))


def hostile_block():
    """Targets that jump between opposite corners, with spikes."""
    y = np.ones((200, 3)) * (-1.0) ** np.arange(200)[:, None]
    y[::17] *= 1e6
    return Block(None, y)


def oracle(theta, smoothness, averaging, radius, block):
    played = []
    for _, y, weight, _ in block.rounds():
        played.append(theta)
        target = theta - weight * (theta - y) / smoothness
        norm = np.sqrt(target @ target)
        if norm > radius:
            target = target * radius / norm
        theta = theta + averaging * (target - theta)
    return np.array(played)


@pytest.mark.parametrize("make", [random_block, hostile_block])
@pytest.mark.parametrize(("smoothness", "averaging"), [(1.0, 1.0), (2.0, 0.3)])
def test_every_point_played_is_the_oracles(make, smoothness, averaging):
    learner = ConstantStepGradient(smoothness, averaging, Ball(0.8))
    start = np.array([0.5, 0.0, -0.2])
    _, trace = learner.run(learner.init(start), Tracking(), make(), record=("theta",))
    expected = oracle(start, smoothness, averaging, 0.8, make())
    np.testing.assert_allclose(trace.theta, expected, rtol=1e-9, atol=1e-12)


def test_it_nears_a_fixed_minimiser_geometrically():
    """On ½‖θ - y‖² the error shrinks by 1 - h/γ in every round, exactly."""
    learner = ConstantStepGradient(2.0, 0.5, Ball(1.0))
    block = Block(None, np.zeros((50, 2)))
    start = np.array([0.6, -0.8])
    _, trace = learner.run(learner.init(start), Tracking(), block, record=("theta",))
    expected = start * 0.75 ** np.arange(50)[:, None]
    np.testing.assert_allclose(trace.theta, expected, rtol=1e-12)


def test_with_a_full_step_it_plays_the_last_target():
    rng = np.random.default_rng(0)
    y = rng.uniform(-0.5, 0.5, size=(50, 3))
    learner = ConstantStepGradient(1.0, 1.0, Ball(1.0))
    state = learner.init(np.zeros(3))
    _, trace = learner.run(state, Tracking(), Block(None, y), record=("theta",))
    np.testing.assert_allclose(trace.theta[1:], y[:-1], rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"smoothness": 0.0}, r"'smoothness' .* must be in \(0, inf\)"),
        ({"smoothness": float("inf")}, r"'smoothness' .* must be in \(0, inf\)"),
        ({"averaging": 0.0}, r"'averaging' .* must be in \(0, 1\]"),
        ({"averaging": 1.1}, r"'averaging' .* must be in \(0, 1\]"),
    ],
)
def test_settings_outside_their_range_are_refused(settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        ConstantStepGradient(**settings)
