"""Where the Tracker's kernel works: a state, room to compute in, and rounds to play."""

import numpy as np

from thalweg.checks import MAX_MAGNITUDE
from thalweg.kernels import call_header
from thalweg.kernels.jit import entry_point
from thalweg.kernels.layout import aligned_zeros
from thalweg.kernels.tracker import entry, memory
from thalweg.learners.live import Call
from thalweg.types import FloatArray

NOTHING = np.empty(0)
ROUNDS = 512
"""Rounds handed over at a time: few enough to stay in the processor's cache."""


class Desk:
    """A copy of a state of ``n`` features in one array: kernels/tracker/memory.py.

    The last features are ``ones`` in single calls; up to ``rows`` rounds are played at
    a time, and of each that is kept which ``record`` names.
    """

    def __init__(
        self, packed: FloatArray, n: int, ones: int = 0, rows: int = 1,
        record: tuple[str, ...] = (), level: float = 0.9,
    ) -> None:  # fmt: skip
        *index, end = memory.plan(n, len(packed), rows, record)
        place = memory.index_place(n, rows)
        self.memory: FloatArray = aligned_zeros(end)
        legal, nothing_said = MAX_MAGNITUDE[np.dtype(np.float64)], (0.0, 0.0)
        call_header.fill_header(
            self.memory, n, n - ones, legal, *nothing_said, 0, level, place
        )
        self.memory[place : place + len(index)] = index
        quiet, state, first = index[memory.QUIET], index[0], call_header.HEADER_SIZE
        self.quiet: FloatArray = self.memory[quiet : quiet + n]
        self.packed: FloatArray = self.memory[state : state + len(packed)]
        self.packed[:] = packed
        given = self.memory[first : first + rows * (n + memory.BEHIND)]
        self._given: FloatArray = given.reshape(rows, n + memory.BEHIND)
        self._kept = memory.records_at(self.memory, index, n, rows)
        self.call: Call = entry_point(entry.call)

    def play(
        self, x: FloatArray, y: FloatArray, weight: FloatArray, elapsed: FloatArray
    ) -> dict[str, FloatArray]:
        """Play up to ``rows`` rounds; empty are y, to forecast only, or all ones.

        What is recorded is good until the next call.
        """
        rows, n = self._given[: len(x)], x.shape[1]
        rows[:, :n] = x
        for k, part in enumerate((y, weight, elapsed)):
            rows[:, n + k] = part if len(part) else 1.0
        self.memory[memory.MANY] = len(x)
        self.call(self.memory, NOTHING, 0.0, 0.0, 0.0, len(y) > 0)
        return {name: part[: len(x)] for name, part in self._kept._asdict().items()}
