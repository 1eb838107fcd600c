"""The model of one key: what it learns of a row, and its bytes in Spark's state."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from thalweg import checks
from thalweg.errors import PersistenceError
from thalweg.keyed.codec import KeyedSettings
from thalweg.keyed.keyed_model import KeyedModel
from thalweg.models.model_file import decode_model, to_saved_model
from thalweg.persistence import dumps, loads
from thalweg.persistence.raw_values import RawValue
from thalweg.types import FloatArray

MIGRATION = (
    "Export the models with the thalweg that wrote them (export_models), and give the "
    "export as 'initial' to a query with a new checkpoint: docs/spark.md"
)
"""Advice for state that this version cannot read."""


class ModelBytes(NamedTuple):
    """A model as Spark's state holds it."""

    layout: str  # of the data; the same for many models
    data: bytes
    changed_at: int = 0  # ms since 1970, by Spark's clock; 0 where nothing expires


class ExportedModel(NamedTuple):
    """A model as a file that every later version reads, and its last row."""

    sequence: int
    prediction: float
    model: bytes


@dataclass(frozen=True)
class KeyedLearning:
    """Settings that all keys of a query share: learner, policies, number of buckets."""

    settings: KeyedSettings
    buckets: int

    def __post_init__(self) -> None:
        checks.require_type(self, "buckets", int)
        checks.require_interval(self, "buckets", "[1, inf)")

    def encode_settings(self) -> bytes:
        """The settings as bytes, which are stored once for a bucket."""
        return self.buckets.to_bytes(8, "little") + self.settings.to_bytes()

    def require_settings(self, stored: bytes) -> None:
        """Raise unless the state of a query was made with the same settings."""
        other = decode_settings(stored)
        if other != self:
            raise PersistenceError(
                f"The state of this query was made with {other!r}. Got {self!r}. Give "
                "the same settings, or a new checkpoint."
            )

    def encode(self, model: KeyedModel, changed_at: int = 0) -> ModelBytes:
        """A key's model as bytes."""
        return ModelBytes(*self.settings.encode(model), changed_at)

    def decode(self, stored: ModelBytes, key: str) -> KeyedModel:
        """The model of ``key``; refused with what to do where it cannot be read."""
        raw = RawValue(stored.layout, stored.data)
        try:
            return self.settings.decode(raw, repr(key))
        except PersistenceError as error:
            raise PersistenceError(f"{error} {MIGRATION}.") from None

    def observe(
        self, model: KeyedModel, sequence: int, x: FloatArray, y: float
    ) -> float:
        """Predict y from x, then learn it, as ``KeyedModels.observe`` does.

        A row that is refused raises, and nothing has changed. One whose y is NaN is
        predicted, and not learnt.
        """
        online = model.online
        live = online._live
        prediction: float = live.learn(live.buffer, x, y, 1.0, 1.0, True)
        if prediction != prediction:  # the first row, or one to be refused
            prediction = float(online.predict(x))
            if not math.isnan(y) or online.missing != "refuse":
                online.update(x, y)
        model.last = (sequence, prediction, online.rounds)
        return prediction

    def export(self, stored: ModelBytes, key: str) -> ExportedModel:
        """The model as a file, with its last row."""
        model = self.decode(stored, key)
        sequence, prediction, _ = model.last
        file = dumps(to_saved_model(model.online._file_contents()))
        return ExportedModel(sequence, float(prediction), file)

    def import_model(self, exported: ExportedModel, key: str) -> KeyedModel:
        """The model in a file that an earlier query has exported."""
        saved = loads(exported.model, f"The model of {key!r}")
        contents = decode_model(f"The model of {key!r}", saved)
        given = KeyedSettings(*contents.settings[:4])
        if given != self.settings:
            raise PersistenceError(
                f"The model of {key!r} was made with {given!r}. Got {self.settings!r}."
            )
        model = self.settings.new_model()
        model.online._open(contents.snapshot)
        last = (int(exported.sequence), float(exported.prediction), model.online.rounds)
        return KeyedModel(model.online, last)


@lru_cache(64)
def decode_settings(stored: bytes) -> KeyedLearning:
    """The settings that ``encode_settings`` made into bytes."""
    settings = KeyedSettings.from_bytes(stored[8:], "The state of this query")
    return KeyedLearning(settings, int.from_bytes(stored[:8], "little"))
