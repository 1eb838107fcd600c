"""Probabilities of several classes, from models of one class each; their log loss."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg.types import FloatArray

NO_CLASS = -1
"""In place of a class's number: of a row without label."""
MIN_PROBABILITY = float(np.finfo(np.float64).eps)
"""Lower limit of a probability in the log loss, as in scikit-learn: a label that was
given 0, as that of a class not known yet, costs 36."""


def normalise(scores: Sequence[float]) -> list[float]:
    """Each class's probability over their sum; all equal where all underflow."""
    total = 0.0
    for score in scores:
        total += score
    if total == 0:
        return [1 / len(scores) for _ in scores]
    return [float(score / total) for score in scores]


def normalise_rows(columns: Sequence[FloatArray], is_known: Any) -> FloatArray:
    """(T, K) what ``normalise`` gives for the known classes of each row, 0 elsewhere.

    ``columns`` has (T,) probabilities for each class, ``is_known`` is (T, K).
    """
    scores, total = np.zeros(is_known.shape), np.zeros(len(is_known))
    for k, column in enumerate(columns):
        scores[:, k] = np.where(is_known[:, k], column, 0.0)
        total += scores[:, k]  # in the order of ``normalise``, for the same bits
    underflows = total == 0
    scores[underflows] = is_known[underflows]
    total[underflows] = np.maximum(is_known[underflows].sum(axis=1), 1)
    return np.asarray(scores / total[:, None])


def known_classes(numbers: Any, known: int, count: int) -> Any:
    """(T, K) whether each of ``count`` classes was known before each row.

    ``numbers`` (T,) are those of the rows' classes; the first ``known`` always were.
    """
    is_known = np.ones((len(numbers), count), bool)
    for k in range(known, count):
        is_known[: int((numbers == k).argmax()) + 1, k] = False
    return is_known


def log_loss(probabilities: FloatArray, numbers: Any) -> FloatArray:
    """(T,) -log of the probability of each row's class; 0 where it has no label."""
    losses, labelled = np.zeros(len(numbers)), numbers != NO_CLASS
    own = probabilities[labelled, numbers[labelled]]
    losses[labelled] = -np.log(np.maximum(own, MIN_PROBABILITY))
    return losses
