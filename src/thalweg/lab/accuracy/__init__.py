"""The Tracker's error beside what hindsight would have chosen, and beside rivals'."""

from thalweg.lab.accuracy.accuracy_streams import SYNTHETIC as SYNTHETIC
from thalweg.lab.accuracy.accuracy_streams import public_streams as public_streams
from thalweg.lab.accuracy.accuracy_streams import synthetic_streams as synthetic_streams
from thalweg.lab.accuracy.tracker_accuracy import COVERAGE as COVERAGE
from thalweg.lab.accuracy.tracker_accuracy import TrackerAccuracy as TrackerAccuracy
from thalweg.lab.accuracy.tracker_accuracy import geometric_mean as geometric_mean
from thalweg.lab.accuracy.tracker_accuracy import measure_tracker as measure_tracker

__all__ = [
    "COVERAGE",
    "SYNTHETIC",
    "TrackerAccuracy",
    "geometric_mean",
    "measure_tracker",
    "public_streams",
    "synthetic_streams",
]
