"""A forecaster for sktime that learns each new value without a refit."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sktime.forecasting.base import BaseForecaster

from thalweg.errors import StreamError
from thalweg.forecasting import Forecast, Forecaster
from thalweg.forecasting.series_inputs import read_times
from thalweg.types import FloatArray

DEFAULT_HORIZON = 24
NARROWEST, WIDEST = 1e-9, 1 - 1e-9
"""Levels of bands used for 0 and 1: sktime requests the median as a band of level 0."""


class TrackerForecaster(BaseForecaster):
    """Forecasts with bands, updated with each new value, for sktime.

    It weighs regressions on past values and simple forecasts by their recent errors,
    and finds the season itself: ``thalweg.Forecaster``. ``update`` learns only new
    rows: rows that it has learnt before are skipped, and rows that are missing in
    between count as missing values. With ``update_params=False`` it learns them as
    well, since its parameters and its last values are one state.

    Exogenous features are future covariates (known in advance), as usual in sktime.

    Parameters
    ----------
    horizon : int or None, default=None
        Number of steps ahead that ``predict`` can forecast. None: as in ``fh`` of
        ``fit``, or 24 without it.
    season : int, pair of int or None, default=None
        The period of the values in rows, or two periods. None: that of the calendar
        where times are given, else what the values show.
    lags : sequence of int or None, default=None
        Further past values as features, 1 for the last one.
    calendar : bool, default=True
        Whether times give the season.

    Examples
    --------
    >>> import pandas as pd
    >>> from thalweg.integrations.sktime import TrackerForecaster
    >>> y = pd.Series([3.0, 5.0, 4.0, 6.0])
    >>> forecaster = TrackerForecaster().fit(y, fh=[1, 2])
    >>> y_pred = forecaster.update(pd.Series([5.0], index=[4])).predict()

    """

    _tags = {
        "authors": "The thalweg authors",
        "maintainers": "The thalweg authors",
        "capability:multivariate": False,
        "capability:exogenous": True,
        "capability:insample": False,
        "capability:pred_int": True,
        "capability:pred_int:insample": False,
        "capability:missing_values": True,
        "capability:categorical_in_X": False,
        "capability:update": True,
        "y_inner_mtype": "pd.Series",
        "X_inner_mtype": "pd.DataFrame",
        "requires-fh-in-fit": False,
        "X-y-must-have-same-index": True,
    }
    # What was learnt need not be learnt again, so that memory stays as it is.
    _config = {"remember_data": False}

    def __init__(
        self, horizon: int | None = None,
        season: int | Sequence[int] | None = None,
        lags: Sequence[int] | None = None, calendar: bool = True,
    ) -> None:  # fmt: skip
        self.horizon = horizon
        self.season = season
        self.lags = lags
        self.calendar = calendar
        super().__init__()
        self._y = self._X = None  # where a user sets ``remember_data``

    def _fit(self, y: Any, X: Any, fh: Any) -> "TrackerForecaster":
        horizon = self.horizon
        if horizon is None:
            horizon = DEFAULT_HORIZON
            if fh is not None:
                horizon = max(1, int(_steps(fh, self.cutoff).max()))
        self.forecaster_ = Forecaster(
            horizon, self.season, self.lags, self.calendar, known=True
        )
        self._name = y.name
        self._latest: Any = None  # the last time that was learnt
        return self._learn(y, X)

    def _update(
        self, y: Any, X: Any = None, update_params: bool = True
    ) -> "TrackerForecaster":
        is_new = np.ones(len(y), np.bool_)
        if self._latest is not None:
            is_new = np.asarray(y.index > self._latest)
        return self._learn(y[is_new], X)

    def _learn(self, y: Any, X: Any) -> "TrackerForecaster":
        if not len(y):
            return self
        x = None if X is None else _features(X.loc[y.index])
        self.forecaster_.update(np.asarray(y, np.float64), x, _index_times(y.index))
        self._latest = y.index[-1]
        return self

    def _predict(self, fh: Any, X: Any) -> Any:
        ahead, steps = self._forecast(fh, X, 0.9)
        index = fh.to_absolute_index(self.cutoff)
        return pd.Series(ahead.mean[steps - 1], index=index, name=self._name)

    def _predict_interval(self, fh: Any, X: Any, coverage: Any) -> Any:
        columns = self._get_columns(method="predict_interval", coverage=coverage)
        ends = []
        for level in coverage:
            ahead, steps = self._forecast(fh, X, min(max(level, NARROWEST), WIDEST))
            ends += [ahead.low[steps - 1], ahead.high[steps - 1]]
        index = fh.to_absolute_index(self.cutoff)
        return pd.DataFrame(np.column_stack(ends), index=index, columns=columns)

    def _forecast(self, fh: Any, X: Any, level: float) -> tuple[Forecast, Any]:
        """The forecast up to the last step of ``fh``, and the steps that it has."""
        steps = _steps(fh, self.cutoff)
        last, horizon = int(steps.max()), self.forecaster_.horizon
        if last > horizon:
            raise StreamError(
                f"A TrackerForecaster with a horizon of {horizon} steps cannot look "
                f"{last} steps ahead. Give 'horizon', or 'fh' in fit."
            )
        future = None
        if X is not None:
            future = self._future_rows(X, last)
        return self.forecaster_.forecast(last, future, level), steps

    def _future_rows(self, X: Any, last: int) -> FloatArray:
        """Features of the next steps; of those that X lacks, the nearest before."""
        times, grid = read_times(_index_times(X.index))[0], self.forecaster_.grid
        if grid is None or times is None:
            raise StreamError("One row does not show at which times features are.")
        is_absent = grid.is_absent_weekday(times)
        X, times = X[~is_absent], times[~is_absent]
        at = grid.positions(times) - self.forecaster_.rounds
        values = _features(X)
        row = np.maximum(np.searchsorted(at, np.arange(last), "right") - 1, 0)
        return values[row]

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Settings with which sktime checks the forecaster."""
        return [{}, {"horizon": 12, "season": 4, "lags": (5,), "calendar": False}]


def _steps(fh: Any, cutoff: Any) -> Any:
    """The distance of each time of a horizon from the cutoff, in rows."""
    return fh.to_relative(cutoff).to_numpy().astype(np.int64)


def _index_times(index: Any) -> Any:
    """The times of an index: datetimes without a zone, or whole numbers."""
    if isinstance(index, pd.PeriodIndex):
        index = index.to_timestamp()
    if isinstance(index, pd.DatetimeIndex):
        return (index if index.tz is None else index.tz_convert(None)).to_numpy()
    return index.to_numpy().astype(np.int64)


def _features(X: Any) -> FloatArray:
    """Exogenous features as numbers, (T, m)."""
    return np.asarray(X, np.float64)
