"""Statistics of a run over a target of classes: scores, baselines, curves."""

from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.evaluation.downsampling import (
    SAME_ROUNDS,
    Downsampler,
    DownsamplerSnapshot,
)
from thalweg.kernels.class_frequencies import class_frequencies
from thalweg.models.class_probabilities import MIN_PROBABILITY
from thalweg.persistence.snapshots import Component
from thalweg.rules import Array, Condition, Count
from thalweg.tables.class_labels import MAX_CLASSES
from thalweg.types import FloatArray

BINS = 10
"""Bins of equal width in which probabilities are compared with frequencies."""
POINTS = 15
"""A curve of scores has this many stretches of rows to twice as many."""
COUNT, SUM, HITS = range(3)
"""The rows of the bins: rows, the sum of their probabilities, and those that came."""


def class_losses(probability: FloatArray, number: npt.NDArray[np.int64]) -> FloatArray:
    """(T, 3) log loss, whether right, and Brier score of probabilities (T, K).

    ``number`` (T,) are those of the rows' classes. The log loss is -log of the class's
    probability, at least 2.2e-16. Right is who gives it the largest probability, of
    equal ones the first. The Brier score is half the squared distance between the
    probabilities and those of an oracle, so that for two classes it is (p - y)².
    """
    rows = np.arange(len(number))
    own = probability[rows, number]
    log_loss = -np.log(np.maximum(own, MIN_PROBABILITY))
    is_right = probability.argmax(axis=1) == number
    squares = np.zeros(len(number))
    for column in probability.T:  # in this order, for the same bits with more classes
        squares += column**2
    brier = 0.5 * (squares - own**2 + (1 - own) ** 2)
    return np.column_stack([log_loss, is_right, brier])


OF_SAME_ROUNDS = Condition(
    "log_loss.rounds == accuracy.rounds == brier.rounds", "of the rounds of all scores"
)
AT_MOST_ROWS = Condition(
    "(bins[2] <= bins[0]).all() and (bins[1] <= bins[0] * (1 + 1e-6)).all()",
    "no more hits than rows",
)


class ClassScoresSnapshot(NamedTuple):
    """The scores of one learner so far."""

    log_loss: Annotated[DownsamplerSnapshot, OF_SAME_ROUNDS]
    accuracy: DownsamplerSnapshot
    brier: DownsamplerSnapshot


class ClassScores(Component):
    """The scores of one learner, in constant memory."""

    Snapshot: ClassVar[Any] = ClassScoresSnapshot

    def __init__(self) -> None:
        # Few points, for single log losses differ more than a chart could show.
        self.log_loss, self.accuracy = (Downsampler(POINTS) for _ in range(2))
        self.brier = Downsampler(points=1)

    def add(self, losses: FloatArray) -> None:
        """Take ``class_losses`` of the next rows, (T, 3), NaN where not scored."""
        for part, values in zip(
            (self.log_loss, self.accuracy, self.brier), losses.T, strict=True
        ):
            part.add(values)


class CalibrationSnapshot(NamedTuple):
    """Rows, sums of probabilities and hits in each bin."""

    bins: Annotated[FloatArray, Array((3, BINS), 0.0), AT_MOST_ROWS]  # (3, BINS)


class Calibration(Component):
    """Probabilities beside the frequencies with which what they are of came true.

    Also known as: reliability diagram, calibration curve. Constant memory.
    """

    Snapshot: ClassVar[Any] = CalibrationSnapshot

    def __init__(self) -> None:
        self.bins: FloatArray = np.zeros((3, BINS))

    def add(self, probability: FloatArray, is_hit: npt.NDArray[np.bool_]) -> None:
        """Take some probabilities (T,), and whether what they are of came true."""
        # A file may have been made up, whose probabilities are then not numbers.
        places = np.nan_to_num(probability * BINS, posinf=0.0)
        place = np.clip(places, 0, BINS - 1).astype(np.int64)
        bins = self.bins.copy()
        # One after the other, so that rows may be cut anywhere without a change.
        np.add.at(bins[COUNT], place, 1.0)
        np.add.at(bins[SUM], place, probability)
        np.add.at(bins[HITS], place, is_hit.astype(np.float64))
        self.bins = bins

    def reliability(self) -> FloatArray:
        """(3, m) rows, mean probability and frequency of each bin that has rows."""
        count, total, hits = self.bins[:, self.bins[COUNT] > 0]
        return np.array([count, total / count, hits / count])


