import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.errors import PersistenceError
from thalweg.evaluation.run_record import (
    MAX_EXPONENT,
    MIN_EXPONENT,
    STEPS,
    ErrorHistogram,
    bin_edges,
)

SIZES = st.floats(2.0**MIN_EXPONENT, 2.0**MAX_EXPONENT, exclude_max=True)
ERRORS = st.one_of(SIZES, SIZES.map(lambda size: -size), st.just(0.0))


def histogram(errors):
    made = ErrorHistogram()
    made.add(np.array(errors, float))
    return made


@given(ERRORS)
def test_an_error_lies_between_the_edges_of_its_bin(error):
    shown = histogram([error]).histogram()
    (low, high), (count,) = shown.edges, shown.counts
    assert count == 1
    if error == 0:
        assert low < 0 < high
    elif error > 0:
        assert low <= error < high
    else:
        assert low < error <= high


@given(SIZES)
def test_a_bin_is_at_most_a_sixteenth_as_wide_as_its_numbers(size):
    low, high = histogram([size]).histogram().edges
    assert high - low <= low / STEPS


@given(st.lists(ERRORS, min_size=1, max_size=60), st.integers(0, 60))
def test_counts_do_not_depend_on_cuts_or_order(errors, cut):
    pieces = ErrorHistogram()
    pieces.add(np.array(errors[cut:], float))
    pieces.restore(pieces.snapshot())
    pieces.add(np.array(errors[:cut], float))
    np.testing.assert_array_equal(pieces.counts, histogram(errors).counts)


def test_edges_rise_and_are_symmetric():
    edges = bin_edges()
    assert (np.diff(edges) > 0).all()
    np.testing.assert_array_equal(edges, -edges[::-1])


def test_what_is_not_finite_does_not_count_and_what_is_huge_is_in_the_last_bin():
    shown = histogram([math.nan, math.inf, -math.inf, 1e300, 5e-324])
    assert shown.counts.sum() == 2
    assert shown.counts[-1] == 1 and shown.counts[len(shown.counts) // 2] == 1
    assert histogram([math.nan]).histogram() is None


def test_a_file_with_negative_counts_is_refused():
    made = histogram([1.0])
    damaged = made.snapshot()._replace(counts=-made.counts)
    with pytest.raises(PersistenceError, match="counts"):
        ErrorHistogram().restore(damaged)
