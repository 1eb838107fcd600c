"""The session of a forecast: rows in, by key; models and their forecasts out."""

from collections.abc import Mapping

import numpy as np

from thalweg.errors import StreamError
from thalweg.evaluation.forecast_result import (
    ForecastResult,
    make_result,
    with_history,
    without_history,
)
from thalweg.evaluation.forecast_run import ForecastRun
from thalweg.runs.forecast_plan import (
    MIN_VALUES,
    PLAN,
    ForecastPlan,
    short_series_sentence,
)
from thalweg.runs.model_store import ModelStore
from thalweg.runs.repeated_rows import repeated_sentence
from thalweg.tables import Chunk
from thalweg.tables.key_choice import SeriesScan
from thalweg.tables.missing_codes import without_counts
from thalweg.tables.row_keys import Key, key_text, split_by_key
from thalweg.tables.scanned_columns import ScannedColumns
from thalweg.tables.timestamps import TimedRows

PIECE_ROWS = 256
"""Rows of a series that are learnt together: single ones cost more."""
MAX_WAITING = 100_000
"""Rows in sequence that may lack their target."""


class PendingRows:
    """Feeds the rows of one series to its run in pieces, and keeps those at its end.

    Rows without a target are missing values if a row with one follows, and the future
    if none does.
    """

    def __init__(self, run: ForecastRun, skips_seen: bool, skipped_rows: int) -> None:
        self.run = run
        self.rows = 0  # of the table, given so far
        self.earlier_rows = run.rows  # learnt before this command
        self.repeated_count = 0  # rows given that were among those
        self._pending: list[TimedRows] = []
        self._count = 0
        self._skips_seen = skips_seen  # those up to the last time that was learnt
        self._skipped_rows = skipped_rows  # or their number, where there are no times

    def push(self, rows: TimedRows) -> None:
        """Take the next rows."""
        self.rows += len(rows)
        rows = self._drop_seen(rows)
        if not self.run.forecaster.rounds and not self._pending:
            is_known = ~np.isnan(rows.y)
            first = int(is_known.argmax()) if is_known.any() else len(rows)
            self.run.skip(first)
            rows = rows.take(slice(first, None))
        if not len(rows):
            return
        self._pending.append(rows)
        self._count += len(rows)
        if self._count >= PIECE_ROWS:
            self._play(PIECE_ROWS)

    def finish(self) -> TimedRows | None:
        """Learn all that has a target; returns the rows after that."""
        self._play(0)
        return _join_rows(self._pending) if self._pending else None

    def _play(self, needed: int) -> None:
        """Learn what is ready, if it is as much as needed."""
        if not self._pending:
            return
        rows = _join_rows(self._pending)
        known = np.flatnonzero(~np.isnan(rows.y))
        stop = int(known[-1]) + 1 if len(known) else 0
        if needed and self.run.settings.known:
            # Forecasts are scored with what is known of the rows that they are of.
            stop = min(stop, len(rows) - self.run.settings.horizon)
        if stop > 0 and stop >= needed:
            later = rows.take(slice(stop, None))
            self.run.play(rows.take(slice(stop)), later if len(later) else None)
            rows = later
        if len(rows) > MAX_WAITING:
            raise StreamError(
                f"{len(rows):,} rows in sequence have no target. At most "
                f"{MAX_WAITING:,} may."
            )
        self._pending, self._count = ([rows] if len(rows) else []), len(rows)

    def _drop_seen(self, rows: TimedRows) -> TimedRows:
        """Without those that were learnt before this command."""
        if not self._skips_seen:
            return rows
        is_later = self.run.clock.is_later(rows.times)
        if is_later is None:
            is_later = np.arange(len(rows)) >= self._skipped_rows
            self._skipped_rows -= int((~is_later).sum())
        first = int(is_later.argmax()) if is_later.any() else len(rows)
        self.repeated_count += first
        self._skips_seen = first == len(rows)
        return rows.take(slice(first, None))


def _join_rows(parts: list[TimedRows]) -> TimedRows:
    rows = parts[0]
    for part in parts[1:]:
        rows = rows.join(part)
    return rows


MAX_NAMES = 5
"""Number of keys that a note names."""
SAVED_TOGETHER = 32
"""Models that are written in one transaction."""


