import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thalweg.domains import Ball


def test_a_far_point_is_scaled_back():
    np.testing.assert_array_equal(Ball(5.0).project(np.array([6.0, 8.0])), [3.0, 4.0])


def test_support_is_the_norm_times_the_radius():
    directions = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_array_equal(Ball(2.0).support(directions), [10.0, 0.0])


@given(
    exponents=st.lists(st.floats(-8, 8), min_size=1, max_size=12),
    excess=st.floats(1e-12, 1e8),
)
def test_the_multiplier_is_one_number(exponents, excess):
    P = np.diag(10.0 ** np.array(exponents))
    y = np.ones(len(exponents)) * (1 + excess) / np.sqrt(len(exponents))
    z = Ball(1.0).project_in(y, P).point
    # P(y - z) = μz; coordinate by coordinate the error is that of y - z.
    force = np.diag(P) * (y - z)
    mu = force @ z
    rounding = 1e-14 * np.diag(P).max() * (1 + excess)
    np.testing.assert_allclose(force, mu * z, rtol=0, atol=rounding)


def test_an_information_too_flat_for_its_eigenvalues_still_projects():
    v = np.array([[1.0], [1.0], [1.0]])
    P = v @ v.T + 1e-18 * np.eye(3)  # singular to machine precision
    nearest = Ball(1.0).project_in(np.array([4.0, 0.0, 0.0]), P)
    assert Ball(1.0).contains(nearest.point)
    assert nearest.gap <= 1e-12
