"""The model of one key as raw bytes, and back: for SQLite, Spark and whoever has many.

    settings = KeyedSettings.of(RecursiveLeastSquares())
    layout, data = settings.encode(model)      # a text that models share, and bytes
    model = settings.decode(RawValue(layout, data), name="sensor-7")

Settings are not in the bytes: who reads them gives the settings again. Nothing that is
read is trusted: every value is compared with what such a model could have left.
"""

import math
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, NamedTuple
from zlib import crc32

import numpy as np

from thalweg.errors import PersistenceError
from thalweg.imputer import POLICIES, MissingPolicy
from thalweg.keyed.keyed_model import KeyedModel
from thalweg.keyed.rows import SEQ
from thalweg.learners import Learner
from thalweg.learners.base import RawState
from thalweg.losses import LinearLoss
from thalweg.models.live_state import LiveState, ModelSettings, ModelSnapshot
from thalweg.models.model_file import decode_model
from thalweg.models.online import Online
from thalweg.persistence import SavedModel, dumps, loads
from thalweg.persistence.raw_values import (
    CHECKSUM,
    RawValue,
    checksum,
    from_raw,
    to_raw,
)
from thalweg.persistence.state_check import check_state
from thalweg.rules import Condition, restore_snapshot, validate_snapshot

NO_OTHERS = (None, None, ModelSnapshot().clock)
"""Imputer, columns and clock of a model that is given numbers."""
PLAIN_NUMBERS = struct.Struct("<qdqqqqqq")
"""The numbers of a ``KeyedRecord`` that has a ``RawState`` and no others, up to the
length of the array that follows."""
PLAIN_COUNT = PLAIN_NUMBERS.size // 8


class KeyedRecord(NamedTuple):
    """The model of one key as it is stored."""

    seq: Annotated[int, SEQ]  # of the row observed last
    prediction: Any  # that was made for it: a number, or (k,)
    rounds: int  # learnt, or skipped by policy
    state: Any  # the learner's; or a RawState, and the next two are None
    unexcited_rounds: Any  # as in ``ModelSnapshot``, and the rest
    errors: Any
    imputer: Any
    columns: Any
    clock: Any


