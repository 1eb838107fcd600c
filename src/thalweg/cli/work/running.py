"""A run in progress: rows in; predictions and checkpoints out."""

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from thalweg.cli.console import Bar
from thalweg.cli.work import checkpoint
from thalweg.cli.work.checkpoint import Kept
from thalweg.cli.work.predictions import PredictionFile
from thalweg.cli.work.session import Session
from thalweg.cli.work.stop import Stop, StoppedError
from thalweg.errors import StreamError
from thalweg.streams.tables import Chunk, Table

SAVED_EVERY, LIVE_SAVED_EVERY = 5.0, 1.0
"""Seconds between checkpoints, of a file and of what comes as it happens."""


class Running:
    """Takes a table through a session, and keeps what comes of it."""

    def __init__(
        self, table: Table, session: Session, model: Path,
        file: PredictionFile | None, echo: bool,
    ) -> None:  # fmt: skip
        self.table = table
        self.session = session
        self.model = model
        self.file = file
        self.echo = echo  # print predictions as they are made
        self.rows = 0  # taken in this run
        self._headed = session.rows > 0
        self._saved_at = -float("inf")
        self._saved = False  # whether this run has saved anything

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
        with suppress(StoppedError):
            for chunk, last in self._chunks(stop):
                self._take(chunk, last)
                bar.at(self.table.fraction(), self.rows)
                if stop.by is not None:
                    break

    def save(self) -> None:
        """Write a checkpoint, from which a run continues to the last bit."""
        if self.file is not None:
            self.file.sync()
        path = None if self.file is None else self.file.path
        written = 0 if self.file is None else self.file.size
        checkpoint.save(self.model, self.session, Kept(self.table.name, path, written))
        self._saved, self._saved_at = True, time.monotonic()

    def _take(self, chunk: Chunk, last: bool) -> None:
        said = self.session.take(chunk)
        if last:
            self._check_target()
        self.rows += len(chunk)
        lines = self.session.layout.lines(said)
        if self.file is not None:
            self.file.write(lines)
        if self.echo:
            header = "" if self._headed else self.session.layout.header()
            sys.stdout.write(header + lines)
            sys.stdout.flush()
            self._headed = True
        every = LIVE_SAVED_EVERY if self.table.live else SAVED_EVERY
        if time.monotonic() - self._saved_at >= every:
            self.save()

    def _check_target(self) -> None:
        """There was something to learn; if not, nothing is left behind."""
        try:
            self.session.encoder.check_target()
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
            if not self.table.live:
                # One chunk ahead, to know the last; of a pipe that would mean to wait.
                with stop.waiting():
                    ahead = next(chunks, None)
            if here > seen:
                cut = max(seen - chunk.first_row, 0)
                last = ahead is None and not self.table.live
                yield chunk.cut(cut, len(chunk)), last
            if self.table.live:
                with stop.waiting():
                    ahead = next(chunks, None)
        if here < seen and not self.table.live:
            raise StreamError(
                f"{self.table.name} has {here:,} rows, and {seen:,} of it were seen "
                f"before. If these come after them, say --next."
            )
