"""Rows at the start of a source that the sources before it have had already.

A run that goes on with ``--next`` expects rows after those it has learnt. A file that
grew begins with them all the same; by their times they are found and passed over. What
decides is the encoder before the first row of the source, so that a run that was
stopped within it finds the same rows.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from thalweg.cli.runs.predictions import format_times
from thalweg.cli.runs.session import Session
from thalweg.errors import StreamError
from thalweg.tables import Chunk, EncoderState, Timestamps
from thalweg.tables.validation import read_any_times, read_numbers


class RepeatedRows:
    """Passes over the first rows of a source that are no later than rows before it.

    That takes times that have never gone back. Rows at the last time itself are passed
    over where rows are evenly spaced, or where an earlier one comes before them: else
    they may be others of the same time.
    """

    def __init__(self, session: Session) -> None:
        self.count = 0
        self._start = _start_of_source(session)
        # The last time before the source.
        self.latest = None if self._start is None else self._start.latest_time()
        self._has_earlier = False

    def select(self, chunk: Chunk) -> Chunk:
        """The rows of a chunk that are new, perhaps none; later ones move up."""
        before, rows = self.count, self.new_rows(chunk)
        if not self.count:
            return chunk
        if len(rows) == len(chunk):
            return replace(chunk, first_row=chunk.first_row - before)
        return chunk.take_rows(rows, chunk.first_row - before)

    def new_rows(self, chunk: Chunk) -> npt.NDArray[np.intp]:
        """The positions of the rows that are new; all rows after the first one are."""
        every = np.arange(len(chunk), dtype=np.intp)
        if self._start is None:
            return every
        is_new = self._is_new(chunk, self._start)
        first = int(is_new.argmax()) if is_new.any() else len(chunk)
        self.count += first
        if first < len(chunk):
            self._start = None
        return every[first:]

    def _is_new(self, chunk: Chunk, start: EncoderState) -> npt.NDArray[np.bool_]:
        latest, schema = start.latest_time(), start.schema
        assert latest is not None and schema is not None
        name = schema.time_column or ""
        dated = chunk.with_formats(schema.formats)
        try:
            if isinstance(latest, Timestamps):
                times: Any = read_any_times(dated, name).instants
                last: Any = latest.instants[0]
            else:
                times, last = read_numbers(dated, name, "skip"), latest[0]
        except StreamError:  # What is wrong with a row, the encoder says.
            return np.ones(len(chunk), np.bool_)
        is_earlier = times < last
        self._has_earlier |= bool(is_earlier[:1].any())
        may_tie = start.clock.grid is None and not self._has_earlier
        is_repeated = is_earlier if may_tie else times <= last
        return np.asarray(~is_repeated, np.bool_)


def repeated_sentence(count: int, source: str, latest: Any = None) -> str:
    """A sentence that says how many rows were passed over."""
    rows = "1 row" if count == 1 else f"{count:,} rows"
    are, were = ("is", "was") if count == 1 else ("are", "were")
    when = "" if latest is None else f" ({format_times(latest)[0]})"
    return (
        f"{rows} at the start of {source} {are} no later than the last row that was "
        f"learnt before{when} and {were} passed over."
    )


def _start_of_source(session: Session) -> EncoderState | None:
    """The encoder before the source, if times tell which of its rows are new."""
    digest = session.digest.state if session.earlier_rows else None
    start = None if digest is None else digest.start
    if start is None or start.latest_time() is None:
        return None
    is_sorted = session.recipe.given_time is not None or start.clock.rows > 0
    return start if is_sorted and not start.clock.backward_row else None
