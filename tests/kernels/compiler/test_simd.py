"""SIMD vectors against NumPy; without the compiler they are NumPy arrays."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numba import njit

from thalweg.kernels.compiler import simd
from thalweg.kernels.compiler.simd import WIDTH, load, store


@njit
def apply_operation(which, x, y, out):
    a, b = load(x, 0), load(y, 0)
    if which == 0:
        store(out, 0, a + b)
    elif which == 1:
        store(out, 0, a - b)
    elif which == 2:
        store(out, 0, a * b)
    elif which == 3:
        store(out, 0, a / b)
    elif which == 4:
        store(out, 0, simd.maximum(a, b))
    elif which == 5:
        store(out, 0, simd.minimum(a, b))
    elif which == 6:
        store(out, 0, simd.select_greater(a, b, a, 2.0))
    elif which == 7:
        store(out, 0, simd.absolute(a))
    elif which == 8:
        store(out, 0, simd.sqrt(simd.absolute(a)))
    elif which == 9:
        store(out, 0, simd.reduce_max(a))
    elif which == 10:
        store(out, 0, simd.reduce_min(a))
    elif which == 11:
        store(out, 0, simd.last_lane(a))
    elif which == 12:
        store(out, 0, simd.broadcast(y[3]))
    elif which == 13:
        store(out, 0, 1.0 if simd.any_greater(a, b) else 0.0)


EXACT = (
    np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum,
    lambda x, y: np.where(x > y, x, 2.0),
    lambda x, y: abs(x),
    lambda x, y: np.sqrt(abs(x)),
    lambda x, y: x.max(),
    lambda x, y: x.min(),
    lambda x, y: x[-1],
    lambda x, y: y[3],
    lambda x, y: float((x > y).any()),
)  # fmt: skip

numbers = arrays(np.float64, WIDTH, elements=st.floats(-1e100, 1e100))


@pytest.mark.parametrize("which", range(len(EXACT)))
@given(x=numbers, y=numbers.filter(lambda y: (abs(y) > 1e-100).all()))
def test_every_operation_is_exactly_numpys(which, x, y):
    out = np.empty(WIDTH)
    apply_operation(which, x, y, out)
    np.testing.assert_array_equal(out, np.broadcast_to(EXACT[which](x, y), WIDTH))


@njit
def apply_to_vectors(which, x, out):
    for i in range(0, x.size, WIDTH):
        if which == 0:
            store(out, i, simd.exp(load(x, i)))
        elif which == 1:
            store(out, i, simd.log(load(x, i)))
        elif which == 2:
            store(out, i, simd.prefix_sum(load(x, i)))
        elif which == 3:
            store(out, i, simd.reduce_sum(load(x, i)))
        else:
            store(out, i, simd.fma(load(x, i), 3.0, -1.0))


def test_exp_is_right_to_the_last_bits_and_ends_in_zero():
    x = -np.append(np.random.default_rng(0).uniform(0, 707, 8000), np.zeros(8))
    x[:6] = [0.0, -1e-300, -1e-8, -709.0, -1e300, -np.inf]
    out = np.empty_like(x)
    apply_to_vectors(0, x, out)
    expected = np.where(x < simd.MIN_EXP_ARGUMENT, 0.0, np.exp(x))
    np.testing.assert_allclose(out, expected, rtol=4e-16, atol=0)
    assert out[0] == 1
    assert (out[3:6] == 0).all()


def test_log_is_right_to_the_last_bits_over_all_normal_numbers():
    rng = np.random.default_rng(1)
    x = np.exp(rng.uniform(-708, 709, 8000))
    x[:4000] = rng.uniform(0.5, 2, 4000)
    x[:4] = [1.0, simd.MIN_LOG_ARGUMENT, 1.7e308, 1 + 2**-52]
    out = np.empty_like(x)
    apply_to_vectors(1, x, out)
    np.testing.assert_allclose(out, np.log(x), rtol=4e-16, atol=0)
    assert out[0] == 0


def test_sums_are_right_to_rounding():
    x = np.random.default_rng(2).normal(size=80)
    out = np.empty(80)
    apply_to_vectors(2, x, out)
    expected = x.reshape(-1, WIDTH).cumsum(axis=1)
    np.testing.assert_allclose(out.reshape(-1, WIDTH), expected, rtol=0, atol=1e-14)
    apply_to_vectors(3, x, out)
    np.testing.assert_allclose(out[::WIDTH], expected[:, -1], rtol=0, atol=1e-14)
    apply_to_vectors(4, x, out)
    np.testing.assert_allclose(out, 3 * x - 1, rtol=0, atol=1e-15)


@njit
def copy_vectors(x, out):
    for i in range(len(x)):
        for j in range(x.shape[1]):
            store(out, (i, j, 8), load(x, (i, j, 3)))


def test_vectors_of_larger_arrays_are_addressed():
    x = np.arange(2.0 * 3 * 16).reshape(2, 3, 16)
    out = np.full((2, 3, 16), math.nan)
    copy_vectors(x, out)
    np.testing.assert_array_equal(out[:, :, 8:], x[:, :, 3:11])
    assert np.isnan(out[:, :, :8]).all()
