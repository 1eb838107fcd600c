"""The models of ``KeyedModels`` that are in memory, and their way to the file."""

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from thalweg import checks
from thalweg.errors import ThalwegError
from thalweg.models.garbage_collection import without_collection
from thalweg.models.keyed_codec import KeyedSettings
from thalweg.models.keyed_model import KeyedModel
from thalweg.models.keyed_store import KeyedStore, Row, check_seq
from thalweg.models.online import Online
from thalweg.persistence.raw_values import RawValue

KEPT_SHARE = 0.75
"""Of the memory, after models were evicted: one transaction then serves many."""
Commit = Callable[[list[Row], int | None, float, list[str]], None]
"""``KeyedStore.commit``."""


class KeyedCache:
    """Models by key, those least recently used first (an LRU cache, written back).

    ``memory`` is how many bytes they may take, ``ttl`` after how many seconds of
    ``clock`` a key is removed that was not written. The caller sees to it that one
    thread at a time is here. An interrupt may end a call anywhere: what was learnt is
    then in ``unsaved``, and what is in ``unsaved`` alone does no harm.
    """

    def __init__(
        self, settings: KeyedSettings, store: KeyedStore, memory: float,
        ttl: float | None, clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self.settings, self.store = settings, store
        self.models: OrderedDict[str, KeyedModel] = OrderedDict()
        self.unsaved: set[str] = set()  # keys that may differ from the file
        self.offset = store.read_offset()  # the greatest seq on the disk
        self._memory, self._ttl, self._clock = memory, ttl, clock
        self._bytes = 0  # that the models take, about
        if ttl is not None:
            store.index_ages()

    def find(self, key: str) -> KeyedModel | None:
        """The model of a key, from the memory or the disk; None if it has none."""
        model = self.models.get(key)
        if model is not None:
            model.settle()
            self.models.move_to_end(key)
            return model
        stored = self.store.read_model(key)
        if stored is None:
            return None
        name = f"{key!r} in {self.store.path}"
        if stored.layout is None:
            model = self.settings.decode_file(stored.data, name)
        else:
            raw = RawValue(stored.layout, stored.data)
            model = self.settings.decode(raw, name)
        self._make_room(model.count_bytes())
        self.models[key] = model
        self._measure(model)
        return model

    def find_or_make(self, key: str) -> KeyedModel:
        """The model of a key; a new one, which is not here yet, if it has none."""
        return self.find(key) or self.settings.new_model()

    def observe(
        self, key: str, x: Any, y: Any, seq: Any, weight: Any, elapsed: Any
    ) -> Any:
        """``KeyedModels.observe`` of anything unusual, and of what is to be refused."""
        number, model = check_seq(seq), self.find_or_make(key)
        if number <= model.seq:
            return model.copy_prediction() if number == model.seq else None
        is_new = key not in self.models
        if not is_new:
            self.unsaved.add(key)
        try:
            self.learn(model, x, y, number, weight, elapsed)
        except ThalwegError as error:
            raise type(error)(f"Key {key!r}, seq {number}: {error}") from error
        if is_new:  # An interrupt before its end has learnt nothing.
            self.replace(key, model)
        self._measure(model)
        return model.copy_prediction()

    def learn(
        self, model: KeyedModel, x: Any, y: Any, seq: int, weight: Any, elapsed: Any
    ) -> None:
        """Predict a row that is new to the model, then learn it, if it has a target."""
        online = model.online
        prediction = _predict_targets(online, x, y)
        if _is_unknown(y) and self.settings.missing == "refuse":
            model.last = (seq, prediction, model.last[2])
            return
        model.pending_prediction = prediction
        model.forget_address()
        model.pending = ((seq,), 0)
        online.update(x, math.nan if y is None else y, weight, elapsed)
        model.settle()

    def replace(self, key: str, model: KeyedModel) -> None:
        """Let the key have this model, which the file does not know."""
        self._make_room(model.count_bytes())
        self.unsaved.add(key)
        former = self.models.get(key)
        self.models[key] = model
        self.models.move_to_end(key)
        self._bytes -= 0 if former is None else former.bytes
        self._measure(model)

    def flush(self, commit: Commit) -> None:
        """Write what is unsaved and the offset, and remove keys that are too old."""
        now = self._clock()
        expired = self._expired_keys(now)
        if not (self.unsaved or expired):
            return
        for key in expired:  # They are on the disk until the commit.
            self._drop(key)
        keys = sorted(self.unsaved & self.models.keys())
        models = [self.models[key] for key in keys]
        rows = without_collection(lambda: self._encode_rows(keys, models))
        offset = max((model.seq for model in models), default=-1)
        offset = max(offset, -1 if self.offset is None else self.offset)
        commit(rows, offset if offset >= 0 else None, now, expired)
        self.offset = offset if offset >= 0 else None
        self.unsaved.clear()

    def _encode_rows(self, keys: list[str], models: list[KeyedModel]) -> list[Row]:
        encoded = self.settings.encode_many(models)
        return [
            (key, data, layout)
            for key, (layout, data) in zip(keys, encoded, strict=True)
        ]

    def new_keys(self) -> list[str]:
        """Keys that may not be on the disk yet."""
        return [key for key in self.unsaved if key in self.models]

    def _expired_keys(self, now: float) -> list[str]:
        """The keys whose time is over, and that have observed nothing since."""
        if self._ttl is None:
            return []
        expired = self.store.keys_written_before(now - self._ttl)
        return [key for key in expired if key not in self.unsaved]

    def _make_room(self, size: int) -> None:
        """Evict models, least recently used first, where so many bytes lack room."""
        if self._bytes + size <= self._memory or not self.models:
            return
        self.flush(self.store.commit)
        while self.models and self._bytes + size > KEPT_SHARE * self._memory:
            self._drop(next(iter(self.models)))

    def _measure(self, model: KeyedModel) -> None:
        before = model.bytes
        model.measure()
        self._bytes += model.bytes - before

    def _drop(self, key: str) -> None:
        model = self.models.pop(key, None)
        if model is not None:
            self._bytes -= model.bytes


def _is_unknown(y: Any) -> bool:
    """Whether a row has no target: None, NaN, or NaN among several."""
    return y is None or bool(np.isnan(checks.check_numbers("target", y)).any())


def _predict_targets(online: Online, x: Any, y: Any) -> Any:
    """The prediction of ``online`` for a row; of as many targets as y, before any."""
    prediction = online.predict(x)
    if online._live.count_features() is None and np.ndim(y) == 1:
        return np.full(np.shape(y), prediction)
    if isinstance(prediction, np.ndarray) and prediction.ndim:
        return prediction
    return float(prediction)