class KeyedSettings(NamedTuple):
    """The settings that the models of all keys share."""

    learner: Learner[Any]
    loss: LinearLoss
    intercept: bool
    missing: MissingPolicy = "refuse"

    @classmethod
    def of(cls, *given: Any, **named: Any) -> "KeyedSettings":
        """Those of an ``Online`` with these arguments, which are checked."""
        model = Online(*given, **named)
        return cls(model.learner, model.loss, model.intercept, model.missing)

    def new_model(self) -> KeyedModel:
        """The model of a key before its first row."""
        return KeyedModel(Online(*self))

    def to_bytes(self) -> bytes:
        """The settings as a file without a state."""
        extra = {"intercept": self.intercept, "missing": self.missing}
        return dumps(SavedModel(self.learner, self.loss, None, extra))

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> "KeyedSettings":
        """The settings in ``data``, which ``to_bytes`` or an earlier version made."""
        learner, loss, _, extra = loads(data, name)
        intercept, missing = extra.get("intercept"), extra.get("missing", "refuse")
        is_ours = type(intercept) is bool and isinstance(loss, LinearLoss)
        if not is_ours or missing not in POLICIES:
            raise PersistenceError(
                f"{name} holds no settings of KeyedModels. A file of thalweg run --key "
                "or thalweg forecast --key goes on with --resume there."
            )
        return cls(learner, loss, intercept, missing)  # type: ignore[arg-type]

    def encode(self, model: KeyedModel) -> RawValue:
        """The model of one key as layout and bytes."""
        model.settle()
        live: LiveState = model.online._live
        columns, imputer = live.columns, live.imputer
        raw_state = getattr(live.live_buffer(), "raw_state", None)
        others = (
            None if imputer is None else imputer.state,
            None if columns is None else columns.record(),
            live.clock,
        )
        if raw_state is None:
            errors = live.copy_errors()
            unexcited = live.copy_unexcited_rounds()
            state = live.copy_state()
            self._require_legal(live)
            record = KeyedRecord(*model.last, state, unexcited, errors, *others)
            return self._to_raw(record)
        raw: RawState = raw_state()
        if math.isnan(np.minimum.reduce(raw.numbers)):  # where any number is NaN
            self._require_legal(live)
        if others == NO_OTHERS and type(model.last[1]) is float:
            return _plain_raw(type(self.learner).__name__, model.last, raw)
        return self._to_raw(KeyedRecord(*model.last, raw, None, None, *others))

    def encode_many(
        self, models: Sequence[KeyedModel]
    ) -> list[tuple[str, bytes | memoryview]]:
        """``encode`` of many models: layouts, and bytes or views of them.

        Where the learner has a kernel for many live buffers, it writes all of them.
        """
        for model in models:
            if model.pending is not None:
                model.settle()
        addresses = [model.address for model in models]
        if not all(addresses):
            return [self.encode(model) for model in models]
        records, suspects = _gather_records(models, addresses)
        for k in suspects:
            self._require_legal(models[k].online._live)
        layout = _plain_layout(type(self.learner).__name__)
        return [(layout, record) for record in records]

    def decode(self, raw: RawValue, name: str) -> KeyedModel:
        """The model in layout and bytes; ``PersistenceError`` where any is wrong."""
        kind, _, layout = raw.layout.partition(" ")
        try:
            if kind != type(self.learner).__name__:
                raise PersistenceError(
                    f"it was learnt by {kind:.40}, not by {type(self.learner).__name__}"
                )
            value = from_raw(RawValue(layout, raw.data))
            record = restore_snapshot(KeyedRecord, value)
            return self._restore(self._restore_state(record), name)
        except PersistenceError as error:
            raise PersistenceError(
                f"The model of {name} cannot be loaded: {error}."
            ) from None

    def decode_file(self, data: bytes, name: str) -> KeyedModel:
        """The model in bytes of the first version of ``KeyedModels``: a whole file."""
        learner, loss, state, extra = loads(data, name)
        if (learner, loss, extra.get("intercept")) != self[:3]:
            raise PersistenceError(
                f"{name} was made with {learner!r}, {loss!r} and intercept="
                f"{extra.get('intercept')}. Give these, or another path."
            )
        fields = {field: extra.get(field) for field in ("seq", "prediction", "rounds")}
        unexcited = 0.0 if state is None else np.zeros(len(state.theta))
        others = dict.fromkeys(("errors", "imputer", "columns"), None)
        clock = ModelSnapshot().clock._asdict()
        try:
            value = {
                **fields, "state": state, "unexcited_rounds": unexcited, **others,
                "clock": clock,
            }  # fmt: skip
            return self._restore(restore_snapshot(KeyedRecord, value), name)
        except PersistenceError as error:
            raise PersistenceError(
                f"{name} is no model of KeyedModels: {error}."
            ) from None

    def _require_legal(self, live: LiveState) -> None:
        """Raise where a state is one that could not be read again.

        No rounds lead to one, and it takes longer than all else: of numbers
        without a NaN it is not asked.
        """
        state = live.copy_state()
        if state is not None:
            try:
                check_state(self.learner, state)
            except PersistenceError as error:
                raise PersistenceError(f"The model cannot be saved: {error}.") from None

    def _to_raw(self, record: KeyedRecord) -> RawValue:
        """The record, with the kind of learner before its layout."""
        layout, data = to_raw(record)
        return RawValue(f"{type(self.learner).__name__} {layout}", data)

    def _restore_state(self, record: KeyedRecord) -> KeyedRecord:
        """The record with the learner's state, which was compared with its learner."""
        learner, state = self.learner, record.state
        if not isinstance(state, dict):
            if state is not None:
                check_state(learner, state)
            return record
        raw = restore_snapshot(RawState, state, "state")
        if raw.layout != learner.raw_layout:
            raise PersistenceError(
                f"its state was saved with layout {raw.layout} of "
                f"{type(learner).__name__}; this version reads layout "
                f"{learner.raw_layout}: load it with the thalweg that wrote it, or "
                "train the model again"
            )
        n, targets = raw.features, max(raw.targets, 1)
        size = len(raw.numbers) - n - raw.errors * targets
        is_vector = raw.numbers.ndim == 1 and n > 0 and size > 0
        own = raw._replace(numbers=raw.numbers[:size])
        state = learner.state_from_raw(own) if is_vector else None
        if state is None:
            raise PersistenceError(f"{type(learner).__name__} has no such state")
        check_state(learner, state)
        errors = raw.numbers[size + n :].reshape(-1, targets)
        return record._replace(
            state=learner.complete_state(state),
            unexcited_rounds=raw.numbers[size : size + n].copy(),
            errors=errors.copy() if raw.errors else None,
        )

    def _restore(self, record: KeyedRecord, name: str) -> KeyedModel:
        prediction = record.prediction
        is_number = type(prediction) is float or isinstance(prediction, np.floating)
        is_array = isinstance(prediction, np.ndarray) and prediction.ndim == 1
        rule = Condition(is_number or is_array, "a number, or several")
        validate_snapshot(rule, prediction, "prediction")
        others = record._asdict()
        seq, prediction = others.pop("seq"), others.pop("prediction")
        extra = {
            **others, "intercept": self.intercept, "missing": self.missing,
            "refusals": 0,
        }  # fmt: skip
        saved = SavedModel(self.learner, self.loss, extra.pop("state"), extra)
        contents = decode_model(name, saved)
        online = Online._from_file_contents(
            contents._replace(settings=ModelSettings(*self))
        )
        return KeyedModel(online, (seq, prediction, contents.snapshot.rounds))


