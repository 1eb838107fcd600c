"""Inner functions: part of the kernels that call them, without code of their own."""

import numpy as np
import pytest
from numba import njit
from numba.core.codegen import JITCodeLibrary

from thalweg.kernels.compiler.jit import COMPILED, inner_function

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")


@inner_function
def scaled(value, scale):
    """The value in units of the scale."""
    if scale == 0:
        raise ValueError("The scale must not be 0.")
    return value / scale


@inner_function
def sum_of_scaled(values, scale):
    """The sum of all values in units of the scale."""
    total = 0.0
    for value in values:
        total += scaled(value, scale)
    return total


def new_kernel():
    """A kernel that calls one inner function directly, and by way of another."""
    return njit(lambda values, scale: sum_of_scaled(values, scale) + scaled(1.0, scale))


def test_a_kernel_computes_what_its_inner_functions_say():
    values = np.array([1.5, 2.5, -0.5])
    assert new_kernel()(values, 2.0) == sum(values / 2.0) + 0.5


def test_an_exception_of_an_inner_function_reaches_the_caller_of_the_kernel():
    with pytest.raises(ValueError, match="must not be 0"):
        new_kernel()(np.ones(3), 0.0)


def test_machine_code_is_made_of_kernels_only(monkeypatch):
    names, finalize = [], JITCodeLibrary._finalize_specific

    def finalize_and_remember(library):
        names.append(library.name)
        finalize(library)

    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", finalize_and_remember)
    # Numbers of a type that no other test has compiled these functions for.
    assert new_kernel()(np.ones(3, np.float32), np.float32(1.0)) == 4
    assert [name for name in names if "new_kernel" in name]
    assert not [name for name in names if "scaled" in name]
