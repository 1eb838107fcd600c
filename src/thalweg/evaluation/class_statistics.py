"""Statistics of a run over a target of classes: scores, baselines, curves."""

from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from thalweg.evaluation import class_baselines
from thalweg.evaluation.classification_scores import (
    POINTS,
    Calibration,
    CalibrationSnapshot,
    ClassScores,
    ClassScoresSnapshot,
    class_losses,
)
from thalweg.evaluation.downsampling import (
    SAME_ROUNDS,
    Downsampler,
    DownsamplerSnapshot,
)
from thalweg.persistence.snapshots import Component
from thalweg.rules import Array, Count
from thalweg.tables.class_labels import MAX_CLASSES
from thalweg.types import FloatArray

LAST_ROWS = 200
"""So many of the last rows are kept one by one."""
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
        self.baseline_scores = [ClassScores() for _ in class_baselines.NAMES]
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
