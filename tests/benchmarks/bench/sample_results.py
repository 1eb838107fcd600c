"""Sample results of a bench, which nobody measured."""

from benchmarks.bench.bench_results import (
    Agreement,
    BenchResults,
    MemoryUse,
    Timing,
)


def sample_timing(section: str, name: str, n: int, ns: float, size: int = 0) -> Timing:
    return Timing(section, name, n, size, ns, 0.9 * ns, 1.2 * ns)


def sample_results(factor: float = 1.0) -> BenchResults:
    """One timing or two a section, all times ``factor`` as long."""
    return BenchResults(
        timings=[
            sample_timing("call", "thalweg predict + update", 8, 500.0 * factor),
            sample_timing("call", "padasip predict + adapt", 8, 5000.0 * factor),
            sample_timing("array", "thalweg run", 8, 50.0 * factor),
            sample_timing("bank", "bank of RLS", 8, 100.0 * factor, size=4),
            sample_timing("rounds", "thalweg run", 8, 60.0 * factor, size=10_000),
            sample_timing("startup", "import thalweg", 0, 1e7 * factor),
        ],
        agreements=[Agreement("padasip predict + adapt", 8, 1e-12, "agrees")],
        memory_use=[MemoryUse("RecursiveLeastSquares", 100_000, 200.0, 90.0)],
        missing=["polars-ols"],
        environment={"thalweg": "0"},
    )
