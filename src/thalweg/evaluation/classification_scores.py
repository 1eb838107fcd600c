"""Scores of class probabilities: log loss, accuracy, Brier score, calibration."""

from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.evaluation.downsampling import Downsampler, DownsamplerSnapshot
from thalweg.models.class_probabilities import MIN_PROBABILITY
from thalweg.persistence.snapshots import Component
from thalweg.rules import Array, Condition
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
