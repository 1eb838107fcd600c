"""Results of a forecaster: coming values with bands, and past forecasts of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from thalweg.calendar.season_finder import Seasons
from thalweg.forecasting.series_inputs import NAIVE, WHOLE, Series
from thalweg.types import FloatArray, Interval


class ForecastZone(NamedTuple):
    """The zone that times were given in: a name, ``NAIVE``, ``WHOLE`` or None."""

    name: str | None = None
    by_clock: bool = False  # times are those of the zone's clocks, else those of UTC

    def times(self, times: Any) -> Any:
        """Times as they were given, but for the zone, which NumPy has no type for."""
        is_whole = self.name == WHOLE and times is not None
        return times.astype(np.int64) if is_whole else times

    def localize(self, times: Any) -> Any:
        """Times with their zone, as an index of pandas."""
        index = import_module("pandas").DatetimeIndex(times)
        if self.by_clock:
            # Clocks that are set forward skip times, those that go back have two.
            return index.tz_localize(
                self.name, nonexistent="shift_forward", ambiguous=[True] * len(index)
            )
        return index.tz_localize("UTC").tz_convert(self.name)


class _Frames:
    """``columns`` as data frames."""

    zone: ForecastZone

    def columns(self) -> Mapping[str, Any]:
        """One column a name."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """``columns`` as a data frame of pandas; times have the zone they came in."""
        columns = dict(self.columns())
        for name in ("time", "origin"):
            is_zoned = self.zone.name not in (None, NAIVE, WHOLE)
            if is_zoned and columns.get(name) is not None:
                columns[name] = self.zone.localize(columns[name])
        return import_module("pandas").DataFrame(columns)

    def to_polars(self) -> Any:
        """``columns`` as a data frame of polars."""
        return import_module("polars").DataFrame(self.columns())


@dataclass(frozen=True, eq=False)
class Forecast(_Frames):
    """The values of the next h rounds, each with a band that holds it this often.

    Bands do not cross: that of a higher level contains that of a lower one. ``totals``
    are sums: ``totals.mean[k]`` is that of the first k + 1 values, and its band is made
    of the errors of such sums. (The sum of ends of bands is mostly far too wide; the
    band of a sum never reaches further.)
    """

    mean: FloatArray  # (h,)
    low: FloatArray  # (h,) minus infinity where no error is known yet
    high: FloatArray  # (h,)
    totals: Interval  # of arrays (h,): sums of the first 1, 2, … h values
    level: float  # the share of values that a band is expected to hold
    times: Any = None  # (h,) datetime64[ns] or whole numbers; None: none are known
    zone: ForecastZone = ForecastZone()

    def __len__(self) -> int:
        return len(self.mean)

    @property
    def total(self) -> Interval:
        """The sum of all values of the forecast, with its band."""
        return Interval(*(float(part[-1]) for part in self.totals))

    def columns(self) -> Mapping[str, Any]:
        """Time (or step), mean, low and high, a row for each step."""
        steps = np.arange(1, len(self) + 1)
        first = {"step": steps} if self.times is None else {"time": self.times}
        return first | {"mean": self.mean, "low": self.low, "high": self.high}


@dataclass(frozen=True, eq=False)
class Backtest(_Frames):
    """Forecasts from every origin: row t was made when the value of row t was known.

    Also known as: rolling-origin evaluation, time series cross-validation. Column h - 1
    holds the forecasts of step h, and ``errors`` what they missed by.
    """

    y: FloatArray  # (T,) the values, NaN where one is missing
    mean: FloatArray  # (T, H)
    low: FloatArray  # (T, H)
    high: FloatArray  # (T, H)
    level: float
    times: Any = None  # (T,) of the origins
    seasons: Any = None  # (T, 2) season and cycle in rows, as known at each origin
    zone: ForecastZone = ForecastZone()

    @property
    def actual(self) -> FloatArray:
        """The value that each forecast is of, (T, H); NaN where it is not known."""
        rows, steps = self.mean.shape
        padded = np.append(self.y, np.full(steps, np.nan))
        windows = np.lib.stride_tricks.sliding_window_view(padded, steps)
        return np.asarray(windows[1 : rows + 1])

    @property
    def errors(self) -> FloatArray:
        """Actual less forecast, (T, H); NaN where the value is not known."""
        return self.actual - self.mean

    @property
    def is_inside(self) -> FloatArray:
        """1 where the band held the value, 0 where not, NaN where it is not known."""
        actual = self.actual
        inside = (self.low <= actual) & (actual <= self.high)
        return np.where(np.isnan(actual), np.nan, inside)

    def columns(self) -> Mapping[str, Any]:
        """Origin, step, actual value, mean, low and high: a row for each forecast."""
        rows, steps = self.mean.shape
        origins = np.arange(rows) if self.times is None else self.times
        return {
            "origin": np.repeat(origins, steps),
            "step": np.tile(np.arange(1, steps + 1), rows),
            "actual": self.actual.ravel(),
            "mean": self.mean.ravel(),
            "low": self.low.ravel(),
            "high": self.high.ravel(),
        }


class PlayedForecasts(NamedTuple):
    """The forecasts from consecutive origins with the same seasons."""

    mean: FloatArray  # (T, H)
    bands: FloatArray  # (T, H, 2)
    seasons: Seasons


def make_backtest(
    played: Sequence[PlayedForecasts], series: Series, level: float, zone: ForecastZone
) -> Backtest:
    """The backtest of forecasts in pieces.

    Rows of the series beyond those came before the first value; nothing was forecast
    from them. Forecasts beyond those of the series are of rows before it.
    """
    earlier = max(sum(len(piece.mean) for piece in played) - len(series.y), 0)
    mean = np.concatenate([piece.mean for piece in played])[earlier:]
    bands = np.concatenate([piece.bands for piece in played])[earlier:]
    seasons = np.concatenate(
        [np.tile(piece.seasons, (len(piece.mean), 1)) for piece in played]
    )[earlier:]
    skipped = len(series.y) - len(mean)
    unknown = np.full((skipped, mean.shape[1]), np.nan)
    mean, low, high = (
        np.concatenate([unknown, part]) for part in (mean, *np.moveaxis(bands, 2, 0))
    )
    seasons = np.concatenate([np.ones((skipped, 2), np.int64), seasons])
    times = zone.times(series.times)
    return Backtest(series.y, mean, low, high, level, times, seasons, zone)
