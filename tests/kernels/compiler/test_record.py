"""Records: in kernels the same fields as Python sees."""

from typing import Annotated, NamedTuple

import numpy as np
import pytest
from numba import config, njit
from numba.core.errors import TypingError

from tests.kernels.compiler.test_layout import Outer
from thalweg.kernels.compiler.layout import Layout, Shape
from thalweg.kernels.compiler.record import record_function


class Whole(NamedTuple):
    header: Annotated[np.ndarray, Shape(3)]
    table: Annotated[np.ndarray, Shape(16)]
    state: Outer
    triangle: Annotated[np.ndarray, Shape("n * (n + 1) // 2 - 1")]
    packed: Annotated[np.ndarray, Shape(4, within="state.counters")]


WHOLE = Layout("test buffer", Whole, 1, dimensions=("n", "delay"))
record = record_function(WHOLE, Whole, table_index=2)


def new_buffer(n, delay):
    """Numbers that count up, but for the table and where it begins."""
    buffer = np.arange(float(WHOLE.size(n=n, delay=delay)))
    table = WHOLE.table(n=n, delay=delay)
    buffer[2] = 3
    buffer[3 : 3 + len(table)] = table
    return buffer


@njit
def change_by_record(buffer):
    fields = record(buffer)
    change(fields.state, fields.triangle)
    fields.packed[1] += 0.5
    return fields.state.inner.mean.shape, fields.state.pending.shape


@njit
def change(state, triangle):
    """A record is an argument like any other."""
    for i in range(state.inner.mean.shape[0]):
        state.inner.mean[i, 1] *= 3
    for j in range(state.pending.shape[0]):
        state.pending[j, 0] = -j
    triangle[triangle.size - 1] = -7.0


@pytest.mark.parametrize("n, delay", [(2, 0), (2, 3), (5, 1)])
def test_a_record_has_the_fields_that_python_sees(n, delay):
    buffer, expected = new_buffer(n, delay), new_buffer(n, delay)
    views = WHOLE.views(expected, n=n, delay=delay)
    views.state.inner.mean[:, 1] *= 3
    views.state.pending[:, 0] = -np.arange(delay)
    views.triangle[-1] = -7.0
    views.state.counters[1] += 0.5
    shapes = views.state.inner.mean.shape, views.state.pending.shape
    assert change_by_record(buffer) == shapes
    np.testing.assert_array_equal(buffer, expected)
    np.testing.assert_array_equal(record(buffer).triangle, views.triangle)


def test_the_table_of_a_layout_has_its_dimensions_and_offsets():
    table, offsets = WHOLE.table(n=2, delay=3), WHOLE.offsets(n=2, delay=3)
    assert list(table[:2]) == [2, 3] and len(table) == 2 + len(WHOLE.fields)
    assert table[2 + 3] == offsets.state.inner.weight
    assert table[-1] == offsets.packed == offsets.state.counters


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="Python names it otherwise")
def test_a_kernel_that_asks_a_record_for_no_field_of_it_does_not_compile():
    with pytest.raises(TypingError, match="Unknown attribute 'other'"):
        njit(lambda buffer: record(buffer).other)(new_buffer(2, 1))
