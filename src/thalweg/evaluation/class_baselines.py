"""What any classifier should beat: the frequencies of the classes so far."""

from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from thalweg.kernels.class_frequencies import class_frequencies
from thalweg.persistence.snapshots import Component
from thalweg.rules import Array
from thalweg.tables.class_labels import MAX_CLASSES
from thalweg.types import FloatArray

MEMORY = 100.0
"""Labels that count in the shares of recent rows, 1 / (1 - discount)."""
NAMES = ("class shares so far", "class shares of late", "after the last class")
"""In the order of kernels/class_frequencies.py."""


class ClassBaselinesSnapshot(NamedTuple):
    """The counts of the baselines, for each of ``MAX_CLASSES`` classes."""

    # (C,) 1 where the class has appeared
    is_known: Annotated[FloatArray, Array((MAX_CLASSES,), 0.0, 1.0, whole=True)]
    counts: Annotated[FloatArray, Array((MAX_CLASSES,), 0.0, whole=True)]  # (C,)
    recent_counts: Annotated[FloatArray, Array((MAX_CLASSES,), 0.0)]  # (C,) discounted
    # (C+1, C) how often each class came after each; C: after none
    transitions: Annotated[
        FloatArray, Array((MAX_CLASSES + 1, MAX_CLASSES), 0.0, whole=True)
    ]


class ClassBaselines(Component):
    """Probabilities of classes by how often they came.

    ``NAMES``: of all labels so far (the base rate); of the last hundred or so; and of
    the labels after the last known class (a Markov chain of order 1, the persistence
    of classes with repeat rates learnt for each).
    """

    Snapshot: ClassVar[Any] = ClassBaselinesSnapshot

    def __init__(self, is_binary: bool) -> None:
        self.is_known = np.zeros(MAX_CLASSES)
        self.is_known[: 2 * is_binary] = 1.0
        self.counts: FloatArray = np.zeros(MAX_CLASSES)
        self.recent_counts: FloatArray = np.zeros(MAX_CLASSES)
        self.transitions: FloatArray = np.zeros((MAX_CLASSES + 1, MAX_CLASSES))

    def play(
        self, last: FloatArray, due: FloatArray, due_last: FloatArray, classes: int
    ) -> FloatArray:
        """(T, 3, K) probabilities of each row's class by each baseline.

        All are numbers of classes, (T,), NaN where there is none: ``last`` the last one
        known before each row, ``due`` that of the row whose label comes to be known
        after it, and ``due_last`` the last one known before that row.
        """
        out = np.empty((len(last), len(NAMES), classes))
        # Arrays of a snapshot are never changed in place.
        fields = self.Snapshot._fields
        arrays = [getattr(self, field).copy() for field in fields]
        numbers = (
            np.nan_to_num(part, nan=MAX_CLASSES).astype(np.int64)
            for part in (last, due, due_last)
        )
        class_frequencies(*arrays, 1 - 1 / MEMORY, *numbers, out)
        for field, array in zip(fields, arrays, strict=True):
            setattr(self, field, array)
        return out
