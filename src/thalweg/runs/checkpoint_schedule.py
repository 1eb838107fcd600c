"""When a run writes its checkpoints."""

import time
from collections.abc import Callable

from thalweg.runs.signals import StopSignal

FILE_SECONDS, LIVE_SECONDS = 5.0, 1.0
"""The least time between two checkpoints, of a file and of a pipe."""
MIN_WORK_SHARE = 20
"""Checkpoints are so many times as far apart as one takes: those of many keys are
large."""


class CheckpointSchedule:
    """The first rows are saved at once, later ones from time to time.

    ``save`` writes a checkpoint of all rows so far.
    """

    def __init__(self, save: Callable[[], None], is_live: bool) -> None:
        self._save = save
        self._least = self._period = LIVE_SECONDS if is_live else FILE_SECONDS
        self._took = 0.0  # seconds of the last checkpoint
        self._saved_at = -float("inf")
        self._has_unsaved_rows = False

    def save(self) -> None:
        """Write a checkpoint."""
        began = time.monotonic()
        self._save()
        self._saved_at = time.monotonic()
        self._has_unsaved_rows = False
        took = self._saved_at - began
        # The lesser of two: one may have waited for the disk or a garbage collection.
        self._period = max(self._least, MIN_WORK_SHARE * min(took, self._took))
        self._took = took

    def add_rows(self) -> None:
        """Rows were played: write a checkpoint, if it is time."""
        self._has_unsaved_rows = True
        if self._seconds_left() <= 0:
            self.save()

    def save_when_idle(self, stop: StopSignal) -> float | None:
        """Save rows that came in a burst before a silence, once that is due.

        Returns the seconds until it is, or None if there is nothing to save.
        """
        if self._has_unsaved_rows and self._seconds_left() <= 0:
            with stop.defer_interrupt():
                self.save()
        return self._seconds_left() if self._has_unsaved_rows else None

    def _seconds_left(self) -> float:
        return self._saved_at + self._period - time.monotonic()
