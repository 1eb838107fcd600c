"""kill -9 of whoever writes a store: what was acknowledged is there, and once.

    PYTHONPATH=. python tools/store_kills.py                  # 10⁶ rows, 500 kills
    PYTHONPATH=. python tools/store_kills.py --rows 20000 --kills 20

Rows follow from their number, so that a writer goes on where the store says. They are
hostile: without features, of 256, with names of any characters, of 1e150, with numbers
above 2⁵³, without a target, and some that have to be refused. After each kill a reader
opens the store, and rounds are compared with the rows until the number it names: fewer
were lost, more were learnt twice. Stores: ``KeyedModels`` row by row and in batches,
model files, buckets as in Spark's state, checkpoints of ``thalweg run --key``, and
``thalweg serve`` with its journal (serve_kills.py). Spark itself: spark_kills.py.
"""

import argparse
import csv
import os
import random
import signal
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import thalweg as tw
from thalweg.cli.main import app
from thalweg.errors import ThalwegError
from thalweg.integrations.spark.bucket_blob import pack_bucket, unpack_bucket
from thalweg.integrations.spark.key_models import KeyedLearning
from thalweg.integrations.spark.model_cache import ModelCache
from thalweg.integrations.spark.row_learning import KeyedRows, learn_rows
from thalweg.keyed import KeyedModels
from thalweg.keyed.codec import KeyedSettings
from thalweg.learners import RecursiveLeastSquares
from thalweg.persistence import files
from tools.serve_kills import kill_under_load

LEARNER = RecursiveLeastSquares(0.95)
FIRST_SEQ = 2**53 - 1000
"""Number of the first row: sequence numbers cross 2⁵³ on the way."""
KEYS = ("plain", "empty", "wide", "named", "surrogates", "huge", "\0", "œ" * 100)
POOL = 4096
"""Number of rows after which they repeat."""
FLUSH_ROWS = 250
MAX_SECONDS_TO_KILL = 0.3


class Row(NamedTuple):
    """A row of the source; one that is not legal has to be refused."""

    key: str
    x: Any
    y: float
    is_legal: bool


@cache
def pool() -> list[Row]:
    """The rows that repeat."""
    rng = np.random.default_rng(0)
    return [_make_row(rng, number) for number in range(POOL)]


def _make_row(rng: np.random.Generator, number: int) -> Row:
    key = KEYS[number % len(KEYS)]
    x: Any = rng.normal(size={"empty": 0, "wide": 256}.get(key, 3))
    if key == "named":
        x = dict(zip(("a", "b\n", "\0"), x.tolist(), strict=True))
    if key == "surrogates":
        x = {"\ud800": float(x[0]), "text": rng.choice(["\udfff", "b"])}
    y = float(rng.normal())
    if key == "huge":
        x, y = x * rng.choice([1e-300, -0.0, 1e140]), y * 1e140
    if rng.random() < 0.02:
        return Row(key, x, np.inf, is_legal=False)
    return Row(key, x, y, is_legal=True)


def rows_until(count: int) -> Counter[str]:
    """The legal rows of each key among the first ``count``."""
    whole, rest = divmod(count, POOL)
    found: Counter[str] = Counter()
    for part, times in ((pool(), whole), (pool()[:rest], 1)):
        for row in part:
            found[row.key] += times * row.is_legal
    return found


Acknowledge = Callable[[int], None]
Work = Callable[[Path, int, Acknowledge], None]


def observe_rows(path: Path, until: int, acknowledge: Acknowledge) -> None:
    """Learn rows one by one from where the store is."""
    with KeyedModels(path, LEARNER, memory=2**22) as models:
        start = 0 if models.offset is None else models.offset - FIRST_SEQ + 1
        for number in range(start, until):
            key, x, y, is_legal = pool()[number % POOL]
            with suppress(ThalwegError):
                models.observe(key, x, y, FIRST_SEQ + number)
                assert is_legal
            if number % FLUSH_ROWS == 0:
                models.flush()
                acknowledge(number)
    acknowledge(until - 1)


def observe_batches(path: Path, until: int, acknowledge: Acknowledge) -> None:
    """Learn rows in batches from where the store is."""
    with KeyedModels(path, LEARNER, memory=2**22) as models:
        start = 0 if models.offset is None else models.offset - FIRST_SEQ + 1
        while start < until:
            stop = min(start + FLUSH_ROWS, until)
            for size in (0, 3, 256):
                numbers = [
                    number
                    for number in range(start, stop)
                    if (row := pool()[number % POOL]).is_legal
                    and isinstance(row.x, np.ndarray)
                    and len(row.x) == size
                ]
                rows = [pool()[number % POOL] for number in numbers]
                x = np.array([row.x for row in rows]).reshape(len(rows), size)
                if rows:
                    seqs = [FIRST_SEQ + number for number in numbers]
                    keys, y = [row.key for row in rows], [row.y for row in rows]
                    models.observe_many(keys, x, y, seqs)
            models.flush()
            start = stop
            acknowledge(stop - 1)


