"""The Tracker called round by round, its state in place."""

from typing import Any

import numpy as np

from thalweg.checks import LARGEST
from thalweg.kernels import head
from thalweg.kernels.parts import aligned_copy
from thalweg.kernels.tracker import single
from thalweg.learners.live import Call
from thalweg.types import FloatArray


class LiveTracker:
    """What ``Tracker.live`` gives: see learners/live.py."""

    def __init__(self, learner: Any, state: Any, ones: int) -> None:
        self._learner, self._theta = learner, state.theta
        n = len(state.theta)
        quiet, packed, room, end = single.places(n, len(state.packed))
        self.memory: FloatArray = aligned_copy(np.zeros(end))
        nothing_said = (0.0, 0.0)
        head.start(
            self.memory, n, n - ones, LARGEST[np.dtype(np.float64)], *nothing_said,
            quiet, packed, room,
        )  # fmt: skip
        self.quiet: FloatArray = self.memory[quiet : quiet + n]
        self._packed = self.memory[packed : packed + len(state.packed)]
        self._packed[:] = state.packed
        self.call: Call = head.ready(single.call)

    @property
    def state(self) -> Any:
        """The state as it is now, a copy."""
        return self._learner.resumed(self._theta, self._packed.copy())