def calibration_error(reliability: FloatArray) -> float:
    """The expected calibration error: the mean distance of bins from the diagonal."""
    count, probability, frequency = reliability
    total = count.sum()
    return (
        float((count * np.abs(probability - frequency)).sum() / total) if total else 0.0
    )


MEMORY = 100.0
"""Labels that count in the shares of recent rows, 1 / (1 - discount)."""
BASELINE_NAMES = ("class shares so far", "class shares of late", "after the last class")
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

    ``BASELINE_NAMES``: of all labels so far (the base rate); of the last hundred or so;
    and of the labels after the last known class (a Markov chain of order 1, the
    persistence of classes with repeat rates learnt for each).
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
        out = np.empty((len(last), len(BASELINE_NAMES), classes))
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


LAST_ROWS = 200
"""Number of the last rows that are kept one by one."""
CURVES = 8
"""Classes, the first ones, whose shares are followed over the rows."""


class ClassRounds(NamedTuple):
    """Some rounds of a classifier and of its baselines."""

    number: FloatArray  # (T,) the row's own class, NaN: none
    probability: FloatArray  # (T, K) of each class
    is_known: FloatArray  # (T, K) whether the class was known before the row
    is_warm: FloatArray  # (T,) whether enough labels were known before the row
    baselines: FloatArray  # (T, B, K) of each class, by each baseline
    seconds: FloatArray  # (T,) times since 1970, by local clocks; NaN: none


OwnCurve = Annotated[DownsamplerSnapshot, SAME_ROUNDS]
OwnScores = Annotated[ClassScoresSnapshot, {"log_loss": SAME_ROUNDS}]
SHOWN = Array((f"min(rounds, {LAST_ROWS})", 3), 0.0, MAX_CLASSES - 1.0, may_be_nan=True)


class ClassStatisticsSnapshot(NamedTuple):
    """All that the statistics of a run remember."""

    rounds: int
    # The first round of all being 1; 0: none yet.
    first_scored_round: Annotated[int, Count("rounds")]
    # Rows not scored, as their class had not been known before.
    new_class_rows: Annotated[int, Count("rounds")]
    tracker: OwnScores
    baseline_scores: tuple[OwnScores, ...]
    calibration: CalibrationSnapshot
    observed: tuple[OwnCurve, ...]  # 1 where the row is of the class
    forecast: tuple[OwnCurve, ...]  # the probability of the class
    # (C, C) rows by their class and the predicted one
    confusion: Annotated[
        FloatArray, Array((MAX_CLASSES,) * 2, 0.0, "rounds", whole=True)
    ]
    # (≤ LAST_ROWS, 3) class, predicted class, its probability
    last_rows: Annotated[FloatArray, SHOWN]
    times: OwnCurve


