import numpy as np
import pytest

from tests.domains import drawn
from thalweg.domains import Box
from thalweg.errors import InvalidParameterError


def test_coordinates_are_clipped():
    box = Box([-1.0, -np.inf, 0.0], [1.0, 2.0, np.inf])
    y = np.array([-3.0, 5.0, 7.0])
    np.testing.assert_array_equal(box.project(y), [-1.0, 2.0, 7.0])


def test_a_diagonal_information_clips_too():
    rng = np.random.default_rng(0)
    for _ in range(50):
        box = Box(*drawn.box(rng, 8))
        y, P = drawn.point(rng, 8), np.diag(10.0 ** rng.uniform(-4, 4, 8))
        np.testing.assert_allclose(
            box.project_in(y, P).point, box.project(y), rtol=1e-15, atol=0
        )


def test_a_box_of_one_point_has_one_answer():
    only = np.array([0.3, -0.7, 1e-9])
    nearest = Box(only, only).project_in(np.array([5.0, 5.0, 5.0]), np.eye(3) + 0.5)
    np.testing.assert_array_equal(nearest.point, only)
    assert nearest.gap == 0


def test_radius_is_the_farthest_corner():
    assert Box([-3.0, 1.0], [2.0, 4.0]).radius == 5.0
    assert Box([-np.inf], [0.0]).radius == np.inf


def test_support_asks_only_the_coordinates_in_the_direction():
    box = Box([-1.0, -np.inf], [2.0, np.inf])
    directions = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 1e-9], [0.0, -1.0]])
    np.testing.assert_array_equal(box.support(directions), [2.0, 1.0, np.inf, np.inf])


@pytest.mark.parametrize(
    "low, high, rule",
    [
        ([0.0, 2.0], [1.0, 1.0], "Got low 2.0 and high 1.0 at coordinate 1 instead"),
        ([np.inf], [np.inf], "Got low inf and high inf at coordinate 0 instead"),
        ([0.0], [1.0, 1.0], "'high' .* as many coordinates as 'low', 1. Got 2 instead"),
        (0.0, 1.0, "The 'low' parameter of Box must be a non-empty array of 1 axes"),
        ([0.0], [np.nan], "The 'high' parameter of Box .* without NaN"),
    ],
)
def test_a_box_without_a_point_is_refused(low, high, rule):
    with pytest.raises(InvalidParameterError, match=rule):
        Box(low, high)
