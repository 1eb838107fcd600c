import numpy as np
import pytest
from scipy.optimize import OptimizeResult

from tests.contracts.examples import DOMAINS
from tests.domains import random_problems
from thalweg.domains import Box, Polytope, Simplex, quadratic_program
from thalweg.errors import InvalidParameterError, ThalwegError


def as_polytope(box):
    n = box.dimension
    normals, offsets = np.vstack([np.eye(n), -np.eye(n)]), np.append(box.high, -box.low)
    ends = np.isfinite(offsets)
    return Polytope(normals[ends], offsets[ends])


def test_a_box_is_a_polytope():
    rng = np.random.default_rng(0)
    for _ in range(50):
        low, high = random_problems.box(rng, 5)
        box = Box(np.append(low, 0.0), np.append(high, 0.5))  # one end at the least
        y, P = (
            random_problems.point(rng, 6, 100.0),
            random_problems.information(rng, 6, 100.0),
        )
        expected, result = box.project_in(y, P).point, as_polytope(box).project_in(y, P)
        np.testing.assert_allclose(result.point, expected, atol=1e-12)
        x = rng.standard_normal((3, 6))
        np.testing.assert_allclose(as_polytope(box).support(x), box.support(x))


def test_a_flat_polytope_is_a_simplex():
    rng = np.random.default_rng(1)
    normals = np.vstack([-np.eye(4), np.ones((1, 4)), -np.ones((1, 4))])
    flat = Polytope(normals, np.array([0.0, 0.0, 0.0, 0.0, 1.0, -1.0]))
    for _ in range(50):
        y, P = (
            random_problems.point(rng, 4, 100.0),
            random_problems.information(rng, 4, 100.0),
        )
        expected = Simplex().project_in(y, P).point
        np.testing.assert_allclose(flat.project_in(y, P).point, expected, atol=1e-12)


def test_lengths_of_the_normals_mean_nothing():
    rng = np.random.default_rng(2)
    A, b = random_problems.inequalities(rng, 5)
    scale = 10.0 ** rng.uniform(-6, 6, len(b))
    y = 10 * rng.standard_normal(5)
    expected = Polytope(A, b).project(y)
    scaled = Polytope(A * scale[:, None], b * scale).project(y)
    np.testing.assert_allclose(scaled, expected, rtol=1e-9, atol=1e-12)


def test_the_radius_covers_the_bounding_box():
    square = as_polytope(Box([-3.0, 0.0], [1.0, 4.0]))
    assert square.radius == pytest.approx(5.0, rel=1e-12)
    assert Polytope([[1.0, 0.0]], [1.0]).radius == np.inf


def test_an_open_direction_has_infinite_support():
    half_plane = Polytope([[1.0, 1.0]], [2.0])
    directions = np.array([[3.0, 3.0], [1.0, 0.0], [-1.0, -1.0], [0.0, 0.0]])
    np.testing.assert_allclose(half_plane.support(directions), [6, np.inf, np.inf, 0])


def test_a_second_solver_answers_where_the_first_does_not_know(monkeypatch):
    asked = []

    def unsure(*args, method, **kwargs):
        asked.append(method)
        status = 4 if method == "highs-ds" else 0
        return OptimizeResult(status=status, fun=-7.0, message="unknown")

    triangle = DOMAINS[Polytope]()
    monkeypatch.setattr("scipy.optimize.linprog", unsure)
    assert triangle.support(np.ones((1, 3))) == 7.0
    assert asked == ["highs-ds", "highs-ipm"]


def test_no_answer_at_all_is_an_error(monkeypatch):
    triangle = DOMAINS[Polytope]()
    lost = OptimizeResult(status=4, message="unknown")
    monkeypatch.setattr("scipy.optimize.linprog", lambda *args, **kwargs: lost)
    with pytest.raises(
        ThalwegError, match="(?s)No linear program ends on Polytope.*unknown"
    ):
        triangle.support(np.ones((1, 3)))


@pytest.mark.parametrize("condition", [1e8, 1e12])
def test_the_active_set_method_needs_no_proposal(monkeypatch, condition):
    monkeypatch.setattr(quadratic_program, "_propose", lambda *problem: None)
    rng = np.random.default_rng(3)
    for _ in range(150):
        n = int(rng.integers(1, 13))
        domain = Polytope(*random_problems.inequalities(rng, n))
        P, y = (
            random_problems.information(rng, n, condition),
            random_problems.point(rng, n, 1e9),
        )
        nearest = domain.project_in(y, P)
        assert domain.contains(nearest.point)
        assert nearest.gap <= 1e-13 * np.linalg.norm(P, 2) * (y @ y)


def test_a_method_out_of_steps_stays_inside_and_says_how_far_it_got(monkeypatch):
    monkeypatch.setattr(quadratic_program, "_propose", lambda *problem: None)
    monkeypatch.setattr(quadratic_program, "STEPS_PER_SIDE", 0.2)
    rng = np.random.default_rng(4)
    domain = as_polytope(Box(-np.ones(9), np.ones(9)))
    y, P = 3 + rng.random(9), np.diag(1 + rng.random(9))
    nearest = domain.project_in(y, P)
    least = 0.5 * (y - 1) @ P @ (y - 1)
    above = 0.5 * (y - nearest.point) @ P @ (y - nearest.point) - least
    assert domain.contains(nearest.point)
    assert 0 < above <= nearest.gap


@pytest.mark.parametrize(
    "normals, offsets, rule",
    [
        (
            [[1.0], [-1.0]],
            [0.0, -1.0],
            "must leave a point. Got 2 inequalities that no",
        ),
        ([[1.0], [1.0]], [0.0], "one number for each of the 2 normals. Got 1 instead"),
        ([[1.0, 0.0], [0.0, 0.0]], [1.0, 1.0], "no row of zeros. Got one in row 1"),
        ([[1.0]], [np.inf], "'offsets' parameter of Polytope must be finite. Got"),
        ([1.0], [1.0], "'normals' parameter of Polytope must be .* array of 2 axes"),
    ],
)
def test_what_is_no_polytope_is_refused(normals, offsets, rule):
    with pytest.raises(InvalidParameterError, match=rule):
        Polytope(normals, offsets)
