import numpy as np
import pytest

from tests.contracts.examples import DOMAINS
from tests.domains import random_problems
from thalweg.domains import Ball, Ellipsoid
from thalweg.errors import InvalidParameterError


def test_a_round_ellipsoid_is_a_ball():
    rng = np.random.default_rng(0)
    ellipsoid, ball = Ellipsoid(np.zeros(4), np.eye(4) / 9), Ball(3.0)
    for _ in range(30):
        y, P = 10 * rng.standard_normal(4), random_problems.information(rng, 4, 100.0)
        expected = ball.project_in(y, P).point
        np.testing.assert_allclose(
            ellipsoid.project_in(y, P).point, expected, rtol=1e-9
        )
        np.testing.assert_allclose(ellipsoid.project(y), ball.project(y), rtol=1e-12)
    assert ellipsoid.radius == pytest.approx(3.0, rel=1e-15)


def test_support_and_radius_follow_the_axes():
    ellipsoid = Ellipsoid([1.0, 0.0], np.diag([1 / 4, 1.0]))  # half-axes 2 and 1
    directions = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0]])
    np.testing.assert_allclose(ellipsoid.support(directions), [3.0, 1.0, 3.0])
    assert ellipsoid.radius == 3.0


def test_information_shaped_like_the_set_shrinks_towards_the_centre():
    ellipsoid = DOMAINS[Ellipsoid]()
    away = np.array([3.0, 1.0, -2.0])
    inside = away / np.sqrt(away @ ellipsoid.shape @ away)
    nearest = ellipsoid.project_in(ellipsoid.centre + away, ellipsoid.shape)
    np.testing.assert_allclose(nearest.point, ellipsoid.centre + inside, rtol=1e-14)


@pytest.mark.parametrize(
    "centre, shape, rule",
    [
        ([0.0, 0.0], np.eye(3), r"the centre's 2 coordinates. Got shape \(3, 3\)"),
        ([0.0, 0.0], [[1.0, 0.5], [0.0, 1.0]], "finite and symmetric. Got"),
        ([0.0, 0.0], np.diag([1.0, -2.0]), "definite. Got -2.0 as its least"),
        ([0.0, 0.0], np.ones((2, 2)), "must be positive definite. Got"),
        ([0.0, np.inf], np.eye(2), "'centre' parameter of Ellipsoid must be finite"),
        ([0.0], [1.0], "'shape' parameter of Ellipsoid must be .* array of 2 axes"),
    ],
)
def test_what_is_no_ellipsoid_is_refused(centre, shape, rule):
    with pytest.raises(InvalidParameterError, match=rule):
        Ellipsoid(centre, shape)
