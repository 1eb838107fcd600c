"""Models that a worker of Spark still has in memory from the previous micro-batch.

Decoding a model takes longer than learning a few rows. The bytes that Spark passes are
authoritative: a model in memory is used only if it was encoded as exactly these.
"""

from collections import OrderedDict
from random import Random
from typing import NamedTuple

from thalweg.integrations.spark.key_models import KeyedLearning, ModelBytes
from thalweg.keyed.keyed_model import KeyedModel

CACHE_BYTES = 2**28
"""Default memory in bytes for models in one worker."""
ADMISSION = 1 / 16
"""Probability that a new model replaces the least recently used one in a full cache.
Most micro-batches go through all keys in the same order, where an LRU cache that is too
small never has the requested one: bimodal insertion, Qureshi et al. (2007)."""


class CachedModel(NamedTuple):
    """A model, and the bytes that it was encoded as."""

    stored: ModelBytes
    model: KeyedModel
    size: int  # bytes of memory


class ModelCache:
    """Models of one query by key, the most recently used last."""

    def __init__(self, learning: KeyedLearning, max_bytes: int = CACHE_BYTES) -> None:
        self.learning, self.max_bytes = learning, max_bytes
        self._random = Random(0)
        self.size = 0  # bytes of memory
        self._models: OrderedDict[str, CachedModel] = OrderedDict()

    def take(self, key: str, stored: ModelBytes | None) -> KeyedModel:
        """The model in these bytes, which the caller may change; None: a new one."""
        cached = self._models.pop(key, None)
        if cached is not None:
            self.size -= cached.size
        if stored is None:
            return self.learning.settings.new_model()
        if cached is not None and cached.stored[:2] == stored[:2]:
            return cached.model
        return self.learning.decode(stored, key)

    def put(self, key: str, model: KeyedModel, changed_at: int) -> ModelBytes:
        """The model as bytes; it may stay in memory, and is no longer the caller's."""
        stored = self.learning.encode(model, changed_at)
        size = model.count_bytes() + len(stored.data)
        is_full = self.size + size > self.max_bytes
        if is_full and self._random.random() >= ADMISSION:
            return stored
        self._models[key] = CachedModel(stored, model, size)
        self.size += size
        while self.size > self.max_bytes and self._models:
            _, dropped = self._models.popitem(last=False)
            self.size -= dropped.size
        return stored
