"""The models in a checkpoint: read through Spark's own reader of state."""

from collections.abc import Iterator

import pandas as pd
from pyspark.sql import DataFrame, SparkSession

from thalweg.errors import PersistenceError
from thalweg.integrations.spark.bucket_blob import Bucket, pack_bucket, unpack_bucket
from thalweg.integrations.spark.key_models import ModelBytes, decode_settings
from thalweg.models.online import Online

MODEL_SCHEMA = "key string, sequence long, model binary"
EXPORT_SCHEMA = "key string, sequence long, prediction double, model binary"


def to_online(blob: bytes, key: str) -> Online:
    """The model of ``key`` as an ``Online``, which continues to the last bit.

    ``blob`` is a ``model`` of ``read_models``, or a bucket's value in Spark's state.
    """
    settings, models = unpack_bucket(bytes(blob))
    if key not in models:
        raise PersistenceError(f"The bucket has no model of {key!r}.")
    return decode_settings(settings).decode(models[key], key).online


def read_models(spark: SparkSession, checkpoint: str) -> DataFrame:
    """The models that the last finished micro-batch left: key, sequence, model.

    ``checkpoint`` is that of a query of ``learn`` with either layout; the query may run
    or not. ``sequence`` is the last one learnt, ``model`` is for ``to_online``.
    """
    return _read_buckets(spark, checkpoint).mapInPandas(_list_models, MODEL_SCHEMA)


def export_models(spark: SparkSession, checkpoint: str) -> DataFrame:
    """The models as files of ``Online``, which later versions read: for ``initial``.

    Key, sequence, prediction, model: with the last one learnt of each key, and what was
    predicted there.
    """
    return _read_buckets(spark, checkpoint).mapInPandas(_export_models, EXPORT_SCHEMA)


def _read_buckets(spark: SparkSession, checkpoint: str) -> DataFrame:
    """Buckets, or parts of buckets, as a column ``blob``."""
    metadata = spark.read.format("state-metadata").load(checkpoint).collect()
    properties = metadata[0]["operatorProperties"] if metadata else ""

    def read(name: str) -> DataFrame:
        reader = spark.read.format("statestore").option("stateVarName", name)
        return reader.load(checkpoint)

    if '"buckets"' in properties:
        return read("buckets").selectExpr("value.blob")
    if '"models"' not in properties:
        raise PersistenceError(f"{checkpoint} is no checkpoint of learn.")
    models = read("models").selectExpr("key", "user_map_key.key name", "user_map_value")
    settings = read("settings").selectExpr("key", "value.settings")
    joined = models.join(settings, "key")
    rows = joined.selectExpr("settings", "name", "user_map_value.*")
    return rows.mapInPandas(_pack_rows, "blob binary")


def _pack_rows(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        blobs = []
        for settings, name, *stored in frame.itertuples(index=False):
            blobs.append(pack_bucket(settings, {name: ModelBytes(*stored)}))
        yield pd.DataFrame({"blob": blobs})


def _buckets(frames: Iterator[pd.DataFrame]) -> Iterator[Bucket]:
    for frame in frames:
        yield from map(unpack_bucket, frame["blob"])


def _list_models(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for settings, models in _buckets(frames):
        learning = decode_settings(settings)
        rows = [
            (key, learning.decode(model, key).seq, pack_bucket(settings, {key: model}))
            for key, model in models.items()
        ]
        yield pd.DataFrame(rows, columns=["key", "sequence", "model"])


def _export_models(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for settings, models in _buckets(frames):
        learning = decode_settings(settings)
        rows = [(key, *learning.export(model, key)) for key, model in models.items()]
        yield pd.DataFrame(rows, columns=["key", "sequence", "prediction", "model"])
