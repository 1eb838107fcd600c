"""Thousands of models by key, in one file that survives a crash at any moment."""

import os
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from thalweg import checks
from thalweg.errors import StorageError, StreamError, UnsupportedLossError
from thalweg.learners import Learner
from thalweg.losses import LinearLoss, SquaredError
from thalweg.models.keyed_store import (
    KeyedSettings,
    KeyedState,
    KeyedStore,
    check_key,
    check_seq,
)
from thalweg.models.model_lock import ModelLock
from thalweg.persistence.file_kinds import require_regular_file
from thalweg.persistence.lock import FileLock
from thalweg.types import Block, FloatArray


class KeyedModels:
    """A model for each key, in one SQLite file, with the offset in the source.

    >>> with KeyedModels("sensors.db", RecursiveLeastSquares()) as models:
    ...     for seq, (key, x, y) in source.read_from(models.offset):
    ...         prediction = models.observe(key, x, y, seq)    # doctest: +SKIP

    ``learner``, ``loss`` and ``intercept`` are as in ``Online``, the same for every
    key; a file made with others is refused. ``cache_size`` is how many models are held
    in memory: where more are needed, it flushes and drops the least recently used (an
    LRU cache).

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
        cache_size: int = 1024,
    ) -> None:
        require_regular_file(Path(path), "cannot be opened")
        self.path = Path(path).resolve()
        self.learner = learner
        self.loss = SquaredError() if loss is None else loss
        self.intercept = intercept
        self.cache_size = cache_size
        checks.require_type(self, "learner", Learner)
        checks.require_choice(self, "intercept", (False, True))
        checks.require_interval(self, "cache_size", "[1, inf)")
        if not isinstance(self.loss, LinearLoss):
            raise UnsupportedLossError(
                f"KeyedModels needs a loss of a linear prediction. Got {loss!r}."
            )
        self._settings = KeyedSettings(self.learner, self.loss, self.intercept)
        # Models in memory, the most recently used last.
        self._models: OrderedDict[str, KeyedState] = OrderedDict()
        self._unsaved: set[str] = set()  # keys that have learnt since the last flush
        self._thread_lock = ModelLock()
        self._file_lock: FileLock | None = FileLock(self.path)
        try:
            self._store = self._open_store()
            # The greatest seq observed, and the greatest on the disk.
            self._last_seq = self._offset = self._store.read_offset()
        except BaseException:
            self._file_lock.release()
            self._file_lock = None
            raise

    @property
    def offset(self) -> int | None:
        """The greatest ``seq`` on the disk: read the source on from behind it.

        None where there is none. Right where rounds come in the order of their seq.
        """
        return self._offset

    def observe(self, key: str, x: Any, y: Any, seq: int) -> Any:
        """Predict y from x with the model of ``key``, then learn y; the prediction.

        ``seq`` counts the rounds of a key upwards, with gaps or without. Where this
        seq was the last one learnt, nothing is learnt again and the prediction is the
        one made then; for an earlier one it is None. A round that is refused leaves
        everything as it was.
        """
        number = check_seq(seq)
        with self._thread_lock:
            model = self._read_model(key)
            if number <= model.seq:
                return model.prediction.copy() if number == model.seq else None
            features = self._features(key, x, model)
            targets = checks.check_numbers("target", y)[None]
            state = self._start_state(model, features, targets)
            block = Block(features, targets)
            state, trace = self.learner.run(state, self.loss, block)
            prediction = self.loss.mean(trace.prediction)[0].copy()
            # In this order: after an interrupt in between no round that was learnt
            # goes unsaved, and the offset is at most too low.
            self._unsaved.add(key)
            self._models[key] = KeyedState(state, model.rounds + 1, number, prediction)
            last = -1 if self._last_seq is None else self._last_seq
            self._last_seq = max(number, last)
            self._drop_least_recent()
            return prediction.copy()

    def predict(self, key: str, x: Any) -> Any:
        """The prediction of y at ``x`` for ``key``; 0 before its first round."""
        with self._thread_lock:
            model = self._read_model(key)
            features = self._features(key, x, model)
            state = self._start_state(model, features, np.zeros(1))
            block = Block(features, np.zeros((1, *state.theta.shape[1:])))
            checked = checks.check_block(block, self.loss, state.theta)
            return self.loss.mean(self.learner.predict(state, checked.x[0]))

    def flush(self) -> None:
        """Put all that was observed on the disk, and the offset with it."""
        with self._thread_lock:
            self._check_open()
            if not self._unsaved:
                return
            unsaved = sorted(self._unsaved & self._models.keys())
            models = [
                (key, self._settings.encode(self._models[key])) for key in unsaved
            ]
            self._commit(models, self._last_seq)
            self._offset = self._last_seq
            self._unsaved.clear()

    def keys(self) -> list[str]:
        """The keys that have learnt, in order."""
        with self._thread_lock:
            self._check_open()
            return sorted({*self._store.keys(), *self._unsaved})

    def close(self) -> None:
        """Flush, and let other writers in."""
        if self._file_lock is not None:
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

    def __del__(self) -> None:
        # What was not flushed is lost, as the docstring says; the file is free again.
        if getattr(self, "_file_lock", None) is not None:
            with suppress(StorageError):
                self._release()

    def _open_store(self) -> KeyedStore:
        store = KeyedStore(self.path, self._settings.encode(KeyedState()))
        try:
            self._settings.decode(store.read_settings(), str(self.path))
        except BaseException:
            store.close()
            raise
        return store

    def _commit(self, models: list[tuple[str, bytes]], offset: int | None) -> None:
        self._store.commit(models, offset)

    def _release(self) -> None:
        with self._thread_lock:
            if self._file_lock is not None:
                try:
                    self._store.close()
                finally:
                    self._file_lock.release()
                    self._file_lock = None

    def _check_open(self) -> None:
        if self._file_lock is None:
            raise StorageError(f"{self.path} was closed. Open it anew.")

    def _read_model(self, key: str) -> KeyedState:
        self._check_open()
        check_key(key)
        if key in self._models:
            self._models.move_to_end(key)
            return self._models[key]
        data = self._store.read_model(key)
        if data is None:
            return KeyedState()
        model = self._settings.decode(data, f"{key!r} in {self.path}")
        self._models[key] = model
        self._drop_least_recent()
        return model

    def _drop_least_recent(self) -> None:
        # Half at a time: one transaction then serves many models.
        if len(self._models) > self.cache_size:
            self.flush()
            while len(self._models) > max(1, self.cache_size // 2):
                self._models.popitem(last=False)

    def _features(self, key: str, x: Any, model: KeyedState) -> FloatArray:
        """A row (1, n), with a constant for the intercept, which users do not count."""
        row = checks.check_numbers("features", x)
        if row.ndim != 1:
            raise StreamError(
                f"KeyedModels needs one row of features a round. Got shape {row.shape}."
            )
        if model.state is not None:
            expected = len(model.state.theta) - self.intercept
            if len(row) != expected:
                raise StreamError(
                    f"The model of {key!r} has learnt from {expected} features a "
                    f"round. Got {len(row)} instead."
                )
        return (np.append(row, row.dtype.type(1)) if self.intercept else row)[None]

    def _start_state(self, model: KeyedState, x: FloatArray, y: FloatArray) -> Any:
        if model.state is not None:
            return model.state
        return self.learner.init(np.zeros((x.shape[1], *y.shape[1:])))
