"""The ratio of two errors, as all results have it."""

import numpy as np


def error_ratio(own: float, other: float) -> float:
    """An error over another: 1 where both are 0, infinite where only the other is."""
    if other == 0:
        return 1.0 if own == 0 else own * np.inf
    return own / other
