"""Roofline of the RLS kernel: how near one core's ceilings it comes, and what binds it.

A round is kernels/rls.py's ``rls_round``. Its parts are timed alone
(roofline_probes.py): ``dots`` is Uᵀv, ``pivots`` the n divisions, ``sweeps``
the update of U. Operations are counted line by line in kernels/ud_factor.py and rls.py;
comparisons do not count.
Ceilings and rounds are timed in turn, so that a busy machine lowers both.
"""

import math
from collections.abc import Callable

import numpy as np

from benchmarks.bench import roofline_probes
from benchmarks.bench.bench_plan import BenchPlan
from benchmarks.bench.bench_results import BenchResults, Timing
from benchmarks.bench.bench_stream import DISCOUNT, draw_stream
from benchmarks.bench.timing import TimedCall, fit_calls, time_interleaved
from thalweg.kernels.rls import rls
from thalweg.kernels.ud_factor import EXTRA_ROWS
from thalweg.learners import RecursiveLeastSquares
from thalweg.types import FloatArray

SIZES = (8, 16, 32, 64, 128, 256)
ROUND, PARTS = "round", ("dots", "pivots", "sweeps")
LOOPS = 20_000
CACHE_NUMBERS, MEMORY_NUMBERS, SHORT_NUMBERS = 512, 8_000_000, 4
"""Length of an array: three of them fit the first-level cache; no cache holds one; it
fills half a cache line."""
CACHE_LINE_BYTES = 64
"""A vector that crosses two cache lines costs two loads."""


def flops(n: int) -> int:
    """Additions, multiplications and divisions of a round.

    n(n-1)/2 multiply-adds for ``dots`` and twice that for ``sweeps``; 16 for each
    coordinate: forgetting 1, its size 1, √weight 1, the test for noise 2, g 1,
    ratio 1, α 2, 1/α 1, D 2, the prediction 2 and θ 2.
    """
    return 3 * n * (n - 1) + 16 * n


def bytes_moved(n: int) -> int:
    """Bytes that a round loads from the first-level cache and stores there.

    ``dots`` loads the triangle of U, and v once for four rows; ``sweeps`` loads and
    stores both U and the gain P⁻¹v. The stream itself takes 8(n + 3) bytes.
    """
    return (4 + 1) * n * (n - 1) + 16 * n * (n - 1) + 8 * (n + 3)


def measured_ceilings(results: BenchResults) -> dict[str, float]:
    """The ceilings of a bench; empty where it did not measure them.

    GFLOP/s of ``fused`` and ``separate`` multiply-adds, GB/s of ``cache`` and
    ``memory``; nanoseconds of an ``addition`` and a ``pass``.
    """
    timings = results.in_section("roofline")
    times = {timing.name: timing.ns for timing in timings if timing.n == 0}
    latencies = ("addition", "pass")
    return {name: ns if name in latencies else 1 / ns for name, ns in times.items()}


def predicted_times(n: int, limits: dict[str, float]) -> dict[str, float]:
    """Nanoseconds that a part should take if one ceiling alone bound it.

    ``dots``: four sums run side by side, and each addition waits for the one before.
    ``sweeps``: each row waits for what the row before has stored, and n(n-1) numbers
    are stored at no more than the triad's rate, a third of whose bytes are stores.
    """
    stored = 8 * n * (n - 1) / (limits["cache"] / 3)
    return {
        "dots": n * (n - 1) / 8 * limits["addition"],
        "sweeps": max((n - 1) * limits["pass"], stored),
    }


def measure_roofline(plan: BenchPlan) -> list[Timing]:
    """Ceilings, with n = 0, in ns an operation or byte; rounds and parts in ns."""
    timed: dict[tuple[str, int], TimedCall] = {
        (name, 0): call for name, call in _ceiling_calls(plan).items()
    }
    for n in SIZES:
        timed[ROUND, n] = _round_call(n, plan)
        timed |= {(name, n): call for name, call in _part_calls(n, plan).items()}
    quartiles = time_interleaved(timed, plan)
    return [Timing("roofline", *key, 0, *values) for key, values in quartiles.items()]


def _ceiling_calls(plan: BenchPlan) -> dict[str, TimedCall]:
    """Calls that measure the ceilings.

    Their units of work are operations, bytes, additions and passes.
    """
    x, short = _aligned_ones(256), _aligned_ones(SHORT_NUMBERS)
    small, large = _aligned_ones(3, CACHE_NUMBERS), _aligned_ones(3, MEMORY_NUMBERS)
    work = 2 * roofline_probes.STEPS * x.size * LOOPS
    calls: dict[str, tuple[Callable[[], object], int]] = {
        "fused": (
            lambda: roofline_probes.fused_multiply_adds(x, 0.999, 1e-3, LOOPS),
            work,
        ),
        "separate": (
            lambda: roofline_probes.multiply_adds(x, 0.999, 1e-3, LOOPS),
            work,
        ),
        "cache": (
            lambda: roofline_probes.triad(*small, 0.5, LOOPS),
            small.nbytes * LOOPS,
        ),
        "memory": (lambda: roofline_probes.triad(*large, 0.5, 1), large.nbytes),
        "addition": (lambda: roofline_probes.chained_sums(x, LOOPS), x.size * LOOPS),
        "pass": (lambda: roofline_probes.dependent_passes(short, 1e-9, LOOPS), LOOPS),
    }
    return {name: fit_calls(*call, plan) for name, call in calls.items()}


def _round_call(n: int, plan: BenchPlan) -> TimedCall:
    stream = draw_stream(max(100, LOOPS * 8 // n), n)
    rounds, none = len(stream.y), np.empty(0)
    start = RecursiveLeastSquares(DISCOUNT).init(np.zeros((n, 1)))
    arrays = stream.x, stream.y[:, None], none, none
    out = np.empty((rounds, 1)), np.empty(rounds), np.empty((0, n, 1))

    def run() -> None:
        theta, factor = (part.copy() for part in start)
        rls(theta, factor, DISCOUNT, 0.0, False, *arrays, *out)

    return fit_calls(run, rounds, plan)


def _part_calls(n: int, plan: BenchPlan) -> dict[str, TimedCall]:
    factor, v = _aligned_ones(n + EXTRA_ROWS, n), _aligned_ones(n)
    gain, f, g, ratio, d_after = (_aligned_ones(n) for _ in range(5))
    loops = max(100, LOOPS * 8 // n)
    zero = np.zeros(n)  # With g and ratio of zero the sweeps leave U as it is.
    calls: dict[str, Callable[[], object]] = {
        "dots": lambda: roofline_probes.dots(factor, v, gain, loops),
        "pivots": lambda: roofline_probes.pivots(factor, f, g, ratio, d_after, loops),
        "sweeps": lambda: roofline_probes.sweeps(factor, gain, zero, zero, loops),
    }
    return {name: fit_calls(call, loops, plan) for name, call in calls.items()}


def _aligned_ones(*shape: int) -> FloatArray:
    """An array of ones that begins where a cache line does."""
    size = math.prod(shape)
    raw = np.ones(size + CACHE_LINE_BYTES // 8)
    skip = -raw.ctypes.data % CACHE_LINE_BYTES // 8
    return raw[skip : skip + size].reshape(shape)