class ClassStatistics(Component):
    """The scores of a classifier and of its baselines on the same rows.

    The result does not depend on how the rounds are cut into calls of ``add``. A row is
    scored if its class is known by then, and if it was known before, once there were
    enough labels to warm up.
    """

    Snapshot: ClassVar[Any] = ClassStatisticsSnapshot

    def __init__(self, is_binary: bool) -> None:
        self.is_binary = is_binary
        self.rounds, self.first_scored_round, self.new_class_rows = 0, 0, 0
        self.tracker = ClassScores()
        self.baseline_scores = [ClassScores() for _ in BASELINE_NAMES]
        self.calibration = Calibration()
        self.observed = [Downsampler(POINTS) for _ in range(CURVES)]
        self.forecast = [Downsampler(POINTS) for _ in range(CURVES)]
        self.confusion: FloatArray = np.zeros((MAX_CLASSES, MAX_CLASSES))
        self.last_rows: FloatArray = np.empty((0, 3))
        self.times = Downsampler()

    def scored_rounds(self) -> int:
        """How many rounds have been scored."""
        return self.tracker.log_loss.count()

    def add(self, batch: ClassRounds) -> None:
        """Score all probabilities of the next rounds."""
        number, p, is_known, is_warm, baselines, seconds = batch
        classes = p.shape[1]
        has_label = ~np.isnan(number)
        safe = np.where(has_label, number, 0.0).astype(np.int64)
        known = np.zeros(len(number), bool)
        if classes:
            within = np.minimum(safe, classes - 1)
            known = (safe < classes) & (is_known[np.arange(len(safe)), within] > 0)
        is_scored = has_label & known & (is_warm > 0)
        self.new_class_rows += int((has_label & ~known & (is_warm > 0)).sum())
        self._add_scores(self.tracker, p, safe, is_scored)
        for k, scores in enumerate(self.baseline_scores):
            self._add_scores(scores, baselines[:, k], safe, is_scored)
        self._add_curves(number, p)
        self.times.add(seconds)
        self._add_rows(number, p, is_scored, safe)
        if is_scored.any() and not self.first_scored_round:
            self.first_scored_round = self.rounds + int(is_scored.argmax()) + 1
        self.rounds += len(number)

    def _add_scores(
        self, scores: ClassScores, p: FloatArray, safe: Any, is_scored: Any
    ) -> None:
        losses = np.full((len(safe), 3), np.nan)
        if is_scored.any():
            losses[is_scored] = class_losses(p[is_scored], safe[is_scored])
        scores.add(losses)

    def _add_curves(self, number: FloatArray, p: FloatArray) -> None:
        for k in range(CURVES):
            is_class = np.where(np.isnan(number), np.nan, 1.0 * (number == k))
            self.observed[k].add(is_class)
            self.forecast[k].add(p[:, k] if k < p.shape[1] else np.zeros(len(p)))

    def _add_rows(
        self, number: FloatArray, p: FloatArray, is_scored: Any, safe: Any
    ) -> None:
        """Count the confusions, fill the bins of calibration, keep the last rows."""
        rows = np.full((len(number), 3), np.nan)
        rows[:, 0] = number
        if p.shape[1]:
            best = p.argmax(axis=1)
            top = p[np.arange(len(p)), best]
            has_forecast = top > 0
            rows[has_forecast, 1:] = np.column_stack([best, top])[has_forecast]
            confusion = self.confusion.copy()
            np.add.at(confusion, (safe[is_scored], best[is_scored]), 1.0)
            self.confusion = confusion
            of_one = p[:, -1] if self.is_binary else top
            hits = safe == 1 if self.is_binary else safe == best
            self.calibration.add(of_one[is_scored], hits[is_scored])
        self.last_rows = np.vstack([self.last_rows, rows])[-LAST_ROWS:].copy()


def concatenate_class_rounds(batch: list[ClassRounds]) -> ClassRounds:
    """Consecutive rounds as one piece; classes that came later had probability 0."""
    classes = batch[-1].probability.shape[1]
    parts = []
    for rounds in batch:
        more = ((0, 0), (0, classes - rounds.probability.shape[1]))
        parts.append(
            rounds._replace(
                probability=np.pad(rounds.probability, more),
                is_known=np.pad(rounds.is_known, more),
                baselines=np.pad(rounds.baselines, ((0, 0), *more)),
            )
        )
    return ClassRounds(*(np.concatenate(part) for part in zip(*parts, strict=True)))
