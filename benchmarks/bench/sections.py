"""``run_bench``: the sections of a bench, and what each of them times."""

import platform
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from importlib import import_module, metadata
from typing import Any

import numpy as np

from benchmarks.bench.agreement import check_agreement, exclude_failures
from benchmarks.bench.bench_plan import BenchPlan
from benchmarks.bench.bench_results import Agreement, BenchResults, Timing
from benchmarks.bench.bench_stream import BenchStream, draw_stream
from benchmarks.bench.implementations import (
    PEER_LIBRARIES,
    RLS_RUN,
    TRACKER_RUN,
    Implementation,
    ModelFactory,
    Peers,
    Run,
    installed_peers,
    prepare_learner_run,
    prepare_run,
    rls_per_round,
    rls_whole_array,
    tracker_implementations,
)
from benchmarks.bench.processes import measure_memory, measure_startup
from benchmarks.bench.roofline import measure_roofline
from benchmarks.bench.timing import (
    TimedCall,
    fit_calls,
    fit_rounds,
    time_interleaved,
)
from thalweg.learners import Experts, RecursiveLeastSquares, Tracker

Advance = Callable[[str], None]
"""Called after every step with a few words on what was measured."""
Step = tuple[str, list[Timing], list[Agreement]]
"""A few words on what was measured, and the measurements."""
Section = Callable[[Peers, ModelFactory, BenchPlan], Iterator[Step]]

MAX_ROUNDS, MAX_NUMBERS = 200_000, 2_000_000
"""Limits of a stream's rounds and numbers: its features stay below 16 MB."""
FEATURES = 8
"""Of the streams on which something else than n grows."""
EXPERTS = (1, 2, 4, 8, 16, 32, 64)
HORIZONS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
MAX_TRACKER_FEATURES = 64
BLOCKED_SIZES = (64, 128, 256)
ROUND_BY_ROUND, BLOCKED = "round by round", "blocked"
LONG_RUN, SHORT_RUN = 10_000_000, 1_000_000


def run_bench(
    plan: BenchPlan, make_model: ModelFactory, advance: Advance = lambda _: None
) -> BenchResults:
    """Measure the sections of a plan; ``make_model`` wraps a learner as users do.

    Everything runs on one thread, other libraries' linear algebra too where
    threadpoolctl is installed to limit it.
    """
    peers = installed_peers()
    results = BenchResults(missing=list(peers.missing), environment=_environment())
    with _one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Warnings of other libraries are theirs.
        for message in _measure(plan, peers, make_model, results):
            advance(message)
    return results


def _measure(
    plan: BenchPlan, peers: Peers, make_model: ModelFactory, results: BenchResults
) -> Iterator[str]:
    """Add measurements to the results, and report each step."""
    for name in plan.sections:
        if name in TIMED_SECTIONS:
            for message, timings, agreements in TIMED_SECTIONS[name](
                peers, make_model, plan
            ):
                results.timings.extend(timings)
                results.agreements.extend(agreements)
                yield message
        elif name == "roofline":
            results.timings.extend(measure_roofline(plan))
            yield name
        elif name == "startup":
            for what, timings in measure_startup(plan):
                results.timings.extend(timings)
                yield f"start-up, {what}"
        elif name == "memory":
            rounds = SHORT_RUN if plan.quick else LONG_RUN
            results.memory_use.extend(measure_memory("RecursiveLeastSquares", rounds))
            yield name


def _one_thread() -> AbstractContextManager[Any]:
    try:
        return import_module("threadpoolctl").threadpool_limits(1)  # type: ignore[no-any-return]
    except ImportError:
        return nullcontext()


