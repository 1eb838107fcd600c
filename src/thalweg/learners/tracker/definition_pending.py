"""Labels that come late, in the Tracker's definition: rounds that wait for theirs.

The kernel's twin is kernels/tracker/pending_labels.py.
"""

from typing import Any, NamedTuple

import numpy as np

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.types import FloatArray


class LabelledRound(NamedTuple):
    """A round whose label is known, with the predictions that were made in it."""

    x: FloatArray  # (n,)
    y: float
    weight: float
    elapsed: float
    forecast: float
    expert_predictions: FloatArray  # (PADDED_EXPERTS,)
    rule_predictions: FloatArray  # (PADDED_RULES,)
    confidences: FloatArray  # (PADDED_EXPERTS,)
    committee: FloatArray  # (2,) its own prediction, and the correction of it
    candidates: FloatArray  # (CANDIDATES,)
    context: FloatArray  # (n + 2,)
    pool: FloatArray  # (2,) the own forecast, and the external one
    has_prediction: bool  # False: nothing was known then, or it is to be ignored
    error_scale: float  # the mean size of errors, as far as known then


def push_pending(s: Any, played: LabelledRound) -> None:
    """Let a round wait for its label, with the predictions made in it."""
    counters = s.counters
    slot = int(counters[layout.OLDEST_PENDING] + counters[layout.PENDING_COUNT]) % len(
        s.pending
    )
    row = s.pending[slot]
    row[layout.PENDING_Y], row[layout.PENDING_WEIGHT] = played.y, played.weight
    row[layout.PENDING_ELAPSED] = played.elapsed
    row[layout.PENDING_FORECAST] = played.forecast
    row[layout.HAS_PREDICTION] = played.has_prediction
    row[layout.PENDING_SCALE] = played.error_scale
    row[layout.PENDING_MEAN:] = np.concatenate([
        played.committee, played.candidates, played.expert_predictions,
        played.rule_predictions, played.confidences, played.pool, played.x,
        played.context,
    ])  # fmt: skip
    counters[layout.PENDING_COUNT] += 1


def pop_pending(s: Any) -> LabelledRound:
    """The oldest round that waits, whose label is due."""
    counters = s.counters
    row = s.pending[int(counters[layout.OLDEST_PENDING])].copy()
    counters[layout.OLDEST_PENDING] = (counters[layout.OLDEST_PENDING] + 1) % len(
        s.pending
    )
    counters[layout.PENDING_COUNT] -= 1
    n = s.past_x.shape[1]
    return LabelledRound(
        row[layout.PENDING_FEATURES : layout.PENDING_FEATURES + n],
        row[layout.PENDING_Y],
        row[layout.PENDING_WEIGHT],
        row[layout.PENDING_ELAPSED],
        row[layout.PENDING_FORECAST],
        row[layout.PENDING_PREDICTIONS : layout.PENDING_RULES],
        row[layout.PENDING_RULES : layout.PENDING_CONFIDENCES],
        row[layout.PENDING_CONFIDENCES : layout.PENDING_OWN],
        row[layout.PENDING_MEAN : layout.PENDING_CANDIDATES],
        row[layout.PENDING_CANDIDATES : layout.PENDING_PREDICTIONS],
        row[layout.PENDING_FEATURES + n :],
        row[layout.PENDING_OWN : layout.PENDING_FEATURES],
        bool(row[layout.HAS_PREDICTION]),
        row[layout.PENDING_SCALE],
    )


def invalidate_pending(pending: FloatArray) -> None:
    """Let no round that waits be learnt from by its predictions: they are outdated."""
    pending[:, layout.HAS_PREDICTION] = 0.0
