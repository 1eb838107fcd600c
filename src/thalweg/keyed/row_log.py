"""The row log of ``KeyedModels``: rows learnt since the states of their keys were
written.

A row is some hundred bytes, the state that it changes up to a hundred thousand. So a
flush writes the rows that were learnt, as one *segment*, and states only now and then:
those of the keys that have been in the log for longest, once it has grown to
``MAX_LOG_BYTES``, and all of them when the file is closed. After a crash the model of a
key is its last state and the rows of later segments, learnt again: the same bits.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.errors import PersistenceError
from thalweg.keyed.rows import FEATURES, SEQ, are_legal_keys
from thalweg.persistence.raw_values import RawValue, from_raw, to_raw
from thalweg.rules import Count
from thalweg.types import FloatArray

IntArray = npt.NDArray[np.int64]
SmallIntArray = npt.NDArray[np.int32]
MAX_LOG_BYTES = 2**25
"""Segments that a file may hold: 300,000 rows of eight features. After a crash they are
learnt again, each key's when it is asked for."""
MAX_BUFFERED_ROWS = 100_000
"""Rows that wait for a flush. Where there are more, states are written instead."""
LoggedRow = tuple[str, int, bytes, Any, Any, Any]
"""Key, seq, the bytes of x, y, weight and elapsed."""


class Segment(NamedTuple):
    """Rows that one flush has written, T of them; those of a key in their order."""

    keys: str  # each once, as a JSON list
    numbers: SmallIntArray  # (T,) which of the keys
    seqs: IntArray  # (T,)
    sizes: SmallIntArray  # (T,) features of each row
    x: FloatArray  # (Σ sizes,)
    y: FloatArray  # (T,)
    rates: FloatArray  # (2, T) weights and elapsed times; (2, 0) where all are 1

    def key_list(self) -> list[str]:
        """The keys, each once."""
        keys: list[str] = json.loads(self.keys)
        return keys

    def to_bytes(self) -> bytes:
        """What the file holds."""
        return to_raw(self).data

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> "Segment":
        """The segment in ``data``; ``PersistenceError`` where there is none."""
        try:
            segment = cls(**from_raw(RawValue(SEGMENT_LAYOUT, data)))
            _require_whole(segment)
        except PersistenceError as error:
            raise PersistenceError(
                f"{name} holds rows that cannot be read: {error}."
            ) from None
        return segment

    def rows_by_key(self) -> Iterator[tuple[str, list[LoggedRow]]]:
        """The rows of each key."""
        ends = np.cumsum(self.sizes, dtype=np.int64)
        rates = self.rates if self.rates.size else np.ones((2, len(self.y)))
        order = np.argsort(self.numbers, kind="stable")
        keys = self.key_list()
        bounds = np.cumsum(np.bincount(self.numbers, minlength=len(keys)))[:-1]
        for key, rows in zip(keys, np.split(order, bounds), strict=True):
            yield (
                key,
                [
                    (key, int(self.seqs[row]),
                     self.x[ends[row] - self.sizes[row] : ends[row]].tobytes(),
                     float(self.y[row]), *rates[:, row].tolist())
                    for row in rows
                ],
            )  # fmt: skip


def make_segment(rows: list[LoggedRow]) -> Segment:
    """Rows that were learnt one by one."""
    keys, seqs, x, y, weights, elapsed = zip(*rows, strict=True)
    number_of = {key: k for k, key in enumerate(dict.fromkeys(keys))}
    rates = np.array([weights, elapsed], np.float64)
    return Segment(
        json.dumps(list(number_of)),
        np.fromiter(map(number_of.__getitem__, keys), np.int32, len(keys)),
        np.array(seqs, np.int64),
        np.fromiter(map(len, x), np.int32, len(x)) // 8,
        np.frombuffer(b"".join(x)),
        np.array(y, np.float64),
        np.empty((2, 0)) if (rates == 1.0).all() else rates,
    )


_INT, _LONG, _FLOAT = (np.empty(0, kind) for kind in (np.int32, np.int64, float))
SEGMENT_LAYOUT = to_raw(
    Segment("", _INT, _LONG, _INT, _FLOAT, _FLOAT, np.empty((2, 0)))
).layout


