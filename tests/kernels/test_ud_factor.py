import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.kernels import ud_factor as factors
from thalweg.kernels import windup as floor
from thalweg.kernels.ud_factor import forget, learn, solve


def excited(n, rounds=30, gamma=0.9, ridge=0.5, seed=0, dtype=np.float64):
    """A factor after some rounds, and the dense P it stands for."""
    rng = np.random.default_rng(seed)
    factor = factors.prior(ridge, np.zeros(n, dtype))
    P, image = ridge * np.eye(n), np.empty(n, dtype)
    for v in rng.normal(size=(rounds, n)).astype(dtype):
        forget(factor, gamma)
        learn(factor, v, image)
        P = gamma * P + np.outer(v, v)
    return factor, P


@settings(max_examples=40)
@given(n=st.integers(1, 9), seed=st.integers(0, 2**32 - 1), gamma=st.floats(0.5, 1))
def test_three_verbs_act_as_they_say(n, seed, gamma):
    rng = np.random.default_rng(seed)
    factor, P = excited(n, gamma=gamma, seed=seed)
    assert factors.information(factor) == pytest.approx(P, rel=1e-9, abs=1e-9)
    v, g = rng.normal(size=(2, n))
    image, out = np.empty(n), np.empty(n)
    learn(factor, v, image)
    P = P + np.outer(v, v)
    assert factors.information(factor) == pytest.approx(P, rel=1e-9, abs=1e-9)
    assert image == pytest.approx(np.linalg.solve(P, v), rel=1e-7, abs=1e-9)
    solve(factor, g, out)
    assert out == pytest.approx(np.linalg.solve(P, g), rel=1e-7, abs=1e-9)
    forget(factor, gamma)
    assert factors.information(factor) == pytest.approx(gamma * P, rel=1e-9, abs=1e-9)
    factors.diagonal(factor, out)
    assert out == pytest.approx(np.diagonal(factors.covariance(factor)), rel=1e-12)


def test_learning_nothing_changes_nothing():
    factor, _ = excited(4)
    before = factor.copy()
    image = np.empty(4)
    learn(factor, np.zeros(4), image)
    np.testing.assert_array_equal(factor, before)
    np.testing.assert_array_equal(image, 0)


def test_positive_definite_after_a_hundred_thousand_rounds():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    shape = np.diag(10.0 ** np.linspace(-3, 3, 5)) @ basis  # condition 1e12 in P
    factor, image = factors.prior(1.0, np.zeros(5)), np.empty(5)
    rounds = 100_000 if hasattr(learn, "py_func") else 1000  # plain Python is slow
    for v in rng.normal(size=(rounds, 5)) @ shape:
        forget(factor, 0.99)
        learn(factor, v, image)
    dense = factors.covariance(factor)
    np.testing.assert_allclose(dense, dense.T, rtol=0, atol=1e-12 * abs(dense).max())
    assert (np.diagonal(factor) > 0).all()
    scaled = shape @ dense @ shape.T
    assert np.linalg.eigvalsh(scaled)[0] > 1e-4


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.999])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_hold_bounds_the_covariance_of_what_is_quiet(dtype, gamma, n):
    """In every round, and not only on average; with nothing excited at all."""
    factor, _ = excited(n, dtype=dtype)
    size, work = factor[n].copy(), np.empty((2, n), dtype)
    limit = float(np.finfo(dtype).eps) ** -0.75
    for _ in range(int(80 / (1 - gamma)) if gamma < 0.99 else 20_000):
        forget(factor, gamma)
        floor.hold(factor, *work)
        ratio = np.diagonal(factors.covariance(factor)) * size**2 / limit
        assert ratio.max() <= 1 / gamma * 1.01
    assert (np.diagonal(factor) > 0).all()


def test_hold_leaves_excited_data_alone():
    factor, _ = excited(4, rounds=500)
    before = factors.information(factor)
    factor[6, 0] = 100.0  # force a look
    floor.hold(factor, *np.empty((2, 4)))
    np.testing.assert_array_equal(factors.information(factor), before)
    assert factor[6, 0] == 1


def test_hold_adds_information_and_takes_none():
    factor, _ = excited(3)
    work, quiet = np.empty((2, 3)), np.array([1.0, 0.0, 0.0])
    image = np.empty(3)
    for _ in range(2000):
        forget(factor, 0.9)
        learn(factor, quiet, image)
        before = factors.information(factor)
        floor.hold(factor, *work)
        gained = factors.information(factor) - before
        assert np.linalg.eigvalsh(gained)[0] >= -1e-12 * abs(before).max()


@pytest.mark.parametrize("n", [1, 4, 30])
@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.99])
def test_top_up_keeps_the_ridge_within_its_band(n, gamma):
    factor = factors.prior(0.1, np.zeros(n))
    theta, work = np.zeros((n, 1)), np.empty((2, n))
    for _ in range(200):
        forget(factor, gamma)
        floor.top_up(theta, factor, gamma, gamma, 0.1, False, *work)
        held = np.diagonal(factors.information(factor))
        np.testing.assert_allclose(held, factor[n + 1], rtol=1e-9)
        assert (held >= 0.04).all()
        assert (held <= 0.45).all()


def test_pull_is_an_observation_of_zero():
    factor, P = excited(3)
    factor[4] = 0.0  # pretend that no ridge is left
    theta = np.array([[1.0, -1.0], [2.0, 0.5], [3.0, 0.0]])
    expected = theta.copy()
    floor.top_up(theta, factor, 1.0, 1.0, 0.5, True, *np.empty((2, 3)))
    k = int(np.argmax(np.diagonal(np.linalg.inv(P))))
    raised = P.copy()
    raised[k, k] += 0.5
    np.testing.assert_allclose(theta, np.linalg.solve(raised, P @ expected), rtol=1e-9)
