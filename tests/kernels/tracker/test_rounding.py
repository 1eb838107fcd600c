"""Numbers of 21 significant bits, and past features that are rounded to them."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.tracker import reference
from tests.kernels.tracker.workspaces import rounding
from thalweg.learners.tracker import definition_season

NUMBERS = st.floats(-1e298, 1e298).filter(lambda value: abs(value) > 1e-290)


def lower_half(value):
    return int(np.array([value]).view(np.uint64)[0] & 0xFFFFFFFF)


@given(NUMBERS)
def test_a_rounded_number_is_near_and_needs_no_more_than_32_bits(value):
    rounded = rounding.round_to_21_bits(value)
    assert lower_half(rounded) == 0
    assert abs(rounded - value) <= 2.0**-21 * abs(value)
    assert rounding.round_to_21_bits(rounded) == rounded
    assert definition_season.round_to_21_bits(value) == rounded


@given(st.integers(0, 2**32 - 1))
def test_numbers_are_rounded_to_the_nearest(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=50) * 10.0 ** rng.integers(-200, 200, 50)
    rounded = [rounding.round_to_21_bits(value) for value in values]
    np.testing.assert_array_equal(rounded, reference.rounded(values))


@pytest.mark.parametrize("value", [0.0, -0.0, 5e-324, -1e-310, 9e-301])
def test_numbers_next_to_nothing_become_zero(value):
    assert rounding.round_to_21_bits(value) == 0
    assert definition_season.round_to_21_bits(value) == 0


def remember(x):
    """The rows as the kernel remembers them, and as the definition does."""
    first_x, x_unit = x[0].copy(), np.zeros(x.shape[1])
    s = SimpleNamespace(first_x=first_x.copy(), x_unit=x_unit.copy())
    ours, theirs = np.zeros_like(x), np.zeros_like(x)
    for t, row in enumerate(x):
        rounding.set_remembered_features(row, first_x, x_unit, ours[t])
        theirs[t] = definition_season.remembered_features(s, row)
    np.testing.assert_array_equal(theirs, ours)
    np.testing.assert_array_equal(s.x_unit, x_unit)
    return ours


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-130, 1e-5, 1.0, 1e140]))
def test_past_features_are_rounded_as_deviations_from_the_first(seed, scale):
    rng = np.random.default_rng(seed)
    x = scale * (rng.normal(size=(30, 3)) + rng.normal(size=3) * 1e6)
    x[:10, 1], x[:, 2] = x[0, 1], x[0, 2]
    rows = remember(x)
    np.testing.assert_array_equal(rows, reference.remembered(x))
    rounding_of_sums = 1e-15 * abs(x).max()
    assert (abs(rows - x) <= 2.0**-21 * abs(x - x[0]) + rounding_of_sums).all()


def test_a_feature_at_rest_is_remembered_as_at_rest():
    rows = remember(np.array([0.1, 0.7, 1 / 3, 1 / 3, 1 / 3, 0.1])[:, None])
    assert rows[2] == rows[3] == rows[4] != 1 / 3
    assert rows[0] == rows[5] == 0.1


@pytest.mark.parametrize("scale", [3.0, 7e5, -0.1, 1e-9])
def test_rounding_knows_neither_scale_nor_shift(scale):
    x = np.random.default_rng(0).normal(size=(300, 2))
    rows = remember(x)
    assert (rows != x).any()
    np.testing.assert_allclose(remember(scale * x) / scale, rows, rtol=1e-12)
    np.testing.assert_allclose(remember(x + 40.0) - 40.0, rows, atol=1e-13, rtol=0)


def test_a_feature_that_hardly_differs_from_the_first_counts_as_it():
    rows = remember(np.array([0.0, 5e-324, 1e-140, 1e150, -1e150, 1e-140])[:, None])
    np.testing.assert_allclose(rows[:, 0], [0, 0, 0, 1e150, -1e150, 1e-140], 1e-6)
