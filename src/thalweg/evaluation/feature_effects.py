"""How much each feature moves the forecasts, on average over the rows.

The effect of a feature in a row is its coefficient times its distance from its own mean
so far; what is left of a forecast, beyond the mean of the target so far, comes of past
values of the target. The mean sizes of both are kept.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from thalweg.persistence.snapshots import Component
from thalweg.rules import Array, Count
from thalweg.types import FloatArray

PAST_VALUES = "level and recent values"
"""What forecasts owe to no feature."""


FEATURES = "len(component.feature_sums)"


class FeatureEffectsSnapshot(NamedTuple):
    """All that the effects of features remember."""

    seen_rounds: int  # rounds that the means of features are over
    # Rounds that the effects are means over.
    scored_rounds: Annotated[int, Count("seen_rounds")]
    labels: Annotated[int, Count("seen_rounds")]  # known labels
    feature_sums: Annotated[FloatArray, Array((FEATURES,), may_be_nan=True)]  # (n,)
    label_sum: Annotated[FloatArray, Array((1,), may_be_nan=True)]  # (1,)
    # (n + 1,) of sizes; the last is of past values
    effect_sums: Annotated[
        FloatArray, Array((f"{FEATURES} + 1",), 0.0, may_be_nan=True)
    ]


class FeatureEffects(Component):
    """The mean sizes of the effects of n features, in constant memory.

    All sums run over the rows one after the other, so that they are the same to the
    last bit however a stream is cut.
    """

    Snapshot: ClassVar[Any] = FeatureEffectsSnapshot

    def __init__(self, features: int) -> None:
        self.seen_rounds = 0
        self.scored_rounds = 0
        self.labels = 0
        self.feature_sums: FloatArray = np.zeros(features)
        self.label_sum: FloatArray = np.zeros(1)
        self.effect_sums: FloatArray = np.zeros(features + 1)

    def add(
        self, x: FloatArray, y: FloatArray, theta: FloatArray, prediction: FloatArray,
        is_scored: Any,
    ) -> None:  # fmt: skip
        """Take the next rows: features and coefficients (T, n), labels or NaN (T,)."""
        if not len(y):
            return
        # Sums of huge numbers may overflow: such rows have no effect that is known.
        with np.errstate(over="ignore", invalid="ignore"):
            effects = theta * (x - self._feature_means(x))
            # A running sum of a row rounds alike in every cut, a plain sum may not.
            explained = np.cumsum(np.insert(effects, 0, 0.0, axis=1), axis=1)[:, -1]
            others = prediction - self._label_means(y) - explained
            sizes = np.abs(np.column_stack([effects, others]))
            is_known = np.asarray(is_scored) & np.isfinite(sizes).all(axis=1)
            sizes[~is_known] = 0.0
            self.effect_sums = _running_sums(self.effect_sums, sizes)[-1]
        self.scored_rounds += int(is_known.sum())

    def effects(self, features: Sequence[str]) -> Mapping[str, float]:
        """The mean size of each feature's effect by name, and of past values."""
        if not self.scored_rounds:
            return {}
        means = self.effect_sums / self.scored_rounds
        pairs = zip(features, means[:-1].tolist(), strict=False)
        return {**dict(pairs), PAST_VALUES: float(means[-1])}

    def _feature_means(self, x: FloatArray) -> FloatArray:
        """The means of the features up to each row, this row included, (T, n)."""
        sums = _running_sums(self.feature_sums, np.nan_to_num(x))
        counts = self.seen_rounds + np.arange(1, len(x) + 1)
        self.feature_sums, self.seen_rounds = sums[-1], self.seen_rounds + len(x)
        return np.asarray(sums[1:] / counts[:, None])

    def _label_means(self, y: FloatArray) -> FloatArray:
        """The mean of the labels known before each row, (T,); NaN before the first."""
        known = ~np.isnan(y)
        sums = _running_sums(self.label_sum, np.where(known, y, 0.0)[:, None])[:, 0]
        counts = np.append(self.labels, self.labels + np.cumsum(known))
        self.label_sum, self.labels = sums[-1:], int(counts[-1])
        means = np.full(len(y), np.nan)
        np.divide(sums[:-1], counts[:-1], out=means, where=counts[:-1] > 0)
        return means


def _running_sums(start: FloatArray, rows: FloatArray) -> FloatArray:
    """Sums of the rows one after the other, from ``start`` on, (T + 1, n)."""
    return np.cumsum(np.vstack([start, rows]), axis=0)
