"""Speed, side by side with others in one run: what ``thalweg bench`` measures."""

from thalweg.lab.bench.found import Found as Found
from thalweg.lab.bench.found import Row as Row
from thalweg.lab.bench.plan import SECTIONS as SECTIONS
from thalweg.lab.bench.plan import Plan as Plan
from thalweg.lab.bench.run import bench as bench

__all__ = ["SECTIONS", "Found", "Plan", "Row", "bench"]
