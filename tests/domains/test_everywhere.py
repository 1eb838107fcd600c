import numpy as np

from thalweg.domains import Everywhere


def test_nothing_is_outside():
    y = np.array([1e150, -1e150])
    assert Everywhere().contains(y)
    assert Everywhere().project(y) is y
    assert Everywhere().radius == np.inf


def test_every_direction_is_open_but_zero():
    support = Everywhere().support(np.array([[1.0, 0.0], [0.0, 0.0]]))
    np.testing.assert_array_equal(support, [np.inf, 0.0])


def test_coordinates_beyond_every_legal_number_are_outside():
    y = np.array([1e300, -1.0])
    assert not Everywhere().contains(y)
    nearest = Everywhere().project_in(y, np.eye(2))
    np.testing.assert_array_equal(nearest.point, [1e150, -1.0])
