"""The rounds of a Tracker with a delay that wait for their labels, as models see them.

They are a ring in the packed state: kernels/tracker/pending_labels.py.
"""

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.types import FloatArray


class PendingRing:
    """The ring in one packed state of ``n`` features, to be changed in place."""

    def __init__(self, packed: FloatArray, n: int) -> None:
        views = layout.views(packed, n)
        self._counters, self._pending = views.counters, views.pending

    def __len__(self) -> int:
        return int(self._counters[layout.PENDING_COUNT])

    def set_label(self, age: int, y: float, weight: float) -> None:
        """Set label and weight of the round that was played ``age`` before the last."""
        newest = int(self._counters[layout.OLDEST_PENDING]) + len(self) - 1
        row = self._pending[(newest - age) % len(self._pending)]
        row[layout.PENDING_Y], row[layout.PENDING_WEIGHT] = y, weight
