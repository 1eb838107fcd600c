"""Timing: each for about as long, in turn and again, medians with their quartiles."""

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

import numpy as np

from thalweg.lab.bench.contender import Contender
from thalweg.lab.bench.plan import Plan
from thalweg.lab.bench.stream import Stream

K = TypeVar("K")
PROBE, GROWTH = 50, 8
TICK = 1e-9
"""Where a clock is coarse, a time may seem to be 0."""
LEAST = 20
"""Rounds that a slow contender plays at least."""


class Timed(NamedTuple):
    """Something to call, the rounds a call plays, and the calls a repetition makes."""

    call: Callable[[], object]
    rounds: int
    calls: int


class Spread(NamedTuple):
    """Nanoseconds a round: the median over repetitions, and the quartiles."""

    ns: float
    low: float
    high: float

    @classmethod
    def of(cls, times: Sequence[float]) -> "Spread":
        """That of some repetitions."""
        return cls(*np.quantile(times, (0.5, 0.25, 0.75)).tolist())


def interleaved(timed: Mapping[K, Timed], plan: Plan) -> dict[K, Spread]:
    """Time all, one repetition of each and then the next.

    A busy machine then slows all of them alike.
    """
    found = {name: list[float]() for name in timed}
    with _no_collection():
        for _ in range(plan.repeats):
            for name, one in timed.items():
                spent = seconds(one.call, one.calls)
                found[name].append(1e9 * spent / one.calls / one.rounds)
    return {name: Spread.of(times) for name, times in found.items()}


def fitted(contender: Contender, stream: Stream, plan: Plan) -> Timed:
    """As many rounds of the stream as take the contender about ``plan.budget``."""
    rounds, settings = PROBE, (contender.discount, contender.ridge)
    contender.prepare(stream.head(rounds), *settings)()  # whatever comes once
    while True:
        rounds = min(rounds, len(stream.y))
        play = contender.prepare(stream.head(rounds), *settings)
        spent = seconds(play)
        if spent > plan.budget / GROWTH or rounds == len(stream.y):
            break
        rounds *= GROWTH
    wanted = max(LEAST, int(rounds * plan.budget / spent))
    if wanted < rounds:
        rounds, play = wanted, contender.prepare(stream.head(wanted), *settings)
        spent = plan.budget
    return Timed(play, rounds, _calls(spent, plan))


def repeated(call: Callable[[], object], rounds: int, plan: Plan) -> Timed:
    """As many calls a repetition as take about ``plan.budget``."""
    call()  # whatever comes once
    return Timed(call, rounds, _calls(seconds(call), plan))


def _calls(spent: float, plan: Plan) -> int:
    return max(1, round(plan.budget / spent))


def seconds(call: Callable[[], object], times: int = 1) -> float:
    """What some calls take of the processor: other processes do not count."""
    start = time.process_time()
    for _ in range(times):
        call()
    return max(time.process_time() - start, TICK)


@contextmanager
def _no_collection() -> Iterator[None]:
    """No garbage collection, which would fall on whoever is timed just then."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
