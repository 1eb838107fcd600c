"""Labels that come late, in the Tracker's definition: rounds that wait for theirs.

The kernel's twin is kernels/tracker/pending_labels.py.
"""

from typing import Any, NamedTuple

import numpy as np

from thalweg.kernels.tracker.tracker_layout import (
    HAS_PREDICTION,
    OLDEST_PENDING,
    PENDING_CANDIDATES,
    PENDING_CONFIDENCES,
    PENDING_COUNT,
    PENDING_ELAPSED,
    PENDING_FEATURES,
    PENDING_FORECAST,
    PENDING_MEAN,
    PENDING_OWN,
    PENDING_PREDICTIONS,
    PENDING_RULES,
    PENDING_SCALE,
    PENDING_WEIGHT,
    PENDING_Y,
)
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
    pool: FloatArray  # (2,) the own forecast, and the given one
    has_prediction: bool  # False: nothing was known then, or it is to be ignored
    error_scale: float  # the mean size of errors, as far as known then


def push_pending(s: Any, played: LabelledRound) -> None:
    """Let a round wait for its label, with the predictions made in it."""
    counters = s.counters
    slot = int(counters[OLDEST_PENDING] + counters[PENDING_COUNT]) % len(s.pending)
    row = s.pending[slot]
    row[PENDING_Y], row[PENDING_WEIGHT] = played.y, played.weight
    row[PENDING_ELAPSED], row[PENDING_FORECAST] = played.elapsed, played.forecast
    row[HAS_PREDICTION], row[PENDING_SCALE] = played.has_prediction, played.error_scale
    row[PENDING_MEAN:] = np.concatenate([
        played.committee, played.candidates, played.expert_predictions,
        played.rule_predictions, played.confidences, played.pool, played.x,
        played.context,
    ])  # fmt: skip
    counters[PENDING_COUNT] += 1


def pop_pending(s: Any) -> LabelledRound:
    """The oldest round that waits, whose label is due."""
    counters = s.counters
    row = s.pending[int(counters[OLDEST_PENDING])].copy()
    counters[OLDEST_PENDING] = (counters[OLDEST_PENDING] + 1) % len(s.pending)
    counters[PENDING_COUNT] -= 1
    n = s.past_x.shape[1]
    return LabelledRound(
        row[PENDING_FEATURES : PENDING_FEATURES + n], row[PENDING_Y],
        row[PENDING_WEIGHT], row[PENDING_ELAPSED], row[PENDING_FORECAST],
        row[PENDING_PREDICTIONS:PENDING_RULES], row[PENDING_RULES:PENDING_CONFIDENCES],
        row[PENDING_CONFIDENCES:PENDING_OWN],
        row[PENDING_MEAN:PENDING_CANDIDATES],
        row[PENDING_CANDIDATES:PENDING_PREDICTIONS], row[PENDING_FEATURES + n :],
        row[PENDING_OWN:PENDING_FEATURES], bool(row[HAS_PREDICTION]),
        row[PENDING_SCALE],
    )  # fmt: skip


def invalidate_pending(pending: FloatArray) -> None:
    """Let no round that waits be learnt from by its predictions: they are outdated."""
    pending[:, HAS_PREDICTION] = 0.0
