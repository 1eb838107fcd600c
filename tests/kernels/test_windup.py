"""Covariance windup: the cap and the retained ridge."""

import numpy as np
import pytest

from tests.kernels.test_ud_factor import excited_factor
from thalweg.kernels import ud_factor as factors
from thalweg.kernels.ud_factor import (
    GROWTH,
    INPUT_SCALE,
    RETAINED_RIDGE,
    forget,
    learn,
)
from thalweg.kernels.windup import cap_covariance, covariance_cap, restore_ridge


def test_the_cap_is_the_rounding_unit_to_minus_three_quarters():
    assert covariance_cap(2.0**-52) == 2.0**39


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.999])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_the_cap_bounds_the_covariance_of_unexcited_directions(dtype, gamma, n):
    """The bound holds in every round, also where no direction is excited."""
    factor, _ = excited_factor(n, dtype=dtype)
    scale, work = factor[INPUT_SCALE].copy(), np.empty((2, n), dtype)
    limit = covariance_cap(float(np.finfo(dtype).eps))
    for _ in range(int(80 / (1 - gamma)) if gamma < 0.99 else 20_000):
        forget(factor, gamma)
        cap_covariance(factor, *work)
        ratio = np.diagonal(factors.covariance(factor)) * scale**2 / limit
        assert ratio.max() <= 1 / gamma * 1.01
    assert (np.diagonal(factor) > 0).all()


def test_the_cap_leaves_excited_data_alone():
    factor, _ = excited_factor(4, rounds=500)
    before = factors.information(factor)
    factor[GROWTH, 0] = 100.0  # force a check
    cap_covariance(factor, *np.empty((2, 4)))
    np.testing.assert_array_equal(factors.information(factor), before)
    assert factor[GROWTH, 0] == 1


def test_the_cap_adds_information_and_takes_none():
    factor, _ = excited_factor(3)
    work, excitation = np.empty((2, 3)), np.array([1.0, 0.0, 0.0])
    gain = np.empty(3)
    for _ in range(2000):
        forget(factor, 0.9)
        learn(factor, excitation, gain)
        before = factors.information(factor)
        cap_covariance(factor, *work)
        gained = factors.information(factor) - before
        assert np.linalg.eigvalsh(gained)[0] >= -1e-12 * abs(before).max()


@pytest.mark.parametrize("n", [1, 4, 30])
@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.99])
def test_the_retained_ridge_stays_within_its_band(n, gamma):
    factor = factors.prior(0.1, np.zeros(n))
    theta, work = np.zeros((n, 1)), np.empty((2, n))
    for _ in range(200):
        forget(factor, gamma)
        restore_ridge(theta, factor, gamma, gamma, 0.1, False, *work)
        ridge = np.diagonal(factors.information(factor))
        np.testing.assert_allclose(ridge, factor[RETAINED_RIDGE], rtol=1e-9)
        assert (ridge >= 0.04).all()
        assert (ridge <= 0.45).all()


def test_leaky_shrinkage_is_an_observation_of_zero():
    factor, P = excited_factor(3)
    factor[RETAINED_RIDGE] = 0.0  # pretend that no ridge is left
    theta = np.array([[1.0, -1.0], [2.0, 0.5], [3.0, 0.0]])
    expected = theta.copy()
    restore_ridge(theta, factor, 1.0, 1.0, 0.5, True, *np.empty((2, 3)))
    k = int(np.argmax(np.diagonal(np.linalg.inv(P))))
    raised = P.copy()
    raised[k, k] += 0.5
    np.testing.assert_allclose(theta, np.linalg.solve(raised, P @ expected), rtol=1e-9)


@pytest.mark.parametrize("n", [4, 8, 30])
@pytest.mark.parametrize("gamma", [0.9, 0.97, 0.99])
def test_the_retained_ridge_is_the_floor_on_average(n, gamma):
    """It is raised above δ and falls below it; in the middle of a round the mean is δ.

    The mean is that of logarithms, since forgetting multiplies.
    """
    factor = factors.prior(0.1, np.zeros(n))
    theta, work = np.zeros((n, 1)), np.empty((2, n))
    logarithms = []
    for t in range(400):
        forget(factor, gamma)
        restore_ridge(theta, factor, gamma, gamma, 0.1, False, *work)
        if t >= 200:
            logarithms.append(np.log(factor[RETAINED_RIDGE] * gamma**0.5))
    assert np.exp(np.mean(logarithms)) == pytest.approx(0.1, rel=0.01)
