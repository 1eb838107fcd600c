"""A forecaster for River: the next values of a series, after each new one."""

from collections.abc import Hashable, Mapping, Sequence
from datetime import date
from typing import Any

from river.time_series.base import Forecaster as RiverForecaster

from thalweg import checks
from thalweg.errors import StreamError
from thalweg.forecasting import Forecast, Forecaster
from thalweg.integrations.river.feature_rows import FeatureRows
from thalweg.integrations.river.memory_usage import MemoryUsage
from thalweg.types import Interval


class TrackerForecaster(MemoryUsage, RiverForecaster):
    """Forecasts of the next values of a series, for River.

    It mixes regressions on past values with plain forecasts by how good each has been
    lately, and finds the season itself: ``thalweg.Forecaster``. Values may be missing
    (None or NaN).

    A datetime among the features is the time of the row: it gives the season by the
    calendar, and rows that are missing between two times count as missing values. All
    other features are numbers. Their keys are those of the first row; a key that a
    later row lacks counts as 0, a new one is refused.

    Parameters
    ----------
    horizon
        How many steps ahead ``forecast`` may look.
    season
        The period of the values in rows, or two periods; None: the calendar's, else
        what the values show.
    calendar
        Whether to make use of datetimes; they are left out if not.
    known
        Whether features are known in advance, so that ``forecast`` is given them.

    """

    def __init__(
        self, horizon: int = 24, season: int | Sequence[int] | None = None,
        calendar: bool = True, known: bool = True,
    ) -> None:  # fmt: skip
        self.horizon = horizon
        self.season = season
        self.calendar = calendar
        self.known = known
        self._model = Forecaster(horizon, season, None, calendar, known)
        self._rows: FeatureRows | None = None  # None before the first row

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {}
        yield {"horizon": 3, "season": 4, "known": False}

    @property
    def model(self) -> Forecaster:
        """The forecaster, with positions for keys: ``seasons``, ``save``, bands."""
        return self._model

    def learn_one(self, y: Any, x: Mapping[Any, Any] | None = None) -> None:
        """Learn the next value ``y`` with the features ``x``."""
        time, features = self._split(x)
        rows = self._rows
        if rows is None:
            empty = FeatureRows()
            rows = empty.with_keys(empty.new_keys(features))
        elif new := rows.new_keys(features):
            raise StreamError(
                f"The features of a TrackerForecaster are those of its first row: "
                f"{', '.join(map(repr, rows.keys)) or 'none'}. Got {new[0]!r} as well."
            )
        given = rows.complete(features)[None].copy() if rows.keys else None
        self._model.update(y, given, time)
        self._rows = rows

    def forecast(
        self, horizon: int, xs: Sequence[Mapping[Any, Any]] | None = None
    ) -> list[float]:
        """The next ``horizon`` values; zeros before any value.

        ``xs`` holds their features, where there are such and they are known in advance.
        """
        ahead = self._forecast(horizon, xs, 0.9)
        means: list[float] = [0.0] * horizon if ahead is None else ahead.mean.tolist()
        return means

    def forecast_interval(
        self, horizon: int, xs: Sequence[Mapping[Any, Any]] | None = None,
        level: float = 0.9,
    ) -> list[Interval]:  # fmt: skip
        """For each step an ``Interval(mean, low, high)`` that holds the value as often
        as ``level`` says; infinite while no error of the step is known.
        """
        ahead = self._forecast(horizon, xs, level)
        if ahead is None:
            return [Interval(0.0, float("-inf"), float("inf"))] * horizon
        ends = zip(*map(list, (ahead.mean, ahead.low, ahead.high)), strict=True)
        return [Interval(*map(float, end)) for end in ends]

    def _forecast(
        self, horizon: int, xs: Sequence[Mapping[Any, Any]] | None, level: float
    ) -> Forecast | None:
        """The forecast; None before any value."""
        limits = f"[1, {self.horizon}]"
        checks.require_argument(
            "TrackerForecaster.forecast", "horizon", horizon, limits
        )
        rows = self._rows
        if rows is None or not self._model.rounds:
            return None
        future = None
        if xs is not None and rows.keys and self.known:
            future = [rows.complete(self._split(x)[1]).copy() for x in xs]
        return self._model.forecast(horizon, future or None, level)

    def _split(
        self, x: Mapping[Any, Any] | None
    ) -> tuple[date | None, dict[Hashable, Any]]:
        """The time of a row, if it has one that is of use, and its other features."""
        features = dict(x or {})
        times = [key for key, value in features.items() if isinstance(value, date)]
        if len(times) > 1 and self.calendar:
            raise StreamError(
                f"A row has one time. Got datetimes as {times[0]!r} and {times[1]!r}: "
                "leave one out."
            )
        stamps = [features.pop(key) for key in times]
        return stamps[0] if stamps and self.calendar else None, features