class RowLog:
    """What the file's log holds, and rows that wait to be written to it.

    ``in_flight`` names the keys of rows that are being learnt. An interrupt may end a
    call before they are in the log: whoever comes next has the states of these keys
    written.
    """

    def __init__(self) -> None:
        self.in_flight: list[str] | str | None = None
        self.rows: list[LoggedRow] = []  # learnt one by one, since ``batches``
        self.number = 0  # of the newest segment
        self._batches: list[Segment] = []  # that wait to be written
        self._buffered_keys: set[str] = set()  # in ``batches``
        self._buffered_bytes = 0
        self._sizes: dict[int, int] = {}  # bytes of each segment in the file
        self._total = 0  # of them
        # The keys whose states lack rows of the log, those that do for longest first:
        # the first segment with such rows, and when the last ones were written.
        self._first: dict[str, int] = {}
        self._times: dict[str, float] = {}
        # Rows in the file that no model in memory has learnt, by segment.
        self._replays: dict[str, list[tuple[int, list[LoggedRow]]]] = {}

    def __contains__(self, key: str) -> bool:
        """Whether the file's state of the key lacks rows of the log."""
        return key in self._first

    def keys(self) -> list[str]:
        """The keys whose states lack rows."""
        return list(self._first)

    def time_of(self, key: str) -> float:
        """When rows of a key in the log were last written."""
        return self._times[key]

    def load(self, number: int, time: float, segment: Segment, size: int) -> None:
        """Take in a segment of the file, the next after those before."""
        self.number, self._sizes[number] = number, size
        self._total += size
        for key, rows in segment.rows_by_key():
            self._replays.setdefault(key, []).append((number, rows))
            self._register((key,), number, time)

    def replays(self, key: str, after: int) -> Iterator[LoggedRow]:
        """The rows of a key in segments after this one, which its state lacks."""
        for number, rows in self._replays.get(key, ()):
            if number > after:
                yield from rows

    def drop_key(self, key: str) -> None:
        """The rows of a key in the file are not needed any longer."""
        for known in (self._first, self._times, self._replays):
            known.pop(key, None)

    def forget_replays(self, key: str) -> None:
        """A model in memory has learnt them."""
        self._replays.pop(key, None)

    def add_batch(self, segment: Segment, keys: list[str]) -> None:
        """Rows that were learnt together."""
        self._close_rows()
        self._add(segment, keys)

    def is_too_long(self) -> bool:
        """Whether more rows wait than a flush should write."""
        too_many = len(self.rows) > MAX_BUFFERED_ROWS
        return too_many or self._buffered_bytes > MAX_LOG_BYTES // 2

    def buffered_segments(self) -> list[Segment]:
        """The rows that wait to be written."""
        self._close_rows()
        return self._batches

    def buffered_keys(self) -> set[str]:
        """The keys of the rows that wait to be written."""
        self._close_rows()
        return self._buffered_keys

    def last_seq(self) -> int:
        """The greatest of the rows that wait; -1 where none does."""
        return max((int(part.seqs.max()) for part in self._batches), default=-1)

    def number_segments(self, segments: list[bytes]) -> dict[int, bytes]:
        """Segments by number: each is given once, whether it is written or not."""
        first = self.number + 1
        self.number += len(segments)
        return dict(enumerate(segments, first))

    def _close_rows(self) -> None:
        if self.rows:
            segment = make_segment(self.rows)
            self._add(segment, segment.key_list())
            self.rows.clear()

    def _add(self, segment: Segment, keys: list[str]) -> None:
        self._buffered_keys.update(keys)
        self._batches.append(segment)
        self._buffered_bytes += segment.x.nbytes + 32 * len(segment.y)

    def overdue_keys(self, size: int) -> list[str]:
        """The keys whose states must be written before ``size`` bytes find room."""
        excess = self._total + size - MAX_LOG_BYTES
        if excess <= 0:
            return []
        last, freed = 0, 0
        for number, bytes_there in self._sizes.items():
            last, freed = number, freed + bytes_there
            if freed >= excess:
                break
        keys = []
        for key, first in self._first.items():
            if first > last:
                break
            keys.append(key)
        return keys

    def first_needed(self, settled: set[str], new: dict[int, bytes]) -> int:
        """The first segment that is needed once these keys have no rows in those that
        are in the file, and new ones are there.
        """
        for key, first in self._first.items():
            if key not in settled:
                return first
        return self.number + 1 - len(new)

    def settle(
        self, settled: set[str], new: dict[int, bytes], first_needed: int, time: float
    ) -> None:
        """A commit has written the states of these keys, or removed them, and has
        written the segments that waited.
        """
        for key in settled:
            self.drop_key(key)
        # An interrupt in between leaves rows that are written twice, and learnt once.
        for number, segment in zip(new, self._batches, strict=True):
            keys = (key for key in segment.key_list() if key not in settled)
            self._register(keys, number, time)
            self._sizes[number] = len(new[number])
        while self._sizes and (oldest := next(iter(self._sizes))) < first_needed:
            del self._sizes[oldest]
        self._total = sum(self._sizes.values())
        self.drop_buffered()

    def drop_buffered(self) -> None:
        """Forget the rows that wait: they are in the file, or the states will be."""
        self._batches.clear()
        self._buffered_keys = set()
        self._buffered_bytes = 0
        self.rows.clear()

    def _register(self, keys: Iterable[str], number: int, time: float) -> None:
        for key in keys:
            self._first.setdefault(key, number)
            self._times[key] = time


def _require_whole(segment: Segment) -> None:
    """Raise unless the parts of a segment fit together."""
    count, rates, sizes = len(segment.y), segment.rates, segment.sizes
    try:
        keys = json.loads(segment.keys)
    except (TypeError, ValueError):
        keys = None
    is_whole = (
        are_legal_keys(keys)
        and len(segment.numbers) == len(segment.seqs) == len(sizes) == count
        and rates.shape in ((2, 0), (2, count))
        and FEATURES.accepts_all(sizes)
        and SEQ.accepts_all(segment.seqs)
        and int(sizes.sum()) == len(segment.x)
        and Count(len(keys) - 1).accepts_all(segment.numbers)
    )
    if not is_whole:
        raise PersistenceError("their parts do not fit together")
