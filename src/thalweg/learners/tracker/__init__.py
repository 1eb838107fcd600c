"""The default learner: experts of several kinds and memories, and who to listen to."""

from thalweg.learners.tracker.alarms import alarms as alarms
from thalweg.learners.tracker.guarantee import interval_regret as interval_regret
from thalweg.learners.tracker.tracker import Tracker as Tracker
from thalweg.learners.tracker.tracker import TrackerState as TrackerState

__all__ = ["Tracker", "TrackerState", "alarms", "interval_regret"]
