import numpy as np
import pytest

from thalweg.domains import Simplex


@pytest.mark.parametrize(
    "y, expected",
    [
        ([0.5, 0.5, 2.0], [0.0, 0.0, 1.0]),
        ([0.5, 0.5, -4.0], [0.5, 0.5, 0.0]),
        ([7.0, 7.0, 7.0], [1 / 3, 1 / 3, 1 / 3]),
        ([-5.0], [1.0]),
    ],
)
def test_projections_known_by_hand(y, expected):
    np.testing.assert_allclose(Simplex().project(np.array(y)), expected, rtol=1e-15)


def test_a_constant_added_to_every_coordinate_changes_nothing():
    y = np.array([0.25, 0.5, 0.75])
    near, far = Simplex().project(y), Simplex().project(y + 2.0**40)
    np.testing.assert_array_equal(near, far)


def test_a_point_beyond_all_digits_still_gives_weights():
    simplex = Simplex(2.0)
    y = np.array([1e150, -1e150, 1e150])
    assert simplex.contains(simplex.project(y))
    np.testing.assert_array_equal(simplex.project(y), [1.0, 0.0, 1.0])


def test_support_is_the_best_vertex():
    directions = np.array([[1.0, -2.0, 3.0], [-1.0, -2.0, -3.0]])
    np.testing.assert_array_equal(Simplex(2.0).support(directions), [6.0, -2.0])
    assert Simplex(2.0).radius == 2.0


def test_neither_a_wrong_sum_nor_a_negative_weight_is_inside():
    assert Simplex().contains(np.array([0.25, 0.75]))
    assert not Simplex().contains(np.array([0.25, 0.7500001]))
    assert not Simplex().contains(np.array([-1e-9, 1 + 1e-9]))