def compare_keyed(path: Path, acknowledged: int, in_batches: bool) -> Counter[str]:
    """What is wrong in a file of ``KeyedModels``."""
    wrong: Counter[str] = Counter()
    with KeyedModels(path, LEARNER, memory=2**22) as models:
        last = -1 if models.offset is None else models.offset - FIRST_SEQ
        wrong["lost"] += max(_last_known(acknowledged, in_batches) - last, 0)
        for key, expected in rows_until(last + 1).items():
            if in_batches and key in ("named", "surrogates"):
                continue
            found = models[key].rounds if key in models else 0
            wrong["lost"] += max(expected - found, 0)
            wrong["learnt twice"] += max(found - expected, 0)
    return wrong


def _last_known(number: int, in_batches: bool) -> int:
    """The last row until a number that has moved the offset."""
    while number >= 0:
        row = pool()[number % POOL]
        if row.is_legal and not (in_batches and isinstance(row.x, dict)):
            return number
        number -= 1
    return number


def save_models(path: Path, until: int, acknowledge: Acknowledge) -> None:
    """Learn rows of one model, and save it again and again."""
    model = tw.Online.load(path) if path.exists() else tw.Online(tw.Tracker())
    while model.rounds < until:
        x = np.random.default_rng(model.rounds).normal(size=3)
        model.update(x, float(x.sum()))
        if model.rounds % 10 == 0 or model.rounds == until:
            model.save(path)
            acknowledge(model.rounds)


def compare_model(path: Path, acknowledged: int) -> Counter[str]:
    """What is wrong in a file of a model."""
    rounds = tw.Online.load(path).rounds if path.exists() else 0
    return Counter({"lost": max(acknowledged - rounds, 0)})


def write_buckets(path: Path, until: int, acknowledge: Acknowledge) -> None:
    """Learn rows in micro-batches into the bytes of a bucket, as Spark's state."""
    learning = KeyedLearning(KeyedSettings.of(LEARNER), 1)
    models = unpack_bucket(path.read_bytes()).models if path.exists() else {}
    last = [learning.decode(model, key).seq for key, model in models.items()]
    for start in range(max(last, default=FIRST_SEQ - 1) + 1 - FIRST_SEQ, until, 100):
        numbers = range(start, min(start + 100, until))
        rows = [pool()[8 * (number % 500)] for number in numbers]  # of the key "plain"
        columns = KeyedRows(
            np.array([row.key for row in rows], object),
            np.array(numbers, np.int64) + FIRST_SEQ,
            np.array([row.x for row in rows]), np.array([row.y for row in rows]),
        )  # fmt: skip
        changed, _ = learn_rows(ModelCache(learning, 0), models, columns)
        models |= changed
        files.write(path, pack_bucket(b"", models))
        acknowledge(numbers[-1])


def compare_buckets(path: Path, acknowledged: int) -> Counter[str]:
    """What is wrong in a bucket."""
    wrong: Counter[str] = Counter()
    learning = KeyedLearning(KeyedSettings.of(LEARNER), 1)
    models = unpack_bucket(path.read_bytes()).models if path.exists() else {}
    if not models:
        return Counter({"lost": max(acknowledged + 1, 0)})
    model = learning.decode(models["plain"], "plain")
    # Rows at the end of the known ones may have been refused.
    last = model.seq - FIRST_SEQ
    legal = [pool()[8 * (number % 500)].is_legal for number in range(last + 1)]
    wrong["lost"] += max(sum(legal) - model.online.rounds, 0)
    wrong["learnt twice"] += max(model.online.rounds - sum(legal), 0)
    for number in range(last + 1, acknowledged + 1):
        wrong["lost"] += pool()[8 * (number % 500)].is_legal
    return wrong


def run_files(path: Path, until: int, acknowledge: Acknowledge) -> None:
    """Run over a file of several series, or go on with the run before."""
    folder = path.with_suffix("")
    source = folder / "s.csv"
    if not source.exists():
        folder.mkdir(exist_ok=True)
        rng = np.random.default_rng(0)
        lines = [f"k{k % 20},{k},{rng.normal():.6f}\n" for k in range(until)]
        part = source.with_suffix(".part")
        part.write_text("key,a,y\n" + "".join(lines))
        part.replace(source)
    os.chdir(folder)
    sys.stdout = sys.stderr = open(os.devnull, "w")
    models, options = Path("out/s/models.db"), ["--no-report"]
    options += ["--resume", str(models)] if models.exists() else ["--target", "y"]
    options += [] if models.exists() else ["--key", "key"]
    app(["run", "s.csv", *options], standalone_mode=False)
    acknowledge(until - 1)


