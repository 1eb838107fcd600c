"""The Tracker called round by round, its state in place."""

from typing import Any

import numpy as np

from thalweg.checks import LARGEST
from thalweg.kernels.tracker.rounds import one_round
from thalweg.types import FloatArray


class LiveTracker:
    """What ``Tracker.live`` gives: see learners/live.py."""

    def __init__(self, learner: Any, state: Any) -> None:
        self._learner, self._theta = learner, state.theta
        self.memory: FloatArray = state.packed.copy()
        # One array of all that a call is given: x, y, weight, elapsed, out.
        self._given = np.zeros(len(state.theta) + 4)
        n = len(state.theta)
        self.x: FloatArray = self._given[:n]
        self.y: FloatArray = self._given[n : n + 1]
        self.rates: FloatArray = self._given[n + 1 : n + 3]
        self.out: FloatArray = self._given[n + 3 :]
        self.rates[:] = 1.0
        self.quiet: FloatArray = np.zeros(n)
        self._largest = LARGEST[state.theta.dtype]

    def predict(self, memory: FloatArray) -> bool:
        """Whether x is legal; if so, what is said of y is in ``out``."""
        return bool(one_round(memory, self._given, self._largest, False))

    def update(self, memory: FloatArray) -> bool:
        """Whether the round is legal; if so, it is learnt."""
        if not one_round(memory, self._given, self._largest, True):
            return False
        self.quiet += 1
        self.quiet[self.x != 0] = 0
        return True

    @property
    def state(self) -> Any:
        """The state as it is now, a copy."""
        return self._learner.resumed(self._theta, self.memory.copy())
