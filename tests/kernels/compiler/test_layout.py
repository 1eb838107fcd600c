"""Layouts: one declaration gives sizes, offsets, views and versions."""

from typing import Annotated, NamedTuple

import numpy as np
import pytest
from numba import njit

from thalweg.kernels import logistic_live, rls_live, ud_factor
from thalweg.kernels.change_detector import daily_layout, detector_layout
from thalweg.kernels.compiler.layout import (
    CACHE_LINE,
    Layout,
    Ordered,
    Range,
    Shape,
    aligned_copy,
    aligned_zeros,
    exactly,
    whole,
)
from thalweg.kernels.forecaster import forecaster_layout
from thalweg.kernels.rls_bank import lane_state


class Inner(NamedTuple):
    weight: Annotated[np.ndarray, Shape(3)]
    mean: Annotated[np.ndarray, Shape("n + 1", 2, align=8)]


class Outer(NamedTuple):
    counters: Annotated[np.ndarray, Shape(4)]
    inner: Inner
    padded: Annotated[np.ndarray, Shape(8)]
    exact: Annotated[np.ndarray, Shape(5, within="padded")]
    pending: Annotated[np.ndarray, Shape("delay", "n")]


LAYOUT = Layout("test state", Outer, version=3, dimensions=("n", "delay"))
unpack, kernel_offsets = LAYOUT.unpack, LAYOUT.kernel_offsets


@njit
def double(buffer, start, n, delay):
    fields = unpack(buffer, start, n, delay)
    for i in range(fields.inner.mean.shape[0]):
        for j in range(fields.inner.mean.shape[1]):
            fields.inner.mean[i, j] *= 2
    fields.exact[4] = -1.0
    return fields.pending.shape[0], fields.pending.shape[1]


@njit
def pending_offset(n, delay):
    return kernel_offsets(0, n, delay).pending


def test_fields_lie_in_the_order_of_declaration():
    offsets = LAYOUT.offsets(n=2, delay=3)
    assert offsets.counters == 0 and offsets.inner.weight == 4
    assert offsets.inner.mean == 8  # 7, up to a multiple of 8
    assert offsets.padded == offsets.exact == 8 + 3 * 2
    assert offsets.pending == 14 + 8
    assert LAYOUT.size(n=2, delay=3) == 22 + 3 * 2


def test_offsets_count_from_the_start():
    first, later = LAYOUT.offsets(n=2, delay=1), LAYOUT.offsets(100, n=2, delay=1)
    assert later.inner.mean == first.inner.mean + 100
    assert later.pending == first.pending + 100


def test_views_share_memory_with_the_buffer():
    buffer = np.zeros(5 + LAYOUT.size(n=2, delay=3))
    views = LAYOUT.views(buffer, 5, n=2, delay=3)
    views.pending[:] = 7
    assert views.pending.shape == (3, 2) and (buffer[-6:] == 7).all()
    views.padded[:] = np.arange(8)
    np.testing.assert_array_equal(views.exact, np.arange(5))


def test_views_do_not_overlap_unless_declared():
    size = LAYOUT.size(n=3, delay=2)
    buffer = np.zeros(size)
    views = LAYOUT.views(buffer, n=3, delay=2)
    for part in (views.counters, *views.inner, views.padded, views.pending):
        part += 1
    assert buffer.max() == 1


def test_an_absent_part_has_length_zero():
    views = LAYOUT.views(np.zeros(LAYOUT.size(n=2, delay=0)), n=2, delay=0)
    assert views.pending.shape == (0, 2)


def test_kernels_see_the_same_fields_as_python():
    buffer = np.arange(2.0 + LAYOUT.size(n=2, delay=3))
    expected = buffer.copy()
    views = LAYOUT.views(expected, 2, n=2, delay=3)
    views.inner.mean[:] *= 2
    views.exact[4] = -1
    assert double(buffer, 2, 2, 3) == (3, 2)
    np.testing.assert_array_equal(buffer, expected)


