import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.accuracy.forecast_origins import (
    evaluation_origins,
    root_mean_square,
    values_after,
)


@given(
    st.integers(8, 60), st.integers(1, 4), st.integers(1, 12),
    st.sets(st.integers(0, 59), max_size=6),
)  # fmt: skip
def test_origins_are_possible_ones_evenly_spaced(rows, horizon, count, missing):
    y = np.arange(float(rows))
    y[[row for row in missing if row < rows]] = np.nan
    possible = [
        row
        for row in range(rows // 2, rows - horizon)
        if all(np.isfinite(y[row + step]) for step in range(horizon + 1))
    ]
    assume(possible)
    origins = evaluation_origins(y, horizon, count)
    assert len(origins) == min(count, len(possible))
    assert set(origins) <= set(possible) and (np.diff(origins) > 0).all()
    if len(origins) > 1:
        assert (origins[0], origins[-1]) == (possible[0], possible[-1])
        gaps = np.diff([possible.index(origin) for origin in origins])
        assert gaps.max() - gaps.min() <= 1
    assert np.isfinite(values_after(y, origins, horizon)).all()


def test_values_after_an_origin_begin_with_the_next_row():
    values = values_after(np.arange(10.0), np.array([2, 5]), 3)
    np.testing.assert_array_equal(values, [[3, 4, 5], [6, 7, 8]])


def test_the_root_mean_square_is_over_all_errors():
    assert root_mean_square(np.array([[1.0, 7.0], [5.0, 5.0]])) == 5.0


def test_a_series_with_no_origin_is_refused():
    with pytest.raises(ValueError, match="has no row after which 3 values"):
        evaluation_origins(np.array([1.0, 2, 3, 4, 5, 6, np.nan, 8, 9]), 3)
