"""Logistic Trackers on a target of classes, row by row, beside what they should beat.

Prequential evaluation (test-then-train) in constant memory, as ``TrackerRun`` is for
targets that are numbers.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from thalweg.evaluation.class_baselines import ClassBaselines, ClassBaselinesSnapshot
from thalweg.evaluation.class_mixture import ClassMixture, ClassMixtureSnapshot
from thalweg.evaluation.class_statistics import (
    ClassRounds,
    ClassStatistics,
    ClassStatisticsSnapshot,
    concatenate_class_rounds,
)
from thalweg.evaluation.class_trackers import (
    ClassTrackers,
    ClassTrackersSnapshot,
    validate_background,
)
from thalweg.evaluation.classification_study import (
    ClassificationStudy,
    make_classification_study,
)
from thalweg.evaluation.scoring import newest_labels
from thalweg.evaluation.stream_seasons import as_seconds
from thalweg.evaluation.tracker_run import PIECE, STATISTICS_BATCH, burn_in
from thalweg.models.model_file import imputer_rules
from thalweg.persistence.snapshots import (
    Array,
    Component,
    Condition,
    Count,
    Number,
    OneOf,
)
from thalweg.preprocessing.delayed_labels import DelayedLabels, DelayedLabelsState
from thalweg.preprocessing.imputer import (
    Imputer,
    ImputerState,
    MissingPolicy,
)
from thalweg.preprocessing.time_grid import Times
from thalweg.tables.class_labels import MAX_CLASSES, ClassLabels
from thalweg.types import Block, FloatArray

PAST_CLASSES = 8
"""Classes, the second to the ninth, of which it is a feature that one was the last
known. None of these stands for the first class."""


class ClassForecasts(NamedTuple):
    """Probabilities of the classes in some rounds, made before their labels came."""

    probability: FloatArray  # (T, K) 0 where the class had not appeared yet


class ClassifierRunSnapshot(NamedTuple):
    """All that changes in the run of a target of classes."""

    rounds: int
    seconds: float  # that the Trackers took
    labels_learnt: int
    last_label: float  # number of the last class known, NaN: none
    trackers: ClassTrackersSnapshot  # of the row's features
    past_trackers: ClassTrackersSnapshot  # of these and the last known class
    baselines: ClassBaselinesSnapshot
    mixture: ClassMixtureSnapshot
    imputer: ImputerState
    delayed_labels: DelayedLabelsState  # the last column of x: the last class known
    statistics: ClassStatisticsSnapshot


class ClassifierRun(Component):
    """Logistic Trackers of one target's classes, and on the same rounds its baselines.

    Every row is predicted from what was learnt before it; ``delay`` and ``missing`` are
    as for ``TrackerRun``. Labels are numbers of classes, from 0 on, NaN where a label
    is not known. A binary target has the classes 0 and 1 from the start on; of others a
    class has a probability once a label of it was known.

    There are two sets of Trackers, whose probabilities are mixed with each other and
    with those of the baselines (``ClassMixture``): one has the row's features, without
    the last ``past_columns``, which are made of past labels or of the time; the other
    has all of them, and also as features which class was the last one known
    (``PAST_CLASSES`` indicators, of which none stands for the first class; of a binary
    target a single one, whether it was 1).

    However a stream is cut into calls of ``play``, and whether or not a snapshot is
    taken and restored between them, the result is the same to the last bit, in memory
    that does not grow with the rounds.
    """

    Snapshot: ClassVar[Any] = ClassifierRunSnapshot

    def __init__(
        self, features: int, delay: int = 0, missing: MissingPolicy = "refuse",
        is_binary: bool = False, past_columns: int = 0,
    ) -> None:  # fmt: skip
        self.features = features
        # Columns of x, the last ones, that only the second set of Trackers has; the
        # first one has all columns where there are no others.
        has_own = past_columns < features
        self.own_features = features - past_columns if has_own else features
        self.delay, self.is_binary = delay, is_binary
        self.burn_in = burn_in(features)
        self.past_features = 1 if is_binary else PAST_CLASSES
        self.trackers = ClassTrackers(self.own_features, is_binary)
        self.past_trackers = ClassTrackers(features + self.past_features, is_binary)
        self.baselines, self.mixture = ClassBaselines(is_binary), ClassMixture(delay)
        self.statistics = ClassStatistics(is_binary)
        self.rounds, self.labels_learnt, self.seconds = 0, 0, 0.0
        self.last_label = float("nan")
        self.imputer = Imputer(missing, ImputerState.initial(features))
        columns = features + self.past_features + 1
        self.delayed_labels = DelayedLabels(delay, columns)
        self._batch: list[ClassRounds] = []  # rounds that the statistics lack

    def play(
        self, x: FloatArray, y: FloatArray, is_question: bool = False,
        times: Times | None = None,
    ) -> ClassForecasts:  # fmt: skip
        """Predict and learn the next rows: features (T, n), classes (T,) or NaN.

        A row without a label is a round whose label never came; if ``is_question``, it
        asks for a prediction, and the round itself is still to come. ``times`` are
        the local times (T,) of all rows or of none, for charts.
        """
        seconds, parts = as_seconds(times, len(y)), []
        for start in range(0, len(y), PIECE):
            rows = slice(start, start + PIECE)
            parts.append(self._play_piece(x[rows], y[rows], is_question, seconds[rows]))
        classes = self.trackers.classes
        padded = [np.pad(p, ((0, 0), (0, classes - p.shape[1]))) for p in parts]
        return ClassForecasts(np.concatenate([np.empty((0, classes)), *padded]))

    def update_statistics(self) -> None:
        """Score the rounds played since the last time."""
        if self._batch:
            self.statistics.add(concatenate_class_rounds(self._batch))
            self._batch = []

    def scored_rounds(self) -> int:
        """How many rounds have been scored."""
        self.update_statistics()
        return self.statistics.scored_rounds()

    def past_feature_names(self, classes: ClassLabels) -> tuple[str, ...]:
        """What the features are called that say which class was the last known."""
        before = f"last known {classes.target}"
        labels = classes.labels[1 : 1 + self.past_features]
        unused = range(len(labels), self.past_features)
        names = (f"{before}={label}" for label in labels)
        return (*names, *(f"{before}=(unused {k + 1})" for k in unused))

    def study(
        self, title: str, classes: ClassLabels, features: Sequence[str],
        notes: Sequence[str] = (), start: str | None = None, end: str | None = None,
    ) -> ClassificationStudy:  # fmt: skip
        """The results so far; ``features`` are the names of the columns of x."""
        self.update_statistics()
        names = (*features, *self.past_feature_names(classes))
        trackers = (self.trackers, self.past_trackers)[self.mixture.favourite()]
        if trackers is self.trackers:
            names = names[: self.own_features]
        return make_classification_study(
            self.statistics, trackers.coefficients(), names, classes,
            title=title, target=classes.target, rounds=self.rounds,
            features=tuple(features), seconds=self.seconds, notes=tuple(notes),
            start=start, end=end,
        )  # fmt: skip

    def scoring_notes(self) -> list[str]:
        """What a reader should know about how the probabilities were scored."""
        notes = [f"The first {self.burn_in} labels only warm up and are not scored."]
        if count := self.statistics.new_class_rows:
            rows = "One row is" if count == 1 else f"{count:,} rows are"
            notes.append(
                f"{rows} not scored, as no label of the class had been known before."
            )
        if self.delay:
            notes.append(
                f"Labels come {self.delay:,} rows late, for the baselines as well."
            )
        return notes

    def snapshot(self) -> ClassifierRunSnapshot:
        """All that changes, with the statistics of every round played."""
        self.update_statistics()
        snapshot: ClassifierRunSnapshot = super().snapshot()
        return snapshot

    @classmethod
    def from_snapshot(
        cls, snapshot: ClassifierRunSnapshot, features: int, delay: int,
        missing: MissingPolicy, is_binary: bool, name: str = "", past_columns: int = 0,
    ) -> Self:  # fmt: skip
        """The run that a snapshot was taken of, with the same settings.

        The states are checked before anything is made of the size they claim.
        """
        width = features + (1 if is_binary else PAST_CLASSES)
        # The larger set first: then the other can claim no more.
        validate_background(snapshot.past_trackers, width, f"{name}.past_trackers")
        run = cls(features, delay, missing, is_binary, past_columns)
        run.restore(snapshot, name)
        return run

    def rules(self, snapshot: ClassifierRunSnapshot) -> Iterator[tuple[str, Any]]:
        """All parts are of the same rounds, and classes have numbers of their own."""
        rounds, highest = snapshot.rounds, MAX_CLASSES - 1.0
        yield "seconds", Number(0.0)
        yield "labels_learnt", Count(rounds)
        yield "last_label", Number(0.0, highest, may_be_nan=True)
        is_whole = snapshot.last_label != snapshot.last_label or (
            snapshot.last_label.is_integer()
        )
        yield "last_label", Condition(is_whole, "the number of a class")
        yield "statistics", {"rounds": OneOf((rounds,))}
        yield "imputer", imputer_rules(self.features, rounds)
        pending = min(rounds, self.delay)
        columns = self.features + self.past_features + 1
        labels = Array((pending,), 0.0, highest, whole=True, may_be_nan=True)
        yield (
            "delayed_labels",
            {
                "x": Array((pending, columns), may_be_nan=True),
                "y": labels,
                "weight": Array((pending,), 0.0, 1.0),
                "elapsed": Array((pending,), 0.0),
            },
        )
        counts = [len(one.is_known) for one in snapshot[4:6]]
        right = len(set(counts)) == 1
        yield "past_trackers", Condition(right, f"of {counts[0]} classes")
        right = len(snapshot.mixture.waiting) == pending
        yield "mixture", Condition(right, f"of {pending} rows that wait")
        last = snapshot.delayed_labels.x[:, -1]
        rule = Array((pending,), 0.0, highest, whole=True, may_be_nan=True)
        yield "delayed_labels", Condition(_obeys(rule, last), "numbers of classes")

    def _play_piece(
        self, x: FloatArray, y: FloatArray, is_question: bool, seconds: FloatArray
    ) -> FloatArray:
        elapsed = np.where(~np.isnan(y) | (not is_question), 1.0, 0.0)
        block, learnable = self.imputer.impute_block(Block(x, y, None, elapsed))
        due_numbers = self._due_numbers(y)
        last, self.last_label = newest_labels(self.last_label, due_numbers)
        row = np.column_stack([block.x, self._past_features(last), last])
        due = self.delayed_labels.push(
            row, y, learnable.astype(np.float64), block.elapsed
        )
        began = time.perf_counter()
        n = self.own_features
        first, is_known = self.trackers.play(row[:, :n], due._replace(x=due.x[:, :n]))
        second, _ = self.past_trackers.play(row[:, :-1], due._replace(x=due.x[:, :-1]))
        tracked = np.stack([first, second], axis=1)
        due_last = np.where(np.isnan(due.y), np.nan, due.x[:, -1])
        baselines = self.baselines.play(last, due.y, due_last, first.shape[1])
        probability = self.mixture.play(tracked, baselines, y)
        self.seconds += time.perf_counter() - began
        learnt = self.labels_learnt + np.append(0, due.learnable.cumsum())
        self.labels_learnt = int(learnt[-1])
        is_warm = 1.0 * (learnt[:-1] >= self.burn_in)
        self._batch.append(
            ClassRounds(y, probability, is_known, is_warm, baselines, seconds)
        )
        self.rounds += len(y)
        if self.rounds - self.statistics.rounds >= STATISTICS_BATCH:
            self.update_statistics()
        return probability

    def _due_numbers(self, y: FloatArray) -> FloatArray:
        """(T,) the class that comes to be known after each of the rows, or NaN."""
        waiting = np.append(self.delayed_labels.state.y, y)
        count = max(len(waiting) - self.delay, 0)
        return np.append(np.full(len(y) - count, np.nan), waiting[:count])

    def _past_features(self, last: FloatArray) -> FloatArray:
        """(T, m) which class was the last one known before each row."""
        is_last = last[:, None] == np.arange(1, self.past_features + 1)
        return np.asarray(is_last, np.float64)


def _obeys(rule: Array, values: FloatArray) -> bool:
    known = values[~np.isnan(values)]
    return bool(
        ((known >= rule.low) & (known <= rule.high) & (known == np.floor(known))).all()
    )
