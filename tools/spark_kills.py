"""Kill a Spark driver mid-stream, again and again; nothing may be lost or come twice.

    python tools/spark_kills.py --kills 5

Two queries learn from one folder of Parquet files, one with each layout of the state.
Their process group is killed (kill -9) at random times, and started again from its
checkpoints. Predictions and state are then compared, bit by bit, with those of queries
that nobody killed, and predictions with ``KeyedModels`` in this process.
"""

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from thalweg import RecursiveLeastSquares, Tracker
from thalweg.integrations.spark import learn
from thalweg.keyed import KeyedModels
from tools.spark_session import start_session

LEARNERS = {"blob": Tracker(), "rows": RecursiveLeastSquares(0.99)}
VARIABLES = {"blob": ("buckets",), "rows": ("models", "settings")}
FILES, ROWS, KEYS = 30, 200, 40


def write_source(folder: Path) -> pd.DataFrame:
    """Files of rows in order, each with rows of the file before once more."""
    rng = np.random.default_rng(7)
    rows = FILES * ROWS
    x = rng.normal(size=(rows, 2))
    frame = pd.DataFrame(
        {
            "number": np.arange(rows),
            "key": [f"k{key}" for key in rng.integers(0, KEYS, rows)],
            "a": x[:, 0],
            "b": x[:, 1],
            "y": x @ [1.0, -1.0] + rng.normal(size=rows),
        }
    )
    folder.mkdir(parents=True)
    for at in range(FILES):
        start = max(0, at * ROWS - 20)
        path = folder / f"{at:03}.parquet"
        frame[start : (at + 1) * ROWS].to_parquet(path, index=False)
        os.utime(path, (1e9 + at, 1e9 + at))
    return frame


def play(source: Path, folder: Path) -> None:
    """Run both queries from their checkpoints to the end of the source."""
    spark = start_session()
    schema = spark.read.parquet(str(source)).schema
    queries = []
    for layout, learner in LEARNERS.items():
        reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        stream = reader.parquet(str(source))
        names = ("key", ["a", "b"], "y", "number")
        results = learn(stream, *names, learner, layout=layout, buckets=4)
        writer = results.writeStream.format("parquet").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(folder / layout / "state"))
        queries.append(writer.start(str(folder / layout / "results")))
    for query in queries:
        query.awaitTermination()
    for layout in LEARNERS:
        read = spark.read.parquet(str(folder / layout / "results")).toPandas()
        read.to_pickle(folder / f"{layout}.pickle")
        digest = hashlib.sha256()
        for name in VARIABLES[layout]:
            reader = spark.read.format("statestore").option("stateVarName", name)
            state = reader.load(str(folder / layout / "state"))
            for text in sorted(map(repr, state.collect())):
                digest.update(text.encode())
        (folder / f"{layout}.state").write_text(digest.hexdigest())


def count_batches(folder: Path, log: str) -> dict[str, int]:
    """How many micro-batches each query has begun ("offsets") or ended ("commits")."""
    counts = {}
    for layout in LEARNERS:
        files = (folder / layout / "state" / log).glob("*")
        counts[layout] = sum(file.name.isdigit() for file in files)
    return counts


def start_queries(source: Path, folder: Path) -> subprocess.Popen[bytes]:
    """The queries in a process group of their own."""
    command = [sys.executable, __file__, "--source", str(source), "--play", str(folder)]
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


def kill_queries(source: Path, folder: Path, kills: int) -> None:
    """Kill the queries so often, each time after some further micro-batches."""
    rng = np.random.default_rng(11)
    share = 2 * FILES // (kills + 1)
    for number in range(1, kills + 1):
        queries = start_queries(source, folder)
        while sum(count_batches(folder, "commits").values()) < share * number:
            if queries.poll() is not None:
                queries = restart_queries(source, folder)
            time.sleep(0.02)
        time.sleep(rng.uniform(0, 0.5))
        os.killpg(queries.pid, signal.SIGKILL)
        queries.wait()
        begun, ended = (count_batches(folder, log) for log in ("offsets", "commits"))
        in_flight = [layout for layout in LEARNERS if begun[layout] > ended[layout]]
        print(f"kill {number}: batches {ended}, in flight: {in_flight}", flush=True)
    run_to_the_end(source, folder)


def run_to_the_end(source: Path, folder: Path) -> None:
    """Run the queries, and wait for them."""
    queries = start_queries(source, folder)
    while queries.wait() != 0:
        queries = restart_queries(source, folder)


def restart_queries(source: Path, folder: Path) -> subprocess.Popen[bytes]:
    """Start queries again that failed by themselves, if it was Spark's fault.

    On a busy machine Spark waits ten seconds for its Python, and gives up.
    """
    log = (folder / "log").read_text()
    if "Timed out while waiting for the Python worker" not in log:
        raise SystemExit(f"The queries failed: {log[-3000:]}")
    print("Spark gave up waiting for its Python; started again", flush=True)
    (folder / "log").unlink()
    return start_queries(source, folder)


def read_results(folder: Path, layout: str) -> pd.DataFrame:
    """All rows that a query put out, those refused last."""
    frame = pd.read_pickle(folder / f"{layout}.pickle")
    return frame.sort_values(["sequence", "refusal"], ignore_index=True)


def main() -> None:
    """Compare killed queries with others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--source", type=Path)
    parser.add_argument("--play", type=Path)
    given = parser.parse_args()
    if given.play is not None:
        play(given.source, given.play)
        return
    with tempfile.TemporaryDirectory() as name:
        source, calm, killed = (Path(name) / part for part in ("in", "calm", "killed"))
        frame = write_source(source)
        calm.mkdir()
        killed.mkdir()
        run_to_the_end(source, calm)
        kill_queries(source, killed, given.kills)
        failures = sum(compare(frame, calm, killed, layout) for layout in LEARNERS)
    raise SystemExit(1 if failures else 0)


def compare(frame: pd.DataFrame, calm: Path, killed: Path, layout: str) -> int:
    """Print how the queries of a layout compare; the number of differences."""
    ours, theirs = read_results(killed, layout), read_results(calm, layout)
    learnt = ours[ours.refusal.isna()]
    duplicates = len(learnt) - learnt.sequence.nunique()
    missing = len(set(frame.number) - set(learnt.sequence))
    same_results = learnt.equals(theirs[theirs.refusal.isna()])
    same_refusals = ours[ours.refusal.notna()].equals(theirs[theirs.refusal.notna()])
    states = [(folder / f"{layout}.state").read_text() for folder in (calm, killed)]
    with tempfile.TemporaryDirectory() as name:
        with KeyedModels(Path(name) / "models.db", LEARNERS[layout]) as models:
            expected = [
                models.observe(row.key, np.array([row.a, row.b]), row.y, row.number)
                for row in frame.itertuples()
            ]
    same_models = learnt.prediction.tolist() == expected
    print(
        f"{layout}: {len(learnt)} rows learnt, {len(ours) - len(learnt)} refused, "
        f"{duplicates} duplicates, {missing} missing; as without kills: predictions "
        f"{same_results}, refusals {same_refusals}, state {states[0] == states[1]}; "
        f"predictions of KeyedModels: {same_models}"
    )
    is_same = same_results and same_refusals and states[0] == states[1] and same_models
    return duplicates + missing + (not is_same)


if __name__ == "__main__":
    main()
