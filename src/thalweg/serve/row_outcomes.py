"""One row that clients have sent: what the model of its key makes of it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from thalweg.errors import StorageError, ThalwegError
from thalweg.keyed import KeyedModels
from thalweg.learners import Tracker
from thalweg.serve.live_feed import LiveRow, live_columns
from thalweg.serve.request_body import Row

BAND = 0.9
"""Coverage of the bands of live pages."""
MAX_LAST_SEQS = 100_000
"""Limit of the number of keys whose last sequence number is kept in memory."""


MAX_STEP = 2**58
"""Limit of how far a seq may be above the last one of its key: nine years of
nanoseconds. A number in another unit would make all honest rows late."""
OUTCOMES = ("learnt", "predicted", "repeated", "late", "refused")
"""Outcomes of a row: it is learnt; it has no target, and is only predicted; its seq is
not above the last one of its key; it lies between the last two of its key, so that it
was never learnt; or the model refuses it."""


class RowResult(NamedTuple):
    """The outcome of a row."""

    key: str
    seq: int | None
    outcome: str  # one of ``OUTCOMES``
    prediction: Any = None  # made before the row was learnt; None: no longer known
    error: str | None = None  # why the model refused the row


class LastSeqs:
    """The last sequence number of keys, for the one writer: -1 before the first row.

    The one before it is known too, of rows that came since the server was started.
    """

    def __init__(self) -> None:
        self._seqs: dict[str, tuple[int, int]] = {}  # (the one before, the last)

    def __contains__(self, key: str) -> bool:
        """Whether the key is known to have observed a row."""
        return key in self._seqs

    def get(self, models: KeyedModels, key: str) -> int:
        """The number of the row that the key has observed last."""
        seqs = self._seqs.get(key)
        if seqs is not None:
            return seqs[1]
        last = models.last_seq(key)
        return -1 if last is None else last

    def is_late(self, key: str, seq: int) -> bool:
        """Whether the number lies between the last two, so that its row is not one."""
        before, last = self._seqs.get(key, (seq, seq))
        return before < seq < last

    def set(self, key: str, before: int, seq: int) -> None:
        """The key has observed a row, whose number came after another."""
        if len(self._seqs) >= MAX_LAST_SEQS:
            self._seqs.clear()
        self._seqs[key] = before, seq

    def clear(self) -> None:
        """Forget all: the models were opened again."""
        self._seqs.clear()


def learn_row(
    models: KeyedModels, seqs: LastSeqs, row: Row, is_watched: bool,
    live_rows: list[Any], budget: "ModelBudget | None" = None,
) -> RowResult:  # fmt: skip
    """Learn one row, or say why it is not learnt.

    ``budget`` is that of the row's request, for new models.
    """
    key, x, y, seq, weight, elapsed = row
    assert seq is not None
    has_one_target = not isinstance(y, np.ndarray)
    try:
        last = seqs.get(models, key)
        is_new = seq > last
        if is_new and (error := _refuse(last, row, budget)):
            return RowResult(key, seq, "refused", error=error)
        if seqs.is_late(key, seq):
            return RowResult(key, seq, "late", error=_late_sentence(key, seq, last))
        band = None
        if is_new and is_watched and last >= 0 and has_one_target:
            band = models.predict(key, x, BAND)
        prediction = models.observe(key, x, y, seq, weight, elapsed)
        if is_new:
            seqs.set(key, last, seq)
    except StorageError:
        raise
    except ThalwegError as error:
        return RowResult(key, seq, "refused", error=str(error))
    except MemoryError:
        sentence = f"There is no memory for a model of {len(x)} features."
        return RowResult(key, seq, "refused", error=sentence)
    if is_new and has_one_target:  # pages show one target
        live = LiveRow(*live_columns(x), y, float(prediction))
        if is_watched:
            low, high = (None, None) if band is None else (band.low, band.high)
            live = live._replace(low=low, high=high, memory=_memory(models, key))
        live_rows.append((key, live))
    if not is_new:
        return RowResult(key, seq, "repeated", prediction)
    has_target = y == y if has_one_target else not np.isnan(y).any()
    return RowResult(key, seq, "learnt" if has_target else "predicted", prediction)


class ModelBudget:
    """The bytes of models that one request may have written.

    A model is large beside its row: by the square of the features. New models are
    written, and those that have learnt rows with names; of others the row alone is.
    """

    def __init__(self, size: Callable[[int], int], max_bytes: int) -> None:
        self._size, self._max_bytes = size, max_bytes
        self._used = 0
        self._keys: set[str] = set()

    def take(self, key: str, features: int) -> str | None:
        """Use the bytes of a model; a sentence, if they are more than is left."""
        if key in self._keys:
            return None
        size = self._size(features)
        if self._used + size > self._max_bytes:
            return (
                f"The models that a request has written, new ones and those of rows "
                f"with names, may take {self._max_bytes:,} bytes. This one, of "
                f"{features} features, takes {size:,} after {self._used:,} of others: "
                "send it in another request."
            )
        self._used += size
        self._keys.add(key)
        return None


def _refuse(last: int, row: Row, budget: ModelBudget | None) -> str | None:
    """Why a new row is not given to its model."""
    assert row.seq is not None
    if last >= 0 and row.seq - last > MAX_STEP:
        return (
            f"The seq of a row may be {MAX_STEP:,} above the last one of its key, "
            f"{last}. Got {row.seq} instead."
        )
    if budget is not None and is_written(last < 0, row):
        return budget.take(row.key, len(row.x))
    return None


def is_written(is_new: bool, row: Row) -> bool:
    """Whether the whole model of a row is written with it."""
    return is_new or isinstance(row.x, dict)


def _late_sentence(key: str, seq: int, last: int) -> str:
    return (
        f"Rows of a key are learnt in the order of their seq. The row {seq} of "
        f"{key!r:.80} was not learnt, and comes after row {last}."
    )


def _memory(models: KeyedModels, key: str) -> float | None:
    model = models[key]
    return float(model.memory) if isinstance(model.learner, Tracker) else None
