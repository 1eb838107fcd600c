"""One row that clients have sent: what the model of its key makes of it."""

from typing import Any, NamedTuple

import numpy as np

from thalweg.errors import StorageError, ThalwegError
from thalweg.learners import Tracker
from thalweg.models import KeyedModels
from thalweg.serve.live_feed import LiveRow
from thalweg.serve.request_body import Row

BAND = 0.9
"""The share of values that the bands of live pages are to hold."""
MAX_LAST_SEQS = 100_000
"""Keys whose last sequence number is kept in memory."""


OUTCOMES = ("learnt", "predicted", "repeated", "refused")
"""What may become of a row: it is learnt; it has no target, and is predicted only; its
seq is not above the last one of its key; or the model refuses it."""


class RowResult(NamedTuple):
    """What became of a row."""

    key: str
    seq: int | None
    outcome: str  # one of ``OUTCOMES``
    prediction: Any = None  # made before the row was learnt; None: no longer known
    error: str | None = None  # why the model refused the row


class LastSeqs:
    """The last sequence number of keys, for the one writer: -1 before the first row."""

    def __init__(self) -> None:
        self._seqs: dict[str, int] = {}

    def get(self, models: KeyedModels, key: str) -> int:
        """The number of the row that the key has observed last."""
        seq = self._seqs.get(key)
        if seq is None:
            last = models.last_seq(key)
            seq = -1 if last is None else last
        return seq

    def set(self, key: str, seq: int) -> None:
        """The key has observed a row."""
        if len(self._seqs) >= MAX_LAST_SEQS:
            self._seqs.clear()
        self._seqs[key] = seq

    def clear(self) -> None:
        """Forget all: the models were opened anew."""
        self._seqs.clear()


def learn_row(
    models: KeyedModels, seqs: LastSeqs, row: Row, is_watched: bool,
    live_rows: list[Any],
) -> RowResult:  # fmt: skip
    """Learn one row, or say why the model refuses it."""
    key, x, y, seq, weight, elapsed = row
    assert seq is not None
    has_one_target = not isinstance(y, np.ndarray)
    try:
        last = seqs.get(models, key)
        is_new = seq > last
        band = None
        if is_new and is_watched and last >= 0 and has_one_target:
            band = models.predict(key, x, BAND)
        prediction = models.observe(key, x, y, seq, weight, elapsed)
        if is_new:
            seqs.set(key, seq)
    except StorageError:
        raise
    except ThalwegError as error:
        return RowResult(key, seq, "refused", error=str(error))
    except MemoryError:
        sentence = f"There is no memory for a model of {len(x)} features."
        return RowResult(key, seq, "refused", error=sentence)
    if is_new and has_one_target:  # pages show one target
        live = LiveRow(x, y, float(prediction))
        if is_watched:
            low, high = (None, None) if band is None else (band.low, band.high)
            live = live._replace(low=low, high=high, memory=_memory(models, key))
        live_rows.append((key, live))
    if not is_new:
        return RowResult(key, seq, "repeated", prediction)
    has_target = y == y if has_one_target else not np.isnan(y).any()
    return RowResult(key, seq, "learnt" if has_target else "predicted", prediction)


def _memory(models: KeyedModels, key: str) -> float | None:
    model = models[key]
    return float(model.memory) if isinstance(model.learner, Tracker) else None
