"""The arrays that every whole-array kernel reads and fills."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thalweg.types import Block, FloatArray, Trace


class Arrays(NamedTuple):
    """The last arguments of a kernel, in its order; empty where there is nothing."""

    x: FloatArray  # (T, n)
    y: FloatArray  # (T, ...)
    weight: FloatArray  # (T,) or (0,)
    elapsed: FloatArray  # (T,) or (0,)
    out: FloatArray  # of y's shape
    loss: FloatArray  # (T,)
    played: FloatArray  # (T, ...) or (0, ...), beyond that of θ's shape

    @classmethod
    def of(cls, theta: FloatArray, block: Block, record: Sequence[str]) -> "Arrays":
        """Those for a checked block, of θ's dtype."""
        rounds, none = len(block), np.empty(0, theta.dtype)
        return cls(
            none if block.x is None else block.x,
            block.y,
            none if block.weight is None else block.weight,
            none if block.elapsed is None else block.elapsed,
            np.empty_like(block.y),
            np.empty(rounds, theta.dtype),
            np.empty((rounds if "theta" in record else 0, *theta.shape), theta.dtype),
        )

    def by_target(self) -> "Arrays":
        """The same memory with a last axis for targets, where y and θ have none."""
        if self.y.ndim == 2:
            return self
        y, out, played = self.y[:, None], self.out[:, None], self.played[..., None]
        return self._replace(y=y, out=out, played=played)

    def trace(self) -> Trace:
        """What the kernel has filled in."""
        return Trace(self.out, self.loss, self.played if len(self.played) else None)
