"""A stream in units of its own, as learners with constants want it."""

from dataclasses import dataclass

import numpy as np

from thalweg.types import Block, FloatArray


@dataclass(frozen=True, eq=False)
class Standardised:
    """A stream in units of its own mean and deviation, with a constant feature."""

    block: Block
    mean: float
    deviation: float
    delay: int

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, delay: int) -> "Standardised":
        """The stream (x, y), whose labels come so many rounds late."""
        spread, mean, deviation = x.std(axis=0), float(y.mean()), float(y.std())
        scaled = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        rows = np.column_stack([scaled, np.ones(len(y))])
        return cls(Block(rows, (y - mean) / deviation), mean, deviation, delay)

    def inside(self, raw: FloatArray) -> FloatArray:
        """Forecasts (T,) in its units; before a label is known all say the mean."""
        first = self.delay + 1
        return np.append(np.zeros(first), (raw[first:] - self.mean) / self.deviation)

    def outside(self, said: FloatArray) -> FloatArray:
        """Forecasts in the target's own units."""
        return self.mean + self.deviation * said