def test_kernels_compute_the_same_offsets():
    for n, delay in ((1, 0), (2, 3), (9, 1)):
        expected = LAYOUT.offsets(n=n, delay=delay).pending
        assert pending_offset(n, delay) == expected


def test_views_take_the_dtype_of_the_buffer():
    buffer = np.zeros(LAYOUT.size(n=2, delay=1), np.float32)
    assert LAYOUT.views(buffer, n=2, delay=1).pending.dtype == np.float32


def test_missing_dimensions_are_refused_by_name():
    with pytest.raises(TypeError, match="test state are n, delay. Got n instead"):
        LAYOUT.size(n=2)


def test_unknown_dimensions_are_refused_by_name():
    class Wrong(NamedTuple):
        mean: Annotated[np.ndarray, Shape("m")]

    with pytest.raises(ValueError, match="'m' in field 'mean' is no dimension of it"):
        Layout("it", Wrong, version=1, dimensions=("n",))


def test_a_field_without_a_shape_is_refused():
    class Wrong(NamedTuple):
        mean: np.ndarray

    with pytest.raises(TypeError, match="'mean' of Wrong has no shape"):
        Layout("it", Wrong, version=1)


def test_the_fingerprint_follows_the_declaration():
    class Other(NamedTuple):
        mean: Annotated[np.ndarray, Shape("n")]

    class Another(NamedTuple):
        mean: Annotated[np.ndarray, Shape("n", 1)]

    one, same, different = (
        Layout("it", fields, version=1, dimensions=("n",))
        for fields in (Other, Other, Another)
    )
    assert one.fingerprint == same.fingerprint != different.fingerprint


class Ruled(NamedTuple):
    counters: Annotated[np.ndarray, Shape(4, legal={0: whole(99), 3: exactly(0)})]
    counts: Annotated[np.ndarray, Shape(2, "n", legal={1: whole("counters[0]")})]
    steps: Annotated[np.ndarray, Shape("n", legal=exactly("steps_of"))]
    errors: Annotated[np.ndarray, Shape("n", 2, 3, legal=Ordered("counts[1]"))]
    pairs: Annotated[np.ndarray, Shape(1, legal=Range(-2, 2, dtype=np.float32))]
    pending: Annotated[np.ndarray, Shape(2, may_be_nan=True)]
    optional: Annotated[np.ndarray, Shape("n - 2", legal={0: exactly(7)})]


class Plain(NamedTuple):
    counters: Annotated[np.ndarray, Shape(4)]
    counts: Annotated[np.ndarray, Shape(2, "n")]
    steps: Annotated[np.ndarray, Shape("n")]
    errors: Annotated[np.ndarray, Shape("n", 2, 3)]
    pairs: Annotated[np.ndarray, Shape(1)]
    pending: Annotated[np.ndarray, Shape(2)]
    optional: Annotated[np.ndarray, Shape("n - 2")]


RULED = Layout("ruled", Ruled, version=1, dimensions=("n",))
STEPS = {"steps_of": np.array([1.0, 2.0])}


def legal_buffer():
    buffer = np.zeros(RULED.size(n=2))
    views = RULED.views(buffer, n=2)
    views.counters[0], views.counts[1], views.steps[:] = 3, 2, (1, 2)
    views.errors[:] = [[2, 1, 9], [1, 2, 5]]
    views.pairs.view(np.float32)[:] = 2, -2
    views.pending[:] = np.nan
    return buffer, views


def problems_of(buffer):
    return [(name, rule) for name, rule, _ in RULED.problems(buffer, STEPS, n=2)]


def test_a_buffer_with_legal_numbers_has_no_problem():
    assert problems_of(legal_buffer()[0]) == []


