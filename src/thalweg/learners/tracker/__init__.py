"""The Tracker, the default learner: experts of several kinds and memories, weighed."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.learners.tracker import definition as definition
    from thalweg.learners.tracker.regret_bound import interval_regret as interval_regret
    from thalweg.learners.tracker.tracker import Tracker as Tracker
    from thalweg.learners.tracker.tracker_state import TrackerState as TrackerState

# The definition is needed by ``Tracker.update`` alone.
__getattr__, __all__ = lazy_exports(__name__)
