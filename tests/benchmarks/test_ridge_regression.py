import numpy as np
import pytest

from benchmarks.ridge_regression import discounted_ridge

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(150, 3)) * 5 + 2, RNG.normal(size=150) * 3 + 10


@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_the_retained_ridge_is_discounted_least_squares(gamma):
    prediction = discounted_ridge(X, Y, gamma, 0.1)
    for t in (0, 1, 7, 149):
        age = gamma ** np.arange(t)[::-1]
        gram = (X[:t].T * age) @ X[:t] + 0.1 * np.eye(3)
        theta = np.linalg.solve(gram, (X[:t].T * age) @ Y[:t])
        assert prediction[t] == pytest.approx(X[t] @ theta, abs=1e-9)