def compare_run(path: Path, acknowledged: int) -> Counter[str]:
    """What is wrong in the predictions of a run that has come to its end."""
    if acknowledged < 0:  # it was killed: the next one goes on
        return Counter()
    with (path.with_suffix("") / "out/s/predictions.csv").open() as file:
        rows = Counter(int(line["row"]) for line in csv.DictReader(file))
    missing = set(range(1, acknowledged + 2)) - set(rows)
    twice = sum(rows.values()) - len(rows)
    return Counter({"lost": len(missing), "learnt twice": twice})


class Store(NamedTuple):
    """A kind of store: who writes it, and who looks."""

    work: Work
    compare: Callable[[Path, int], Counter[str]]
    share: float  # of all rows
    kill_share: float
    is_in_parts: bool = True  # a writer may be given the first rows alone


STORES = {
    "KeyedModels, rows": Store(
        observe_rows, lambda path, last: compare_keyed(path, last, False), 0.55, 0.3
    ),
    "KeyedModels, batches": Store(
        observe_batches, lambda path, last: compare_keyed(path, last, True), 0.4, 0.3
    ),
    "model files": Store(save_models, compare_model, 0.01, 0.1),
    "Spark's buckets": Store(write_buckets, compare_buckets, 0.02, 0.1),
    "checkpoints of runs": Store(run_files, compare_run, 0.02, 0.1, is_in_parts=False),
}
SERVER_KILLS = 0.1
"""Share of the kills that are of a server."""


def trial(
    store: Store, path: Path, rows: int, kills: int, seed: int = 0, early: int = 0
) -> Iterator[Counter[str]]:
    """Kill the writer of a store until so many kills and all rows are through.

    ``early`` is a negative control: so many rows more are acknowledged.
    """
    rng, acknowledged, done = random.Random(seed), -1, 0
    # Kills are spread over the rows.
    while done < kills or acknowledged < rows - 1:
        is_last = done >= kills
        last_of_part = max(rows * (done + 1) // max(kills, 1), 1)
        until = last_of_part if store.is_in_parts and not is_last else rows
        child, reader = _fork(store.work, path, until, early)
        if not is_last:
            time.sleep(rng.uniform(0, MAX_SECONDS_TO_KILL))
            os.kill(child, signal.SIGKILL)
        with os.fdopen(reader, "rb") as pipe:
            numbers = [number for (number,) in struct.iter_unpack("<q", pipe.read())]
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        done += not is_last
        acknowledged = max([acknowledged, *numbers])
        found = Counter(kills=int(not is_last), reopenings=1)
        try:
            found += store.compare(path, acknowledged)
        except ThalwegError as error:
            print(error, file=sys.stderr)
            found["unreadable"] += 1
        if status not in (0, -signal.SIGKILL):
            found["unreadable"] += 1  # the writer itself could not go on
        yield found
        if is_last and (status != 0 or acknowledged < rows - 1):
            return


def _fork(work: Work, path: Path, until: int, early: int) -> tuple[int, int]:
    """A process that works, and the pipe of what it acknowledges."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    try:
        os.close(reader)
        work(path, until, lambda number: _write_number(writer, number + early))
        os._exit(0)
    except BaseException as error:
        print(repr(error), file=sys.__stderr__)
        os._exit(1)


def _write_number(writer: int, number: int) -> None:
    os.write(writer, struct.pack("<q", number))


def main() -> None:
    """Run all stores, print a table, and fail where anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", action="append", choices=[*STORES, "server"])
    options = parser.parse_args()
    names = options.store or [*STORES, "server"]
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        # Imports and compiled code are loaded once, before processes are forked.
        observe_rows(Path(folder) / "warm.db", 3 * POOL // 4, lambda number: None)
        for number, name in enumerate(names):
            start, counts = time.monotonic(), Counter(dict.fromkeys(WRONG, 0))
            path = Path(folder) / f"store-{number}.db"
            if name == "server":
                kills = max(round(SERVER_KILLS * options.kills), 1)
                done, wrong = kill_under_load(path, kills, options.seed)
                counts.update({"rows": done["rows"], "kills": kills})
                counts.update({"lost": wrong["lost"], "unreadable": wrong["different"]})
                counts["learnt twice"] += wrong["learnt_twice"]
            else:
                store = STORES[name]
                rows = round(store.share * options.rows)
                kills = max(round(store.kill_share * options.kills), 1)
                for found in trial(store, path, rows, kills, options.seed):
                    counts.update(found)
                counts["rows"] = rows
            seconds = time.monotonic() - start
            print(f"{name}: {dict(counts)}, {seconds:.0f} s", flush=True)
            total.update(counts)
    print(f"All: {dict(total)}")
    raise SystemExit(any(total[name] for name in WRONG))


WRONG = ("lost", "unreadable", "learnt twice")
"""What must not be."""

if __name__ == "__main__":
    main()
