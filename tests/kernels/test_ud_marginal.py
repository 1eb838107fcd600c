"""Marginals of UD factors are held to dense covariances with rows deleted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.test_ud_factor import excited_factor
from thalweg.kernels import ud_factor as factors
from thalweg.kernels.ud_marginal import add_outer_product, marginalise


def without(factor, k):
    """C without coordinate k, by the kernel."""
    factor = factor.copy()
    marginalise(factor, k, np.empty(factor.shape[1], factor.dtype))
    return factors.covariance(np.delete(np.delete(factor, k, axis=0), k, axis=1))


def relative_error(ours, theirs):
    sizes = np.sqrt(np.diagonal(theirs))
    return (abs(ours - theirs) / np.outer(sizes, sizes)).max()


@settings(max_examples=60)
@given(
    n=st.integers(2, 9),
    k=st.integers(0, 8),
    seed=st.integers(0, 2**32 - 1),
    gamma=st.floats(0.5, 1),
    rounds=st.integers(0, 40),
)
def test_a_marginal_is_the_covariance_without_a_row_and_a_column(
    n, k, seed, gamma, rounds
):
    factor, _ = excited_factor(n, rounds, gamma, seed=seed)
    k %= n
    dense = np.delete(np.delete(factors.covariance(factor), k, axis=0), k, axis=1)
    assert relative_error(without(factor, k), dense) <= 1e-12


def test_single_precision_has_its_own_rounding_only():
    factor, _ = excited_factor(5, dtype=np.float32)
    dense = np.delete(np.delete(factors.covariance(factor), 3, axis=0), 3, axis=1)
    assert relative_error(without(factor, 3), dense) <= 1e-6


@pytest.mark.parametrize("size", [1, 4, 6])
def test_an_outer_product_is_added_to_the_leading_coordinates(size):
    factor, _ = excited_factor(6)
    v = np.random.default_rng(3).normal(size=6)
    padded = np.where(np.arange(6) < size, v, 0)
    # Columns behind the leading ones stay, so that only their part of C is added to.
    leading = np.delete(factor[: -factors.EXTRA_ROWS], np.s_[size:], axis=0)
    triangle = np.triu(leading[:, :size].T, 1) + np.eye(size)
    own = triangle * np.diagonal(leading) @ triangle.T
    add_outer_product(factor, 0.7, v.copy(), size, 0.0)
    leading = factor[:size, :size]
    triangle = np.triu(leading.T, 1) + np.eye(size)
    after = triangle * np.diagonal(leading) @ triangle.T
    expected = own + 0.7 * np.outer(padded[:size], padded[:size])
    assert relative_error(after, expected) <= 1e-12


@np.errstate(all="ignore")  # where kernels run as plain Python
def test_where_nothing_was_learnt_of_a_direction_its_other_coordinates_are_open_too():
    """P_0 = 0 and one row (1, 2, 3): two directions have infinite variance. Without the
    last coordinate the row says nothing about the first two.
    """
    factor, gain = factors.prior(0.0, np.zeros(3)), np.empty(3)
    factors.learn(factor, np.array([1.0, 2.0, 3.0]), gain)
    marginalise(factor, 2, np.empty(3))
    assert factors.is_unlearnt(factor, 0) and factors.is_unlearnt(factor, 1)


@np.errstate(all="ignore")  # where kernels run as plain Python
def test_what_was_learnt_stays_where_an_unlearnt_direction_does_not_touch_it():
    """P_0 = 0, and rows that leave the last coordinate alone: it goes without trace."""
    rng = np.random.default_rng(0)
    factor, gain = factors.prior(0.0, np.zeros(4)), np.empty(4)
    for v in rng.normal(size=(9, 3)):
        factors.learn(factor, np.append(v, 0.0), gain)
    before = factor.copy()
    marginalise(factor, 3, np.empty(4))
    np.testing.assert_array_equal(factor, before)


@np.errstate(all="ignore")  # where kernels run as plain Python
def test_a_variance_beyond_all_numbers_takes_over_the_last_coordinate_it_touches():
    """As a large one does, in the limit: c v_j² of 1e12, and one that overflows."""
    v = np.array([0.5, -2.0, 0.7, 1.5])
    limits = []
    for c in (1e12, 1e308):
        factor, _ = excited_factor(4)
        add_outer_product(factor, c, 1e3 * v if c > 1e100 else v.copy(), 4, 0.0)
        limits.append(factor[:4])
    near, beyond = limits
    assert near[3, 3] > 1e12 and 1e200 < beyond[3, 3] < np.inf
    near[3, 3] = beyond[3, 3] = 0
    np.testing.assert_allclose(beyond, near, rtol=1e-9, atol=1e-9)
