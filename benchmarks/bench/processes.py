"""Start-up time and memory of a long run, measured in processes of their own.

Start-up is imports, compilation and numba's disk cache. Memory is that of a run over a
stream that lies in a file and is read a part at a time.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.bench.bench_plan import BenchPlan
from benchmarks.bench.bench_results import MemoryUse, Timing
from benchmarks.bench.bench_stream import draw_stream
from benchmarks.bench.implementations import TimedModel
from benchmarks.bench.timing import Quartiles

IMPORT, FIRST, SECOND = "import thalweg", "first process", "second process"
LEARNERS = {"RLS": "thalweg.RecursiveLeastSquares()", "Tracker": "thalweg.Tracker()"}
STARTUP_SCRIPT = """
import time, numpy, thalweg
start = time.perf_counter()
model = thalweg.Online({learner}, intercept=False)
model.run(numpy.ones((2, 8)), numpy.ones(2))
model.update(numpy.ones(8), 1.0)
model.predict(numpy.ones(8))
print(time.perf_counter() - start)
"""

ROUNDS_PER_PART = 100_000
FEATURES = 8
STATUS = Path("/proc/self/status")
MEMORY_SCRIPT = """
import json, pathlib, sys, thalweg
from benchmarks.bench.processes import watch_memory
model = thalweg.Online(getattr(thalweg, sys.argv[1])())
print(json.dumps(watch_memory(model, pathlib.Path(sys.argv[2]))))
"""


def measure_startup(plan: BenchPlan) -> Iterator[tuple[str, list[Timing]]]:
    """Timings in nanoseconds; compilation happens once, so it is timed once."""
    imports = [_import_seconds() for _ in range(plan.repeats)]
    yield IMPORT, [_startup_timing(IMPORT, imports)]
    for name in ["RLS"] if plan.quick else LEARNERS:
        with tempfile.TemporaryDirectory() as cache:
            first = [_first_prediction_seconds(name, cache)]
            later = [
                _first_prediction_seconds(name, cache) for _ in range(plan.repeats)
            ]
        yield (
            name,
            [
                _startup_timing(f"{name}, {FIRST}", first),
                _startup_timing(f"{name}, {SECOND}", later),
            ],
        )


def _startup_timing(name: str, seconds: Sequence[float]) -> Timing:
    quartiles = Quartiles.from_times([1e9 * time for time in seconds])
    return Timing("startup", name, 0, 0, *quartiles)


def _first_prediction_seconds(name: str, cache: str) -> float:
    """Seconds from the end of the imports of numpy and thalweg to a prediction."""
    code = STARTUP_SCRIPT.format(learner=LEARNERS[name])
    return float(_run_python("-c", code, NUMBA_CACHE_DIR=cache).stdout)


def _import_seconds() -> float:
    """What ``python -X importtime`` reports of thalweg, with all that it imports."""
    report = _run_python("-X", "importtime", "-c", "import thalweg").stderr
    match = re.search(r"\|\s*(\d+) \| thalweg$", report, re.MULTILINE)
    assert match is not None
    return int(match[1]) / 1e6


def _run_python(
    *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | environment, capture_output=True, text=True, check=True,
    )  # fmt: skip


def measure_memory(learner: str, rounds: int) -> list[MemoryUse]:
    """Memory while a process runs a file of ``rounds`` rounds; empty without /proc."""
    if not STATUS.exists():
        return []
    with tempfile.TemporaryDirectory() as folder:
        write_stream(Path(folder), rounds)
        done = _run_python("-c", MEMORY_SCRIPT, learner, folder)
    return [MemoryUse(learner, *entry) for entry in json.loads(done.stdout)]


def write_stream(folder: Path, rounds: int) -> None:
    """Write x.npy and y.npy, a part at a time."""
    create = np.lib.format.open_memmap
    x = create(folder / "x.npy", "w+", np.float64, (rounds, FEATURES))
    y = create(folder / "y.npy", "w+", np.float64, (rounds,))
    for start in range(0, rounds, ROUNDS_PER_PART):
        part = slice(start, min(start + ROUNDS_PER_PART, rounds))
        stream = draw_stream(part.stop - start, FEATURES, seed=start)
        x[part], y[part] = stream.x, stream.y


def watch_memory(model: TimedModel, folder: Path) -> list[tuple[int, float, float]]:
    """Run the file; (rounds, peak, own memory) after each power of ten, in MiB."""
    rounds = len(np.load(folder / "y.npy", mmap_mode="r"))
    milestones = [10**k for k in range(5, 12) if 10**k < rounds]
    measured = []
    for start in range(0, rounds, ROUNDS_PER_PART):
        # Opened again for each part: pages of a closed file no longer count as ours.
        x, y = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in "xy")
        part = slice(start, start + ROUNDS_PER_PART)
        model.run(x[part], y[part])
        done = min(start + ROUNDS_PER_PART, rounds)
        if done in (*milestones, rounds):
            measured.append((done, _status("VmHWM"), _status("RssAnon")))
    return measured


def _status(name: str) -> float:
    lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return int(lines[name].split()[0]) / 1024
