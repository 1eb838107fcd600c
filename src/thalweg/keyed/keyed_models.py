"""Thousands of models by key, in one file that survives a crash at any moment."""

import math
import os
import sys
import time
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from thalweg import checks
from thalweg.errors import PersistenceError, StorageError, ThalwegError
from thalweg.imputer import MissingPolicy
from thalweg.keyed.batch_learning import observe_batch
from thalweg.keyed.cache import KeyedCache
from thalweg.keyed.codec import KeyedSettings
from thalweg.keyed.garbage_collection import without_collection
from thalweg.keyed.row_log import MAX_BUFFERED_ROWS
from thalweg.keyed.rows import MAX_SEQ, as_batch, check_key
from thalweg.keyed.store import KeyedStore, Row, SetAside, require_database
from thalweg.learners import Learner
from thalweg.losses import LinearLoss
from thalweg.models.inputs import NUMBERS
from thalweg.models.model_lock import ModelLock
from thalweg.models.online import Online
from thalweg.persistence.file_kinds import READING_RULE, require_regular_file
from thalweg.persistence.lock import FileLock
from thalweg.types import FloatArray

ARRAY, FLOAT64 = np.ndarray, np.dtype(np.float64)
MEMORY_BYTES = 2**30
"""Memory for models where none is given: those of 100,000 keys of RLS with 8 features,
or of 2,000 of a Tracker."""
NESTED = (
    "KeyedModels cannot be called in the middle of another call: a signal handler or "
    "an argument has done so."
)


