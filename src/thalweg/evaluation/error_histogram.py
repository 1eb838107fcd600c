"""A histogram of errors of any size, in constant memory.

Also known as: HDR histogram (high dynamic range). The bins are the same for every
stream: each factor of two is cut into sixteen parts of equal width, so that a bin is at
most a sixteenth as wide as its numbers are large. Counts do not depend on the order in
which numbers come, and so not on how a stream is cut.
"""

from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from thalweg.evaluation.study import Histogram
from thalweg.persistence.snapshots import Component
from thalweg.rules import MAX_COUNT, Array
from thalweg.types import FloatArray

MIN_EXPONENT, MAX_EXPONENT = -60, 60
"""Numbers below 2**-60 count as zero; those above 2**60 are in the last bin."""
STEPS = 16
"""Bins in each factor of two."""
SIDE = (MAX_EXPONENT - MIN_EXPONENT) * STEPS
"""Bins on each side of zero."""


class ErrorHistogramSnapshot(NamedTuple):
    """All that the histogram remembers."""

    # (2 * SIDE + 1,) from the most negative errors up
    counts: Annotated[FloatArray, Array((2 * SIDE + 1,), 0.0, float(MAX_COUNT))]


class ErrorHistogram(Component):
    """Counts of signed errors in bins that are finer near zero."""

    Snapshot: ClassVar[Any] = ErrorHistogramSnapshot

    def __init__(self) -> None:
        self.counts: FloatArray = np.zeros(2 * SIDE + 1)

    def add(self, errors: FloatArray) -> None:
        """Take the next errors, (T,); those that are not finite do not count."""
        finite = errors[np.isfinite(errors)]
        if len(finite):
            bins = np.bincount(_bin_numbers(finite), minlength=2 * SIDE + 1)
            self.counts = self.counts + bins

    def histogram(self) -> Histogram | None:
        """The bins from the first that is not empty to the last; None if all are."""
        full = np.flatnonzero(self.counts)
        if not len(full):
            return None
        bins = slice(full[0], full[-1] + 1)
        return Histogram(bin_edges()[full[0] : full[-1] + 2], self.counts[bins].copy())


def bin_edges() -> FloatArray:
    """The edges of all bins, (2 * SIDE + 2,), rising."""
    octaves = np.ldexp(0.5, np.arange(MIN_EXPONENT + 1, MAX_EXPONENT + 1))
    steps = 1 + np.arange(STEPS) / STEPS
    last = np.ldexp(0.5, MAX_EXPONENT + 1)
    positive = np.append((octaves[:, None] * steps).ravel(), last)
    return np.concatenate([-positive[::-1], positive])


def _bin_numbers(errors: FloatArray) -> Any:
    # frexp is exact: an error is ±mantissa * 2**exponent, mantissa in [0.5, 1).
    mantissa, exponent = np.frexp(np.abs(errors))
    step = np.floor((2 * mantissa - 1) * STEPS).astype(np.int64)
    place = (exponent.astype(np.int64) - MIN_EXPONENT - 1) * STEPS + step
    place = np.clip(place, -1, SIDE - 1)
    place[errors == 0] = -1
    return SIDE + np.sign(errors).astype(np.int64) * (place + 1)
