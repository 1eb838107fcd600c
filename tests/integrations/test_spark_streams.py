"""A model for every key on Spark; ``make test-spark`` has Spark.

What is learnt from rows is tested without it: test_spark_row_learning.py.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="There is no pyspark: make test-spark has it.")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("There is no Java, which Spark needs.", allow_module_level=True)

import pandas as pd
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.tws_tester import TwsTester

from thalweg import Online, RecursiveLeastSquares, Tracker
from thalweg.errors import InvalidParameterError, PersistenceError, StreamError
from thalweg.integrations.spark import (
    backtest,
    export_models,
    learn,
    read_models,
    to_online,
)
from thalweg.integrations.spark.key_models import KeyedLearning
from thalweg.integrations.spark.key_processors import BlobProcessor, RowsProcessor
from thalweg.integrations.spark.key_stream import default_layout
from thalweg.keyed import KeyedModels
from thalweg.keyed.codec import KeyedSettings
from tools.spark_session import start_session

GUIDE = Path(__file__).parents[2] / "docs" / "spark.md"
LEARNERS = {"blob": Tracker(), "rows": RecursiveLeastSquares(0.98)}
PROCESSORS = {"blob": BlobProcessor, "rows": RowsProcessor}
ARGUMENTS = ("key", "features", "target", "sequence")
COLUMNS = ("sensor", ["a", "b"], "y", "number")
# PySpark's own use of pandas and of sockets.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def spark():
    session = start_session()
    yield session
    session.stop()


def made_up_frame(rows, keys=6, seed=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 2))
    return pd.DataFrame(
        {
            "number": np.arange(rows) * 2,
            "sensor": [f"s{key}" for key in rng.integers(0, keys, rows)],
            "a": x[:, 0],
            "b": x[:, 1],
            "y": x @ [2.0, -1.0] + rng.normal(size=rows) * 0.1,
        }
    )


def write_parts(frames, folder):
    """One Parquet file a frame, with times of change in their order."""
    folder.mkdir(exist_ok=True)
    before = len(list(folder.iterdir()))
    for at, frame in enumerate(frames, before):
        path = folder / f"{at:03}.parquet"
        frame.to_parquet(path, index=False)
        os.utime(path, (1e9 + at, 1e9 + at))


def read_stream(spark, folder):
    schema = spark.read.parquet(str(folder)).schema
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    return reader.parquet(str(folder))


def play(results, folder):
    """Run a query to the end of its source: the results of all its runs so far."""
    writer = results.writeStream.format("parquet").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    for attempt in range(5):
        try:
            writer.start(str(folder / "results")).awaitTermination()
            break
        except StreamingQueryException as error:
            # On a busy machine Spark gives up waiting for its Python after 10 seconds.
            is_late = "Timed out while waiting for the Python worker" in str(error)
            if not is_late or attempt == 4:
                raise
    frame = results.sparkSession.read.parquet(str(folder / "results")).toPandas()
    return frame.sort_values(["key", "sequence"], ignore_index=True)


def observe_all(models, frames):
    """What ``KeyedModels`` predicts: late rows are None."""
    return [
        models.observe(row.sensor, np.array([row.a, row.b]), row.y, row.number)
        for frame in frames
        for row in frame.itertuples()
    ]


def bucket_rows(**sequence_of):
    """Rows as processors get them: one of each key."""
    keys, sequences = list(sequence_of), list(sequence_of.values())
    numbers = {"y": 5.0, "x0": 1.0, "bucket": 0}
    return pd.DataFrame({"key": keys, "sequence": sequences, **numbers})


def same_model(model, other):
    query = np.array([0.3, -0.2])
    assert model.predict(query) == other.predict(query)
    assert model.rounds == other.rounds
    np.testing.assert_array_equal(model.coefficients, other.coefficients)


@pytest.mark.parametrize("layout", LEARNERS)
def test_predictions_and_models_are_those_of_keyed_models(spark, layout, tmp_path):
    """Rows late, twice and out of order; the query is stopped and started again."""
    frame, learner = made_up_frame(120), LEARNERS[layout]
    parts = [frame[:40], frame[40:80], frame[80:]]
    late = parts[0][5:6].assign(number=3)  # a row that never came, and comes too late
    on_time = [parts[0], parts[1], parts[2]]
    shuffled = [part.sample(frac=1, random_state=1) for part in on_time]
    shuffled[0] = pd.concat([shuffled[0], shuffled[0][:7]])  # twice in a micro-batch
    shuffled[1] = pd.concat([shuffled[1], parts[0][20:], late])  # once more, later
    folder = tmp_path / "rows"

    def results():
        stream = read_stream(spark, folder)
        return learn(stream, *COLUMNS, learner, layout=layout, buckets=4)

    write_parts(shuffled[:2], folder)
    play(results(), tmp_path)
    write_parts(shuffled[2:], folder)
    found = play(results(), tmp_path)
    with KeyedModels(tmp_path / "models.db", learner) as models:
        expected = frame.assign(prediction=observe_all(models, on_time))
        expected = expected.sort_values(["sensor", "number"], ignore_index=True)
        learnt = found[found.refusal.isna()].reset_index(drop=True)
        assert list(learnt.key) == list(expected.sensor)
        assert list(learnt.sequence) == list(expected.number)
        np.testing.assert_array_equal(learnt.prediction, expected.prediction)
        refused = found[found.refusal.notna()]
        assert len(refused) == 7 + 20 + 1
        assert refused.prediction.isna().all()
        assert refused.refusal.str.contains("is not greater than").all()
        for row in read_models(spark, str(tmp_path / "checkpoint")).collect():
            same_model(to_online(row["model"], row["key"]), models[row["key"]])
            assert row["sequence"] == models.last_seq(row["key"])


def test_one_bad_row_does_not_stop_the_query(spark, tmp_path):
    frame = made_up_frame(30)
    frame.loc[3, "a"], frame.loc[4, "y"] = np.inf, np.nan
    frame.loc[5, "sensor"] = None
    frame["number"] = frame["number"].astype("Int64")
    frame.loc[6, "number"] = None
    write_parts([frame], tmp_path / "rows")
    stream = read_stream(spark, tmp_path / "rows")
    found = play(learn(stream, *COLUMNS, buckets=2), tmp_path)
    assert len(found) == 30
    refused = found[found.refusal.notna()]
    assert sorted(refused.sequence) == [-1, 6, 10]
    assert found[found.sequence == 8].prediction.notna().all()


@pytest.mark.parametrize("layout", LEARNERS)
def test_models_move_to_a_query_with_a_new_checkpoint(spark, layout, tmp_path):
    """The path for a new version of the state; the source brings all rows again."""
    frame, learner = made_up_frame(90), LEARNERS[layout]
    write_parts([frame[:60]], tmp_path / "rows")
    stream = read_stream(spark, tmp_path / "rows")
    play(learn(stream, *COLUMNS, learner, layout=layout, buckets=3), tmp_path)
    exported = tmp_path / "exported"
    models = export_models(spark, str(tmp_path / "checkpoint"))
    models.write.parquet(str(exported))
    write_parts([frame[60:]], tmp_path / "rows")
    stream = read_stream(spark, tmp_path / "rows")
    other = "rows" if layout == "blob" else "blob"
    initial = spark.read.parquet(str(exported))
    (tmp_path / "new").mkdir()
    found = play(
        learn(stream, *COLUMNS, learner, layout=other, buckets=5, initial=initial),
        tmp_path / "new",
    )
    learnt = found[found.refusal.isna()]
    assert sorted(learnt.sequence) == list(frame.number[60:])
    for key, part in frame.groupby("sensor"):
        x = np.ascontiguousarray(part[["a", "b"]].to_numpy())
        trace = Online(learner).run(x, part.y.to_numpy())
        predictions = learnt[learnt.key == key].prediction
        np.testing.assert_array_equal(
            predictions, trace.prediction[len(part) - len(predictions) :]
        )


def test_a_query_with_other_settings_says_so():
    """Without Spark, on the state that another query left."""
    settings = KeyedSettings.of(RecursiveLeastSquares(0.9))
    rows = bucket_rows(a=1)
    for layout, name in (("blob", "buckets"), ("rows", "settings")):
        kind = PROCESSORS[layout]
        tester = TwsTester(kind(KeyedLearning(settings, 2), None))
        tester.testInPandas(0, rows)
        other = TwsTester(kind(KeyedLearning(settings, 3), None))
        other.updateValueState(name, 0, tester.peekValueState(name, 0))
        with pytest.raises(
            PersistenceError, match="made with .*buckets=2.*new checkpoint"
        ):
            other.testInPandas(0, rows)


def test_a_backtest_is_a_run_of_each_key(spark, tmp_path):
    frame = made_up_frame(80)
    table = spark.createDataFrame(frame.sample(frac=1, random_state=2))
    found = backtest(table, *COLUMNS, buckets=3).toPandas()
    found = found.sort_values(["key", "sequence"])
    assert found.refusal.isna().all()
    for key, part in frame.groupby("sensor"):
        x = np.ascontiguousarray(part[["a", "b"]].to_numpy())
        trace = Online().run(x, part.y.to_numpy())
        np.testing.assert_array_equal(
            found[found.key == key].prediction, trace.prediction
        )


@pytest.fixture
def no_empty_batches(spark):
    """Let ``availableNow`` end: with a ``ttl`` Spark always has one more batch to run,
    without rows, as something could have expired.
    """
    name = "spark.sql.streaming.noDataMicroBatches.enabled"
    spark.conf.set(name, False)
    yield
    spark.conf.unset(name)


@pytest.mark.usefixtures("no_empty_batches")
def test_keys_without_rows_expire_in_spark(spark, tmp_path, layout="rows"):
    frame = made_up_frame(20, keys=1).assign(y=5.0)
    write_parts([frame[:10]], tmp_path / "rows")
    for part in (frame[10:], None):
        stream = read_stream(spark, tmp_path / "rows")
        results = learn(
            stream, *COLUMNS, LEARNERS[layout], layout=layout, ttl=0.5, buckets=1
        )
        found = play(results, tmp_path)
        time.sleep(1)
        if part is not None:
            write_parts([part], tmp_path / "rows")
    assert found.prediction[0] == found.prediction[10] == 0
    assert found.prediction[9] != 0


@pytest.mark.parametrize("layout", LEARNERS)
def test_each_key_of_a_bucket_expires_by_itself(layout):
    """Without Spark, by the clock of its tester."""
    settings = KeyedSettings.of(RecursiveLeastSquares(0.9))
    processor = PROCESSORS[layout](KeyedLearning(settings, 1), 1000)
    tester = TwsTester(processor, timeMode="ProcessingTime")

    def observe(now, **rows):
        tester.setProcessingTime(now)
        found = tester.testInPandas(0, bucket_rows(**rows))
        return dict(zip(found.key, found.prediction, strict=True))

    assert observe(1000, a=1, b=1) == {"a": 0, "b": 0}
    assert observe(1900, a=2)["a"] > 0
    found = observe(2500, a=3, b=3)
    assert found["a"] > 0
    assert found["b"] == 0


def test_models_of_many_bytes_are_rows_by_default():
    assert default_layout(Tracker(), 8) == default_layout(Tracker(), 1) == "rows"
    assert default_layout(RecursiveLeastSquares(), 9) == "blob"
    assert default_layout(RecursiveLeastSquares(), 100) == "rows"


def test_arguments_that_cannot_be_are_refused(spark, tmp_path):
    frame = spark.createDataFrame(made_up_frame(5).assign(text="x"))
    for change, error, words in (
        ({"layout": "columns"}, InvalidParameterError, "'blob' or 'rows'"),
        ({"ttl": 0}, InvalidParameterError, "'ttl'"),
        ({"buckets": 0}, InvalidParameterError, "'buckets'"),
        ({"features": []}, StreamError, "'features' is a list"),
        ({"features": "a"}, StreamError, "'features' is a list"),
        ({"sequence": "a"}, StreamError, "whole numbers. 'a' is of type double"),
    ):
        names = dict(
            zip(("key", "features", "target", "sequence"), COLUMNS, strict=True)
        )
        with pytest.raises(error, match=words):
            learn(frame, **(names | change))
    blob = KeyedLearning(KeyedSettings.of(), 1)
    with pytest.raises(PersistenceError, match="no bucket"):
        to_online(blob.encode_settings(), "a")


def test_what_the_guide_shows_runs_as_it_stands(tmp_path):
    """In a process of its own: Java looks for files where it was started."""
    shown = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    script = tmp_path / "guide.py"
    script.write_text("\n".join([*shown, "print(worst.count(), type(model).__name__)"]))
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, script.name], cwd=tmp_path, env=environment,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "3 Online"
