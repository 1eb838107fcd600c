"""The Tracker, the default learner: experts of several kinds and memories, weighed."""

from thalweg.learners.tracker.regret_bound import interval_regret as interval_regret
from thalweg.learners.tracker.tracker import Tracker as Tracker
from thalweg.learners.tracker.tracker_state import TrackerState as TrackerState

__all__ = ["Tracker", "TrackerState", "interval_regret"]
