"""Rows a second of a model for every key on Spark, beside the naive way.

    python -m benchmarks.spark_throughput --learner rls

10,000 keys, 8 features, micro-batches of 50,000 rows (5 of each key), local[2]. The
naive way is ``applyInPandasWithState`` by key, whose state is a pickled ``Online`` that
plays the rows of a micro-batch in one ``run``. Each way is one query over all files, a
file a micro-batch, one after the other in one session; ``--rounds`` repeats them all.
The first micro-batch of a query, in which workers start, is not counted. Bytes are
those of all models in the state, and those of the checkpoint, where Spark compresses
them, for each micro-batch.
"""

import argparse
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession

from thalweg import Online, RecursiveLeastSquares, Tracker
from thalweg.integrations.spark import learn
from tools.spark_session import start_session

LEARNERS = {"rls": RecursiveLeastSquares(0.99), "tracker": Tracker()}
FEATURES = [f"x{at}" for at in range(8)]
ROWS_OF_KEY = 5
STATE = {
    "naive": ("value.groupState.model", None),
    "blob": ("value.blob", "buckets"),
    "rows": ("user_map_value.data", "models"),
}
"""Where each way has its models, and in which variable of the state."""


def make_rows(keys: int, batch: int) -> pd.DataFrame:
    """Rows of one micro-batch, five of each key, in any order."""
    rng = np.random.default_rng(batch)
    rows = ROWS_OF_KEY * keys
    x = rng.normal(size=(rows, len(FEATURES)))
    frame = pd.DataFrame(x, columns=FEATURES)
    frame["y"] = x.sum(axis=1) + rng.normal(size=rows)
    frame["key"] = np.tile([f"sensor-{key}" for key in range(keys)], ROWS_OF_KEY)
    frame["sequence"] = batch * ROWS_OF_KEY + np.repeat(np.arange(ROWS_OF_KEY), keys)
    return frame.sample(frac=1, random_state=batch)


def learn_naively(stream: DataFrame, learner: Any) -> DataFrame:
    """A pickled model for each key."""

    def play(key: Any, frames: Iterator[pd.DataFrame], state: Any) -> Any:
        model = pickle.loads(state.get[0]) if state.exists else Online(learner)
        rows = pd.concat(frames).sort_values("sequence")
        x = np.ascontiguousarray(rows[FEATURES].to_numpy())
        predictions = model.run(x, rows["y"].to_numpy()).prediction
        state.update((pickle.dumps(model),))
        yield pd.DataFrame(
            {"key": key[0], "sequence": rows["sequence"], "prediction": predictions}
        )

    return stream.groupBy("key").applyInPandasWithState(
        play,
        "key string, sequence long, prediction double",
        "model binary",
        "Append",
        "NoTimeout",
    )


def ways_to_learn(learner: Any) -> dict[str, Callable[[DataFrame], DataFrame]]:
    """The ways that are compared."""

    def learn_with(layout: Any) -> Callable[[DataFrame], DataFrame]:
        names = ("key", FEATURES, "y", "sequence")
        return lambda stream: learn(stream, *names, learner, layout=layout)

    return {
        "naive": lambda stream: learn_naively(stream, learner),
        "blob": learn_with("blob"),
        "rows": learn_with("rows"),
    }


def folder_bytes(folder: Path) -> int:
    """The size of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def play_files(
    spark: SparkSession, way: Callable[[DataFrame], DataFrame], source: Path, own: Path
) -> list[float]:
    """Run a query over all files: the seconds of each micro-batch."""
    schema = spark.read.parquet(str(source)).schema
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    results = way(reader.parquet(str(source)))
    writer = results.writeStream.format("noop").trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(own)).start()
    query.awaitTermination()
    progress = [part for part in query.recentProgress if part["numInputRows"]]
    return [part["durationMs"]["addBatch"] / 1000 for part in progress]


def count_model_bytes(spark: SparkSession, own: Path, name: str) -> int:
    """The bytes of all models in the state of a query."""
    column, variable = STATE[name]
    reader = spark.read.format("statestore")
    if variable is not None:
        reader = reader.option("stateVarName", variable)
    state = reader.load(str(own)).selectExpr(f"sum(length({column})) as bytes")
    return int(state.collect()[0]["bytes"])


def main() -> None:
    """Time the ways side by side, and print ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learner", choices=LEARNERS, default="rls")
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--batches", type=int, default=3, help="that are counted")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--ways", default="naive,blob,rows")
    given = parser.parse_args()
    spark = start_session(spark_sql_shuffle_partitions="4", spark_driver_memory="6g")
    ways = ways_to_learn(LEARNERS[given.learner])
    names = given.ways.split(",")
    seconds: dict[str, list[float]] = {name: [] for name in names}
    written: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        source.mkdir()
        for batch in range(given.batches + 1):
            path = source / f"{batch:03}.parquet"
            make_rows(given.keys, batch).to_parquet(path, index=False)
            os.utime(path, (1e9 + batch, 1e9 + batch))
        for _ in range(given.rounds):
            for name in names:
                own = Path(folder) / name
                shutil.rmtree(own, ignore_errors=True)
                batches = play_files(spark, ways[name], source, own)
                seconds[name] += batches[1:]
                written[name] = folder_bytes(own) // len(batches)
                print(name, *(f"{part:.1f} s" for part in batches), flush=True)
        rows = given.keys * ROWS_OF_KEY
        print(f"\n{given.learner}: {given.keys} keys, {rows} rows a micro-batch")
        print("way     rows/s   of naive   models, bytes a key   written, bytes a key")
        rates = {name: rows / median(seconds[name]) for name in names}
        for name in names:
            size = count_model_bytes(spark, Path(folder) / name, name) / given.keys
            added = written[name] / given.keys
            ratio = rates[name] / rates.get("naive", np.nan)
            print(f"{name:6}{rates[name]:8.0f}{ratio:11.1f}{size:22.0f}{added:23.0f}")


if __name__ == "__main__":
    main()
