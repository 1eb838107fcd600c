"""The arrays that every whole-array kernel reads and fills."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thalweg.domains import Domain
from thalweg.losses import LinearLoss, Loss, Tracking
from thalweg.types import Block, FloatArray, Trace


def has_gradient_kernel(loss: Loss, domain: Domain, theta: FloatArray) -> bool:
    """Whether kernels can follow the gradient of this loss in this domain.

    That is so for losses with a code in kernels/losses.py, for ``Tracking``, and for
    domains with ``limits``; all else is played by ``update``, round by round.
    """
    is_linear = isinstance(loss, LinearLoss) and loss.has_kernel
    has_kernel = is_linear or isinstance(loss, Tracking)
    return has_kernel and domain.limits(theta) is not None


def loss_formula(loss: Loss) -> tuple[bool, int, float]:
    """Whether the loss is ½‖θ - y‖², and code and shape parameter of any other one."""
    if not isinstance(loss, LinearLoss):
        return True, 0, 0.0
    return False, int(loss.code or 0), float(loss.shape_parameter)


class KernelArrays(NamedTuple):
    """The last arguments of a kernel, in its order; an absent array is empty."""

    x: FloatArray  # (T, n)
    y: FloatArray  # (T, ...)
    weight: FloatArray  # (T,) or (0,)
    elapsed: FloatArray  # (T,) or (0,)
    out: FloatArray  # predictions, of y's shape
    loss: FloatArray  # (T,)
    points: FloatArray  # the points θ_t played, (T, ...), or (0, ...) if not recorded

    @classmethod
    def from_block(
        cls, theta: FloatArray, block: Block, record: Sequence[str]
    ) -> "KernelArrays":
        """The arrays for a block that ``check_block`` returned, of θ's dtype."""
        rounds, absent = len(block), np.empty(0, theta.dtype)
        return cls(
            absent if block.x is None else block.x,
            block.y,
            absent if block.weight is None else block.weight,
            absent if block.elapsed is None else block.elapsed,
            np.empty_like(block.y),
            np.empty(rounds, theta.dtype),
            np.empty((rounds if "theta" in record else 0, *theta.shape), theta.dtype),
        )

    def by_target(self) -> "KernelArrays":
        """Views of the same arrays in which y and θ have a last axis for targets."""
        if self.y.ndim == 2:
            return self
        y, out, points = self.y[:, None], self.out[:, None], self.points[..., None]
        return self._replace(y=y, out=out, points=points)

    def by_column(self) -> "KernelArrays":
        """Views in which x, y and the predictions have two axes, θ and points one less.

        For kernels of both linear predictions and points: an absent x is (0, n).
        """
        if self.y.ndim == 2:
            return self._replace(x=np.empty((0, self.y.shape[1]), self.y.dtype))
        return self._replace(y=self.y[:, None], out=self.out[:, None])

    def trace(self) -> Trace:
        """The trace of the predictions, losses and points that the kernel filled in."""
        return Trace(self.out, self.loss, self.points if len(self.points) else None)
