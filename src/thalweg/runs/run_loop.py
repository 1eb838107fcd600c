"""The loop of a run: rows in; predictions and checkpoints out."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from thalweg.changes.alarms import ChangeAlarm
from thalweg.errors import StreamError
from thalweg.report.console import ProgressBar, print_sentence, stderr_console
from thalweg.runs import study_files
from thalweg.runs.checkpoint import RunOrigin, save_checkpoint
from thalweg.runs.forecast_command import TableForecast
from thalweg.runs.keyed_session import KeyedSession
from thalweg.runs.observed_rows import given_columns
from thalweg.runs.output_paths import OutputPaths
from thalweg.runs.repeated_rows import RepeatedRows
from thalweg.runs.signals import StoppedError, StopSignal
from thalweg.runs.storage import FileLocks
from thalweg.tables import Chunk, Table
from thalweg.tables.malformed_rows import WellFormedRows
from thalweg.tables.row_filters import RowFilter
from thalweg.tables.row_keys import Key, key_text

FILE_SECONDS, LIVE_SECONDS = 5.0, 1.0
"""The least time between two checkpoints, of a file and of a pipe."""
MIN_WORK_SHARE = 20
"""Minimum time between two checkpoints, in the time that one takes: those of many keys
are large."""


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


class ChangeNotices:
    """Tells the changes that a run notices from now on, on standard error.

    Rows are numbered as those of their series.
    """

    def __init__(self, session: KeyedSession) -> None:
        self._session = session
        self._counts = {
            key: [detector.total for detector in one.changes]
            for key, one in session.sessions.items()
        }

    def print(self) -> None:
        """Print a sentence on each change that the last rows have shown."""
        for key in self._session.played:
            session = self._session.sessions[key]
            before = self._counts.get(key) or [0] * len(session.changes)
            self._counts[key] = [detector.total for detector in session.changes]
            names = given_columns(session.encoder.state.schema)
            several = session.recipe.targets if len(before) > 1 else ()
            for k, detector in enumerate(session.changes):
                count = detector.total - before[k]
                prefix = "".join(
                    f"{name}: " for name in (key_text(key), *several[k : k + 1]) if name
                )
                for alarm in detector.alarms(names)[-count:] if count else ():
                    print_sentence(stderr_console(), prefix + _notice(alarm))


def _notice(alarm: ChangeAlarm) -> str:
    """Such as "row 1,806 (2026-03-08T06:25:00): since row 1,801 level fell by 90 %"."""
    when = f" ({alarm.time})" if alarm.time is not None else ""
    return f"row {alarm.row:,}{when}: since row {alarm.onset:,}, {alarm.text}"


class RunLoop:
    """Takes the rows of a table through a session, and saves what comes of it.

    A ``forecast`` plays all rows of the table as well, those seen before too.
    """

    def __init__(
        self, table: Table, session: KeyedSession, paths: OutputPaths, locks: FileLocks,
        echo: bool, forecast: TableForecast | None = None,
    ) -> None:  # fmt: skip
        self.table = table
        self.session = session
        self.paths = paths
        self.file = paths.predictions
        # Whether the model of another run is replaced.
        self.replaces_model = paths.is_new_folder and paths.models.path.exists()
        self.echo = echo  # print predictions as they are made
        self.rows = 0  # played in this run
        self.forecast = forecast
        self._repeated = RepeatedRows(session)
        self._notices = ChangeNotices(session)
        self._locks = locks
        self._has_printed_header = session.rows > 0
        self._schedule = CheckpointSchedule(self._save, table.is_live)
        self._has_saved = False  # in this run

    def run(self, stop: StopSignal, bar: ProgressBar) -> None:
        """Play all rows of the table, or those until a signal to stop."""
        models = self.paths.models
        try:
            self._play_rows(stop, bar)
            if self.session.has_rows:
                self.save()
        except StreamError as error:
            if not self._has_saved:
                raise
            self.save()
            raise StreamError(
                f"{error} The {self.session.rows:,} rows before are in {models.path}; "
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
        if self.forecast is not None and stop.number is None:
            self.forecast.finish()

    def notes(self) -> tuple[str, ...]:
        """Sentences about how the table was read, and about rows left out."""
        return (*self.table.notes(), *self._repeated.notes())

    def save(self) -> None:
        """Write a checkpoint, from which a run continues to the last bit."""
        self._schedule.save()

    def _save(self) -> None:
        self._locks.acquire(self.paths.models.path)
        if self.file is not None:
            self.file.sync()
        path = None if self.file is None else self.file.path
        written = 0 if self.file is None else self.file.size
        origin = RunOrigin(self.table.name, path, written)
        save_checkpoint(self.paths.models, self.session, origin)
        if self.paths.is_new_folder and not self._has_saved:
            names = (study_files.STUDY, study_files.PAGE, study_files.FORECAST)
            study_files.remove_files(self.paths.folder, *names)
        self._has_saved = True

    def _play_rows(self, stop: StopSignal, bar: ProgressBar) -> None:
        if self.table.is_live:
            self.table.on_idle(lambda: self._schedule.save_when_idle(stop))
        with suppress(StoppedError):
            for chunk, is_last in self._new_rows(self._selected_chunks(stop)):
                self._play_chunk(chunk, is_last)
                bar.update(self.table.fraction(), self.rows)

    def _play_chunk(self, chunk: Chunk, is_last: bool) -> None:
        session = self.session
        if is_last and not session.has_rows:
            session.check_row_count(chunk)
        predictions = session.play(chunk)
        if is_last:
            self._check_targets()
        self.rows += len(chunk)
        columns = session.columns()  # the first rows have decided which
        lines = columns.lines(predictions)
        if self.file is not None:
            self._locks.acquire(self.file.path)
            self.file.columns = columns
            self.file.write(lines)
        if self.echo:
            header = "" if self._has_printed_header else columns.header()
            if header:
                for one in session.classes:
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
            self.session.check_targets(self.table.name)
        except StreamError:
            if self._has_saved:
                self.paths.models.discard()
                self._has_saved = False
            if self.file is not None:
                self.file.discard()
            raise

    def _selected_chunks(self, stop: StopSignal) -> Iterator[Chunk]:
        """The rows of the table, without repeated ones and malformed ones to skip."""
        errors, session = self.table.errors, self.session
        filters: list[RowFilter] = [self._repeated]
        if errors is not None:
            rows = WellFormedRows(session.recipe, errors, session.columns_read)
            filters.append(rows)
        for chunk in stop.interruptible(self.table.chunks()):
            if self.forecast is not None:
                self.forecast.play(chunk)
            for one in filters:
                chunk = one.drop(chunk)
            if len(chunk):
                yield chunk

    def _new_rows(self, chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, bool]]:
        """Rows not seen before, and whether they are known to be the last."""
        is_live, seen_rows, end = self.table.is_live, self.session.seen_rows(), 0
        verified: dict[Key, int] = {}
        upcoming = next(chunks, None)
        while upcoming is not None:
            chunk, end = upcoming, upcoming.first_row + len(upcoming)
            if not is_live:
                # Read one chunk ahead to know the last; from a pipe this would wait.
                upcoming = next(chunks, None)
            cut = max(seen_rows - chunk.first_row, 0)
            if cut:
                seen = chunk.slice_rows(0, min(cut, len(chunk)))
                self.session.verify_rows(seen, verified)
            if end > seen_rows:
                yield (
                    chunk.slice_rows(cut, len(chunk)),
                    upcoming is None and not is_live,
                )
            if is_live:
                upcoming = next(chunks, None)
        if end < seen_rows and not is_live:
            raise StreamError(
                f"{self.table.name} has {end:,} rows, and {seen_rows:,} of it were "
                f"seen before. If these come after them, say --next."
            )
