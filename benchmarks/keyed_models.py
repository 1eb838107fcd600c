"""``KeyedModels`` beside a dict of ``Online``, its earlier self and plain SQLite.

    git worktree add ../before 9789eb7
    python -m benchmarks.keyed_models --before ../before --learner rls
    python -m benchmarks.keyed_models --before ../before --learner tracker

Two tables, of n = 8 features:

1. One row: ``observe`` and ``observe_many`` against a dict of ``Online`` whose models
   predict and update. Chunks of rows alternate in one process; the median and the least
   time of a row, and their ratios.
2. Durable rows a second: rounds of five rows for every key, then a flush. Processes
   with the code of before (``--before``, a checkout) and of now take turns, round by
   round, on one core; then SQLite's ``executemany`` writes blobs of the same size, with
   new bytes each time. The first round, which makes the models, is not counted. Most
   flushes of now write rows, every sixth or so all models (``MAX_LOG_BYTES``): figures
   are means over all rounds, with the bytes that were written.

On a busy machine only ratios of the same run mean anything.
"""

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import thalweg as tw
from thalweg.keyed import KeyedModels

N = 8
ROWS_PER_KEY = 5
MEMORY = 2**36


def make_learner(name):
    """The learner of this name."""
    return {"rls": tw.RecursiveLeastSquares, "tracker": tw.Tracker}[name]()


def rows_of_round(number, keys):
    """(T, n) features and T targets; in the order of rows, keys take turns."""
    rng = np.random.default_rng(number)
    count = keys * ROWS_PER_KEY
    return rng.normal(size=(count, N)), rng.normal(size=count)


# One row


def time_single_rows(learner, keys, chunks):
    """Seconds a row, (chunks, 3): a dict of models, ``observe``, ``observe_many``."""
    names = [f"sensor-{k}" for k in range(keys)]
    x, y = np.random.default_rng(0).normal(size=(keys, N)), np.arange(keys) / keys
    rows, targets, online = list(x), y.tolist(), {}
    times = np.zeros((chunks + 1, 3))
    with (
        tempfile.TemporaryDirectory() as folder,
        KeyedModels(Path(folder, "one.db"), learner, memory=MEMORY) as models,
        KeyedModels(Path(folder, "many.db"), learner, memory=MEMORY) as batches,
    ):
        for chunk in range(chunks + 1):
            seq = range(chunk * keys, chunk * keys + keys)
            start = time.perf_counter()
            for key, row, target in zip(names, rows, targets, strict=True):
                model = online.get(key)
                if model is None:
                    model = online[key] = tw.Online(learner)
                model.predict(row)
                model.update(row, target)
            middle = time.perf_counter()
            for key, row, target, number in zip(names, rows, targets, seq, strict=True):
                models.observe(key, row, target, number)
            end = time.perf_counter()
            batches.observe_many(names, x, y, seq)
            last = time.perf_counter()
            times[chunk] = middle - start, end - middle, last - end
    return times[1:] / keys


def print_single_rows(name, keys, chunks):
    """The first table."""
    times = time_single_rows(make_learner(name), keys, chunks) * 1e6
    median, least = np.median(times, axis=0), times.min(axis=0)
    ratios = np.median(times / times[:, :1], axis=0)
    print(f"\n{name}, one row, n = {N}, {keys:,} keys in turn (µs a row)")
    print(f"{'':24}{'median':>9}{'least':>9}{'ratio (median of chunks)':>27}")
    for k, what in enumerate(("dict of Online", "observe", "observe_many")):
        print(f"{what:24}{median[k]:9.2f}{least[k]:9.2f}{ratios[k]:27.2f}")


# Durable rows


def work(name, keys, path, is_before):
    """A process that plays a round for each line of its input, and prints seconds."""
    options = {"cache_size": 2 * keys} if is_before else {"memory": MEMORY}
    names = [f"sensor-{k}" for k in range(keys)] * ROWS_PER_KEY
    with KeyedModels(path, make_learner(name), **options) as models:
        print("ready", flush=True)
        for line in sys.stdin:
            number = int(line)
            x, y = rows_of_round(number, keys)
            seq = range(number * len(y), (number + 1) * len(y))
            start = usage()
            if is_before:
                for key, row, target, own in zip(names, x, y, seq, strict=True):
                    models.observe(key, row, target, own)
            else:
                models.observe_many(names, x, y, seq)
            models.flush()
            spent = [now - then for now, then in zip(usage(), start, strict=True)]
            print(json.dumps(spent), flush=True)


