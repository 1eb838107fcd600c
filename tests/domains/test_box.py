import numpy as np
import pytest

from tests.domains import random_problems
from thalweg.bounds import Problem
from thalweg.domains import Box
from thalweg.errors import InvalidParameterError
from thalweg.learners import DiscountedGradient, DiscountedNewton
from thalweg.losses import Huber, LinearMap, SquaredError, Tracking
from thalweg.types import Block


def test_coordinates_are_clipped():
    box = Box([-1.0, -np.inf, 0.0], [1.0, 2.0, np.inf])
    y = np.array([-3.0, 5.0, 7.0])
    np.testing.assert_array_equal(box.project(y), [-1.0, 2.0, 7.0])


def test_a_diagonal_information_clips_too():
    rng = np.random.default_rng(0)
    for _ in range(50):
        box = Box(*random_problems.box(rng, 8))
        y, P = random_problems.point(rng, 8), np.diag(10.0 ** rng.uniform(-4, 4, 8))
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


def test_scalar_bounds_hold_in_every_dimension():
    box = Box(-1, 1)
    assert box.dimension is None
    assert box == Box(-1.0, np.float64(1.0)) and hash(box) == hash(Box(-1.0, 1.0))
    assert box != Box([-1.0], [1.0])
    for n in (1, 2, 5):
        same = Box(np.full(n, -1.0), np.full(n, 1.0))
        rng = np.random.default_rng(n)
        y, P = 3 * rng.standard_normal(n), random_problems.information(rng, n)
        assert box.contains(y) == same.contains(y)
        np.testing.assert_array_equal(box.project(y), same.project(y))
        np.testing.assert_array_equal(
            box.project_in(y, P).point, same.project_in(y, P).point
        )
        np.testing.assert_array_equal(box.support(y[None]), same.support(y[None]))
        for limit, other in zip(box.limits(y), same.limits(y), strict=True):
            np.testing.assert_array_equal(limit, other)


def test_a_box_of_any_dimension_has_no_finite_radius():
    assert Box(-1, 1).radius == np.inf
    assert Box(0, 0).radius == 0


def test_a_scalar_bound_beside_an_array_holds_for_each_coordinate():
    assert Box(0, [1.0, 2.0]) == Box([0.0, 0.0], [1.0, 2.0])
    assert Box([-1.0, -2.0], 0) == Box([-1.0, -2.0], [0.0, 0.0])


def test_a_learner_stays_in_a_box_of_scalars():
    rng = np.random.default_rng(0)
    block = Block(rng.standard_normal((50, 3)), 10 * rng.standard_normal(50))
    for learner in (DiscountedGradient, DiscountedNewton):
        traces = [
            learner(domain=domain).run(
                learner(domain=domain).init(np.zeros(3)),
                SquaredError(),
                block,
                record=("theta",),
            )[1]
            for domain in (Box(-1, 1), Box(np.full(3, -1.0), np.full(3, 1.0)))
        ]
        np.testing.assert_array_equal(traces[0].theta, traces[1].theta)


@pytest.mark.parametrize(
    "low, high, rule",
    [
        ([0.0, 2.0], [1.0, 1.0], "Got low 2.0 and high 1.0 at coordinate 1 instead"),
        ([np.inf], [np.inf], "Got low inf and high inf at coordinate 0 instead"),
        ([0.0], [1.0, 1.0], "'high' .* as many coordinates as 'low', 1. Got 2 instead"),
        (
            [[0.0]],
            1.0,
            "The 'low' parameter of Box must be a number or a non-empty array",
        ),
        ("a", 1.0, "The 'low' parameter of Box must be a number or a non-empty array"),
        (0.0, np.nan, "The 'high' parameter of Box .* without NaN"),
        (2.0, 1.0, "Got low 2.0 and high 1.0 at coordinate 0 instead"),
        (0.0, [1.0, -1.0], "Got low 0.0 and high -1.0 at coordinate 1 instead"),
        ([0.0], [np.nan], "The 'high' parameter of Box .* without NaN"),
    ],
)
def test_a_box_without_a_point_is_refused(low, high, rule):
    with pytest.raises(InvalidParameterError, match=rule):
        Box(low, high)


def test_a_box_of_any_dimension_has_a_radius_in_each():
    assert Box(-1, 2).in_dimension(4).radius == 4.0
    assert Box(-1, 2).in_dimension(4) == Box(np.full(4, -1.0), np.full(4, 2.0))


@pytest.mark.parametrize(
    "loss, x, y",
    [
        (SquaredError(), (20, 3), (20,)),
        (Huber(0.5, ridge=0.1), (20, 3), (20,)),
        (LinearMap(), (20, 2, 3), (20, 2)),
        (Tracking(), None, (20, 3)),
    ],
)
def test_constants_on_a_box_of_scalars_are_those_on_one_of_arrays(loss, x, y):
    rng = np.random.default_rng(0)
    block = Block(x and rng.standard_normal(x), rng.standard_normal(y))
    boxes = Box(-1, 1), Box(np.full(3, -1.0), np.full(3, 1.0))
    first, second = (Problem.from_loss(loss, box, block) for box in boxes)
    assert first == second
