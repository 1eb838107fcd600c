import numpy as np
import pytest

from thalweg.kernels.hindsight.constrained_least_squares import _is_inside


@pytest.mark.parametrize(
    ("theta", "inside"),
    [
        ([0.0, 0.0], True),
        ([0.6, 0.8], True),
        ([-0.6, 0.8], True),
        ([0.7, 0.8], False),  # outside the ball of radius 1
        ([0.0, -0.5], True),
        ([0.0, -0.6], False),  # below its lower limit
        ([-0.95, 0.0], False),
    ],
)
def test_a_point_is_inside_a_ball_and_a_box(theta, inside):
    low, high = np.array([-0.9, -0.5]), np.array([0.9, 2.0])
    assert _is_inside(np.array(theta), 1.0, low, high) == inside
