"""Timing of implementations in turn, as medians with quartiles of processor time."""

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

import numpy as np

from benchmarks.bench.bench_plan import BenchPlan
from benchmarks.bench.bench_stream import BenchStream
from benchmarks.bench.implementations import Implementation

K = TypeVar("K")
FIRST_ROUNDS, ROUNDS_FACTOR = 50, 8
"""Rounds of the first trial run, and the factor by which further ones are longer."""
CLOCK_TICK = 1e-9
"""Seconds that a call takes at least: on a coarse clock a time may seem to be 0."""
MIN_ROUNDS = 20
"""Rounds that a slow implementation runs at least."""


class TimedCall(NamedTuple):
    """Something to call, the rounds a call runs, and the calls of a repetition."""

    call: Callable[[], object]
    rounds: int
    calls: int


class Quartiles(NamedTuple):
    """Nanoseconds a round: the median over repetitions, and the quartiles."""

    ns: float
    low: float
    high: float

    @classmethod
    def from_times(cls, times: Sequence[float]) -> "Quartiles":
        """The quartiles of the times of some repetitions."""
        return cls(*np.quantile(times, (0.5, 0.25, 0.75)).tolist())


def time_interleaved(
    timed: Mapping[K, TimedCall], plan: BenchPlan
) -> dict[K, Quartiles]:
    """Time all, one repetition of each and then the next.

    A busy machine then slows all of them alike.
    """
    times = {name: list[float]() for name in timed}
    with _no_garbage_collection():
        for _ in range(plan.repeats):
            for name, timed_call in timed.items():
                seconds = processor_seconds(timed_call.call, timed_call.calls)
                times[name].append(1e9 * seconds / timed_call.calls / timed_call.rounds)
    return {name: Quartiles.from_times(values) for name, values in times.items()}


def fit_rounds(
    implementation: Implementation, stream: BenchStream, plan: BenchPlan
) -> TimedCall:
    """As many rounds of the stream as take the implementation about ``budget``."""
    rounds, settings = FIRST_ROUNDS, (implementation.discount, implementation.ridge)
    implementation.prepare(stream.head(rounds), *settings)()  # compiles, or caches
    while True:
        rounds = min(rounds, len(stream.y))
        run = implementation.prepare(stream.head(rounds), *settings)
        seconds = processor_seconds(run)
        if seconds > plan.budget / ROUNDS_FACTOR or rounds == len(stream.y):
            break
        rounds *= ROUNDS_FACTOR
    affordable = max(MIN_ROUNDS, int(rounds * plan.budget / seconds))
    if affordable < rounds:
        rounds = affordable
        run = implementation.prepare(stream.head(rounds), *settings)
        seconds = plan.budget
    return TimedCall(run, rounds, _calls_in_budget(seconds, plan))


def fit_calls(call: Callable[[], object], rounds: int, plan: BenchPlan) -> TimedCall:
    """As many calls a repetition as take about ``budget``."""
    call()  # compiles, or fills caches
    return TimedCall(call, rounds, _calls_in_budget(processor_seconds(call), plan))


def _calls_in_budget(seconds: float, plan: BenchPlan) -> int:
    return max(1, round(plan.budget / seconds))


def processor_seconds(call: Callable[[], object], calls: int = 1) -> float:
    """The processor time of some calls, in which other processes do not count."""
    start = time.process_time()
    for _ in range(calls):
        call()
    return max(time.process_time() - start, CLOCK_TICK)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """No garbage collection, which would be charged to whatever is timed just then."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
