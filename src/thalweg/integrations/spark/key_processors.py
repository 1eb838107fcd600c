"""Functions that Spark calls with rows of a bucket: they read, update, write models."""

from abc import abstractmethod
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from thalweg.integrations.spark.bucket_blob import Bucket, pack_bucket, unpack_bucket
from thalweg.integrations.spark.key_models import (
    ExportedModel,
    KeyedLearning,
    ModelBytes,
    decode_settings,
)
from thalweg.integrations.spark.model_cache import CACHE_BYTES, ModelCache
from thalweg.integrations.spark.row_learning import KeyedRows, RowResults, learn_rows


class KeyProcessor(StatefulProcessor):
    """The work on the rows of one bucket in a micro-batch."""

    def __init__(
        self, learning: KeyedLearning, ttl: int | None, memory: int = CACHE_BYTES
    ) -> None:
        self.learning = learning
        self.memory = memory  # bytes of models between micro-batches, in each worker
        self.ttl = ttl  # milliseconds; None where nothing expires
        self.settings = learning.encode_settings()

    def handleInputRows(  # noqa: N802 - Spark's name
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        """Learn the rows, write the models, and return the outcome of each row."""
        now = 0 if self.ttl is None else timerValues.getCurrentProcessingTimeInMs()
        yield results_frame(self.learn(read_rows(rows), now))

    def handleInitialState(  # noqa: N802 - Spark's name
        self, key: Any, initialState: pd.DataFrame, timerValues: Any
    ) -> None:
        """Write models that an earlier query has exported."""
        now = 0 if self.ttl is None else timerValues.getCurrentProcessingTimeInMs()
        columns = ["key", *ExportedModel._fields]
        models = {}
        for name, *exported in initialState[columns].itertuples(index=False):
            model = self.learning.import_model(ExportedModel(*exported), name)
            models[name] = self.learning.encode(model, now)
        self.write_initial(models)

    @property
    def cache(self) -> ModelCache:
        """The models that this worker has in memory."""
        return worker_cache(self.settings, self.memory)

    @abstractmethod
    def learn(self, rows: KeyedRows, now: int) -> RowResults:
        """Learn the rows of the bucket that Spark has set."""

    @abstractmethod
    def write_initial(self, models: dict[str, ModelBytes]) -> None:
        """Write the models of the bucket that Spark has set, which may have others."""

    def drop_expired(
        self, models: dict[str, ModelBytes], now: int
    ) -> dict[str, ModelBytes]:
        """The models that have not expired."""
        if self.ttl is None:
            return models
        return {k: m for k, m in models.items() if m.changed_at + self.ttl > now}


class BlobProcessor(KeyProcessor):
    """All models of a bucket in one value."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state. A bucket without rows expires as its last model does."""
        self.buckets = handle.getValueState("buckets", "blob binary", self.ttl)

    def learn(self, rows: KeyedRows, now: int) -> RowResults:
        """Read the blob, learn the rows, write the blob."""
        bucket = self._read_bucket()
        models = self.drop_expired(bucket.models, now)
        changed, results = learn_rows(self.cache, models, rows, now)
        if changed or len(models) < len(bucket.models):
            blob = pack_bucket(bucket.settings, models | changed)
            self.buckets.update((blob,))
        return results

    def write_initial(self, models: dict[str, ModelBytes]) -> None:
        """Write a blob of all."""
        bucket = self._read_bucket()
        self.buckets.update((pack_bucket(bucket.settings, bucket.models | models),))

    def _read_bucket(self) -> Bucket:
        value = self.buckets.get()
        if value is None:
            return Bucket(self.settings, {})
        bucket = unpack_bucket(bytes(value[0]))
        self.learning.require_settings(bucket.settings)
        return bucket


class RowsProcessor(KeyProcessor):
    """Each model in a value of its own; the settings beside them, once for a bucket."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state; Spark drops what has expired."""
        schema = "layout string, data binary, changed_at long"
        self.models = handle.getMapState("models", "key string", schema, self.ttl)
        self.stored_settings = handle.getValueState("settings", "settings binary")

    def learn(self, rows: KeyedRows, now: int) -> RowResults:
        """Read the models of the keys that have rows, learn these, write what changed.

        A call of Spark's map takes longer than most learners take for the rows.
        """
        value = self.stored_settings.get()
        if value is not None:
            self.learning.require_settings(bytes(value[0]))
        models = {}
        for key in sorted(set(rows.key) - {""}):
            value_of_key = self.models.getValue((key,)) if value is not None else None
            if value_of_key is not None:
                layout, data, changed_at = value_of_key
                models[key] = ModelBytes(layout, bytes(data), changed_at)
        models = self.drop_expired(models, now)
        changed, results = learn_rows(self.cache, models, rows, now)
        self._write(changed, value is None)
        return results

    def write_initial(self, models: dict[str, ModelBytes]) -> None:
        """Write each model."""
        self._write(models, True)

    def _write(self, models: dict[str, ModelBytes], is_new: bool) -> None:
        for key, model in models.items():
            self.models.updateValue((key,), tuple(model))
        if models and is_new:
            self.stored_settings.update((self.settings,))


@lru_cache(4)
def worker_cache(settings: bytes, memory: int) -> ModelCache:
    """The one cache of this process for queries with these settings.

    Spark sends a new processor to its workers for every micro-batch.
    """
    return ModelCache(decode_settings(settings), memory)


def read_rows(frames: Iterator[pd.DataFrame]) -> KeyedRows:
    """The rows of one group, which Spark brings in pieces."""
    frame = pd.concat(frames, ignore_index=True)
    names = [name for name in frame.columns if name[0] == "x"]
    return KeyedRows(
        frame["key"].to_numpy(object),
        frame["sequence"].to_numpy(np.int64),
        np.ascontiguousarray(frame[names].to_numpy(np.float64)),
        frame["y"].to_numpy(np.float64),
    )


def results_frame(results: RowResults) -> pd.DataFrame:
    """The columns of ``RESULT_SCHEMA``."""
    return pd.DataFrame(results._asdict())
