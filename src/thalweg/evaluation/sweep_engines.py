"""Where the runs of a sweep are executed: by joblib on one machine, or by Ray.

An engine takes functions without arguments and yields (place, result) as they end.
"""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

from thalweg.errors import InvalidParameterError

Functions = Sequence[Callable[[], Any]]


def run_with_joblib(
    functions: Functions, workers: int | None
) -> Iterator[tuple[int, Any]]:
    """On the cores of this machine, in processes of their own."""
    joblib = _import("joblib")
    parallel = joblib.Parallel(
        n_jobs=-1 if workers is None else workers, return_as="generator_unordered"
    )
    jobs = (joblib.delayed(_call)(at, run) for at, run in enumerate(functions))
    yield from parallel(jobs)


def run_with_ray(
    functions: Functions, workers: int | None
) -> Iterator[tuple[int, Any]]:
    """On a Ray cluster: the one that was joined, else one on this machine."""
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
