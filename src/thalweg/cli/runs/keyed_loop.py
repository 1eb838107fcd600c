"""The loop of a run by key: rows in; predictions and checkpoints out."""

import sys
from collections.abc import Iterator
from contextlib import suppress

from thalweg.cli.console import ProgressBar
from thalweg.cli.forecasts.row_keys import key_text
from thalweg.cli.runs.change_notices import ChangeNotices
from thalweg.cli.runs.checkpoint import RunOrigin
from thalweg.cli.runs.checkpoint_schedule import CheckpointSchedule
from thalweg.cli.runs.keyed_checkpoint import KeyedCheckpoint
from thalweg.cli.runs.keyed_session import KeyedSession
from thalweg.cli.runs.predictions import PredictionFile
from thalweg.cli.runs.signals import StoppedError, StopSignal
from thalweg.errors import StreamError
from thalweg.tables import Chunk, Table


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
        self._notices = {
            key: ChangeNotices(one, key_text(key))
            for key, one in session.sessions.items()
        }
        self._has_printed_header = session.earlier_rows + session.rows > 0
        self._schedule = CheckpointSchedule(self._save, table.is_live)

    def run(self, stop: StopSignal, bar: ProgressBar) -> None:
        """Play all rows of the table, or those until a signal to stop."""
        if self.table.is_live:
            self.table.on_idle(lambda: self._schedule.save_when_idle(stop))
        try:
            with suppress(StoppedError), stop.allow_interrupt():
                for chunk in self._new_rows():
                    with stop.defer_interrupt():
                        self._play(chunk)
                        bar.update(self.table.fraction(), self.rows)
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
        if stop.number is None:
            self.session.check_targets(self.table.name)
            if self.file is not None:
                self.file.finish()

    def save(self) -> None:
        """Write a checkpoint, from which a run continues to the last bit."""
        self._schedule.save()

    def _save(self) -> None:
        if self.file is not None:
            self.file.sync()
        path = None if self.file is None else self.file.path
        written = 0 if self.file is None else self.file.size
        self.checkpoint.save(self.session, RunOrigin(self.table.name, path, written))

    def _play(self, chunk: Chunk) -> None:
        lines = self.session.play(chunk)
        if self.table.is_live:
            self._print_notices()
        self.rows += len(chunk)
        columns = self.session.columns()  # which the first row decides
        if self.file is not None:
            self.file.columns = columns
            self.file.write(lines)
        if self.echo:
            header = "" if self._has_printed_header else columns.header()
            sys.stdout.write(header + lines)
            sys.stdout.flush()
            self._has_printed_header = True
        self._schedule.add_rows()

    def _print_notices(self) -> None:
        """Tell the changes that the last rows have shown, by key."""
        for key in self.session.played:
            if key not in self._notices:
                session = self.session.sessions[key]
                self._notices[key] = ChangeNotices(session, key_text(key), is_new=True)
            self._notices[key].print()

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
