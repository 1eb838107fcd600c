"""A process that streams into ``KeyedModels``, to be killed.

It reads orders, one a line (path, log, kind, until), and forks for each a process that
carries it out: imports and compiled code are loaded once, not once a kill.
"""

import itertools
import os
import sys

import numpy as np

import thalweg as tw
from thalweg.keyed import KeyedModels
from thalweg.learners import RecursiveLeastSquares

LEARNER = RecursiveLeastSquares(0.95)
KEYS, GROUP = 40, 25


def row(seq):
    """(key, x, y) number ``seq`` of a source that can be read from anywhere."""
    rng = np.random.default_rng(seq)
    return f"k{rng.integers(KEYS)}", rng.normal(size=3), float(rng.normal())


class OffsetApart(KeyedModels):
    """Wrong: the offset in a transaction of its own, before the models."""

    def _commit(self, models, offset, *more, **others):
        self._store.commit([], offset)
        self._store.commit(models, offset, *more, **others)


class AcknowledgesEarly(KeyedModels):
    """Wrong: a flush returns at once, and the next one does its work."""

    pending = None

    def _commit(self, *given, **named):
        pending, self.pending = self.pending, (given, named)
        if pending is not None:
            super()._commit(*pending[0], **pending[1])


KINDS = {kind.__name__: kind for kind in (KeyedModels, OffsetApart, AcknowledgesEarly)}


def stream(path, log, kind, until):
    """Write to ``log`` every prediction, and every flush once it has returned."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    models = KINDS[kind](path, LEARNER)
    start = 0 if models.offset is None else models.offset + 1
    for seq in itertools.count(start):
        key, x, y = row(seq)
        prediction = float(models.observe(key, x, y, seq))
        os.write(file, f"predicted {seq} {prediction.hex()}\n".encode())
        if seq % GROUP == GROUP - 1 or seq == until:
            models.flush()
            os.write(file, f"flushed {seq} -\n".encode())
        if seq == until:
            return


def main():
    """For each order print the number of a process, and how it ended."""
    tw.Online(LEARNER).update(*row(0)[1:])  # loads what was compiled
    for order in sys.stdin:
        path, log, kind, until = order.split()
        child = os.fork()
        if child == 0:
            stream(path, log, kind, int(until))
            os._exit(0)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
