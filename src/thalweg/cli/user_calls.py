"""Small calls of what users call: each compiles the kernels that such a call needs.

``thalweg warm`` makes them, and a wheel ships their kernels. So no list names kernels:
which there are, for arguments of which types, is what these calls compile.
"""

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import date, timedelta
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import thalweg
from thalweg import bandits, learners
from thalweg.cli.main import app
from thalweg.kernels.compiler.cache_folder import writable_folder
from thalweg.kernels.compiler.kernel_cache import (
    SHIPPED_VARIABLE,
    KernelCache,
    baseline,
    ship,
)

ROWS, FEATURES = 60, 2
_rng = np.random.default_rng(0)
X, Y = _rng.normal(size=(ROWS, FEATURES)), _rng.normal(size=ROWS)
LABELS = (Y > 0).astype(int)


def _learn(learner: "learners.Learner[Any] | None" = None) -> None:
    model = thalweg.Online(learner)
    model.update(X[0], Y[0])
    model.predict(X[1])
    model.run(X[1:], Y[1:])


def _learn_least_squares() -> None:
    learner = learners.RecursiveLeastSquares()
    _learn(learner)
    block = thalweg.Block(X, Y)
    learner.run(learner.init(np.zeros(FEATURES)), thalweg.SquaredError(), block)


def _classify() -> None:
    model = thalweg.Classifier()
    model.update(X[0], LABELS[0])
    model.predict(X[1])
    model.run(X[1:], LABELS[1:])


def _forecast() -> None:
    model = thalweg.Forecaster(3)
    model.update(Y[0])
    model.run(Y[1:])
    model.forecast()


def _learn_keys() -> None:
    with thalweg.KeyedModels("models.db") as models:
        models.observe("a", X[0], Y[0], 0)
        models.observe_many(["a", "b"], X[1:3], Y[1:3], [1, 2])
        models.predict("a", X[3])


def _run_command(*arguments: str) -> None:
    days = (date(2024, 1, 1) + timedelta(days) for days in range(ROWS))
    rows = zip(days, X[:, 0], Y, LABELS, strict=True)
    lines = [",".join(map(str, row)) for row in rows]
    Path("rows.csv").write_text("\n".join(["day,x,y,label", *lines, ""]))
    app([*arguments, "--no-report"], standalone_mode=False)


def _choose_actions() -> None:
    linear, arms = bandits.abrupt_environment(), bandits.switching_arms()
    for policy in (bandits.AdaptiveLinUCB(), bandits.DiscountedLinUCB()):
        bandits.simulate(policy, linear, rounds=ROWS)
    bandits.simulate(bandits.TrackerLinUCB(), linear, rounds=ROWS)
    for ucb in (bandits.DiscountedUCB(), bandits.SlidingWindowUCB()):
        bandits.simulate(ucb, arms, rounds=ROWS)


CALLS: dict[str, Callable[[], None]] = {
    "Forecaster": _forecast,
    "Online": _learn,
    "RecursiveLeastSquares": _learn_least_squares,
    "Classifier": _classify,
    "KeyedModels": _learn_keys,
    "thalweg run": partial(_run_command, "run", "rows.csv", "-t", "y"),
    "thalweg run, of classes": partial(_run_command, "run", "rows.csv", "-t", "label"),
    "thalweg forecast": partial(_run_command, "forecast", "rows.csv", "-t", "y"),
    "thalweg compare": partial(_run_command, "compare", "rows.csv", "-t", "y"),
    "thalweg demo": partial(_run_command, "demo", "--rows", str(ROWS)),
    "bandits": _choose_actions,
}
"""All calls, of which the first two take longest and share nothing."""


class MadeCall(NamedTuple):
    """A call that has been made."""

    name: str
    kernels: set[str]  # files of the kernels that it loaded, and did not compile
    seconds: float


def make_calls(native: bool = False) -> Iterator[MadeCall]:
    """Make all calls, each in a process of its own, on all processors.

    ``native``: what came compiled with thalweg is compiled for this processor, too.
    """
    if native:
        os.environ[SHIPPED_VARIABLE] = "0"
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count()
    with ProcessPoolExecutor(
        processors, mp_context=get_context("spawn"), max_tasks_per_child=1
    ) as processes:
        for made in as_completed([processes.submit(_make, name) for name in CALLS]):
            yield made.result()


def compiled_folder() -> Path | None:
    """The folder that keeps compiled kernels; None where no folder is safe."""
    return writable_folder()


def _make(name: str) -> MadeCall:
    start = time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        CALLS[name]()
    return MadeCall(name, KernelCache.loaded, time.perf_counter() - start)


def ship_kernels(archive: Path) -> None:
    """Compile what ``CALLS`` need, for the baseline, into an archive.

    They are made twice: the first time compiles functions that kernels call as well,
    which the second time does not load.
    """
    with tempfile.TemporaryDirectory() as folder:
        processor, features = baseline()
        os.environ |= {
            "NUMBA_CACHE_DIR": folder,
            "NUMBA_CPU_NAME": processor,
            "NUMBA_CPU_FEATURES": features,
            SHIPPED_VARIABLE: "0",
        }
        for _ in range(2):
            kernels = [made.kernels for made in make_calls()]
        ship(Path(folder), set().union(*kernels), archive)
