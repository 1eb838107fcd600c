"""A learner that is called round by round: its state in place, one kernel call each."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from thalweg.checks import LARGEST
from thalweg.kernels import single
from thalweg.types import FloatArray


class Live(Protocol):
    """What ``Learner.live`` gives: a state that changes in place.

    The caller writes one round's features and targets into ``x`` and ``y``, its weight
    and elapsed time into ``rates``, and reads ``out``. ``predict(memory)`` and
    ``update(memory)`` answer False, and do nothing, where a number is not legal.
    """

    memory: FloatArray  # all that changes
    x: FloatArray  # (n,)
    y: FloatArray  # (k,)
    out: FloatArray  # (k,) the last prediction
    rates: FloatArray  # (2,) weight and elapsed
    quiet: FloatArray  # (n,) rounds since each feature was last not zero

    def predict(self, memory: FloatArray, /) -> bool:
        """Fill ``out`` from ``x``."""

    def update(self, memory: FloatArray, /) -> bool:
        """Learn from ``x``, ``y`` and ``rates``."""

    @property
    def state(self) -> Any:
        """The state as it is now, a copy."""


class LiveRLS:
    """Recursive least squares in one array: kernels/single.py."""

    def __init__(self, learner: Any, state: Any) -> None:
        theta, factor = state
        n, k = len(theta), int(np.prod(theta.shape[1:], initial=1))
        settings = learner.discount, learner.floor or 0.0, learner.pull
        self.memory: FloatArray = single.allocate(n, k, *settings, LARGEST[theta.dtype])
        views = single.views(self.memory, n, k)
        x, y, out, _, _, self._theta, self._factor, quiet = views
        self.x: FloatArray = x[0]
        self.y: FloatArray = y[0]
        self.out: FloatArray = out[0]
        self.rates: FloatArray = self.memory[6:8]
        self.quiet: FloatArray = quiet
        self.predict: Callable[[FloatArray], bool] = single.predict
        self.update: Callable[[FloatArray], bool] = single.update
        self._theta[:], self._factor[:] = theta.reshape(n, k), factor
        self._kind, self._shape = type(state), theta.shape

    @property
    def state(self) -> Any:
        theta = self._theta.reshape(self._shape).copy()
        return self._kind(theta, self._factor.copy())
