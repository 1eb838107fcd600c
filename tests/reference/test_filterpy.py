"""filterpy (MIT): a Kalman filter that fades is recursive least squares."""

import numpy as np
import pytest
from filterpy.kalman import KalmanFilter

from thalweg.learners import RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.types import Block


@pytest.mark.parametrize("discount", [0.9, 0.99, 1.0])
def test_a_fading_kalman_filter(discount):
    rng = np.random.default_rng(0)
    block = Block(rng.normal(size=(200, 3)), rng.normal(size=200))
    kalman = KalmanFilter(dim_x=3, dim_z=1)
    kalman.F, kalman.Q, kalman.R = np.eye(3), np.zeros((3, 3)), np.eye(1)
    kalman.P, kalman.alpha = np.eye(3) / 0.5, discount**-0.5
    for x, y in zip(block.x, block.y, strict=True):
        kalman.H = x[None]
        kalman.predict()
        kalman.update(y)
    learner = RecursiveLeastSquares(discount, ridge=0.5)
    state, _ = learner.run(learner.init(np.zeros(3)), SquaredError(), block)
    np.testing.assert_allclose(state.theta, kalman.x[:, 0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(state.covariance, kalman.P, rtol=1e-9, atol=1e-12)
