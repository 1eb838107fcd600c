"""Medians: values are inserted into a sorted array, and the lower one is taken.

The lower median of any number of values is one of them.
"""

import math

from thalweg.kernels.compiler.jit import inner_function


@inner_function
def insert(work, count, value):
    """Insert a value, unless NaN, into ``count`` sorted ones; returns the count."""
    if math.isnan(value):
        return count
    k = count
    while k > 0 and work[k - 1] > value:
        work[k] = work[k - 1]
        k -= 1
    work[k] = value
    return count + 1
