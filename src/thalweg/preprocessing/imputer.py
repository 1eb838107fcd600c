"""Numbers that are missing from a stream, that is NaN."""

from typing import Any, Literal

import numpy as np

from thalweg.types import FloatArray

Missing = Literal["refuse", "skip", "impute"]


def fill(x: FloatArray, sums: Any, counts: Any) -> tuple[FloatArray, Any, Any]:
    """The rounds x (T, n), each gap filled with the mean of what came before it.

    ``sums`` and ``counts``, (n,) or 0.0 at the start, are of what was seen of each
    feature; what they are after these rounds is given too. A mean of nothing is 0.
    """
    gaps, n = np.isnan(x), x.shape[1]
    first = [np.broadcast_to(part, (1, n)) for part in (sums, counts)]
    # One running sum from the first round on, so that rounds may be cut anywhere.
    all_sums = np.cumsum(np.vstack([first[0], np.where(gaps, 0.0, x)]), axis=0)
    all_counts = np.cumsum(np.vstack([first[1], ~gaps]), axis=0)
    means = all_sums[:-1] / np.maximum(all_counts[:-1], 1.0)
    # Copies: a view of the last row would keep all of them.
    return np.where(gaps, means, x), all_sums[-1].copy(), all_counts[-1].copy()
