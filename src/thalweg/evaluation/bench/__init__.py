"""Speed, side by side with others in one run: what ``thalweg bench`` measures."""

from thalweg.evaluation.bench.found import Found as Found
from thalweg.evaluation.bench.found import Row as Row
from thalweg.evaluation.bench.plan import SECTIONS as SECTIONS
from thalweg.evaluation.bench.plan import Plan as Plan
from thalweg.evaluation.bench.run import bench as bench

__all__ = ["SECTIONS", "Found", "Plan", "Row", "bench"]
