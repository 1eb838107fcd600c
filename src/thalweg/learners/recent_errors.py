"""The last errors of a live buffer, which its kernel stores round by round."""

import numpy as np

from thalweg.types import FloatArray


class RecentErrors:
    """A ring of errors, y minus prediction, in a live buffer.

    ``ring`` is (W, k) and ``count``, of one entry, how many errors were ever stored in
    it: views of the buffer, which the kernel changes.
    """

    def __init__(self, ring: FloatArray, count: FloatArray) -> None:
        self._ring, self._count = ring, count

    def fill(self, errors: FloatArray) -> None:
        """Go on from these errors, (m, k), oldest first."""
        self._ring[: len(errors)], self._count[0] = errors, len(errors)

    def copy(self) -> FloatArray:
        """The errors stored, (m, k), oldest first."""
        count, window = int(self._count[0]), len(self._ring)
        if count <= window:
            return self._ring[:count].copy()
        return np.roll(self._ring, -(count % window), axis=0)
