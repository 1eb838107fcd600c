"""Speed, side by side with others in one run: what ``thalweg bench`` measures."""

from thalweg.lab.bench.bench_plan import SECTIONS as SECTIONS
from thalweg.lab.bench.bench_plan import BenchPlan as BenchPlan
from thalweg.lab.bench.bench_results import BenchResults as BenchResults
from thalweg.lab.bench.bench_results import Timing as Timing
from thalweg.lab.bench.sections import run_bench as run_bench

__all__ = ["SECTIONS", "BenchPlan", "BenchResults", "Timing", "run_bench"]
