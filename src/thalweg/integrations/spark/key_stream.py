"""A model for every key of a stream: predictions of a streaming data frame on Spark."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from pyspark.sql import DataFrame, functions
from pyspark.sql.types import IntegralType

from thalweg.errors import InvalidParameterError, StreamError
from thalweg.imputer import MissingPolicy
from thalweg.integrations.spark.key_models import KeyedLearning
from thalweg.integrations.spark.key_processors import BlobProcessor, RowsProcessor
from thalweg.integrations.spark.model_cache import CACHE_BYTES
from thalweg.keyed.codec import KeyedSettings
from thalweg.keyed.keyed_model import count_array_bytes
from thalweg.learners import Learner
from thalweg.losses import LinearLoss

Layout = Literal["blob", "rows"]
BUCKETS = 64
"""Number of buckets of keys. With 10,000 keys, the blob of a bucket has up to 0.8 MB
(RLS with 8 features) or 18 MB (Trackers)."""
LARGE_MODEL_BYTES = 2**15
"""Minimum size of states that are rows by default. With 10,000 keys, blobs were faster
than rows for models of 1.3 kB, and slower for models of 113 kB."""
RESULT_SCHEMA = "key string, sequence long, prediction double, refusal string"


def learn(
    stream_df: DataFrame,
    key: str,
    features: Sequence[str],
    target: str,
    sequence: str,
    learner: Learner[Any] | None = None,
    loss: LinearLoss | None = None,
    intercept: bool | None = None,
    missing: MissingPolicy = "refuse",
    layout: Layout | None = None,
    ttl: float | None = None,
    buckets: int = BUCKETS,
    initial: DataFrame | None = None,
    memory: int = CACHE_BYTES,
) -> DataFrame:
    """Predict every row with the model of its key, then learn it; exactly once.

    ``stream_df`` is a streaming data frame with columns ``key`` (read as text),
    ``features`` and ``target`` (numbers) and ``sequence``, a whole number that rises
    with the rows of a key. The result has a row for each of its rows: key, sequence,
    prediction, and ``refusal``: null, or why the row was not learnt, in which case its
    prediction is null.

    Within a micro-batch the rows of a key are put in the order of sequences. One whose
    sequence is not greater than the last learnt of its key is refused, so that rows
    that a source sends again change nothing. A row that is not finite is refused too,
    and the query continues.

    ``learner``, ``loss``, ``intercept`` and ``missing`` are as in ``Online``; a row
    without target is predicted and not learnt. Keys are hashed to ``buckets``. With
    ``layout="blob"`` all models of a bucket are one value of Spark's state, which is
    read and written whole; with ``"rows"`` each model is a value of its own, which
    takes one more call of Spark's state for each key that has rows and leaves the
    others alone. None: blobs, but rows where a state takes 32 kB or more, as that of
    a Tracker does.
    ``ttl`` is after how many seconds without rows a key is forgotten, by Spark's clock.
    All of these are fixed when a checkpoint is made, as is the number of partitions
    (``spark.sql.shuffle.partitions``). Needs RocksDB as Spark's state store.

    ``initial`` has the models to start from, where the checkpoint is new: a data frame
    of ``export_models``. The source may then bring rows that they have learnt.

    ``memory`` is how many bytes of models each worker keeps between micro-batches, to
    save the time of making them of their bytes; it may change at every start.
    """
    rows = select_rows(stream_df, key, features, target, sequence)
    settings = KeyedSettings.of(learner, loss, intercept, missing)
    learning = KeyedLearning(settings, buckets)
    if layout is None:
        size = len(features) + settings.intercept
        layout = default_layout(settings.learner, size)
    if layout not in get_args(Layout):
        raise InvalidParameterError(
            f"The 'layout' parameter must be 'blob' or 'rows'. Got {layout!r} instead."
        )
    if ttl is not None and not ttl > 0:
        raise InvalidParameterError(
            f"The 'ttl' parameter is a number of seconds above 0. Got {ttl!r} instead."
        )
    milliseconds = None if ttl is None else max(1, round(1000 * ttl))
    kind = BlobProcessor if layout == "blob" else RowsProcessor
    return group_by_bucket(rows, buckets).transformWithStateInPandas(
        kind(learning, milliseconds, memory),
        outputStructType=RESULT_SCHEMA,
        outputMode="Append",
        timeMode="None" if ttl is None else "ProcessingTime",
        initialState=None if initial is None else group_by_bucket(initial, buckets),
    )


def default_layout(learner: Learner[Any], features: int) -> Layout:
    """The layout of states in which models with ``features`` features learn faster."""
    state = learner.init(np.zeros(features))
    return "rows" if count_array_bytes(state) >= LARGE_MODEL_BYTES else "blob"


def select_rows(
    frame: DataFrame,
    key: str,
    features: Sequence[str],
    target: str,
    sequence: str,
) -> DataFrame:
    """The columns as ``key``, ``sequence``, ``y``, ``x0``, ``x1``, ...

    A null among whole numbers would turn all of them into floats on their way to
    Python, so there is -1 instead of it.
    """
    if isinstance(features, str) or not len(features):
        raise StreamError(
            f"'features' is a list of one column or more. Got {features!r} instead."
        )
    kind = frame.select(functions.col(sequence)).schema[0].dataType
    if not isinstance(kind, IntegralType):
        raise StreamError(
            f"The sequence must be a column of whole numbers. {sequence!r} is of type "
            f"{kind.simpleString()}: of times, use unix_micros."
        )
    text, number = functions.col(key).cast("string"), functions.col(sequence)
    numbers = [(target, "y"), *((name, f"x{at}") for at, name in enumerate(features))]
    return frame.select(
        functions.coalesce(text, functions.lit("")).alias("key"),
        functions.coalesce(number.cast("long"), functions.lit(-1)).alias("sequence"),
        *(functions.col(name).cast("double").alias(alias) for name, alias in numbers),
    )


def group_by_bucket(rows: DataFrame, buckets: int) -> Any:
    """The rows by the bucket of their ``key``."""
    bucket = functions.pmod(functions.xxhash64("key"), functions.lit(buckets))
    return rows.withColumn("bucket", bucket.cast("int")).groupBy("bucket")
