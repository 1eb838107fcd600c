"""How long a process takes until it can learn: imports, compilation, the disk cache."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

from thalweg.lab.bench.found import Row
from thalweg.lab.bench.plan import Plan
from thalweg.lab.bench.timing import Spread

IMPORT, FIRST, SECOND = "import thalweg", "first process", "second process"
LEARNERS = {"RLS": "thalweg.RecursiveLeastSquares()", "Tracker": "thalweg.Tracker()"}
FIRST_CALLS = """
import time, numpy, thalweg
start = time.perf_counter()
model = thalweg.Online({learner}, intercept=False)
model.run(numpy.ones((2, 8)), numpy.ones(2))
model.update(numpy.ones(8), 1.0)
model.predict(numpy.ones(8))
print(time.perf_counter() - start)
"""


def startup(plan: Plan) -> Iterator[tuple[str, list[Row]]]:
    """Each row in nanoseconds; compiling happens once, so it is timed once."""
    yield IMPORT, [_row(IMPORT, [_import_seconds() for _ in range(plan.repeats)])]
    for name in ["RLS"] if plan.quick else LEARNERS:
        with tempfile.TemporaryDirectory() as cache:
            once = [_until_learnt(name, cache)]
            again = [_until_learnt(name, cache) for _ in range(plan.repeats)]
        yield name, [_row(f"{name}, {FIRST}", once), _row(f"{name}, {SECOND}", again)]


def _row(name: str, times: Sequence[float]) -> Row:
    return Row("startup", name, 0, 0, *Spread.of([1e9 * t for t in times]))


def _until_learnt(name: str, cache: str) -> float:
    """Seconds from the end of the imports of numpy and thalweg to a prediction."""
    code = FIRST_CALLS.format(learner=LEARNERS[name])
    return float(_python("-c", code, NUMBA_CACHE_DIR=cache).stdout)


def _import_seconds() -> float:
    """What ``python -X importtime`` says of thalweg, all that it imports included."""
    said = _python("-X", "importtime", "-c", "import thalweg").stderr
    found = re.search(r"\|\s*(\d+) \| thalweg$", said, re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1e6


def _python(*arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | extra, capture_output=True, text=True, check=True,
    )  # fmt: skip