class ForecastSession:
    """Takes the rows of a table to the forecaster of their key, and saves the models.

    A series is finished and leaves memory with its last row, which the scan has
    counted: of series one below the other only one is in memory.
    """

    def __init__(
        self, plan: ForecastPlan, scan: Mapping[Key, SeriesScan], models: ModelStore,
        source: str, is_next: bool = False,
    ) -> None:  # fmt: skip
        self.plan, self.models = plan, models
        self.source = source  # the name of the table
        self.earlier_rows = 0  # learnt before, of the series that have rows now
        self.new_rows = self.repeated_count = 0  # of the table
        self.columns: ScannedColumns = plan.columns
        self.results: dict[Key, ForecastResult] = {}
        self.too_short: list[Key] = []
        self.rows = 0
        self._scan, self._is_next = scan, is_next
        self._live: dict[Key, PendingRows] = {}
        self._unsaved: dict[Key, ForecastRun] = {}

    def play(self, chunk: Chunk) -> None:
        """Learn the next rows of the table."""
        rows = self.columns.read(chunk)
        for key, members in split_by_key(chunk, self.columns.keys):
            self._push(key, rows.take(members))
        self.rows += len(chunk)

    def finish(self, is_stopped: bool) -> None:
        """Learn and save what is left; forecast, unless a signal has stopped it.

        Raises a StreamError if no series has values enough.
        """
        for key in list(self._live):
            self._finish(key, is_stopped)
        self._save(is_last=True)
        if not is_stopped:
            self._add_unchanged()
            # In the order in which series begin, whichever ended first.
            order = {key: k for k, key in enumerate(self._scan)}
            ranked = sorted(self.results, key=lambda key: (order.get(key, 0), key))
            self.results = {key: self.results[key] for key in ranked}
            if not self.results:
                raise StreamError(self._refusal())

    def notes(self) -> list[str]:
        """Sentences about the rows of models before, and series that are left out."""
        return [*self._resumed_notes(), *self._short_notes()]

    def full_result(self, key: Key) -> ForecastResult:
        """The result of a key, with the values that charts need."""
        result = self.results[key]
        run = self._load(key)
        return result if run is None else with_history(result, run)

    def _load(self, key: Key) -> ForecastRun | None:
        saved = self.models.read(key)
        if saved is None:
            return None
        return ForecastRun.from_saved_model(saved, f"{self.models.path}{_place(key)}")

    def _push(self, key: Key, rows: TimedRows) -> None:
        if key not in self._live:
            run = self._load(key)
            seen = 0 if run is None or self._is_next else run.rows
            skips_seen = run is not None
            run = run or ForecastRun(self.plan.settings)
            self._live[key] = PendingRows(run, skips_seen, seen)
        series = self._live[key]
        series.push(rows)
        scan = self._scan.get(key)
        if scan is not None and series.rows >= scan.rows:
            self._finish(key)

    def _finish(self, key: Key, is_stopped: bool = False) -> None:
        """Learn what is left of a series, and let its model be saved."""
        series = self._live.pop(key)
        future = series.finish()
        run = series.run
        if run.forecaster.rounds < MIN_VALUES:
            self.too_short.append(key)
            return
        self._unsaved[key] = run
        self.earlier_rows += series.earlier_rows
        self.new_rows += run.rows - series.earlier_rows
        self.repeated_count += series.repeated_count
        if not is_stopped:
            self.results[key] = self._result(key, run, future)
        if len(self._unsaved) >= SAVED_TOGETHER:
            self._save()

    def _add_unchanged(self) -> None:
        """Add the forecasts of series that had no rows this time."""
        for key in self.models.keys():
            if key not in self.results:
                run = self._load(key)
                if run is not None:
                    self.results[key] = self._result(key, run, None)

    def _result(
        self, key: Key, run: ForecastRun, future: TimedRows | None
    ) -> ForecastResult:
        title = key_text(key) if key else self.source
        result = make_result(run, title, self.plan.target, key, future)
        return without_history(result) if key else result

    def _save(self, is_last: bool = False) -> None:
        if self._unsaved or is_last:
            ranges = without_counts(self.columns.ranges)
            plan = self.plan._replace(ranges=ranges if is_last else self.plan.ranges)
            models = ((key, run.saved_model()) for key, run in self._unsaved.items())
            self.models.write(models, {PLAN: plan.as_json()})
            self._unsaved = {}

    def _refusal(self) -> str:
        """What to say where no series has values enough."""
        plan = self.plan
        if plan.keys:
            return short_series_sentence(plan.keys, plan.target)
        return (
            f"{self.source} has fewer than two values of {plan.target!r}: there is "
            f"nothing to learn."
        )

    def _resumed_notes(self) -> list[str]:
        before, new, source = self.earlier_rows, self.new_rows, self.source
        if not before:
            return []
        if not new:
            return [f"No new row in {source}: the model has learnt {before:,} before."]
        rows, were = ("1 new row", "was") if new == 1 else (f"{new:,} new rows", "were")
        notes = [f"{rows} of {source} {were} learnt, after {before:,} before."]
        if self.repeated_count:
            notes.append(repeated_sentence(self.repeated_count, source))
        return notes

    def _short_notes(self) -> list[str]:
        names = [key_text(key) for key in self.too_short]
        if not names or not self.plan.keys:
            return []
        more = len(names) - MAX_NAMES
        shown = ", ".join(names[:MAX_NAMES]) + (f" and {more:,} more" * (more > 0))
        return [f"Series with fewer than two values are left out: {shown}."]


def _place(key: Key) -> str:
    return f", key {key_text(key)}," if key else ""