def _environment() -> dict[str, str]:
    values = {
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "on": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
    }
    for package in ("thalweg", "numba", *(peer.package for peer in PEER_LIBRARIES)):
        try:
            values[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return values


def time_calls(
    peers: Peers, make_model: ModelFactory, plan: BenchPlan
) -> Iterator[Step]:
    """One call a round."""
    implementations = (rls_per_round(make_model), *peers.per_round)
    for n in plan.sizes:
        yield time_implementations("call", implementations, n, plan)


def time_arrays(
    peers: Peers, make_model: ModelFactory, plan: BenchPlan
) -> Iterator[Step]:
    """One call for the whole stream."""
    implementations = (*rls_whole_array(make_model), *peers.whole_array)
    for n in plan.sizes:
        yield time_implementations("array", implementations, n, plan)


def time_tracker(
    peers: Peers, make_model: ModelFactory, plan: BenchPlan
) -> Iterator[Step]:
    """The Tracker and one padasip filter."""
    peer_runs = (*peers.whole_array, *peers.per_round)
    padasip = [run for run in peer_runs if "padasip" in run.name]
    implementations = (*tracker_implementations(make_model), *padasip)
    for n in plan.sizes_up_to(MAX_TRACKER_FEATURES):
        yield time_implementations("tracker", implementations, n, plan)


def time_bank(
    peers: Peers, make_model: ModelFactory, plan: BenchPlan
) -> Iterator[Step]:
    """N discounts in one mixture."""
    stream = draw_stream(MAX_ROUNDS // 10, FEATURES)
    timed = {}
    for count in EXPERTS:
        grid = 1 - np.geomspace(1e-3, 0.3, count)
        mixture = Experts(tuple(RecursiveLeastSquares(float(g)) for g in grid))
        head = stream.head(len(stream.y) // count)
        run = prepare_run(make_model, mixture, head)
        timed[count] = fit_calls(run, len(head.y), plan)
    yield "bank", _time_sizes("bank", "bank of RLS", timed, plan), []


def time_blocks(
    peers: Peers, make_model: ModelFactory, plan: BenchPlan
) -> Iterator[Step]:
    """Blocks of rounds, and single rounds."""

    def prepare_rounds(stream: BenchStream, discount: float, ridge: float) -> Run:
        return prepare_learner_run(RecursiveLeastSquares(discount, ridge), stream)

    def prepare_blocks(stream: BenchStream, discount: float, ridge: float) -> Run:
        learner = RecursiveLeastSquares(discount, ridge)
        return prepare_learner_run(learner, stream, blocked=True)

    implementations = (
        Implementation(ROUND_BY_ROUND, prepare_rounds),
        Implementation(BLOCKED, prepare_blocks),
    )
    for n in BLOCKED_SIZES:
        yield time_implementations("blocks", implementations, n, plan)


def time_rounds(
    peers: Peers, make_model: ModelFactory, plan: BenchPlan
) -> Iterator[Step]:
    """More and more rounds: the cost of one must stay what it is."""
    stream = draw_stream(HORIZONS[-1], FEATURES)
    learners = (
        (RLS_RUN, RecursiveLeastSquares(), 1),
        (TRACKER_RUN, Tracker(), 50),
    )
    for name, learner, divisor in learners:
        timed = {}
        for horizon in HORIZONS:
            head = stream.head(horizon // divisor)
            run = prepare_run(make_model, learner, head)
            timed[len(head.y)] = fit_calls(run, len(head.y), plan)
        yield f"T rounds: {name}", _time_sizes("rounds", name, timed, plan), []


TIMED_SECTIONS: dict[str, Section] = {
    "call": time_calls,
    "array": time_arrays,
    "tracker": time_tracker,
    "bank": time_bank,
    "blocks": time_blocks,
    "rounds": time_rounds,
}


def time_implementations(
    section: str, implementations: Sequence[Implementation], n: int, plan: BenchPlan
) -> Step:
    """Check agreement, then time all that did not fail, on one stream of n features."""
    stream = draw_stream(min(MAX_ROUNDS, MAX_NUMBERS // n), n)
    candidates = [
        implementation
        for implementation in implementations
        if n <= implementation.max_features
    ]
    agreements = [check_agreement(candidate, stream) for candidate in candidates]
    timed = {
        candidate.name: fit_rounds(candidate, stream, plan)
        for candidate in exclude_failures(candidates, agreements)
    }
    timings = [
        Timing(section, name, n, 0, *quartiles)
        for name, quartiles in time_interleaved(timed, plan).items()
    ]
    return f"{section}, n = {n}", timings, agreements


def _time_sizes(
    section: str, name: str, timed: Mapping[int, TimedCall], plan: BenchPlan
) -> list[Timing]:
    quartiles = time_interleaved(timed, plan)
    return [Timing(section, name, FEATURES, size, *quartiles[size]) for size in timed]