class KeyedModels:
    """A model for each key, in one SQLite file, with the offset in the source.

    >>> with KeyedModels("sensors.db", RecursiveLeastSquares()) as models:
    ...     for seq, (key, x, y) in source.read_from(models.offset):
    ...         prediction = models.observe(key, x, y, seq)    # doctest: +SKIP

    ``learner``, ``loss``, ``intercept`` and ``missing`` are as in ``Online``, the same
    for every key. A file keeps those that it was made with: what is not given is taken
    from it, and others are refused. Rows are arrays, dicts, Series or frames of one
    row, as in ``Online``; each key has its own features.

    Models are in memory in the form that rows change. ``flush`` writes the rows that
    were learnt to a log, and models now and then (row_log.py); after a crash the rows
    since are learnt again. ``memory`` is how many bytes models may take: where more are
    needed, all rows are flushed and the models least recently used leave the memory (an
    LRU cache). ``ttl`` is a time in seconds (time to live): a flush removes keys of
    which no row was flushed for longer, with all they have learnt. ``clock`` gives the
    time.

    ``flush()``, or the end of the ``with`` block, is the acknowledgement: all that was
    observed is then on the disk, with ``offset``, in one transaction. A block left by
    an error is not flushed: start again from ``offset``. One object at a time, in one
    process, may have the file open; threads take turns.

    ``models[key]`` is a copy of the key's model, an ``Online``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        learner: Learner[Any] | None = None,
        loss: LinearLoss | None = None,
        intercept: bool | None = None,
        missing: MissingPolicy | None = None,
        ttl: float | None = None,
        memory: int = MEMORY_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        require_regular_file(Path(path), "cannot be opened", READING_RULE)
        self.path = Path(path).resolve()
        require_database(self.path)
        self.ttl, self.memory = ttl, memory
        checks.require_interval(self, "memory", "[1, inf)")
        if ttl is not None:
            checks.require_interval(self, "ttl", "(0, inf)")
        given = {
            "learner": learner, "loss": loss, "intercept": intercept,
            "missing": missing,
        }  # fmt: skip
        self._thread_lock = ModelLock()
        # Settings are checked before a file is made.
        defaults = KeyedSettings.of(learner, loss, intercept, missing or "refuse")
        self._file_lock: FileLock | None = FileLock(self.path)
        try:
            self._store = KeyedStore(self.path, defaults.to_bytes())
            try:
                settings = self._read_settings(given)
                self._cache = KeyedCache(settings, self._store, memory, ttl, clock)
            except BaseException:
                self._store.close()
                raise
        except BaseException:
            self._file_lock.release()
            self._file_lock = None
            raise
        self.learner, self.loss, self.intercept, self.missing = settings
        self._models, self._unsaved = self._cache.models, self._cache.unsaved
        self._log = self._cache.log
        _OPEN.add(self)

    @property
    def offset(self) -> int | None:
        """The greatest ``seq`` on the disk: read the source on from behind it.

        None where there is none. Right where rows come in the order of their seq.
        """
        return self._cache.offset

    def observe(
        self, key: str, x: Any, y: Any, seq: int, weight: Any = 1.0, elapsed: Any = 1.0
    ) -> Any:
        """Predict y from x with the model of ``key``, then learn y; the prediction.

        ``seq`` counts the rows of a key upwards, with gaps or without. Where this seq
        was the last one observed, nothing is learnt again and the prediction is the one
        made then; for an earlier one, a row that is late, it is None. A row that is
        refused leaves everything as it was.

        y is a number, or several. Where it is None or NaN, nothing is learnt, and the
        row is then known by its seq: under ``missing="refuse"`` the model stays as it
        was, otherwise time passes, as in ``Online``.
        """
        lock, frame, log = self._thread_lock, sys._getframe(), self._log
        try:
            if lock.acquire(frame):
                raise ThalwegError(NESTED)
            model = self._models.get(key) if type(key) is str else None
            rows = log.rows
            # Spelt out: a function of its own would cost as much as a round of RLS.
            if (
                model is not None
                and model.pending is None
                and log.in_flight is None
                and len(rows) < MAX_BUFFERED_ROWS
                and type(seq) is int
                and model.last[0] < seq <= MAX_SEQ
                and type(x) is ARRAY
                and x.dtype is FLOAT64
                and x.ndim == 1
                and type(y) in NUMBERS
                and type(weight) in NUMBERS
                and type(elapsed) in NUMBERS
            ):
                live = model.online._live
                # First, so that no row that was learnt goes unsaved.
                log.in_flight = key
                model.pending = ((seq,), 0)
                try:
                    prediction = live.learn(live.buffer, x, y, weight, elapsed, True)
                except (TypeError, OverflowError):  # an int beyond float64
                    prediction = math.nan
                if prediction == prediction:  # else it is a REFUSAL
                    model.last = (seq, prediction, model.last[2] + 1)
                    if key not in self._unsaved:
                        rows.append((key, seq, x.tobytes(), y, weight, elapsed))
                    model.pending = None
                    log.in_flight = None
                    self._models.move_to_end(key)
                    return prediction
            self._check_key(key)
            return self._cache.observe(key, x, y, seq, weight, elapsed)
        finally:
            lock.release(frame)
            del frame  # a cycle, which would keep x until garbage is collected

    def observe_many(
        self, keys: Any, x: Any, y: Any, seq: Any, weight: Any = None,
        elapsed: Any = None,
    ) -> FloatArray:  # fmt: skip
        """``observe`` of many rows, in this order, each with its key; the predictions.

        ``keys`` are T strings, in any order and as often as there are rows; ``x`` is
        (T, n), a data frame or a list of rows, y (T,) or (T, k), or None, and the
        others are (T,). Predictions are those of T calls of ``observe``, (T,) or
        (T, k), and NaN for rows that are late. Where a row is refused, nothing is
        learnt of any.
        """
        batch = as_batch(keys, x, y, seq, weight, elapsed)
        with Turn(self._thread_lock):
            self._check_open()
            return without_collection(lambda: observe_batch(self._cache, batch))

    def predict(self, key: str, x: Any, interval: float | None = None) -> Any:
        """The prediction of y at ``x`` for ``key``; 0 before its first row.

        ``x`` and ``interval`` are as in ``Online.predict``.
        """
        with Turn(self._thread_lock):
            self._check_key(key)
            return self._cache.find_or_make(key).online.predict(x, interval)

    def last_seq(self, key: str) -> int | None:
        """The seq of the row that ``key`` has observed last; None if there is none."""
        with Turn(self._thread_lock):
            self._check_key(key)
            model = self._cache.find(key)
            return None if model is None else model.seq

    def flush(self) -> None:
        """Put all that was observed on the disk, and the offset with it.

        Where the disk refuses, nothing is lost: it can be called again.
        """
        self._flush(is_last=False)

    def _flush(self, is_last: bool) -> None:
        with Turn(self._thread_lock):
            self._check_open()
            self._cache.flush(self._commit, is_last)

    def keys(self) -> list[str]:
        """The keys that have observed a row, in order."""
        with Turn(self._thread_lock):
            self._check_open()
            return sorted({*self._store.keys(), *self._cache.new_keys()})

    def __len__(self) -> int:
        with Turn(self._thread_lock):
            self._check_open()
            new = sum(not self._store.has_key(key) for key in self._cache.new_keys())
            return self._store.count_keys() + new

    def __contains__(self, key: object) -> bool:
        with Turn(self._thread_lock):
            self._check_open()
            is_known = isinstance(key, str) and key in self._models
            return is_known or (isinstance(key, str) and self._store.has_key(key))

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __getitem__(self, key: str) -> Online:
        with Turn(self._thread_lock):
            self._check_key(key)
            model = self._cache.find(key)
            if model is None:
                raise KeyError(key)
            return model.online.clone()

    def repair(self) -> list[SetAside]:
        """Set aside models that cannot be read, so that their keys can begin again.

        Returns what was set aside of this file, now and before: its records stay in it,
        in the table ``set_aside``.
        """
        with Turn(self._thread_lock):
            self._check_open()
            for key in self._store.keys():
                try:
                    self._cache.find(key)
                except PersistenceError as error:
                    self._cache.set_aside("model", key, str(error))
            return self._store.read_set_aside()

    def close(self) -> None:
        """Flush, with all models, and let other writers in."""
        if self._file_lock is not None:
            self._flush(is_last=True)
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
                self._flush(is_last=True)
        finally:
            self._release()

    def __repr__(self) -> str:
        return f"KeyedModels({str(self.path)!r}, {self.learner!r})"

    def __del__(self) -> None:
        # What was not flushed is lost, as the docstring says; the file is free again.
        if getattr(self, "_file_lock", None) is not None and self._store.is_own():
            unsaved = self._cache.unsaved_keys() if hasattr(self, "_cache") else ()
            if unsaved:
                warnings.warn(
                    f"{self.path} was not closed: rows of {len(unsaved)} keys "
                    "are lost. Use it in a with block, or close it.",
                    ResourceWarning,
                    stacklevel=1,
                    source=self,
                )
            with suppress(StorageError):
                self._release()

    def _read_settings(self, given: dict[str, Any]) -> KeyedSettings:
        """Those of the file, if none that was given differs."""
        name = str(self.path)
        stored = KeyedSettings.from_bytes(self._store.read_settings(), name)
        wanted = {field: value for field, value in given.items() if value is not None}
        if stored._replace(**wanted) != stored:
            raise PersistenceError(
                f"{name} was made with {stored.learner!r}, {stored.loss!r}, intercept="
                f"{stored.intercept} and missing={stored.missing!r}. Give these, or "
                "another path."
            )
        return stored

    def _commit(
        self, models: list[Row], offset: int | None, *more: Any, **others: Any
    ) -> None:
        self._store.commit(models, offset, *more, **others)

    def _release(self) -> None:
        with self._thread_lock:
            if self._file_lock is not None:
                try:
                    self._store.close()
                finally:
                    self._models.clear()
                    self._file_lock.release()
                    self._file_lock = None

    def _check_open(self) -> None:
        self._store.check_process()
        if self._file_lock is None:
            raise StorageError(f"{self.path} was closed. Open it again.")

    def _check_key(self, key: object) -> None:
        self._check_open()
        check_key(key)


class Turn:
    """One call that has all models for itself; a call within a call is refused."""

    __slots__ = ("_lock",)

    def __init__(self, lock: ModelLock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        frame = sys._getframe(1)
        if self._lock.acquire(frame):
            self._lock.release(frame)
            raise ThalwegError(NESTED)

    def __exit__(self, *error: object) -> None:
        self._lock.release(sys._getframe(1))


_OPEN: weakref.WeakSet[KeyedModels] = weakref.WeakSet()
"""All that this process has opened, and not its parent."""


def _refuse_after_fork() -> None:
    """Let calls in a forked child find no model, and so be refused.

    The file is its parent's. In ``observe`` the fast path asks for the model alone.
    """
    for models in list(_OPEN):
        models._models = OrderedDict()
    _OPEN.clear()


os.register_at_fork(after_in_child=_refuse_after_fork)
