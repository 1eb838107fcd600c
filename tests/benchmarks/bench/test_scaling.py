import pytest

from benchmarks.bench.scaling import (
    exponent_in_experts,
    exponent_in_features,
    exponent_in_rounds,
)
from tests.benchmarks.bench.sample_results import sample_timing


def test_a_cost_of_three_n_squared_has_exponent_two_whatever_small_n_cost():
    timings = [sample_timing("array", "a", n, 3.0 * n**2) for n in (32, 64, 128, 256)]
    overheads = [sample_timing("array", "a", n, 1e6) for n in (2, 4, 8, 16)]
    assert exponent_in_features(overheads + timings) == pytest.approx(2.0)


def test_n_experts_cost_n_times_as_much():
    timings = [sample_timing("bank", "b", 8, 7.0 * size, size) for size in (1, 4, 16)]
    assert exponent_in_experts(timings) == pytest.approx(1.0)


def test_rounds_that_cost_the_same_give_exponent_one():
    timings = [
        sample_timing("rounds", "c", 8, 60.0, size) for size in (10**4, 10**5, 10**6)
    ]
    assert exponent_in_rounds(timings) == pytest.approx(1.0)


def test_two_sizes_give_no_exponent():
    assert (
        exponent_in_features([sample_timing("array", "a", n, 1.0) for n in (32, 64)])
        is None
    )
