"""The draw of the hinges of the Tracker's correction for curvature."""

import numpy as np
import pytest

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker import Tracker


def hinges_of(n=3, **settings):
    """Coordinates, directions and biases of a first state, as one array (5, D)."""
    state = Tracker(**settings).init(np.zeros(n))
    curvature = layout.views(state.packed, n).curvature
    drawn = curvature.coordinates, curvature.directions, curvature.biases
    return np.vstack(drawn)


def test_a_seed_draws_the_same_hinges_and_another_seed_others():
    np.testing.assert_array_equal(hinges_of(seed=4), hinges_of(seed=4))
    np.testing.assert_array_equal(hinges_of(), hinges_of(seed=0))
    for part in (slice(0, 2), slice(2, 4), slice(4, 5)):
        assert (hinges_of(seed=4)[part] != hinges_of(seed=5)[part]).any()


@pytest.mark.parametrize("information, past", [("all", 2), ("features", 0)])
def test_every_hinge_sees_two_coordinates_that_it_may_see(information, past):
    first, second = hinges_of(n=3, information=information)[:2]
    assert (first != second).all()
    assert set(np.append(first, second)) == set(range(3 + past))


def test_where_there_is_one_coordinate_hinges_see_that_one_alone():
    first, second, size, none, _ = hinges_of(n=1, information="features")
    assert (first == 0).all() and (size != 0).all()
    assert (second == 0).all() and (none == 0).all()


def test_without_curvature_there_are_no_hinges():
    assert hinges_of(curvature=False).shape == (5, 0)
