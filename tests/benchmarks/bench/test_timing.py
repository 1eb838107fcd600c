import numpy as np
import pytest

from benchmarks.bench.bench_plan import BenchPlan
from benchmarks.bench.bench_stream import draw_stream
from benchmarks.bench.implementations import Implementation
from benchmarks.bench.sections import time_implementations
from benchmarks.bench.timing import (
    MIN_ROUNDS,
    Quartiles,
    TimedCall,
    fit_rounds,
    time_interleaved,
)
from thalweg.errors import InvalidParameterError

PLAN = BenchPlan(repeats=3, budget=1e-4)


def test_repetitions_are_interleaved():
    order = []
    timed = {
        name: TimedCall(lambda name=name: order.append(name), rounds=1, calls=2)
        for name in "ab"
    }
    results = time_interleaved(timed, PLAN)
    assert "".join(order) == "aabb" * 3
    assert all(one.low <= one.ns <= one.high for one in results.values())


def test_quartiles_are_the_median_and_the_quartiles_around_it():
    assert Quartiles.from_times([5.0, 1.0, 3.0, 2.0, 4.0]) == (3.0, 2.0, 4.0)


def prepare_zeros(stream, discount, ridge):
    return lambda: np.zeros(len(stream.y))


def test_a_fast_implementation_runs_the_whole_stream_several_times():
    timed = fit_rounds(
        Implementation("fast", prepare_zeros),
        draw_stream(500, 2),
        BenchPlan(budget=0.05),
    )
    assert timed.rounds == 500 and timed.calls > 1


def test_a_slow_implementation_runs_a_few_rounds_once():
    def slow(stream, discount, ridge):
        return lambda: np.linalg.inv(np.eye(20 * len(stream.y)))

    timed = fit_rounds(Implementation("slow", slow), draw_stream(500, 2), PLAN)
    assert timed.rounds == MIN_ROUNDS and timed.calls == 1


def test_an_implementation_that_cannot_take_so_many_features_is_left_out():
    small = Implementation(
        "small", prepare_zeros, is_same_algorithm=False, max_features=4
    )
    large = Implementation("large", prepare_zeros, is_same_algorithm=False)
    message, timings, agreements = time_implementations("call", [small, large], 8, PLAN)
    assert message == "call, n = 8"
    assert (
        [row.name for row in timings] == [one.name for one in agreements] == ["large"]
    )


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"sections": ("nonsense",)}, "sections call, array.*Got 'nonsense'"),
        ({"sizes": (0,)}, "'sizes' parameter of BenchPlan must be in"),
        ({"budget": 0.0}, "'budget' parameter of BenchPlan must be in"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused(settings, complaint):
    with pytest.raises(InvalidParameterError, match=complaint):
        BenchPlan(**settings)
