"""The models of ``KeyedModels`` that are in memory, and their way to the file."""

import math
import warnings
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from thalweg import checks
from thalweg.errors import PersistenceError, ThalwegError
from thalweg.keyed.codec import KeyedSettings
from thalweg.keyed.garbage_collection import without_collection
from thalweg.keyed.keyed_model import KeyedModel
from thalweg.keyed.row_log import RowLog, Segment
from thalweg.keyed.rows import TIME, as_one_row, check_seq, check_time
from thalweg.keyed.store import KeyedStore, Row
from thalweg.models.online import Online
from thalweg.persistence.raw_values import RawValue

KEPT_SHARE = 0.75
"""Of the memory, after models were evicted: one transaction then serves many."""
STATE_BYTES = 2**12
"""The size of a state before any was written."""
CALL_DEPTH = 4
"""How far the caller's line is above a warning, about."""
Commit = Callable[..., None]
"""``KeyedStore.commit``."""
T = TypeVar("T")


class KeyedCache:
    """Models by key, those least recently used first (an LRU cache, written back).

    ``memory`` is how many bytes they may take, ``ttl`` after how many seconds of
    ``clock`` a key is removed that was not written. The caller sees to it that one
    thread at a time is here.

    What was learnt is in ``log``, or its key in ``unsaved``: a flush writes rows for
    the one and states for the other. An interrupt may end a call anywhere: the key is
    then in flight, which is as good as unsaved. What is unsaved for no reason does no
    harm.

    A record of the file that cannot be read costs no other: a segment of the log is set
    aside, and a key whose model cannot be read is refused, while its rows stay in the
    log.
    """

    def __init__(
        self, settings: KeyedSettings, store: KeyedStore, memory: float,
        ttl: float | None, clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self.settings, self.store = settings, store
        self.models: OrderedDict[str, KeyedModel] = OrderedDict()
        self.unsaved: set[str] = set()  # keys whose states have to be written
        self.log = RowLog()
        self._unreadable: set[str] = set()  # keys whose models a flush could not read
        # The greatest seq on the disk.
        self.offset = self._read_or_set_aside("source", "offset", store.read_offset)
        check_time(clock())
        self._memory, self._ttl, self._clock = memory, ttl, clock
        self._bytes = 0  # that the models take, about
        self._state_bytes = STATE_BYTES  # of a state that is written, about
        self.log.number = store.read_segment_number()
        for number, written_at, data in store.read_log():
            segment = self._read_or_set_aside(
                "segment", number, partial(_read_segment, written_at, data, store.path)
            )
            if segment is not None:
                self.log.load(number, written_at, segment, len(data))
        if ttl is not None:
            store.index_ages()

    def find(self, key: str) -> KeyedModel | None:
        """The model of a key, from the memory or the disk; None if it has none."""
        model = self.models.get(key)
        if model is not None:
            model.settle()
            self.models.move_to_end(key)
            return model
        model = self._read(key)
        if model is None:
            return None
        self._make_room(model.count_bytes())
        self.models[key] = model
        self.log.forget_replays(key)
        self._measure(model)
        return model

    def set_aside(self, kind: str, name: str | int, reason: str) -> None:
        """Move a record that cannot be read to where nothing reads it."""
        self.store.set_aside(kind, name, reason)
        if kind == "model":
            self.log.drop_key(str(name))
            self._unreadable.discard(str(name))
        warnings.warn(
            f"The {kind} {name!r} of {self.store.path} is set aside: {reason} "
            "models.repair(), or thalweg repair, lists what was set aside.",
            stacklevel=CALL_DEPTH,
        )

    def _read_or_set_aside(
        self, kind: str, name: str | int, read: Callable[[], T]
    ) -> T | None:
        """A record of the file; None where it cannot be read and is set aside."""
        try:
            return read()
        except PersistenceError as error:
            self.set_aside(kind, name, str(error))
            return None

    def _read(self, key: str) -> KeyedModel | None:
        """The model that the file holds of a key: its state, and rows learnt since."""
        stored = self.store.read_model(key)
        if stored is None:
            return None
        name = f"{key!r} in {self.store.path}"
        if stored.layout is None:
            model = self.settings.decode_file(stored.data, name)
        else:
            raw = RawValue(stored.layout, stored.data)
            model = self.settings.decode(raw, name)
        for _, seq, x, y, weight, elapsed in self.log.replays(key, stored.segment):
            if seq > model.seq:  # else an interrupt has had it written twice
                try:
                    self.learn(model, np.frombuffer(x), y, seq, weight, elapsed)
                except ThalwegError as error:
                    raise PersistenceError(
                        f"The model of {name} cannot be loaded: its row {seq} is "
                        f"refused: {error}"
                    ) from error
        return model

    def find_or_make(self, key: str) -> KeyedModel:
        """The model of a key; a new one, which is not here yet, if it has none."""
        return self.find(key) or self.settings.new_model()

    def observe(
        self, key: str, x: Any, y: Any, seq: Any, weight: Any, elapsed: Any
    ) -> Any:
        """``KeyedModels.observe`` of anything unusual, and of what is to be refused."""
        self.settle_flight()
        if self.log.is_too_long():
            self.write_states()
        x = as_one_row(x)
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

    def settle_flight(self) -> None:
        """Have the states written of keys whose rows an interrupt has kept from the
        log.
        """
        keys = self.log.in_flight
        if keys is not None:
            self.unsaved.update((keys,) if isinstance(keys, str) else keys)
            self.log.in_flight = None

    def write_states(self) -> None:
        """Let the next flush write states in place of the rows that wait."""
        self.unsaved |= self.log.buffered_keys()
        self.log.drop_buffered()

    def unsaved_keys(self) -> set[str]:
        """The keys of which anything was learnt that may not be on the disk."""
        self.settle_flight()
        return self.unsaved | self.log.buffered_keys()

    def flush(self, commit: Commit, is_last: bool = False) -> None:
        """Write what is unsaved and the offset, and remove keys that are too old.

        After the last flush there is nothing in the log.
        """
        now, log = check_time(self._clock()), self.log
        self.settle_flight()
        touched = log.buffered_keys()
        segments = [segment.to_bytes() for segment in log.buffered_segments()]
        size = sum(map(len, segments))
        if is_last or size > len(touched) * self._state_bytes:
            self.write_states()
            touched, segments, size = set(), [], 0
        expired = self._expired_keys(now, touched)
        overdue = log.keys() if is_last else log.overdue_keys(size)
        if not (self.unsaved or touched or expired or overdue):
            return
        keys, models = self._find_changed({*self.unsaved, *overdue}.difference(expired))
        overdue = [key for key in overdue if key not in self._unreadable]
        times = {
            key: log.time_of(key)
            for key in overdue
            if key not in touched and key not in self.unsaved
        }
        rows = without_collection(lambda: self._encode_rows(keys, models))
        known = -1 if self.offset is None else self.offset
        last_seq = max([known, log.last_seq(), *(model.seq for model in models)])
        offset = last_seq if last_seq >= 0 else None
        settled = {*keys, *overdue, *expired}
        numbered = log.number_segments(segments)
        needed = log.first_needed(settled, numbered)
        # An interrupt must not leave models in memory that the file has no longer.
        log.in_flight = expired or None
        try:
            commit(
                rows, offset, now, expired, times=times, segments=numbered,
                segment_number=log.number, first_segment=needed,
            )  # fmt: skip
        except ThalwegError:  # Nothing was removed: it expires with the next flush.
            log.in_flight = None
            raise
        self.offset = offset
        for key in expired:
            self._drop(key)
        log.in_flight = None
        log.settle(settled, numbered, needed, now)
        self.unsaved.clear()
        if rows:
            self._state_bytes = sum(len(data) for _, data, _ in rows) // len(rows)

    def _find_changed(self, keys: set[str]) -> tuple[list[str], list[KeyedModel]]:
        """The keys, sorted, and their models; those not in memory as the file has
        them.
        """
        found = []
        for key in sorted(keys):
            model = self.models.get(key)
            if model is None and key in self.log:
                model = self._read_for_flush(key)
            if model is not None:
                found.append((key, model))
        return [key for key, _ in found], [model for _, model in found]

    def _read_for_flush(self, key: str) -> KeyedModel | None:
        """``_read``; None, with a warning, where the model cannot be read."""
        try:
            model = self._read(key)
        except PersistenceError as error:
            if key not in self._unreadable:
                warnings.warn(
                    f"The rows of {key!r} stay in the log: {error} models.repair(), or "
                    "thalweg repair, lets the key begin again.",
                    stacklevel=CALL_DEPTH,
                )
            self._unreadable.add(key)
            return None
        self._unreadable.discard(key)
        return model

    def _encode_rows(self, keys: list[str], models: list[KeyedModel]) -> list[Row]:
        encoded = self.settings.encode_many(models)
        return [
            (key, data, layout)
            for key, (layout, data) in zip(keys, encoded, strict=True)
        ]

    def new_keys(self) -> list[str]:
        """Keys that may not be on the disk yet."""
        return [key for key in self.unsaved if key in self.models]

    def _expired_keys(self, now: float, touched: set[str]) -> list[str]:
        """The keys whose time is over, and that have observed nothing since."""
        if self._ttl is None:
            return []
        end, log = now - self._ttl, self.log
        return [
            key
            for key in self.store.keys_written_before(end)
            if key not in self.unsaved
            and key not in touched
            and (key not in log or log.time_of(key) < end)
        ]

    def _make_room(self, size: int) -> None:
        """Evict models, least recently used first, where ``size`` bytes lack room."""
        if self._bytes + size <= self._memory or not self.models:
            return
        room, victims = KEPT_SHARE * self._memory - self._bytes - size, []
        for key, model in self.models.items():
            if room >= 0:
                break
            room += model.bytes
            victims.append(key)
        # Who has rows in the log is in memory, or the rows are in no model.
        waiting = self.log.buffered_keys()
        logged = (key for key in victims if key in self.log or key in waiting)
        self.unsaved.update(logged)
        self.flush(self.store.commit)
        for key in victims:
            self._drop(key)

    def _measure(self, model: KeyedModel) -> None:
        before = model.bytes
        model.measure()
        self._bytes += model.bytes - before

    def _drop(self, key: str) -> None:
        model = self.models.pop(key, None)
        if model is not None:
            self._bytes -= model.bytes


def _read_segment(time: Any, data: Any, path: Path) -> Segment:
    if not TIME.accepts(time) or not isinstance(data, bytes):
        raise PersistenceError(f"{path} holds a segment of its log that is none.")
    return Segment.from_bytes(data, str(path))


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
