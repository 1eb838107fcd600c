"""Seconds of work on rows: without those in which kernels are compiled or loaded."""

import time

from thalweg.kernels.compiler.jit import compilation_seconds


class Stopwatch:
    """Counts the seconds since it was made, but for those of the compiler.

    A first run on a machine compiles for half a minute, which says nothing about how
    many rows a second it takes.
    """

    def __init__(self) -> None:
        self._began = self._now()

    def seconds(self) -> float:
        """The seconds so far; above 0."""
        return max(self._now() - self._began, 1e-6)

    @staticmethod
    def _now() -> float:
        return time.perf_counter() - compilation_seconds()
