"""River (BSD): its Bayesian regression is recursive least squares in other symbols."""

import numpy as np
import pytest
from river.linear_model import BayesianLinearRegression

from thalweg.learners import RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.types import Block

ALPHA, BETA = 0.7, 1.3


@pytest.mark.parametrize("smoothing", [None, 0.8, 0.95])
def test_bayesian_regression(smoothing):
    """δ = α/β without smoothing; with smoothing s, γ = s and δ = 1/(αβ(1-s)).

    River 0.26.1 starts the covariance *and* its inverse at I/α; smoothing goes on from
    the inverse, the plain update from the covariance. At α = 1 the two agree.
    """
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 8)), rng.normal(size=300)
    theirs = BayesianLinearRegression(ALPHA, BETA, smoothing=smoothing)
    predictions = []
    for row, target in zip(x, y, strict=True):
        features = dict(enumerate(row.tolist()))
        predictions.append(theirs.predict_one(features))
        theirs.learn_one(features, float(target))
    ridge = 1 / (ALPHA * BETA * (1 - smoothing)) if smoothing else ALPHA / BETA
    learner = RecursiveLeastSquares(smoothing or 1.0, ridge)
    _, trace = learner.run(learner.init(np.zeros(8)), SquaredError(), Block(x, y))
    np.testing.assert_allclose(trace.prediction, predictions, rtol=1e-9, atol=1e-10)
