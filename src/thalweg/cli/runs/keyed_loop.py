"""The loop of a run by key: rows in; predictions and checkpoints out."""

import sys
import time
from collections.abc import Iterator
from contextlib import suppress

from thalweg.cli.console import ProgressBar
from thalweg.cli.runs.checkpoint import RunOrigin
from thalweg.cli.runs.keyed_checkpoint import KeyedCheckpoint
from thalweg.cli.runs.keyed_session import KeyedSession
from thalweg.cli.runs.predictions import PredictionFile
from thalweg.cli.runs.run_loop import (
    FILE_CHECKPOINT_SECONDS,
    LIVE_CHECKPOINT_SECONDS,
)
from thalweg.cli.runs.signals import StoppedError, StopSignal
from thalweg.errors import StreamError
from thalweg.tables import Chunk, Table

CHECKPOINT_SHARE = 20
"""Checkpoints are so far apart that one takes a twentieth of the time: those of many
keys are large."""


class KeyedRunLoop:
    """Takes the rows of a table to the session of their key, and saves all of them."""

    def __init__(
        self, table: Table, session: KeyedSession, checkpoint: KeyedCheckpoint,
        file: PredictionFile | None, echo: bool = False,
    ) -> None:  # fmt: skip
        self.table, self.session = table, session
        self.checkpoint, self.file = checkpoint, file
        self.echo = echo  # print predictions as they are made
        self.rows = 0  # played in this run
        self._has_printed_header = session.earlier_rows + session.rows > 0
        self._has_unsaved_rows = False
        is_live = table.is_live
        self._least = LIVE_CHECKPOINT_SECONDS if is_live else FILE_CHECKPOINT_SECONDS
        self._period = self._least
        self._took = 0.0  # seconds of the last checkpoint
        self._saved_at = -float("inf")  # the first rows are saved at once

    def run(self, stop: StopSignal, bar: ProgressBar) -> None:
        """Play all rows of the table, or those until a signal to stop."""
        if self.table.is_live:
            self.table.on_idle(lambda: self._save_when_idle(stop))
        try:
            with suppress(StoppedError), stop.allow_interrupt():
                for chunk in self._new_rows():
                    with stop.defer_interrupt():
                        self._play(chunk)
                        bar.update(self.table.fraction(), self.rows)
            if stop.number is None:
                self.session.check_targets(self.table.name)
            self.save()
        except StreamError as error:
            if not self.rows:
                raise
            self.save()
            raise StreamError(
                f"{error} The {self.session.rows:,} rows before are in "
                f"{self.checkpoint.path}; go on with --resume."
            ) from None
        finally:
            if self.file is not None:
                self.file.close()
        if self.file is not None and stop.number is None:
            self.file.finish()

    def save(self) -> None:
        """Write a checkpoint, from which a run continues to the last bit."""
        began = time.monotonic()
        if self.file is not None:
            self.file.sync()
        path = None if self.file is None else self.file.path
        written = 0 if self.file is None else self.file.size
        self.checkpoint.save(self.session, RunOrigin(self.table.name, path, written))
        self._has_unsaved_rows = False
        self._saved_at = time.monotonic()
        took = self._saved_at - began
        # The lesser of two: one may have waited for the disk or a garbage collection.
        usual = min(took, self._took)
        self._took, self._period = took, max(self._least, CHECKPOINT_SHARE * usual)

    def _play(self, chunk: Chunk) -> None:
        lines = self.session.play(chunk)
        self.rows += len(chunk)
        self._has_unsaved_rows = True
        columns = self.session.columns()  # which the first row decides
        if self.file is not None:
            self.file.columns = columns
            self.file.write(lines)
        if self.echo:
            header = "" if self._has_printed_header else columns.header()
            sys.stdout.write(header + lines)
            sys.stdout.flush()
            self._has_printed_header = True
        if self._seconds_to_checkpoint() <= 0:
            self.save()

    def _seconds_to_checkpoint(self) -> float:
        """Seconds until the next checkpoint is to be written."""
        return self._saved_at + self._period - time.monotonic()

    def _save_when_idle(self, stop: StopSignal) -> float | None:
        """Save rows that came before a silence, once that is due.

        Returns the seconds until it is, or None if there is nothing to save.
        """
        if self._has_unsaved_rows and self._seconds_to_checkpoint() <= 0:
            with stop.defer_interrupt():
                self.save()
        return self._seconds_to_checkpoint() if self._has_unsaved_rows else None

    def _new_rows(self) -> Iterator[Chunk]:
        """Rows not seen before; those that were are verified."""
        seen, end = self.session.rows, 0
        for chunk in self.table.chunks():
            end = chunk.first_row + len(chunk)
            cut = min(max(seen - chunk.first_row, 0), len(chunk))
            if cut:
                self.session.verify_rows(chunk.slice_rows(0, cut))
            if end > seen:
                yield chunk.slice_rows(cut, len(chunk))
        if end < seen:
            raise StreamError(
                f"{self.table.name} has {end:,} rows, and {seen:,} of it were seen "
                f"before. If these come after them, say --next."
            )
