"""What ``thalweg bench`` measures: thalweg's speed against other libraries'."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    # Loaded on first use (PEP 562): `thalweg bench --help` needs no learners.
    if name in _MODULE_OF:
        return getattr(import_module(f"thalweg.lab.bench.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'thalweg.lab.bench' has no attribute {name!r}")
