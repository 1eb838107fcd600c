"""Many evaluations at once: streams × learners × seeds, on all cores or a cluster.

Every run is one ``prequential`` evaluation. Results do not depend on the engine or on
the order in which runs end: ``SweepResult.digest`` is the same wherever they ran.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from thalweg.errors import InvalidParameterError
from thalweg.evaluation.error_ratio import error_ratio
from thalweg.evaluation.prequential import prequential
from thalweg.imputer import MissingPolicy
from thalweg.learners import Learner
from thalweg.losses import LinearLoss
from thalweg.persistence.files import write
from thalweg.types import Block

Engine = Literal["joblib", "ray"]
Progress = Callable[[int, int], None]
Functions = Sequence[Callable[[], Any]]
"""Each is one run, to be called without arguments."""


class SweepRun(NamedTuple):
    """The errors of one learner on one stream with one seed."""

    stream: str
    learner: str
    seed: int
    scored_rounds: int
    squared: float  # the mean squared error
    absolute: float  # the mean absolute error
    best_baseline: str  # the best of the simple baselines in the same rounds
    best_baseline_squared: float
    prediction_digest: str  # SHA-256 of all predictions


class SweepTask(NamedTuple):
    """All that a worker needs for one run."""

    stream_name: str
    learner_name: str
    seed: int
    stream: Any
    learner: Any
    options: dict[str, Any]  # of prequential

    def run(self) -> SweepRun:
        """Make the stream and the learner, and evaluate."""
        stream, learner, seed = self.stream, self.learner, self.seed
        block = stream if isinstance(stream, Block) else stream(seed)
        made = learner if isinstance(learner, Learner) else learner(seed)
        result = prequential(made, block, **self.options)
        best = result.best_baseline
        return SweepRun(
            self.stream_name, self.learner_name, seed, result.scored_rounds,
            result.squared, result.absolute, best.name, best.squared,
            hashlib.sha256(result.prediction.tobytes()).hexdigest(),
        )  # fmt: skip

    def identity(self) -> str:
        """What the file of a finished run is called."""
        stream, learner = self.stream, self.learner
        data = "function"
        if isinstance(stream, Block):
            data = _block_digest(stream)
        names = (self.stream_name, self.learner_name, self.seed)
        made = repr(learner) if isinstance(learner, Learner) else "function"
        text = repr((names, data, made, sorted(self.options.items())))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True, eq=False)
class SweepResult:
    """All runs of a sweep, in the order of streams, learners and seeds.

    As text it is a table of errors; ``pandas.DataFrame(result.runs)`` has every run.
    """

    runs: tuple[SweepRun, ...]

    @property
    def digest(self) -> str:
        """SHA-256 of all runs: the same on every engine."""
        return hashlib.sha256(
            repr([tuple(run) for run in self.runs]).encode()
        ).hexdigest()

    def __str__(self) -> str:
        groups: dict[tuple[str, str], list[SweepRun]] = {}
        for run in self.runs:
            groups.setdefault((run.stream, run.learner), []).append(run)
        lines = [("stream", "learner", "seeds", "mean squared", "over best baseline")]
        for (stream, learner), runs in groups.items():
            error = float(np.mean([run.squared for run in runs]))
            base = float(np.mean([run.best_baseline_squared for run in runs]))
            ratio = f"{error_ratio(error, base):.3f}"
            lines.append((stream, learner, str(len(runs)), f"{error:.5g}", ratio))
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if place < 2 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        )


def print_progress(done: int, total: int) -> None:
    """A line on stderr that counts the runs, where stderr is a terminal."""
    if sys.stderr.isatty():
        end = "\n" if done == total else "\r"
        print(f"{done:,} of {total:,} runs", end=end, file=sys.stderr, flush=True)


def run_with_joblib(
    functions: Functions, workers: int | None
) -> Iterator[tuple[int, Any]]:
    """Pairs of a place and a result as runs end, in processes on this machine."""
    joblib = _import("joblib")
    parallel = joblib.Parallel(
        n_jobs=-1 if workers is None else workers, return_as="generator_unordered"
    )
    jobs = (joblib.delayed(_call)(at, run) for at, run in enumerate(functions))
    yield from parallel(jobs)


def run_with_ray(
    functions: Functions, workers: int | None
) -> Iterator[tuple[int, Any]]:
    """The same on a Ray cluster: the one that was joined, else one on this machine."""
    ray = _import("ray")
    started = not ray.is_initialized()
    if started:
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    try:
        call = ray.remote(_call)
        pending = [call.remote(at, run) for at, run in enumerate(functions)]
        while pending:
            ready, pending = ray.wait(pending, num_returns=1)
            yield from ray.get(ready)
    finally:
        if started:
            ray.shutdown()


ENGINES: dict[str, Callable[[Functions, int | None], Iterator[tuple[int, Any]]]] = {
    "joblib": run_with_joblib,
    "ray": run_with_ray,
}


def _call(at: int, run: Callable[[], Any]) -> tuple[int, Any]:
    return at, run()


def _import(library: str) -> Any:
    try:
        return import_module(library)
    except ImportError:
        raise InvalidParameterError(
            f"The engine {library!r} of sweep needs the package {library}: "
            f"pip install {library}."
        ) from None


def sweep(
    streams: Mapping[str, Any], learners: Mapping[str, Any],
    seeds: Iterable[int] = (0,), *, engine: Engine = "joblib",
    workers: int | None = None, folder: str | Path | None = None,
    progress: Progress = print_progress, delay: int = 0,
    missing: MissingPolicy = "refuse", burn_in: int = 0, loss: LinearLoss | None = None,
) -> SweepResult:  # fmt: skip
    """Evaluate every learner on every stream with every seed, in parallel.

    >>> import numpy as np
    >>> import thalweg as tw
    >>> from thalweg.paper import sweep
    >>> def walk(seed):
    ...     rng = np.random.default_rng(seed)
    ...     x = rng.normal(size=(300, 2))
    ...     slopes = rng.normal(size=(300, 2)).cumsum(axis=0)
    ...     return tw.Block(x, (x * slopes).sum(axis=1))
    >>> learners = {
    ...     "forgets": tw.RecursiveLeastSquares(discount=0.8),
    ...     "remembers": tw.RecursiveLeastSquares(discount=1.0),
    ... }
    >>> result = sweep({"walk": walk}, learners, range(3), workers=1)
    >>> len(result.runs)
    6

    Args:
        streams: by name, blocks, or functions that make a block of a seed.
        learners: by name, learners, or functions that make of a seed whatever
            ``prequential`` takes.
        seeds: whole numbers.
        engine: ``"joblib"`` uses the cores of this machine, ``"ray"`` a Ray cluster:
            the one that ``ray.init`` has joined, else a local one.
        workers: how many runs go on at a time with joblib; by default one a core.
        folder: where finished runs are stored, a small JSON file each. A sweep that
            was stopped goes on from there. Streams and learners that are functions
            are known by their names only: change the name with the function.
        progress: called with the number of finished runs, and of all.

    All else is as in ``prequential``.
    """
    if engine not in ENGINES:
        raise InvalidParameterError(
            f"The 'engine' parameter of sweep must be one of {', '.join(ENGINES)}. "
            f"Got {engine!r} instead."
        )
    _require_names("streams", streams)
    _require_names("learners", learners)
    numbers = _as_seeds(seeds)
    options = {"delay": delay, "missing": missing, "burn_in": burn_in, "loss": loss}
    tasks = [
        SweepTask(stream, learner, seed, streams[stream], learners[learner], options)
        for stream in streams
        for learner in learners
        for seed in numbers
    ]
    store = None if folder is None else RunStore(Path(folder))
    runs: dict[int, SweepRun] = {} if store is None else store.load(tasks)
    progress(len(runs), len(tasks))
    waiting = [place for place in range(len(tasks)) if place not in runs]
    functions = [tasks[place].run for place in waiting]
    for at, run in ENGINES[engine](functions, workers):
        place = waiting[at]
        if store is not None:
            store.save(tasks[place], run)
        runs[place] = run
        progress(len(runs), len(tasks))
    return SweepResult(tuple(runs[place] for place in range(len(tasks))))


class RunStore:
    """Finished runs in a folder, one JSON file each, named by what was run."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder

    def load(self, tasks: list[SweepTask]) -> dict[int, SweepRun]:
        """The runs that are stored, by the place of their task."""
        found = {}
        for place, task in enumerate(tasks):
            path = self._path(task)
            if path.exists():
                found[place] = _read_run(path)
        return found

    def save(self, task: SweepTask, run: SweepRun) -> None:
        """Store a run so that a crash leaves all of it, or nothing."""
        write(self._path(task), json.dumps(run._asdict()).encode())

    def _path(self, task: SweepTask) -> Path:
        return self.folder / f"{task.identity()}.json"


