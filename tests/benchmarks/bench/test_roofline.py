import numpy as np
import pytest

from benchmarks.bench import roofline, roofline_probes
from benchmarks.bench.bench_plan import BenchPlan
from benchmarks.bench.bench_results import BenchResults
from thalweg.kernels.ud_factor import bierman_update, prior


@pytest.mark.parametrize("n", [1, 4, 7, 16])
def test_the_parts_in_sequence_are_the_update(n):
    rng = np.random.default_rng(0)
    whole = prior(1.0, np.zeros(n))
    image, gain, ratio, fresh = np.empty((4, n))
    for _ in range(5):
        v, parts, expected = rng.normal(size=n), whole.copy(), np.empty(n)
        inverse_alpha = bierman_update(whole, v, expected, 1.0)
        roofline_probes.dots(parts, v, image, 1)
        assert (
            roofline_probes.pivots(parts, image, gain, ratio, fresh, 1) == inverse_alpha
        )
        roofline_probes.sweeps(parts, image, gain, ratio, 1)
        np.fill_diagonal(parts, fresh)
        # The same operations, which the compiler may fuse differently.
        np.testing.assert_allclose(parts[:n], whole[:n], rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(image, expected, rtol=1e-13, atol=1e-13)


def test_the_measuring_kernels_do_what_they_say():
    x = np.ones(5)
    roofline_probes.fused_multiply_adds(x, 0.5, 1.0, 2)
    y = np.ones(5)
    roofline_probes.multiply_adds(y, 0.5, 1.0, 2)
    expected = 1.0
    for _ in range(2 * roofline_probes.STEPS):
        expected = 0.5 * expected + 1.0
    np.testing.assert_allclose(np.stack([x, y]), expected, rtol=1e-15)
    a, b, c = np.empty(3), np.ones(3), np.arange(3.0)
    roofline_probes.triad(a, b, c, 2.0, 1)
    np.testing.assert_array_equal(a, [1.0, 3.0, 5.0])
    assert roofline_probes.chained_sums(c, 2) == 6.0
    roofline_probes.dependent_passes(c, 1.0, 3)
    np.testing.assert_array_equal(c, [3.0, 4.0, 5.0])


def test_ceilings_are_timed_beside_rounds_and_their_parts(monkeypatch):
    monkeypatch.setattr(roofline, "SIZES", (4,))
    monkeypatch.setattr(roofline, "LOOPS", 100)
    monkeypatch.setattr(roofline, "MEMORY_NUMBERS", 1000)
    timings = roofline.measure_roofline(BenchPlan(repeats=1, budget=1e-3))
    names = [timing.name for timing in timings if timing.n == 4]
    assert names == [roofline.ROUND, *roofline.PARTS]
    ceilings_measured = roofline.measured_ceilings(BenchResults(timings))
    assert set(ceilings_measured) >= {"fused", "cache", "memory", "addition", "pass"}
    assert all(ceiling > 0 for ceiling in ceilings_measured.values())
    assert roofline.predicted_times(4, ceilings_measured)["dots"] > 0


def test_operations_grow_as_three_n_squared():
    assert roofline.flops(1000) / 1000**2 == pytest.approx(3.0, rel=0.01)


def test_long_rows_are_bound_by_stores_and_short_ones_by_latency():
    ceilings_measured = {"cache": 300.0, "addition": 0.8, "pass": 3.0}
    assert roofline.predicted_times(8, ceilings_measured)["sweeps"] == pytest.approx(
        7 * 3.0
    )
    assert roofline.predicted_times(256, ceilings_measured)["sweeps"] == pytest.approx(
        256 * 255 * 8 / 100
    )
