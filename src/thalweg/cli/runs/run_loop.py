"""The loop of a run: rows in; predictions and checkpoints out."""

import sys
from collections.abc import Iterator
from contextlib import suppress

from thalweg.cli.console import ProgressBar, print_sentence, stderr_console
from thalweg.cli.runs import study_files
from thalweg.cli.runs.change_notices import ChangeNotices
from thalweg.cli.runs.checkpoint import RunOrigin, save_checkpoint
from thalweg.cli.runs.checkpoint_schedule import CheckpointSchedule
from thalweg.cli.runs.file_locks import FileLocks
from thalweg.cli.runs.output_paths import OutputPaths
from thalweg.cli.runs.repeated_rows import RepeatedRows, repeated_sentence
from thalweg.cli.runs.session import Session
from thalweg.cli.runs.signals import StoppedError, StopSignal
from thalweg.errors import StreamError
from thalweg.tables import Chunk, Table
from thalweg.tables.malformed_rows import WellFormedRows


class RunLoop:
    """Takes the rows of a table through a session, and saves what comes of it."""

    def __init__(
        self, table: Table, session: Session, paths: OutputPaths, locks: FileLocks,
        echo: bool,
    ) -> None:  # fmt: skip
        self.table = table
        self.session = session
        self.paths = paths
        self.model = paths.model
        self.file = paths.predictions
        # Whether the model of another run is replaced.
        self.replaces_model = paths.is_new_folder and paths.model.exists()
        self.echo = echo  # print predictions as they are made
        self.rows = 0  # played in this run
        self._repeated = RepeatedRows(session)
        self._notices = ChangeNotices(session)
        self._locks = locks
        self._has_printed_header = session.rows > 0
        self._schedule = CheckpointSchedule(self._save, table.is_live)
        self._has_saved = False  # in this run

    def run(self, stop: StopSignal, bar: ProgressBar) -> None:
        """Play all rows of the table, or those until a signal to stop."""
        try:
            self._play_rows(stop, bar)
            if self.session.runs:
                self.save()
        except StreamError as error:
            if not self._has_saved:
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
        if self.file is not None and stop.number is None:
            self.file.finish()

    def _play_rows(self, stop: StopSignal, bar: ProgressBar) -> None:
        if self.table.is_live:
            self.table.on_idle(lambda: self._schedule.save_when_idle(stop))
        with suppress(StoppedError):
            for chunk, last in self._chunks(stop):
                self._play_chunk(chunk, last)
                bar.update(self.table.fraction(), self.rows)
                if stop.number is not None:
                    break

    def notes(self) -> tuple[str, ...]:
        """Sentences about how the table was read, and about rows passed over."""
        count, notes = self._repeated.count, self.table.notes()
        if not count:
            return notes
        latest = self._repeated.latest
        return (*notes, repeated_sentence(count, self.table.name, latest))

    def save(self) -> None:
        """Write a checkpoint, from which a run continues to the last bit."""
        self._schedule.save()

    def _save(self) -> None:
        self._locks.acquire(self.model)
        if self.file is not None:
            self.file.sync()
        path = None if self.file is None else self.file.path
        written = 0 if self.file is None else self.file.size
        origin = RunOrigin(self.table.name, path, written)
        save_checkpoint(self.model, self.session, origin)
        if self.paths.is_new_folder and not self._has_saved:
            names = (study_files.STUDY, study_files.PAGE, study_files.FORECAST)
            study_files.remove_files(self.paths.folder, *names)
        self._has_saved = True

    def _play_chunk(self, chunk: Chunk, is_last: bool) -> None:
        if is_last and not self.session.runs:
            self.session.check_row_count(chunk)
        predictions = self.session.play(chunk)
        if is_last:
            self._check_targets()
        self.rows += len(chunk)
        columns = self.session.columns()
        lines = columns.lines(predictions)
        if self.file is not None:
            self.file.columns = columns  # the first rows have decided which
            self._locks.acquire(self.file.path)
            self.file.columns = columns  # which the first row has decided
            self.file.write(lines)
        if self.echo:
            header = "" if self._has_printed_header else columns.header()
            if header:
                for one in self.session.classes:
                    print_sentence(stderr_console(), one.sentence())
            sys.stdout.write(header + lines)
            sys.stdout.flush()
            self._has_printed_header = True
        if self.table.is_live:
            self._notices.print()
        self._schedule.add_rows()

    def _check_targets(self) -> None:
        """Raise, and remove all output, if there was nothing to learn."""
        try:
            self.session.check_targets()
        except StreamError:
            if self._has_saved:
                self.model.unlink()
                self._has_saved = False
            if self.file is not None:
                self.file.discard()
            raise

    def _well_formed_chunks(self) -> Iterator[Chunk]:
        """The rows of the table, without malformed ones where those are passed over."""
        errors, session = self.table.errors, self.session
        rows = None if errors is None else WellFormedRows(session.recipe, errors)
        for chunk in map(self._repeated.select, self.table.chunks()):
            if rows is not None and len(chunk):
                schema = session.encoder.schema(chunk)
                chunk = rows.select(chunk, schema, session.text_targets(chunk))
            if len(chunk):
                yield chunk

    def _chunks(self, stop: StopSignal) -> Iterator[tuple[Chunk, bool]]:
        """Rows not seen before, and whether they are known to be the last."""
        seen_rows = self.session.seen_rows()
        chunks, end = self._well_formed_chunks(), 0
        with stop.allow_interrupt():
            upcoming = next(chunks, None)
        while upcoming is not None:
            chunk, end = upcoming, upcoming.first_row + len(upcoming)
            if not self.table.is_live:
                # Read one chunk ahead to know the last; from a pipe this would wait.
                with stop.allow_interrupt():
                    upcoming = next(chunks, None)
            cut = max(seen_rows - chunk.first_row, 0)
            if cut:
                self.session.verify_rows(chunk.slice_rows(0, min(cut, len(chunk))))
            if end > seen_rows:
                is_last = upcoming is None and not self.table.is_live
                yield chunk.slice_rows(cut, len(chunk)), is_last
            if self.table.is_live:
                with stop.allow_interrupt():
                    upcoming = next(chunks, None)
        if end < seen_rows and not self.table.is_live:
            raise StreamError(
                f"{self.table.name} has {end:,} rows, and {seen_rows:,} of it were "
                f"seen before. If these come after them, say --next."
            )