@pytest.mark.parametrize(
    ("field", "index", "value", "expected"),
    [
        ("counters", 0, 0.5, ("counters[0]", "whole numbers from 0 to 99")),
        ("counters", 0, -1.0, ("counters[0]", "whole numbers from 0 to 99")),
        ("counters", 3, 1.0, ("counters[3]", "numbers from 0 to 0")),
        ("counters", 1, np.nan, ("counters", "finite numbers")),
        ("counters", 2, np.inf, ("counters", "finite numbers")),
        ("counts", (1, 0), 4.0, ("counts[1]", "whole numbers from 0 to 3.0")),
        ("steps", 1, 1.0, ("steps", "numbers from [1. 2.] to [1. 2.]")),
        ("errors", (0, 1, 0), 2.0, ("errors", "numbers, then the same in order")),
    ],
)  # fmt: skip
def test_an_illegal_number_is_named_by_its_field_and_rule(
    field, index, value, expected
):
    buffer, views = legal_buffer()
    getattr(views, field)[index] = value
    assert expected in problems_of(buffer)


@pytest.mark.parametrize("value", [np.nan, 2.5, -np.inf])
def test_each_number_of_a_pair_is_looked_at(value):
    for place in (0, 1):
        buffer, views = legal_buffer()
        views.pairs.view(np.float32)[place] = value
        assert [name for name, _ in problems_of(buffer)][-1] == "pairs"


def test_an_optional_part_that_is_there_is_looked_at():
    buffer = np.zeros(RULED.size(n=3))
    steps = {"steps_of": np.zeros(3)}
    found = [name for name, _, _ in RULED.problems(buffer, steps, n=3)]
    assert found == ["optional[0]"]


def test_rules_are_no_part_of_the_fingerprint():
    plain = Layout("ruled", Plain, version=1, dimensions=("n",))
    assert plain.fingerprint == RULED.fingerprint


def test_aligned_arrays_start_at_a_cache_line():
    for size in range(1, 40):
        zeros = aligned_zeros(size)
        assert zeros.ctypes.data % CACHE_LINE == 0 and zeros.shape == (size,)
        copy = aligned_copy(np.arange(float(size)))
        assert copy.ctypes.data % CACHE_LINE == 0
        np.testing.assert_array_equal(copy, np.arange(float(size)))


VERSIONS = {
    "UD factor": (ud_factor.LAYOUT, 1, "01e3a1c1a52e8bc2"),
    "live RLS buffer": (rls_live.LAYOUT, 3, "2c78d041dcbcac0a"),
    "live logistic buffer": (logistic_live.LAYOUT, 1, "58da3da3c6640f0c"),
    "Forecaster state": (forecaster_layout.STATE, 9, "2d1daa1319c782e4"),
    "change detector": (detector_layout.STATE, 4, "6ab33e98e46b8358"),
    "daily course": (daily_layout.STATE, 1, "757ead0bff10ebdd"),
    "lanes of a bank": (lane_state.LAYOUT, 1, "cb7a1bb296aca636"),
}


@pytest.mark.parametrize("name", VERSIONS)
def test_a_layout_that_changes_changes_its_version(name):
    """Raise the version where this fails: buffers of the old one are then refused."""
    layout, version, fingerprint = VERSIONS[name]
    assert (layout.name, layout.version) == (name, version)
    assert layout.fingerprint == fingerprint


def test_rows_of_the_ud_factor_are_counted_from_its_end():
    n = 5
    factor = np.arange((n + ud_factor.EXTRA_ROWS) * n, dtype=float).reshape(-1, n)
    views = ud_factor.LAYOUT.views(factor.reshape(-1), n=n)
    np.testing.assert_array_equal(factor[ud_factor.INPUT_SCALE], views.input_scale)
    np.testing.assert_array_equal(
        factor[ud_factor.RETAINED_RIDGE], views.retained_ridge
    )
    np.testing.assert_array_equal(factor[ud_factor.GROWTH], views.growth)
    np.testing.assert_array_equal(factor[:n], views.triangle)
