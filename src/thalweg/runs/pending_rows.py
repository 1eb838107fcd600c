"""Rows of one series that wait: for more of them, or for the next known target.

Rows without a target are missing values if a row with one follows, and the future if
none does.
"""

import numpy as np

from thalweg.errors import StreamError
from thalweg.evaluation.forecast_run import ForecastRun
from thalweg.tables.timed_rows import TimedRows

PIECE_ROWS = 256
"""Rows of a series that are learnt together: single ones cost more."""
MAX_WAITING = 100_000
"""Rows in sequence that may lack their target."""


class PendingRows:
    """Feeds the rows of one series to its run in pieces, and keeps those at its end."""

    def __init__(self, run: ForecastRun, skips_seen: bool, skipped_rows: int) -> None:
        self.run = run
        self.rows = 0  # of the table, given so far
        self.earlier_rows = run.rows  # learnt before this command
        self.passed_over = 0  # rows given that were among those
        self._pending: list[TimedRows] = []
        self._count = 0
        self._skips_seen = skips_seen  # those up to the last time that was learnt
        self._skipped_rows = skipped_rows  # or so many, where there are no times

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
        self.passed_over += first
        self._skips_seen = first == len(rows)
        return rows.take(slice(first, None))


def _join_rows(parts: list[TimedRows]) -> TimedRows:
    rows = parts[0]
    for part in parts[1:]:
        rows = rows.join(part)
    return rows
