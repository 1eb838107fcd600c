"""Outlier limit of the step from one value to the next: a glitch does little harm.

Also known as: outlier clipping, winsorising. A sensor that reports 9999 once would
otherwise distort means and regressions for long. A value that is further from the last
one than ``LIMIT`` times the largest step so far is moved to that distance. The limit
grows by the same factor with each such step, so that a true change of level arrives
after a few rows, whatever its size.
"""

import math
from typing import Annotated, NamedTuple, Self

import numpy as np

from thalweg.rules import Count, Number
from thalweg.types import FloatArray

LIMIT = 10.0
"""Limit of a new step, in units of the largest step so far."""
MIN_STEPS = 24
"""Minimum number of known steps before one is limited."""


class OutlierLimit(NamedTuple):
    """The values that determine the limit of the next step."""

    last: Annotated[float, Number()] = 0.0  # the last value, after the limit
    values: Annotated[int, Count("rows")] = 0  # number of known values
    # The largest step between two known values.
    largest: Annotated[float, Number(0.0)] = 0.0

    def apply(self, values: FloatArray) -> tuple[Self, FloatArray]:
        """The limit after the values (T,), and the limited values, NaN as NaN."""
        limit, parts, start = self, [], 0
        while True:
            limit, counted = limit._apply_until_far(values[start:])
            parts.append(counted)
            start += len(counted)
            if start == len(values):
                return limit, np.concatenate(parts)

    def _apply_until_far(self, values: FloatArray) -> tuple[Self, FloatArray]:
        """As ``apply``, up to the first value that is too far, which ends the result.

        It changes the steps after it.
        """
        places = np.flatnonzero(~np.isnan(values))
        if not len(places):
            return self, values
        known = values[places]
        steps = np.abs(np.diff(known, prepend=[self.last if self.values else known[0]]))
        largest = np.maximum.accumulate(np.append(self.largest, steps))
        is_far = (steps > LIMIT * largest[:-1]) & (largest[:-1] > 0)
        is_far[: max(MIN_STEPS + 1 - self.values, 0)] = False
        count = self.values + len(known)
        if not is_far.any():
            after = type(self)(float(known[-1]), count, float(largest[-1]))
            return after, values
        far = int(is_far.argmax())
        last = float(known[far - 1]) if far else self.last
        reach = LIMIT * float(largest[far])
        limited = last + math.copysign(reach, known[far] - last)
        after = type(self)(limited, self.values + far + 1, reach)
        return after, np.append(values[: places[far]], limited)
