"""The loop of a forecast: rows in, by key; models, results and their forecasts out."""

from contextlib import suppress

from thalweg.cli.console import ProgressBar
from thalweg.cli.forecasts.file_scan import SeriesScan, TableColumns
from thalweg.cli.forecasts.forecast_plan import ForecastPlan
from thalweg.cli.forecasts.model_files import ForecastModels
from thalweg.cli.forecasts.pending_rows import PendingRows
from thalweg.cli.forecasts.row_keys import Key, key_text, split_by_key
from thalweg.cli.forecasts.scan_check import MIN_VALUES
from thalweg.cli.runs.signals import StoppedError, StopSignal
from thalweg.evaluation.forecast_result import (
    ForecastResult,
    make_result,
    with_history,
    without_history,
)
from thalweg.evaluation.forecast_run import ForecastRun, TimedRows
from thalweg.tables import Table
from thalweg.tables.missing_codes import without_counts

SAVED_TOGETHER = 32
"""Models that are written in one transaction."""


class ForecastLoop:
    """Takes the rows of a table to the forecaster of their key, and saves the models.

    A series is finished and leaves memory with its last row, which the scan has
    counted: of series one below the other only one is in memory.
    """

    def __init__(
        self, plan: ForecastPlan, scan: dict[Key, SeriesScan], models: ForecastModels,
        is_next: bool, source: str,
    ) -> None:  # fmt: skip
        self.plan, self.models = plan, models
        self.source = source  # the name of the table
        self.earlier_rows = 0  # learnt before, of the series that have rows now
        self.new_rows = self.passed_over = 0  # of the table
        self.columns: TableColumns = plan.columns
        self.results: dict[Key, ForecastResult] = {}
        self.too_short: list[Key] = []
        self.rows = 0
        self._scan, self._is_next = scan, is_next
        self._live: dict[Key, PendingRows] = {}
        self._unsaved: dict[Key, ForecastRun] = {}

    def run(self, table: Table, stop: StopSignal, bar: ProgressBar) -> None:
        """Learn all rows, or those until a signal to stop; then all is saved."""
        with suppress(StoppedError), stop.allow_interrupt():
            chunks = iter(table.chunks())
            while (chunk := next(chunks, None)) is not None:
                with stop.defer_interrupt():
                    rows = self.columns.read(chunk)
                    for key, members in split_by_key(chunk, self.columns.keys):
                        self._push(key, rows.take(members))
                    self.rows += len(chunk)
                    bar.update(table.fraction(), self.rows)
        is_stopped = stop.number is not None
        for key in list(self._live):
            self._finish(key, is_stopped)
        self.models.set_ranges(without_counts(self.columns.ranges))
        self._save()
        if not is_stopped:
            self._add_unchanged()
            # In the order in which series begin, whichever ended first.
            order = {key: k for k, key in enumerate(self._scan)}
            ranked = sorted(self.results, key=lambda key: (order.get(key, 0), key))
            self.results = {key: self.results[key] for key in ranked}

    def full_result(self, key: Key) -> ForecastResult:
        """The result of a key, with the values that charts need."""
        result = self.results[key]
        run = self.models.load(key)
        return result if run is None else with_history(result, run)

    def _push(self, key: Key, rows: TimedRows) -> None:
        if key not in self._live:
            run = self.models.load(key)
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
        self.passed_over += series.passed_over
        if not is_stopped:
            self.results[key] = self._result(key, run, future)
        if len(self._unsaved) >= SAVED_TOGETHER:
            self._save()

    def _add_unchanged(self) -> None:
        """Add the forecasts of series that had no rows this time."""
        for key in self.models.keys():
            if key not in self.results:
                run = self.models.load(key)
                if run is not None:
                    self.results[key] = self._result(key, run, None)

    def _result(
        self, key: Key, run: ForecastRun, future: TimedRows | None
    ) -> ForecastResult:
        title = key_text(key) if key else self.source
        result = make_result(run, title, self.plan.target, key, future)
        return without_history(result) if key else result

    def _save(self) -> None:
        if self._unsaved:
            self.models.save(self._unsaved)
            self._unsaved = {}
