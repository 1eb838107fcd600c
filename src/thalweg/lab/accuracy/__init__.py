"""The Tracker's error beside what hindsight would have chosen, and beside rivals'."""

from thalweg.lab.accuracy.rounds import burn_in as burn_in
from thalweg.lab.accuracy.rounds import standard as standard
from thalweg.lab.accuracy.sources import SYNTHETIC as SYNTHETIC
from thalweg.lab.accuracy.sources import public as public
from thalweg.lab.accuracy.sources import synthetic as synthetic
from thalweg.lab.accuracy.tracker import LEVEL as LEVEL
from thalweg.lab.accuracy.tracker import Row as Row
from thalweg.lab.accuracy.tracker import accuracy as accuracy
from thalweg.lab.accuracy.tracker import geometric_mean as geometric_mean

__all__ = [
    "LEVEL",
    "Row",
    "SYNTHETIC",
    "accuracy",
    "burn_in",
    "geometric_mean",
    "public",
    "standard",
    "synthetic",
]
