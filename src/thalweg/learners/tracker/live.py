"""The Tracker called round by round, its state in place."""

from typing import Any

from thalweg.learners.live import Call
from thalweg.learners.tracker.desk import Desk
from thalweg.types import FloatArray


class LiveTracker:
    """What ``Tracker.live`` gives: see learners/live.py."""

    def __init__(self, learner: Any, state: Any, ones: int) -> None:
        self._learner, self._theta = learner, state.theta
        self._desk = Desk(state.packed, len(state.theta), ones)
        self.memory: FloatArray = self._desk.memory
        self.quiet: FloatArray = self._desk.quiet
        self.call: Call = self._desk.call

    @property
    def state(self) -> Any:
        """The state as it is now, a copy."""
        return self._learner.resumed(self._theta, self._desk.packed.copy())
