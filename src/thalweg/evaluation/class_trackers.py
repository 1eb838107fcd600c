"""Logistic Trackers of the classes of a target, one for each, with late labels."""

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg.kernels.delayed_logistic_tracker import delayed_logistic_tracker
from thalweg.kernels.losses import logits
from thalweg.learners.logistic_tracker import (
    DISCOUNTS,
    RATES,
    LogisticTracker,
    LogisticTrackerState,
)
from thalweg.losses import Logistic
from thalweg.models.class_probabilities import normalise_rows
from thalweg.persistence.snapshots import (
    Array,
    Component,
    Condition,
    StateOf,
    validate_snapshot,
)
from thalweg.preprocessing.delayed_labels import DueLabels
from thalweg.tables.class_labels import MAX_CLASSES
from thalweg.types import FloatArray

LOSS = Logistic()


class ClassTrackersSnapshot(NamedTuple):
    """The models of all classes."""

    background: Any  # state of the model of a class that has not appeared
    states: Any  # tuple of the state of each class, in the order of their numbers
    is_known: FloatArray  # (K,) 1 where a label of the class was known


class ClassTrackers(Component):
    """One logistic Tracker for each class, against the rest, as ``Classifier`` has.

    Without missing or late labels the probabilities are those of ``Classifier``, to the
    last bit: a class that appears goes on from the background model, which learns every
    row as one of no class. Of a binary target one model of the class 1 is enough.
    """

    Snapshot: ClassVar[Any] = ClassTrackersSnapshot

    def __init__(self, features: int, is_binary: bool) -> None:
        self.learner = LogisticTracker()
        self.features, self.is_binary = features, is_binary
        self.background = start = self.learner.init(np.zeros(features))
        self.states: tuple[LogisticTrackerState, ...] = (start,) if is_binary else ()
        self.is_known: FloatArray = np.ones(2) if is_binary else np.empty(0)

    @property
    def classes(self) -> int:
        """How many classes have a number."""
        return len(self.is_known)

    def play(self, x: FloatArray, due: DueLabels) -> tuple[FloatArray, FloatArray]:
        """Predict the rows x (T, n), each before what is due after it is learnt.

        ``due.y`` are numbers of classes. Returns the probability of each class, (T, K),
        and whether each class was known before each row, (T, K).
        """
        numbers = np.nan_to_num(due.y, nan=-1.0)
        if self.is_binary:
            after, p = self._run(self.states[0], x, due, numbers == 1)
            self.states = (after,)
            return np.column_stack([1 - p, p]), np.ones((len(x), 2))
        count = max(self.classes, int(numbers.max(initial=-1.0)) + 1)
        states = (*self.states, *(self.background,) * (count - self.classes))
        before = np.append(self.is_known, np.zeros(count - self.classes))
        results = [
            self._run(state, x, due, numbers == k) for k, state in enumerate(states)
        ]
        self.background, _ = self._run(self.background, x, due, numbers < -1)
        self.states = tuple(after for after, _ in results)
        appeared = numbers[:, None] == np.arange(count)
        is_known = np.vstack([before, appeared]).cumsum(axis=0) > 0
        self.is_known = is_known[-1].astype(np.float64)
        columns = [probability for _, probability in results]
        return normalise_rows(columns, is_known[:-1]), is_known[:-1].astype(np.float64)

    def coefficients(self) -> FloatArray:
        """(m, n) coefficients of the standardised features, of each model."""
        rows = [state.weights @ state.points[:, :-1] for state in self.states]
        return np.array(rows).reshape(-1, self.features)

    def rules(self, snapshot: ClassTrackersSnapshot) -> Iterator[tuple[str, Any]]:
        """There is a state for each class, and each is one of the learner."""
        count = len(snapshot.is_known)
        models = 1 if self.is_binary else count
        right = count == 2 if self.is_binary else count <= MAX_CLASSES
        yield "is_known", Condition(right, f"of at most {MAX_CLASSES} classes")
        yield "is_known", Array((count,), 0.0, 1.0, whole=True)
        is_tuple = type(snapshot.states) is tuple and len(snapshot.states) == models
        yield "states", Condition(is_tuple, f"{models} states")
        yield "states", (StateOf(self.learner, self.features),) * models
        yield "background", StateOf(self.learner, self.features)

    def _run(
        self, state: LogisticTrackerState, x: FloatArray, due: DueLabels, is_class: Any
    ) -> tuple[LogisticTrackerState, FloatArray]:
        """The state after these rounds of one class, and its probability in each."""
        after = LogisticTrackerState(state.theta, *(part.copy() for part in state[1:]))
        out, log_odds = np.empty(len(x)), np.empty(len(x))
        delayed_logistic_tracker(
            *after[1:], DISCOUNTS, np.array(RATES), self.learner.certainty,
            np.ascontiguousarray(x), np.ascontiguousarray(due.x),
            is_class.astype(np.float64), due.learnable.astype(np.float64),
            due.elapsed, out,
        )  # fmt: skip
        # By way of the log-odds, as every model of logistic loss, for the same bits.
        logits(out, log_odds)
        return after, np.asarray(LOSS.mean(log_odds))


def validate_background(
    snapshot: ClassTrackersSnapshot, features: int, name: str
) -> None:
    """Raise unless the background model has so many features."""
    rule = {"background": StateOf(LogisticTracker(), features)}
    validate_snapshot(rule, snapshot, name)
