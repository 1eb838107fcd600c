"""What ``thalweg bench`` measures: thalweg's speed against other libraries'."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.lab.bench.bench_figure import speed_chart as speed_chart
    from thalweg.lab.bench.bench_plan import SECTIONS as SECTIONS
    from thalweg.lab.bench.bench_plan import BenchPlan as BenchPlan
    from thalweg.lab.bench.bench_results import BenchResults as BenchResults
    from thalweg.lab.bench.bench_results import Timing as Timing
    from thalweg.lab.bench.sections import run_bench as run_bench

_MODULE_OF = {
    "BenchPlan": "bench_plan",
    "BenchResults": "bench_results",
    "SECTIONS": "bench_plan",
    "Timing": "bench_results",
    "run_bench": "sections",
    "speed_chart": "bench_figure",
}

__all__ = sorted(_MODULE_OF)

# `thalweg bench --help` needs no learners.
__getattr__ = lazy_exports(__name__, _MODULE_OF)
