"""A backtest by key on Spark: every key's whole series through a model of its own."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from thalweg.imputer import MissingPolicy
from thalweg.integrations.spark.key_models import KeyedLearning
from thalweg.integrations.spark.key_stream import (
    BUCKETS,
    RESULT_SCHEMA,
    group_by_bucket,
    select_rows,
)
from thalweg.integrations.spark.model_cache import ModelCache
from thalweg.integrations.spark.row_learning import KeyedRows, learn_rows
from thalweg.keyed.codec import KeyedSettings
from thalweg.learners import Learner
from thalweg.losses import LinearLoss


def backtest(
    df: DataFrame,
    key: str,
    features: Sequence[str],
    target: str,
    sequence: str,
    learner: Learner[Any] | None = None,
    loss: LinearLoss | None = None,
    intercept: bool | None = None,
    missing: MissingPolicy = "refuse",
    buckets: int = BUCKETS,
) -> DataFrame:
    """The predictions of ``learn`` as if the rows of a table had come as a stream.

    A batch: each key's rows go through a new model in the order of their sequences.
    Arguments and result are as in ``learn``; a table has no state, so that ``buckets``
    is only in how many parts the work is done.
    """
    settings = KeyedSettings.of(learner, loss, intercept, missing)
    learning = KeyedLearning(settings, buckets)

    def predict(table: pa.Table) -> pa.Table:
        _, results = learn_rows(ModelCache(learning, 0), {}, read_table(table))
        return pa.table(
            {
                "key": pa.array(results.key, pa.string()),
                "sequence": pa.array(results.sequence, pa.int64()),
                "prediction": pa.array(results.prediction, from_pandas=True),
                "refusal": pa.array(results.refusal, pa.string()),
            }
        )

    rows = select_rows(df, key, features, target, sequence)
    return group_by_bucket(rows, buckets).applyInArrow(predict, schema=RESULT_SCHEMA)


def read_table(table: pa.Table) -> KeyedRows:
    """The rows of an Arrow table with the columns of ``select_rows``."""
    names = [name for name in table.column_names if name[0] == "x"]
    features = [table[name].to_numpy() for name in names]
    return KeyedRows(
        np.array(table["key"].to_pylist(), object),
        table["sequence"].to_numpy(),
        np.ascontiguousarray(np.column_stack(features), np.float64),
        table["y"].to_numpy(),
    )
