"""Rows at the start of a source that the sources before it have had already.

A run that goes on with ``--next`` expects rows after those it has learnt. A file that
grew begins with them all the same; they are found by their times and skipped. What
decides is the encoder before the first row of the source, so that a run that was
stopped within it finds the same rows.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from thalweg.errors import StreamError
from thalweg.runs.keyed_session import KeyedSession
from thalweg.runs.prediction_columns import format_times
from thalweg.runs.session import Session
from thalweg.tables import Chunk, EncoderState, Timestamps
from thalweg.tables.row_filters import RowFilter
from thalweg.tables.row_keys import Key
from thalweg.tables.validation import read_any_times, read_numbers


class RepeatedRows(RowFilter):
    """Leaves out the first rows of a source that are no later than rows before it.

    That takes times that have never gone back, in the series that a row belongs to.
    Rows at the last time itself are left out where rows are evenly spaced, or where an
    earlier one comes before them: else they may be others of the same time.
    """

    def __init__(self, session: KeyedSession) -> None:
        super().__init__()
        self._session = session
        starts = ((key, _start_of_source(s)) for key, s in session.sessions.items())
        # The encoders before the source, of series whose first new row is to come.
        self._starts = {key: start for key, start in starts if start is not None}
        single = self._starts.get(())
        # The last time before the source, of a single series.
        self.latest = None if single is None else single.latest_time()
        self._has_earlier: set[Key] = set()
        self._source = ""

    def drop(self, chunk: Chunk) -> Chunk:
        """The rows of a chunk that are new, perhaps none; later ones move up."""
        self._source = chunk.source
        is_repeated = np.zeros(len(chunk), np.bool_)
        for key, members, part in self._session.split(chunk) if self._starts else ():
            start = self._starts.get(key)
            if start is None:
                continue
            is_new = self._is_new(part, start, key)
            first = int(is_new.argmax()) if is_new.any() else len(members)
            is_repeated[members[:first]] = True
            if first < len(members):  # All later rows are new.
                del self._starts[key]
        return self.without(chunk, is_repeated)

    def notes(self) -> tuple[str, ...]:
        """A sentence that says how many there were."""
        if not self.count:
            return ()
        return (repeated_sentence(self.count, self._source, self.latest),)

    def _is_new(
        self, chunk: Chunk, start: EncoderState, key: Key
    ) -> npt.NDArray[np.bool_]:
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
        if is_earlier[:1].any():
            self._has_earlier.add(key)
        may_tie = start.clock.grid is None and key not in self._has_earlier
        is_repeated = is_earlier if may_tie else times <= last
        return np.asarray(~is_repeated, np.bool_)


def repeated_sentence(count: int, source: str, latest: Any = None) -> str:
    """A sentence that says how many rows were skipped."""
    rows = "1 row" if count == 1 else f"{count:,} rows"
    are, were = ("is", "was") if count == 1 else ("are", "were")
    when = "" if latest is None else f" ({format_times(latest)[0]})"
    return (
        f"{rows} at the start of {source} {are} no later than the last row that was "
        f"learnt before{when} and {were} skipped."
    )


def _start_of_source(session: Session) -> EncoderState | None:
    """The encoder before the source, if times tell which of its rows are new."""
    digest = session.digest.state if session.earlier_rows else None
    start = None if digest is None else digest.start
    if start is None or start.latest_time() is None:
        return None
    is_sorted = session.recipe.given_time is not None or start.clock.rows > 0
    return start if is_sorted and not start.clock.backward_row else None