def _read_run(path: Path) -> SweepRun:
    try:
        fields = json.loads(path.read_text())
        kinds = SweepRun.__annotations__
        right = fields.keys() == kinds.keys() and all(
            type(fields[name]) is kind for name, kind in kinds.items()
        )
    except (ValueError, AttributeError):
        right = False
    if not right:
        raise InvalidParameterError(
            f"{path} is no run of a sweep. Delete it, or give another folder."
        )
    return SweepRun(**fields)


def _block_digest(block: Block) -> str:
    """SHA-256 of all that a block holds."""
    digest = hashlib.sha256()
    for part in (block.x, block.y, block.weight, block.elapsed):
        array = np.array([]) if part is None else np.asarray(part, np.float64)
        digest.update(repr((part is None, array.shape)).encode() + array.tobytes())
    return digest.hexdigest()


def _require_names(parameter: str, given: object) -> None:
    if not isinstance(given, Mapping) or not given:
        raise InvalidParameterError(
            f"The {parameter!r} parameter of sweep must be a dict of at least one of "
            f"them by its name. Got {given!r} instead."
        )


def _as_seeds(seeds: Iterable[int]) -> list[int]:
    numbers = list(dict.fromkeys(seeds))
    for seed in numbers:
        if not isinstance(seed, int | np.integer) or isinstance(seed, bool):
            raise InvalidParameterError(
                f"The 'seeds' parameter of sweep must hold whole numbers. Got {seed!r} "
                "among them."
            )
    if not numbers:
        raise InvalidParameterError("The 'seeds' parameter of sweep holds no seed.")
    return [int(seed) for seed in numbers]
