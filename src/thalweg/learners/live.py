"""A learner that is called round by round: its state in place, one kernel call each."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from thalweg.checks import MAX_MAGNITUDE
from thalweg.kernels import call_header, rls_live
from thalweg.kernels.jit import entry_point
from thalweg.types import FloatArray

Call = Callable[[FloatArray, FloatArray, float, float, float, bool], float]


class Live(Protocol):
    """What ``Learner.live`` gives: a state that changes in place, and its kernel.

    ``call(memory, x, y, weight, elapsed, learning)`` gives what is said of y at x, and
    then, if ``learning``, learns the round. It answers NaN, and does nothing, where a
    number is not legal, where x is not as long as it should be, and while ``memory[0]``
    is 0, as whoever reads the state sets it meanwhile. Nothing checks the types: x must
    be a float64 array of one axis, and y, weight and elapsed floats.
    """

    memory: FloatArray  # all that changes; its head: kernels/call_header.py
    quiet: FloatArray  # (n,) rounds since each feature was last not zero
    call: Call

    @property
    def state(self) -> Any:
        """The state as it is now, a copy."""


class LiveRLS:
    """Recursive least squares in one array: kernels/rls_live.py."""

    def __init__(self, learner: Any, state: Any, ones: int) -> None:
        theta, factor = state
        n, settings = (
            len(theta),
            (learner.discount, learner.floor or 0.0, learner.leaky),
        )
        self.memory: FloatArray = np.zeros(rls_live.LAYOUT.size(n=n))
        call_header.fill_header(
            self.memory, n, n - ones, MAX_MAGNITUDE[theta.dtype], *settings
        )
        views = rls_live.LAYOUT.views(self.memory, n=n)
        self._theta, self._factor = views.theta, views.factor
        self.quiet: FloatArray = views.unexcited_rounds
        self.call: Call = entry_point(rls_live.call)
        self._theta[:, 0], self._factor[:] = theta, factor
        self._kind = type(state)

    @property
    def state(self) -> Any:
        return self._kind(self._theta[:, 0].copy(), self._factor.copy())
