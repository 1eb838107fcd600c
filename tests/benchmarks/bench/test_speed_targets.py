import pytest

from benchmarks.bench import roofline
from benchmarks.bench.bench_results import BenchResults, MemoryUse
from benchmarks.bench.speed_targets import SpeedTarget, speed_targets
from tests.benchmarks.bench.sample_results import sample_timing

RUN, PLAIN, BLAS = "thalweg run", "plain numba loop", "SciPy dsymv + dsyr"


def target_named(results: BenchResults, description: str) -> SpeedTarget:
    (one,) = (
        one for one in speed_targets(results) if one.description.startswith(description)
    )
    return one


def results_of(*timings) -> BenchResults:
    return BenchResults(timings=list(timings))


def timings_of(
    section: str, ours: str, theirs: str, ratio: float, n: int = 8
) -> BenchResults:
    """A run in which theirs took ``ratio`` times as long as ours."""
    return results_of(
        sample_timing(section, ours, n, 40.0),
        sample_timing(section, theirs, n, 40.0 * ratio),
    )


def test_a_target_that_was_not_measured_is_neither_met_nor_missed():
    targets = speed_targets(BenchResults())
    assert len(targets) == 17
    assert all(one.measured is None and one.is_met is None for one in targets)


@pytest.mark.parametrize(("ratio", "is_met"), [(6.0, True), (5.9, False)])
def test_a_ratio_must_be_at_least_its_limit(ratio, is_met):
    results = timings_of(
        "call", "thalweg predict + update", "padasip predict + adapt", ratio
    )
    one = target_named(results, "one call: padasip")
    assert one.measured == pytest.approx(ratio) and one.is_met is is_met


@pytest.mark.parametrize(("ratio", "is_met"), [(1.6, True), (1.8, False)])
def test_a_ratio_must_be_at_most_its_limit(ratio, is_met):
    results = timings_of("array", PLAIN, RUN, ratio, n=16)
    one = target_named(results, "array: ours / plain numba loop, n = 16")
    assert one.measured == pytest.approx(ratio) and one.is_met is is_met


def test_the_tracker_is_held_to_the_cheaper_way_to_call_padasip():
    results = timings_of("tracker", "padasip run", "Tracker run", 0.5)
    assert target_named(results, "Tracker run").is_met
    results = timings_of("tracker", "padasip run", "Tracker predict + update", 1.3)
    assert target_named(results, "Tracker predict").is_met is False


def test_blas_counts_where_it_comes_nearest_and_only_up_to_64():
    timings = [sample_timing("array", RUN, n, 10.0) for n in (8, 64, 128)]
    timings += [
        sample_timing("array", BLAS, n, ns)
        for n, ns in ((8, 90.0), (64, 20.0), (128, 1.0))
    ]
    assert target_named(results_of(*timings), "array: BLAS").measured == pytest.approx(
        2.0
    )


def test_blocks_are_held_to_three_times():
    results = timings_of("blocks", "blocked", "round by round", 2.5, n=128)
    assert target_named(results, "round by round / blocked, n = 128").is_met is False


def test_the_kernel_is_held_to_the_measured_ceiling():
    ns = roofline.flops(64) / 10.0  # 10 GFLOP/s
    ceiling = sample_timing("roofline", "fused", 0, 1 / 50.0)  # ns an operation
    results = results_of(sample_timing("roofline", "round", 64, ns), ceiling)
    one = target_named(results, "FMA ceiling / RLS kernel, n = 64")
    assert one.measured == pytest.approx(5.0) and one.is_met


def test_memory_may_not_grow():
    first, last = (
        MemoryUse("a", rounds, peak, 1.0) for rounds, peak in ((1, 100), (9, 130))
    )
    one = target_named(BenchResults(memory_use=[first, last]), "peak memory")
    assert one.measured == pytest.approx(1.3) and one.is_met is False
