"""Digests of the rows that a run has seen: whether its source has changed since.

What counts is what the run was given, to the last bit: features, targets, and times
as moments. How a file writes them, and columns that are not used, do not count. So rows
may move to another format, and a last line may get its line end.
"""

import hashlib
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.errors import StreamError
from thalweg.rules import Condition, Count
from thalweg.tables import (
    Chunk,
    EncodedRows,
    Encoder,
    EncoderState,
    Recipe,
    Timestamps,
)
from thalweg.tables.schema import Schema

DIGEST_BYTES = 16
MAX_MARKS = 128
"""Digests of a run's beginnings: changed rows are found to about a 64th of its rows."""


EVENLY_SPACED = Condition(
    f"len(marks) == rounds // spacing < {MAX_MARKS}", "as many as the rounds have"
)


class RowDigestState(NamedTuple):
    """Digests of the rounds of one source, each from its first round on."""

    # Of the encoder before the first row of the source.
    start: Annotated[EncoderState, {"rows": Count("earlier_rows", "earlier_rows")}]
    rounds: Annotated[int, Count("rows - earlier_rows")] = 0
    spacing: Annotated[int, Count(min=1)] = 1  # rounds from one mark to the next
    # After ``spacing`` rounds, twice as many and so on.
    marks: Annotated[tuple[str, ...], EVENLY_SPACED] = ()
    last: str = ""  # after all rounds


class RowDigest:
    """The running digest of one source's rounds; how they are cut makes no difference.

    After ``MAX_MARKS`` marks every other one is dropped, so that their number stays
    bounded while the rounds grow.
    """

    def __init__(self, start: EncoderState) -> None:
        self._state = RowDigestState(start)
        self._hash = hashlib.blake2b(digest_size=DIGEST_BYTES)

    @property
    def state(self) -> RowDigestState:
        """The digests so far."""
        return self._state._replace(last=self._hash.hexdigest())

    def update(self, encoded: EncodedRows) -> None:
        """Take the next rounds."""
        bits = _bits(encoded)
        while len(bits):
            _, rounds, spacing, marks, _ = self._state
            count = min(len(bits), spacing - rounds % spacing)
            self._hash.update(bits[:count].data)
            bits, rounds = bits[count:], rounds + count
            if rounds % spacing == 0:
                marks = (*marks, self._hash.hexdigest())
            if len(marks) == MAX_MARKS:
                marks, spacing = marks[1::2], 2 * spacing
            self._state = self._state._replace(
                rounds=rounds, spacing=spacing, marks=marks
            )


class SourceDigest:
    """The digest of a run's source, and the one that a run before has left.

    The rows seen before come first when a run is resumed. They are encoded once more,
    and their digest is compared with the one left. Until then ``state`` is that one.
    """

    def __init__(self, recipe: Recipe, start: EncoderState) -> None:
        self._recipe = recipe
        self._digest: RowDigest | None = RowDigest(start)  # None: cannot be known
        self._left: RowDigestState | None = None
        self._encoder: Encoder | None = None  # of rows seen before, while they come

    @property
    def state(self) -> RowDigestState | None:
        """The digests of all rows seen; None where they are not known."""
        if self._encoder is not None or self._digest is None:
            return self._left
        return self._digest.state

    @state.setter
    def state(self, left: RowDigestState | None) -> None:
        self._left = left
        start = EncoderState.initial(self._recipe) if left is None else left.start
        self._encoder = Encoder.restore(self._recipe, start)
        self._digest = RowDigest(start)

    def update(self, encoded: EncodedRows) -> None:
        """Take rounds that are new."""
        if self._digest is not None:
            self._digest.update(encoded)

    def forget(self) -> None:
        """Keep no digest: the encoder before the first row is not known."""
        self._digest = self._encoder = None

    def use_schema(self, schema: Schema) -> None:
        """Read rows that were seen before as they were read then.

        A file that has grown has more rows to find out from how it is written.
        """
        if self._encoder is not None and self._encoder.state.schema is None:
            self._encoder.state = self._encoder.state.with_schema(schema)

    def verify_rows(self, chunk: Chunk, are_questions: bool = False) -> None:
        """Take rows that were seen before, in their order."""
        if self._encoder is not None and self._digest is not None:
            self._digest.update(self._encoder.encode(chunk, are_questions))

    def finish_verification(self, source: str, rows: int) -> None:
        """Raise unless the rows that were verified, all ``rows``, are those left."""
        if self._encoder is None or self._digest is None:
            return
        left, now = self._left, self._digest.state
        if left is not None and now[1:] != left[1:]:  # started as the run before did
            raise StreamError(
                f"{source} has changed since the run saw its first {rows:,} rows: "
                f"{_difference(left, now, rows)}. Bring back the rows as they were, or "
                f"start again, without --resume. If all rows come after those seen, "
                f"use --next."
            )
        self._encoder = self._left = None


def _bits(encoded: EncodedRows) -> npt.NDArray[np.int64]:
    """All that a run is given of each round, (T, m)."""
    parts: list[Any] = [encoded.x, encoded.y]
    time = encoded.time
    if time is not None:
        values = time.instants if isinstance(time, Timestamps) else time
        parts.append(values[:, None])
    return np.hstack([np.ascontiguousarray(part).view(np.int64) for part in parts])


def _difference(left: RowDigestState, now: RowDigestState, rows: int) -> str:
    """Which of the rows seen are the same, and among which one is not."""
    pairs = zip(left.marks, now.marks, strict=False)
    same = 0
    for before, after in pairs:
        if before != after:
            break
        same += left.spacing
    # The first rows have no rounds where lags lack a past, but targets that count.
    without_past = rows - left.rounds
    first = 1 if same == 0 else without_past + same + 1
    last = min(without_past + same + left.spacing, rows)
    changed = f"row {last:,}" if first == last else f"one of rows {first:,} to {last:,}"
    if first == 1:
        return f"{changed} is not the same"
    return f"the first {first - 1:,} are the same, and {changed} is not"
