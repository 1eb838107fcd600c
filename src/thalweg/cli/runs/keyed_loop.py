"""The loop of a run by key: rows in; predictions and checkpoints out."""

import time
from collections.abc import Iterator
from contextlib import suppress

from thalweg.cli.console import ProgressBar
from thalweg.cli.runs.checkpoint import RunOrigin
from thalweg.cli.runs.keyed_checkpoint import KeyedCheckpoint
from thalweg.cli.runs.keyed_session import KeyedSession
from thalweg.cli.runs.predictions import PredictionFile
from thalweg.cli.runs.signals import StoppedError, StopSignal
from thalweg.errors import StreamError
from thalweg.tables import Chunk, Table

CHECKPOINT_SECONDS = 5.0
CHECKPOINT_SHARE = 20
"""Checkpoints are so far apart that one takes a twentieth of the time: those of many
keys are large."""


class KeyedRunLoop:
    """Takes the rows of a table to the session of their key, and saves all of them."""

    def __init__(
        self, table: Table, session: KeyedSession, checkpoint: KeyedCheckpoint,
        file: PredictionFile | None,
    ) -> None:  # fmt: skip
        self.table, self.session = table, session
        self.checkpoint, self.file = checkpoint, file
        self.rows = 0  # played in this run
        self._saved_at = time.monotonic()
        self._period = CHECKPOINT_SECONDS

    def run(self, stop: StopSignal, bar: ProgressBar) -> None:
        """Play all rows of the table, or those until a signal to stop."""
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
        self._saved_at = time.monotonic()
        took = self._saved_at - began
        self._period = max(CHECKPOINT_SECONDS, CHECKPOINT_SHARE * took)

    def _play(self, chunk: Chunk) -> None:
        lines = self.session.play(chunk)
        self.rows += len(chunk)
        if self.file is not None:
            self.file.columns = self.session.columns()  # which the first row decides
            self.file.write(lines)
        if time.monotonic() >= self._saved_at + self._period:
            self.save()

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
