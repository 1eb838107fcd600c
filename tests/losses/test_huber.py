import numpy as np
import pytest

from thalweg.errors import InvalidParameterError, UnsupportedLossError
from thalweg.losses import Huber


def test_is_half_squares_inside_and_straight_outside():
    loss = Huber(width=2.0)
    assert loss.phi(1.0, 0.0) == 0.5
    assert loss.phi(5.0, 0.0) == 2.0 * 5.0 - 0.5 * 2.0**2
    assert loss.slope(-5.0, 0.0) == -2.0


def test_a_penalty_on_theta_cannot_be_measured_from_predictions():
    with pytest.raises(UnsupportedLossError, match="depends on θ itself"):
        Huber(ridge=1.0).prediction_loss(np.zeros(1), np.zeros(1))


@pytest.mark.parametrize("width", [0.0, -1.0, np.inf])
def test_a_width_outside_its_range_is_refused(width):
    with pytest.raises(InvalidParameterError, match="'width'"):
        Huber(width)
