"""Which rounds are scored, and in which units rivals get them."""

import numpy as np

from thalweg.types import FloatArray


def burn_in(rounds: int) -> int:
    """500 rounds are not scored; 100 on streams of at most 5,000."""
    return 100 if rounds <= 5000 else 500


def standard(values: FloatArray) -> FloatArray:
    """Mean 0 and deviation 1, column by column; a constant column becomes zeros."""
    spread = values.std(axis=0)
    return np.asarray((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1))


def mean_square(prediction: FloatArray, y: FloatArray) -> float:
    """The mean squared error of the scored rounds."""
    return float(np.mean((y - prediction)[burn_in(len(y)) :] ** 2))