def usage():
    """Seconds by the clock and of the processor, and bytes written (Linux)."""
    (line,) = (
        line for line in Path("/proc/self/io").read_text().splitlines()
        if line.startswith("wchar")
    )  # fmt: skip
    return time.perf_counter(), time.process_time(), int(line.split()[1])


class Worker:
    """A process of ``work`` with the library of one checkout, on one core."""

    def __init__(self, name, keys, path, source, is_before):
        environment = {**os.environ, "PYTHONPATH": str(Path(source, "src"))}
        command = [sys.executable, __file__, "--work", name, "--keys", str(keys)]
        command += ["--path", str(path)] + ["--is-before"] * is_before
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment,
        )  # fmt: skip
        os.sched_setaffinity(self.process.pid, {min(os.sched_getaffinity(0))})
        self.process.stdout.readline()

    def play(self, number):
        """Seconds of a round, by the clock and of the processor, and bytes written."""
        print(number, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self):
        """Let the process end."""
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def blob_size(path):
    """Bytes of a model in the file, on average."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as file:
        (size,) = file.execute("SELECT avg(length(model)) FROM models").fetchone()
    file.close()
    return int(size)


class PlainStore:
    """SQLite that is given blobs of this size, with the same durability."""

    def __init__(self, path, keys, size):
        self.connection = sqlite3.connect(path, isolation_level=None)
        for statement in (
            "PRAGMA page_size = 16384", "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            "CREATE TABLE models (key TEXT PRIMARY KEY, model BLOB)",
        ):  # fmt: skip
            self.connection.execute(statement)
        self.keys, self.size = sorted(f"sensor-{k}" for k in range(keys)), size

    def play(self, number):
        """Seconds in which new blobs of all keys are written."""
        rng = np.random.default_rng(number)
        rows = [(key, rng.bytes(self.size)) for key in self.keys]
        start = usage()
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.executemany("INSERT OR REPLACE INTO models VALUES (?, ?)", rows)
        self.connection.execute("COMMIT")
        return [now - then for now, then in zip(usage(), start, strict=True)]


def print_durable(name, keys, rounds, before):
    """The second table."""
    here = Path(__file__).parent.parent
    with tempfile.TemporaryDirectory() as folder:
        paths = {"before": Path(folder, "before.db"), "now": Path(folder, "now.db")}
        workers = {"now": Worker(name, keys, paths["now"], here, False)}
        if before is not None:
            old = Worker(name, keys, paths["before"], before, True)
            workers = {"before": old, **workers}
        spent = {what: [] for what in (*workers, "executemany")}
        plain = None
        for number in range(rounds + 1):
            for what, worker in workers.items():
                spent[what].append(worker.play(number))
            if plain is None:
                size = blob_size(paths["now"])
                plain = PlainStore(Path(folder, "plain.db"), keys, size)
            spent["executemany"].append(plain.play(number))
        for worker in workers.values():
            worker.close()
        plain.connection.close()
        sizes = {what: blob_size(paths[what]) for what in workers} | {
            "executemany": size
        }
    count = keys * ROWS_PER_KEY
    times = {what: np.mean(spent[what][1:], axis=0) for what in spent}
    print(
        f"\n{name}, durable: {keys:,} keys, {ROWS_PER_KEY} rows each a flush, one core"
    )
    print(
        f"{'':14}{'rows/s':>10}{'of CPU':>10}{'ratio':>8}{'of CPU':>8}{'bytes/key':>11}"
        f"{'written/row':>13}"
    )
    base = times.get("before", times["now"])
    for what, (wall, processor, written) in times.items():
        ratios = f"{base[0] / wall:8.1f}{base[1] / processor:8.1f}"
        print(
            f"{what:14}{count / wall:10,.0f}{count / processor:10,.0f}{ratios}"
            f"{sizes[what]:11,}{written / count:13,.0f}"
        )


def main():
    """Print the tables that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", help="a checkout of the code to compare with")
    parser.add_argument("--learner", choices=("rls", "tracker"), action="append")
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=13)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    parser.add_argument("--is-before", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.work, given.keys, given.path, given.is_before)
        return
    for name in given.learner or ("rls", "tracker"):
        print_single_rows(name, 1000 if name == "rls" else 100, 50)
        print_durable(name, given.keys, given.rounds, given.before)


if __name__ == "__main__":
    main()
