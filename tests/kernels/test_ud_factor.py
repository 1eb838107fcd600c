import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.kernels import ud_factor as factors
from thalweg.kernels.ud_factor import forget, learn, solve


def excited_factor(n, rounds=30, gamma=0.9, ridge=0.5, seed=0, dtype=np.float64):
    """A factor after some rounds, and the dense P it stands for."""
    rng = np.random.default_rng(seed)
    factor = factors.prior(ridge, np.zeros(n, dtype))
    P, gain = ridge * np.eye(n), np.empty(n, dtype)
    for v in rng.normal(size=(rounds, n)).astype(dtype):
        forget(factor, gamma)
        learn(factor, v, gain)
        P = gamma * P + np.outer(v, v)
    return factor, P


@settings(max_examples=40)
@given(n=st.integers(1, 9), seed=st.integers(0, 2**32 - 1), gamma=st.floats(0.5, 1))
def test_three_verbs_act_as_they_say(n, seed, gamma):
    rng = np.random.default_rng(seed)
    factor, P = excited_factor(n, gamma=gamma, seed=seed)
    assert factors.information(factor) == pytest.approx(P, rel=1e-9, abs=1e-9)
    v, g = rng.normal(size=(2, n))
    gain, out = np.empty(n), np.empty(n)
    learn(factor, v, gain)
    P = P + np.outer(v, v)
    assert factors.information(factor) == pytest.approx(P, rel=1e-9, abs=1e-9)
    assert gain == pytest.approx(np.linalg.solve(P, v), rel=1e-7, abs=1e-9)
    solve(factor, g, out)
    assert out == pytest.approx(np.linalg.solve(P, g), rel=1e-7, abs=1e-9)
    forget(factor, gamma)
    assert factors.information(factor) == pytest.approx(gamma * P, rel=1e-9, abs=1e-9)
    factors.covariance_diagonal(factor, out)
    assert out == pytest.approx(np.diagonal(factors.covariance(factor)), rel=1e-12)


def test_learning_nothing_changes_nothing():
    factor, _ = excited_factor(4)
    before = factor.copy()
    gain = np.empty(4)
    learn(factor, np.zeros(4), gain)
    np.testing.assert_array_equal(factor, before)
    np.testing.assert_array_equal(gain, 0)


def test_positive_definite_after_a_hundred_thousand_rounds():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    shape = np.diag(10.0 ** np.linspace(-3, 3, 5)) @ basis  # condition 1e12 in P
    factor, gain = factors.prior(1.0, np.zeros(5)), np.empty(5)
    rounds = 100_000 if hasattr(learn, "py_func") else 1000  # plain Python is slow
    for v in rng.normal(size=(rounds, 5)) @ shape:
        forget(factor, 0.99)
        learn(factor, v, gain)
    dense = factors.covariance(factor)
    np.testing.assert_allclose(dense, dense.T, rtol=0, atol=1e-12 * abs(dense).max())
    assert (np.diagonal(factor) > 0).all()
    scaled = shape @ dense @ shape.T
    assert np.linalg.eigvalsh(scaled)[0] > 1e-4


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("gamma", [0.0, 1e-300])
def test_forgetting_nearly_all_leaves_information(gamma, dtype):
    factor, _ = excited_factor(3, dtype=dtype)
    before = np.diagonal(factor).copy()
    forget(factor, gamma)
    limit = factors.min_forgetting_factor(np.finfo(dtype).eps)
    np.testing.assert_allclose(np.diagonal(factor) / before, 1 / limit, rtol=1e-6)
    assert np.isfinite(factor).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("units, counts", [(1, False), (8, False), (32, True)])
def test_what_rounding_may_have_left_of_a_sum_counts_as_nothing(units, counts, dtype):
    """Of n = 2 terms of size 1, up to 4nε · 2 = 16ε."""
    factor = factors.prior(1.0, np.zeros(2, dtype))
    factor[1, 0] = -1
    left = dtype(units * np.finfo(dtype).eps)
    out = np.empty(2, dtype)
    solve(factor, np.array([1, 1 + left], dtype), out)
    np.testing.assert_array_equal(out, [1 - left, left] if counts else [1, 0])
