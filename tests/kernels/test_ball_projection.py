import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.domains import Ball, Box
from thalweg.kernels.ball_projection import project_on_ball, projection_workspace
from thalweg.kernels.ud_factor import information, learn, prior


def project(point, factor, domain):
    """The point that the kernel makes of it, and whether it served."""
    theta = point.copy()
    work = projection_workspace(theta)
    with np.errstate(all="ignore"):  # as in every run
        is_done = project_on_ball(theta, factor, *domain.limits(theta), work)
    return theta, is_done


def random_factor(rng, n, dtype=np.float64, size=1.0):
    factor = prior(1.0, np.zeros(n, dtype))
    for _ in range(2 * n):
        learn(factor, size * rng.normal(size=n).astype(dtype), np.empty(n, dtype))
    return factor


@settings(max_examples=100)
@given(
    n=st.integers(2, 6),
    seed=st.integers(0, 999),
    radius=st.sampled_from([1e-3, 1.0, 50.0]),
    distance=st.sampled_from([1.0001, 1.5, 30.0, 1e6]),
)
def test_it_is_the_nearest_point_that_the_domain_finds(n, seed, radius, distance):
    rng = np.random.default_rng(seed)
    factor, point = random_factor(rng, n, size=3.0), rng.normal(size=n)
    point *= distance * radius / np.linalg.norm(point)
    nearest, is_done = project(point, factor, Ball(radius))
    assert is_done and Ball(radius).contains(nearest)
    expected = Ball(radius).project_in(point, information(factor))
    np.testing.assert_allclose(nearest, expected.point, rtol=1e-11, atol=1e-12 * radius)


@pytest.mark.parametrize("point", [2.0, -0.6, 1e100])
def test_on_a_line_it_is_the_nearest_end(point):
    factor = prior(7.0, np.zeros(1))
    for domain, ends in ((Ball(0.5), (-0.5, 0.5)), (Box([-0.2], [0.3]), (-0.2, 0.3))):
        nearest, is_done = project(np.array([point]), factor, domain)
        assert is_done and nearest[0] == np.clip(point, *ends)


def test_a_point_outside_by_a_rounding_stays_where_it_is():
    point = np.array([0.6, 0.8]) * (1 + 2e-16)
    nearest, is_done = project(point, prior(1.0, point), Ball(1.0))
    assert is_done
    np.testing.assert_array_equal(nearest, point)


def test_single_precision_agrees_to_its_own_rounding():
    rng = np.random.default_rng(0)
    for _ in range(20):
        factor = random_factor(rng, 3, np.float32)
        point = (3 * rng.normal(size=3)).astype(np.float32)
        nearest, is_done = project(point, factor, Ball(0.5))
        assert is_done and nearest.dtype == np.float32
        expected = Ball(0.5).project_in(point, information(factor)).point
        np.testing.assert_allclose(nearest, expected, rtol=1e-4, atol=1e-5)


def test_what_is_extreme_is_left_to_the_domain():
    point, good = np.array([3.0, 4.0]), prior(1.0, np.zeros(2))
    unlearnt = prior(0.0, np.zeros(2))
    skewed = good.copy()
    skewed[1, 1] = 1e9
    many = np.ones(65)
    for theta, factor, domain in (
        (point, unlearnt, Ball(1.0)),
        (point, skewed, Ball(1.0)),
        (point, good, Box(-1.0, 1.0)),
        (point, good, Ball(1e60)),
        (np.array([np.nan, 1.0]), good, Ball(1.0)),
        (np.array([1e140, 1.0]), good, Ball(1.0)),
        (np.array([np.inf]), prior(1.0, np.zeros(1)), Ball(1.0)),
        (many, prior(1.0, many), Ball(1.0)),
    ):
        nearest, is_done = project(theta, factor, domain)
        assert not is_done
        np.testing.assert_array_equal(nearest, theta)
