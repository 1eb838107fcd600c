"""A learner's state between calls, in the form that single calls change in place."""

import math
import threading
from typing import Any

import numpy as np

from thalweg.kernels import call_header
from thalweg.learners import Learner
from thalweg.learners.base import LiveBuffer
from thalweg.losses import LinearLoss
from thalweg.models.imputed_run import ImputerCall
from thalweg.preprocessing.imputer import MeanImputer
from thalweg.types import FloatArray

LATE = 100
"""Nearly always every feature was heard in so many rounds: no need to look further."""
NO_MEMORY = np.zeros(call_header.HEADER_SIZE)
"""Kernels find it closed, and it is never opened."""


def _no_kernel(*given: Any) -> float:
    """Refuses."""
    return math.nan


class Held:
    """All from which a model goes on; a new one after every run.

    ``call`` asks and ``learn`` learns: the learner's kernel where it has one, else what
    always refuses. While this is shut the kernel refuses, so that whoever reads the
    state sees one round through; single calls of other threads then take the long way,
    and wait.
    """

    __slots__ = (
        "_quiet", "_rounds", "_state", "call", "imputer", "learn", "live", "memory",
    )  # fmt: skip

    def __init__(
        self, learner: Learner[Any], loss: LinearLoss, ones: int, lock: threading.RLock,
        state: Any, rounds: int, quiet: Any, imputer: MeanImputer | None,
    ) -> None:  # fmt: skip
        self.live: LiveBuffer | None = None
        self._state: Any = state
        self._rounds = rounds  # learnt before those that ``live`` counts
        self._quiet: Any = quiet
        self.imputer = imputer  # None where missing values are refused
        self.memory: FloatArray = NO_MEMORY
        self.call: Any = _no_kernel
        self.learn: Any = _no_kernel
        if state is not None:
            self.live = learner.live_buffer(state, loss, ones)
        if self.live is not None:
            self._state = None  # it is in there now
            self.live.unexcited_rounds[:] = quiet
            self.memory, self.call = self.live.buffer, self.live.call
            self.learn = self.call
            if imputer is not None:
                kernel = ImputerCall(
                    self.call, imputer, learner.advances_on_zero_weight, lock
                )
                self.learn = kernel.learn

    def shut(self) -> None:
        """Let the kernel refuse."""
        self.memory[call_header.IS_OPEN] = 0

    def reopen(self) -> None:
        """Let it play again."""
        if self.live is not None:
            self.memory[call_header.IS_OPEN] = 1

    @property
    def state(self) -> Any:
        """The state, a copy where it is live; to be asked for while shut."""
        return self._state if self.live is None else self.live.state

    @property
    def kept(self) -> dict[str, Any]:
        """What another one is made from, to go on from here."""
        return {
            "state": self.state,
            "rounds": self.rounds,
            "quiet": self.quiet,
            "imputer": None if self.imputer is None else self.imputer.copy(),
        }

    @property
    def rounds(self) -> int:
        """How many rounds were learnt."""
        return self._rounds + int(self.memory[call_header.COUNT])

    @property
    def quiet(self) -> Any:
        """(n,) rounds since each feature was last not zero."""
        return self._quiet if self.live is None else self.live.unexcited_rounds + 0.0

    @property
    def width(self) -> int | None:
        """How many features there are, the constant one included; None: not known."""
        if self.live is not None:
            return int(self.memory[call_header.N])
        return None if self._state is None else len(self._state.theta)

    def quiet_after(self, x: FloatArray) -> FloatArray:
        """``quiet`` after the rounds x as well."""
        for late in (x[-LATE:], x):
            heard = late != 0
            if heard.any(axis=0).all():
                return np.asarray(heard[::-1].argmax(axis=0), np.float64)
        since, ever = heard[::-1].argmax(axis=0), heard.any(axis=0)
        return np.asarray(np.where(ever, since, self.quiet + len(x)), np.float64)
