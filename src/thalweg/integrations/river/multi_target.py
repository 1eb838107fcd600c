"""Least squares with several targets for River: they share one covariance."""

from collections.abc import Mapping
from typing import Any

from river.base import MultiTargetRegressor

from thalweg import discounts
from thalweg.errors import StreamError
from thalweg.integrations.river.feature_rows import FeatureRows, with_places
from thalweg.integrations.river.memory_usage import MemoryUsage
from thalweg.integrations.river.regressors import least_squares
from thalweg.models import Online
from thalweg.types import FloatArray


class RLSMultiTargetRegressor(MemoryUsage, MultiTargetRegressor):
    """Recursive least squares for several targets a row, with a forgetting factor.

    The targets share one covariance, so that 50 of them take about five times as long
    as one. The first row says which they are; a row that has others is refused.
    Parameters and features are as for ``RLSRegressor``.

    Parameters
    ----------
    discount
        The forgetting factor in (0, 1]: a row that is k rows old weighs discount**k.
    ridge
        How strongly coefficients are held to 0 at first. It is forgotten like the rest.
    floor
        A ridge that is not forgotten.
    leaky
        Whether the floor shrinks coefficients towards 0.
    half_life
        Instead of a discount: the age in rows at which a row weighs half.
    window
        Instead of a discount: 1 / (1 - discount), in rows.
    intercept
        Whether there is a constant feature.

    """

    def __init__(
        self, discount: float | None = discounts.DEFAULT, ridge: float = 1.0,
        floor: float | None = None, leaky: bool = False,
        half_life: float | None = None, window: float | None = None,
        intercept: bool = True,
    ) -> None:  # fmt: skip
        self.discount, self.half_life = discount, half_life
        self.window, self.ridge = window, ridge
        self.floor, self.leaky = floor, leaky
        self.intercept = intercept
        self._online = Online(least_squares(self), intercept=intercept)
        self._rows = FeatureRows(least_width=int(not intercept))
        self._targets = FeatureRows(what="target")

    @property
    def model(self) -> Online:
        """The model, with positions for keys: ``health()``, ``save``."""
        return self._online

    def learn_one(  # type: ignore[override]
        self, x: dict[Any, Any], y: dict[Any, Any], w: float = 1.0
    ) -> None:
        """Learn from one row ``x`` with the targets ``y`` and the weight ``w``."""
        targets = self._targets
        if not targets.keys:
            targets = targets.with_keys(targets.new_keys(y))
        rows, online = with_places(self._rows, self._online, x)
        try:
            online.update(rows.read_any(x), _read_targets(targets, y), w)
        except StreamError:
            rows.complete(x)  # names the key, if a feature is refused
            targets.complete(y)
            raise
        vars(self).update(_rows=rows, _online=online, _targets=targets)

    def predict_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """The prediction of each target at ``x``; none before any row."""
        if not self._targets.keys:
            return {}
        try:
            predictions = self._online.predict(self._rows.read_any(x)).tolist()
        except StreamError:
            self._rows.complete(x)  # names the key
            raise
        return dict(zip(self._targets.keys, predictions, strict=True))


def _read_targets(targets: FeatureRows, y: Mapping[Any, Any]) -> FloatArray:
    """The targets (k,), which must be those of the first row."""
    row = targets.read(y)
    if row is not None:
        return row
    missing = [key for key in targets.keys if key not in y]
    others = targets.new_keys(y)
    if missing or others or not targets.keys:
        raise StreamError(
            f"Every row needs the targets of the first one, "
            f"{', '.join(map(repr, targets.keys)) or 'one at least'}. "
            f"Got {', '.join(map(repr, y)) or 'none'} instead."
        )
    return targets.complete(y)
