"""Thousands of models by key, in one file that no crash can tear."""

import os
import threading
from collections import OrderedDict
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from thalweg import checks
from thalweg.errors import StorageError, StreamError, UnsupportedLossError
from thalweg.learners import Learner
from thalweg.losses import LinearLoss, SquaredError
from thalweg.models.keyed_database import Database
from thalweg.models.keyed_record import Kept, Settings, check_key, checked_seq
from thalweg.persistence.lock import Lock
from thalweg.types import Block, FloatArray


class KeyedModels:
    """A model for each key, in one SQLite file, with the place in the source.

    >>> with KeyedModels("sensors.db", RecursiveLeastSquares()) as models:
    ...     for seq, (key, x, y) in source.read_from(models.offset):
    ...         prediction = models.observe(key, x, y, seq)    # doctest: +SKIP

    ``learner``, ``loss`` and ``intercept`` are as in ``Online``, the same for every
    key; a file made with others is refused. ``live`` is how many models are held in
    memory: where more are needed, it flushes and drops those not used for longest.

    ``flush()``, or the end of the ``with`` block, is the acknowledgement: all that was
    observed is then on the disk, with ``offset``, in one transaction. A block left by
    an error is not flushed: start again from ``offset``. One object at a time, in one
    process, may have the file open; threads take turns.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        learner: Learner[Any],
        loss: LinearLoss | None = None,
        intercept: bool = True,
        live: int = 1024,
    ) -> None:
        self.path = Path(path).resolve()
        self.learner = learner
        self.loss = SquaredError() if loss is None else loss
        self.intercept = intercept
        self.live = live
        checks.require_type(self, "learner", Learner)
        checks.require_choice(self, "intercept", (False, True))
        checks.require_interval(self, "live", "[1, inf)")
        if not isinstance(self.loss, LinearLoss):
            raise UnsupportedLossError(
                f"KeyedModels needs a loss of a linear prediction. Got {loss!r}."
            )
        self._settings = Settings(self.learner, self.loss, self.intercept)
        settings = self._settings.dumped(Kept())
        self._models: OrderedDict[str, Kept] = OrderedDict()  # used last comes last
        self._changed: set[str] = set()
        self._turn = threading.RLock()
        self._lock: Lock | None = Lock(self.path)
        try:
            self._file = Database(self.path, settings)
            self._settings.loaded(self._file.settings, str(self.path))
            self._reached = self._offset = self._file.offset
        except BaseException:
            self._lock.release()
            raise

    @property
    def offset(self) -> int | None:
        """The greatest ``seq`` on the disk: read the source on from behind it.

        None where there is none. Right where rounds come in the order of their seq.
        """
        return self._offset

    def observe(self, key: str, x: Any, y: Any, seq: int) -> Any:
        """Predict y from x with the model of ``key``, let it learn, say what it said.

        ``seq`` counts the rounds of a key upwards, with gaps or without. Where this
        seq was the last one learnt, nothing is learnt again and the prediction is the
        one made then; for an earlier one it is None. A round that is refused leaves
        everything as it was.
        """
        number = checked_seq(seq)
        with self._turn:
            kept = self._kept(key)
            if number <= kept.seq:
                return kept.prediction.copy() if number == kept.seq else None
            features = self._features(x)
            targets = checks.check_numbers("target", y)[None]
            state = self._state(kept, features, targets)
            block = Block(features, targets)
            state, trace = self.learner.run(state, self.loss, block)
            said = trace.prediction[0].copy()
            self._models[key] = Kept(state, kept.rounds + 1, number, said)
            self._changed.add(key)
            self._reached = max(number, -1 if self._reached is None else self._reached)
            self._make_room()
            return said.copy()

    def predict(self, key: str, x: Any) -> Any:
        """What the model of ``key`` says of y at ``x``: 0 before its first round."""
        with self._turn:
            kept, features = self._kept(key), self._features(x)
            state = self._state(kept, features, np.zeros(1))
            block = Block(features, np.zeros((1, *state.theta.shape[1:])))
            checked = checks.check_block(block, self.loss, state.theta)
            return self.learner.predict(state, checked.x[0])

    def flush(self) -> None:
        """Put all that was observed on the disk, and the offset with it."""
        with self._turn:
            self._check_open()
            if not self._changed:
                return
            changed = sorted(self._changed)
            models = [
                (key, self._settings.dumped(self._models[key])) for key in changed
            ]
            self._commit(models, self._reached)
            self._offset = self._reached
            self._changed.clear()

    def keys(self) -> list[str]:
        """The keys that have learnt, in order."""
        with self._turn:
            self._check_open()
            return sorted({*self._file.keys(), *self._changed})

    def close(self) -> None:
        """Flush, and let other writers in."""
        if self._lock is not None:
            self.flush()
            self._release()

    def __enter__(self) -> "KeyedModels":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self.flush()
        finally:
            self._release()

    def _commit(self, models: list[tuple[str, bytes]], offset: int | None) -> None:
        self._file.commit(models, offset)

    def _release(self) -> None:
        with self._turn:
            if self._lock is not None:
                self._file.close()
                self._lock.release()
                self._lock = None

    def _check_open(self) -> None:
        if self._lock is None:
            raise StorageError(f"{self.path} was closed. Open it anew.")

    def _kept(self, key: str) -> Kept:
        self._check_open()
        check_key(key)
        if key in self._models:
            self._models.move_to_end(key)
            return self._models[key]
        data = self._file.model(key)
        if data is None:
            return Kept()
        kept = self._settings.loaded(data, f"{key!r} in {self.path}")
        self._models[key] = kept
        self._make_room()
        return kept

    def _make_room(self) -> None:
        # Half at a time: one transaction then serves many models.
        if len(self._models) > self.live:
            self.flush()
            while len(self._models) > max(1, self.live // 2):
                self._models.popitem(last=False)

    def _features(self, x: Any) -> FloatArray:
        row = checks.check_numbers("features", x)
        if row.ndim != 1:
            raise StreamError(
                f"KeyedModels needs one row of features a round. Got shape {row.shape}."
            )
        return (np.append(row, row.dtype.type(1)) if self.intercept else row)[None]

    def _state(self, kept: Kept, x: FloatArray, y: FloatArray) -> Any:
        if kept.state is not None:
            return kept.state
        return self.learner.init(np.zeros((x.shape[1], *y.shape[1:])))
