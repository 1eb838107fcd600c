"""A run in progress: rows in; predictions and checkpoints out."""

import sys
import time
from collections.abc import Iterator
from contextlib import suppress

from thalweg.cli.console import Bar
from thalweg.cli.runs import checkpoint, study_files
from thalweg.cli.runs.checkpoint import Kept
from thalweg.cli.runs.file_locks import Claims
from thalweg.cli.runs.output_paths import Places
from thalweg.cli.runs.session import Session
from thalweg.cli.runs.signals import Stop, StoppedError
from thalweg.errors import StreamError
from thalweg.tables import Chunk, Table

SAVED_EVERY, LIVE_SAVED_EVERY = 5.0, 1.0
"""Seconds between checkpoints, of a file and of what comes as it happens."""


class Running:
    """Takes a table through a session, and keeps what comes of it."""

    def __init__(
        self, table: Table, session: Session, places: Places, own: Claims, echo: bool
    ) -> None:
        self.table = table
        self.session = session
        self.places = places
        self.model = places.model
        self.file = places.predictions
        self.replaces = places.fresh and places.model.exists()  # another run's model
        self.own = own
        self.echo = echo  # print predictions as they are made
        self.rows = 0  # taken in this run
        self._headed = session.rows > 0
        self._saved_at = -float("inf")
        self._saved = False  # whether this run has saved anything
        self._unsaved = False  # whether rows came since

    def go(self, stop: Stop, bar: Bar) -> None:
        """To the end of the table, or until told to stop."""
        try:
            self._play(stop, bar)
            if self.session.players:
                self.save()
        except StreamError as error:
            if not self._saved:
                raise
            self.save()
            raise StreamError(
                f"{error} The {self.session.rows:,} rows before are in {self.model}; "
                f"go on with --resume."
            ) from None
        except BrokenPipeError:  # no one reads our predictions any more
            self.save()
            raise
        finally:
            if self.file is not None:
                self.file.close()
        if self.file is not None and stop.by is None:
            self.file.finish()

    def _play(self, stop: Stop, bar: Bar) -> None:
        if self.table.is_live:
            self.table.on_idle(lambda: self._save_while_waiting(stop))
        with suppress(StoppedError):
            for chunk, last in self._chunks(stop):
                self._take(chunk, last)
                bar.at(self.table.fraction(), self.rows)
                if stop.by is not None:
                    break

    def save(self) -> None:
        """Write a checkpoint, from which a run continues to the last bit."""
        self.own.take(self.model)
        if self.file is not None:
            self.file.sync()
        path = None if self.file is None else self.file.path
        written = 0 if self.file is None else self.file.size
        checkpoint.save(self.model, self.session, Kept(self.table.name, path, written))
        if self.places.fresh and not self._saved:
            study_files.clear(self.places.folder, study_files.STUDY, study_files.PAGE)
        self._saved, self._saved_at = True, time.monotonic()
        self._unsaved = False

    def _take(self, chunk: Chunk, last: bool) -> None:
        said = self.session.take(chunk)
        if last:
            self._check_target()
        self.rows += len(chunk)
        self._unsaved = True
        lines = self.session.layout.lines(said)
        if self.file is not None:
            self.own.take(self.file.path)
            self.file.write(lines)
        if self.echo:
            header = "" if self._headed else self.session.layout.header()
            sys.stdout.write(header + lines)
            sys.stdout.flush()
            self._headed = True
        if self._due_in() <= 0:
            self.save()

    def _due_in(self) -> float:
        """Seconds until the next checkpoint is to be written."""
        every = LIVE_SAVED_EVERY if self.table.is_live else SAVED_EVERY
        return self._saved_at + every - time.monotonic()

    def _save_while_waiting(self, stop: Stop) -> float | None:
        """Save what came in a burst before a silence, once that is due."""
        if self._unsaved and self._due_in() <= 0:
            with stop.working():
                self.save()
        return self._due_in() if self._unsaved else None

    def _check_target(self) -> None:
        """There was something to learn; if not, nothing is left behind."""
        try:
            self.session.encoder.check_targets()
        except StreamError:
            if self._saved:
                self.model.unlink()
                self._saved = False
            if self.file is not None:
                self.file.discard()
            raise

    def _chunks(self, stop: Stop) -> Iterator[tuple[Chunk, bool]]:
        """Rows not seen before, and whether they are known to be the last."""
        seen = self.session.rows - self.session.before
        chunks, here = self.table.chunks(), 0
        with stop.waiting():
            ahead = next(chunks, None)
        while ahead is not None:
            chunk, here = ahead, ahead.first_row + len(ahead)
            if not self.table.is_live:
                # One chunk ahead, to know the last; of a pipe that would mean to wait.
                with stop.waiting():
                    ahead = next(chunks, None)
            if here > seen:
                cut = max(seen - chunk.first_row, 0)
                last = ahead is None and not self.table.is_live
                yield chunk.slice_rows(cut, len(chunk)), last
            if self.table.is_live:
                with stop.waiting():
                    ahead = next(chunks, None)
        if here < seen and not self.table.is_live:
            raise StreamError(
                f"{self.table.name} has {here:,} rows, and {seen:,} of it were seen "
                f"before. If these come after them, say --next."
            )
