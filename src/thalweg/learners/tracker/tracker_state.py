"""The state of a Tracker, in memory and in a file, and whether it is legal."""

from typing import Any, NamedTuple

import numpy as np

from thalweg.errors import InvalidParameterError
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker.several_targets import split_targets
from thalweg.learners.tracker.stored_state import StoredTracker, compact, expand
from thalweg.types import FloatArray


class TrackerState(NamedTuple):
    """The state of a Tracker."""

    theta: FloatArray  # (n,) or (n, k), the slope of the coming forecast in x
    # float64, the rest: kernels/tracker/tracker_layout.py; (k, size) of k targets
    packed: FloatArray

    @property
    def rounds(self) -> int:
        """The number of rounds learnt."""
        return int(self.packed[..., layout.ROUNDS].max())

    @property
    def season(self) -> int:
        """The lag at which labels are most alike; 1 where there is no season.

        Of several targets the longest.
        """
        return int(self.packed[..., layout.SEASON].max())

    def to_stored(self) -> StoredTracker:
        """The state as a file holds it."""
        if np.ndim(self.theta) != 2 or np.ndim(self.packed) != 2:
            return compact(self.theta, self.packed)
        parts = [compact(own.theta, own.packed) for own in split_targets(self)]
        return StoredTracker(self.theta, np.stack([part.numbers for part in parts]))

    @classmethod
    def from_stored(cls, stored: StoredTracker) -> "TrackerState":
        """The state that a file holds; whether it is legal is not checked."""
        theta, numbers = stored
        if np.ndim(theta) != 2:
            return cls(theta, expand(stored))
        # One that is no state of several targets becomes one that no Tracker has.
        if np.ndim(numbers) != 2 or len(theta.T) != len(numbers):
            return cls(theta, np.empty(0))
        parts = map(StoredTracker, np.ascontiguousarray(theta.T), numbers)
        packed = [expand(part) for part in parts]
        fits = len({len(own) for own in packed}) == 1
        return cls(theta, np.stack(packed) if fits else np.empty(0))


# The version is saved with a state, and compared when it is loaded. Inside the class
# mypy would take both for fields.
TrackerState.layout_version = layout.STATE.version  # type: ignore[attr-defined]
TrackerState.stored_kind = StoredTracker  # type: ignore[attr-defined]


def check_settings(tracker: Any, counters: list[float]) -> None:
    """Raise unless the first numbers of a packed state are of this Tracker's settings.

    This comes before the check of its length, which follows from the delay.
    """
    counters = counters + [0.0] * (layout.COUNTERS - len(counters))
    if counters[layout.DELAY] != tracker.delay:
        raise InvalidParameterError(
            f"A Tracker with a delay of {tracker.delay} plays from a state that its "
            f"init gave. Got a state of delay {counters[layout.DELAY]:g} instead."
        )
    hinges = counters[layout.HINGE_COUNT]
    if hinges != (layout.HINGES if tracker.curvature else 0):
        raise InvalidParameterError(
            f"A Tracker with curvature={tracker.curvature} plays from a state that "
            f"its init gave. Got a state with {hinges:g} hinges instead."
        )
    if counters[layout.STEP_LIMIT] != (tracker.information == "all"):
        raise InvalidParameterError(
            f"A Tracker with information={tracker.information!r} plays from a state "
            "that its init gave. Got a state of another information instead."
        )


def check_ranges(tracker: Any, packed: FloatArray, n: int) -> None:
    """Raise unless all numbers that kernels use as an index are in their ranges."""
    slots = layout.pending_slots(tracker.delay)
    sizes = {"n": n, "hinges": int(packed[layout.HINGE_COUNT]), "slots": slots}
    for field, rule, values in layout.STATE.problems(packed, {}, **sizes):
        raise InvalidParameterError(
            f"The {field} in the state of a Tracker must be {rule}. Got "
            f"{values!s:.80} instead."
        )