def _gather_records(
    models: Sequence[KeyedModel], buffers: list[int]
) -> tuple[list[memoryview], list[int]]:
    """What ``_plain_raw`` gives of each model, whose live buffers are at these
    addresses; and which of them have a NaN.
    """
    if not models:
        return [], []
    count, batch, addresses = len(models), models[0].batch, np.array(buffers)
    assert batch is not None
    features, errors, sizes = np.empty((3, count), np.int64)
    batch.measure_states(addresses, features, errors, sizes)
    # The checksum takes half of the last number.
    ends = np.cumsum(PLAIN_COUNT + sizes + 1)
    starts = ends - (PLAIN_COUNT + sizes + 1)
    numbers, has_nan = np.empty(ends[-1]), np.empty(count, np.bool_)
    batch.gather_states(addresses, starts + PLAIN_COUNT, numbers, has_nan)
    seqs, predictions, rounds = zip(*(model.last for model in models), strict=True)
    numbers[starts + 1] = predictions
    integers = numbers.view(np.int64)
    fields = (seqs, None, rounds, batch.layout, features, 0, errors, sizes)
    for place, values in enumerate(fields):
        if values is not None:
            integers[starts + place] = values
    data = numbers.data.cast("B")
    spans = list(zip((8 * starts).tolist(), (8 * ends - 8).tolist(), strict=True))
    sums = [crc32(data[first:last]) for first, last in spans]
    numbers.view(np.uint32)[2 * ends - 2] = sums
    size = CHECKSUM.size
    records = [data[first : last + size] for first, last in spans]
    return records, np.flatnonzero(has_nan).tolist()


def _plain_raw(kind: str, last: tuple[int, float, int], raw: RawState) -> RawValue:
    """What ``_to_raw`` gives of a record without others, several times as fast."""
    layout, features, targets, errors, numbers = raw
    start = PLAIN_NUMBERS.pack(*last, layout, features, targets, errors, len(numbers))
    data = b"".join((start, numbers.data, checksum(start, numbers.data)))
    return RawValue(_plain_layout(kind), data)


@lru_cache
def _plain_layout(kind: str) -> str:
    raw = RawState(0, 0, 0, 0, np.empty(0))
    record = KeyedRecord(0, 0.0, 0, raw, None, None, *NO_OTHERS)
    return f"{kind} {to_raw(record).layout}"
