"""Numbers of 21 significant bits, of which a file needs to store 32 bits only.

The lower 32 bits of such a float64 are zero. So the past features, counts and errors
that the state remembers are rounded when they are pushed, and a state that is restored
from a file (learners/tracker/stored_state.py) is the same to the last bit. The range is
that of float64: float32 ends at 3e38, and legal features are as large as 1e150.

A feature is rounded as its deviation from the first row, in units of its first
deviation that is not zero. So its shift and its scale do not matter here either: what
rounding adds is shifted and scaled along.
"""

from thalweg.kernels.jit import inline_function

SPLITTER = 2.0**32 + 1
"""The factor of Veltkamp's splitting of 53 bits into 21 and 32."""
MIN_ROUNDED = 1e-300
"""Smaller numbers become 0: near the end of float64 there are fewer bits."""
MIN_UNIT = 1e-140
"""Deviations of a feature up to this size are no unit: a legal deviation divided by it
may be beyond float64."""


@inline_function
def round_to_21_bits(value):
    """The value, of at most 1e298 in size, to the nearest of 21 significant bits.

    Dekker (1971), *A floating-point technique for extending the available precision*.
    """
    if abs(value) < MIN_ROUNDED:
        return 0.0
    product = SPLITTER * value
    return product - (product - value)


@inline_function
def set_remembered_features(x, first_x, x_unit, remembered):
    """Set ``remembered`` (n,) to x, rounded; and the units, where they are 0 as yet.

    With d = x - first_x it is first_x + unit · round(d / unit); first_x where no
    deviation from it was above ``MIN_UNIT`` so far.
    """
    for j in range(x.size):
        deviation, rounded = x[j] - first_x[j], 0.0
        if x_unit[j] == 0 and abs(deviation) > MIN_UNIT:
            x_unit[j] = abs(deviation)
        if x_unit[j] > 0:
            rounded = round_to_21_bits(deviation / x_unit[j])
        remembered[j] = first_x[j] + x_unit[j] * rounded
