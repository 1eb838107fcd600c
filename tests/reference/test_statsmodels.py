"""R's recursive least squares on unscaled data, as shipped inside statsmodels (BSD)."""

from pathlib import Path

import numpy as np
import pytest
import statsmodels
from statsmodels.datasets import macrodata

from thalweg.learners import RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.types import Block

TESTS = Path(statsmodels.__file__).parent / "regression" / "tests" / "results"


@pytest.fixture
def block():
    data = macrodata.load_pandas().data
    return Block(np.column_stack([np.ones(len(data)), data["m1"]]), data["cpi"])


def test_coefficients_of_r_without_a_prior(block):
    """cpi ~ 1 + m1: from the second row on, exact least squares or nothing."""
    expected = np.genfromtxt(TESTS / "results_rls_R.csv", delimiter=",", names=True)
    learner = RecursiveLeastSquares(1.0, ridge=0.0)
    start = learner.init(np.zeros(2))
    state, trace = learner.run(start, SquaredError(), block, record=("theta",))
    # Row i of the file is the fit to rows 0 .. i + 2; θ played in round t saw t rows.
    ours = np.vstack([trace.theta[3:], state.theta])
    np.testing.assert_allclose(ours[:, 0], expected["beta1"], rtol=1e-8)
    np.testing.assert_allclose(ours[:, 1], expected["beta2"], rtol=1e-8)


def test_residuals_of_r_add_up_to_the_least_squares_residual(block):
    """Σ of squared recursive residuals equals the sum of squares of the whole fit."""
    learner = RecursiveLeastSquares(1.0, ridge=0.0)
    x, y = block.x, np.asarray(block.y)
    state, squares = learner.init(np.zeros(2)), 0.0
    for t in range(len(y)):
        if t >= 2:
            leverage = x[t] @ state.covariance @ x[t]
            squares += (y[t] - x[t] @ state.theta) ** 2 / (1 + leverage)
        state, _ = learner.run(state, SquaredError(), Block(x[t : t + 1], y[t : t + 1]))
    residual = np.linalg.lstsq(x, y, rcond=None)[1][0]
    assert squares == pytest.approx(residual, rel=1e-8)
    assert squares == pytest.approx(16878.15497, rel=1e-8)
