"""Forecasts of many series in one data frame, as statsforecast and mlforecast have it.

A row of a long frame has the id of its series, a time and a value; further columns are
features. There is a ``Forecaster`` for each id.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from thalweg import checks
from thalweg.calendar.time_grid import Times
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.forecasting.forecaster import MAX_HORIZON, Forecaster
from thalweg.forecasting.forecaster_settings import require_count
from thalweg.forecasting.panel import FutureRows, Panel, PanelRows, Refusals
from thalweg.types import FloatArray

MAX_WINDOWS = 10_000


def forecast(
    df: Any, h: int, freq: Any = None, id_col: str = "unique_id", time_col: str = "ds",
    target_col: str = "y", level: Sequence[float] | None = (90,), X_df: Any = None,
    season: int | Sequence[int] | None = None, lags: Sequence[int] | None = None,
    calendar: bool = True, alias: str = "Tracker",
) -> Any:  # fmt: skip
    """The next ``h`` values of every series of a long frame, with bands.

    >>> thalweg.forecast(df, h=24, level=[80, 90])  # doctest: +SKIP

    ``df`` is a data frame of any library that narwhals knows, and the result is one of
    the same: ids (sorted), times, ``Tracker``, and for each level in percent
    ``Tracker-lo-90`` and ``Tracker-hi-90`` (infinite while no error is known yet);
    ``alias`` is the name to use for ``Tracker``. Rows may come in any order. Times are
    datetimes, dates, ISO text or whole numbers. A value may be missing, or its row.

    ``freq`` is the step from row to row: a number for times that are whole numbers,
    else ``"h"``, ``"15min"``, ``"D"``, ``"B"``, ``"MS"`` and the like, in the way of
    pandas or polars. None: what the first 24 rows of each series show; of daily times
    that do not fall on some weekdays there, only the others are rows
    (calendar/weekdays.py), unless ``freq`` is ``"D"``.

    A frame without the column ``unique_id`` is one series. What is wrong with any
    series is said of all of them at once.

    Columns beside id, time and target are features; one that is missing in a row is as
    it was in the row before. Those that ``X_df`` has as well are
    known in advance: it holds a row for each id and coming time. ``season``, ``lags``
    and ``calendar`` are those of ``Forecaster``.
    """
    bands = _Bands("forecast", h, level, alias, (id_col, time_col))
    panel = Panel(df, id_col, time_col, target_col, freq, "forecast")
    future = None if X_df is None else FutureRows(X_df, id_col, time_col, panel)
    known = () if future is None else future.features
    models = _Models(h, panel.positions(known), season, lags, calendar)
    results, refusals = _Results(), Refusals()
    for series in panel:
        with refusals.of(series.id):
            rows = panel.place(series)
            forecaster = models.learn(None, rows, slice(None))
            ahead = rows.times_ahead(h)
            x = None if future is None else future.rows(series.id, rows, h)
            results.add(series.row, ahead, bands.columns(forecaster, x))
    refusals.raise_any()
    return results.frame(panel, {time_col: results.times})


def cross_validation(
    df: Any, h: int, n_windows: int = 1, step_size: int = 1, freq: Any = None,
    id_col: str = "unique_id", time_col: str = "ds", target_col: str = "y",
    level: Sequence[float] | None = (90,), known: bool | Sequence[str] = (),
    season: int | Sequence[int] | None = None, lags: Sequence[int] | None = None,
    calendar: bool = True, alias: str = "Tracker",
) -> Any:  # fmt: skip
    """The results of ``forecast`` before the last values of every series.

    Also known as: rolling-origin evaluation, backtest. The last of ``n_windows``
    windows ends with the series, each other ``step_size`` rows before the next. The
    result has the columns of ``forecast``, and behind the time ``cutoff``, the last
    time that was known to the forecast, and the target (NaN where it is missing).

    Each series is learnt once: there is nothing to refit. ``known`` are the features
    that are known in advance (True: all), which a window reads from its own rows.
    """
    panel = Panel(df, id_col, time_col, target_col, freq, "cross_validation")
    for name, value in (("n_windows", n_windows), ("step_size", step_size)):
        require_count("cross_validation", name, value, MAX_WINDOWS)
    names = panel.features if known is True else tuple(known or ())
    others = (id_col, time_col, "cutoff", target_col)
    bands = _Bands("cross_validation", h, level, alias, others)
    models = _Models(h, panel.positions(names), season, lags, calendar)
    results, refusals = _Results(), Refusals()
    for series in panel:
        with refusals.of(series.id):
            rows, forecaster = panel.place(series), None
            count, earlier = len(rows.y), (n_windows - 1) * step_size
            if count < 1 + h + earlier:
                raise StreamError(
                    f"it has {count} rows, and needs {1 + h + earlier} for h={h}, "
                    f"n_windows={n_windows} and step_size={step_size}."
                )
            cutoffs = range(count - h - earlier, count - h + 1, step_size)
            for start, stop in zip((0, *cutoffs), cutoffs, strict=False):
                forecaster = models.learn(forecaster, rows, slice(start, stop))
                window = slice(stop, stop + h)
                x = rows.given[window][:, models.known] if models.known else None
                columns = {target_col: rows.y[window]}
                columns |= bands.columns(forecaster, x)
                cutoff = np.repeat(rows.stamps[stop - 1], h)
                results.add(series.row, rows.stamps[window], columns, cutoff)
    refusals.raise_any()
    times = {time_col: results.times, "cutoff": results.cutoffs}
    return results.frame(panel, times)


@dataclass(frozen=True)
class _Models:
    """How a forecaster of one series is made."""

    h: int
    known: list[int]
    season: int | Sequence[int] | None
    lags: Sequence[int] | None
    calendar: bool

    def learn(
        self, forecaster: Forecaster | None, rows: PanelRows, part: slice
    ) -> Forecaster:
        """The forecaster, a new one if None, after some rows of its series."""
        if forecaster is None:
            forecaster = Forecaster(
                self.h, self.season, self.lags, self.calendar, self.known
            )
            if rows.has_calendar:
                forecaster.start_grid(rows.first_grid())
        x = rows.given[part] if rows.given.shape[1] else None
        return forecaster.update(rows.y[part], x)


class _Bands:
    """The columns of a forecast."""

    def __init__(
        self, owner: str, h: int, level: Sequence[float] | None, alias: str,
        others: Sequence[str],
    ) -> None:  # fmt: skip
        """``others`` are the other columns of the result."""
        require_count(owner, "h", h, MAX_HORIZON)
        if isinstance(level, int | float):
            level = (level,)
        self._levels, self._alias = sorted(level or ()), alias
        for percent in self._levels:
            checks.require_argument(owner, "level", percent, "(0, 100)")
            if percent < 1:
                raise InvalidParameterError(
                    f"The 'level' parameter of {owner} must be of levels in per cent: "
                    f"{100 * percent:g}, not {percent:g}. Got {level!r} instead."
                )
        if len(set(self._levels)) < len(self._levels):
            raise InvalidParameterError(
                f"The 'level' parameter of {owner} must not name a level twice. "
                f"Got {level!r} instead."
            )
        self._names = [
            (f"{alias}-lo-{percent}", f"{alias}-hi-{percent}")
            for percent in self._levels
        ]
        taken = {alias, *chain(*self._names)}.intersection(others)
        if taken:
            raise InvalidParameterError(
                f"The 'alias' parameter of {owner} must not make a second column "
                f"{min(taken)!r} of the result. Got {alias!r} instead."
            )

    def columns(self, forecaster: Forecaster, future: Any) -> dict[str, FloatArray]:
        """The forecast and its bands by name, the ends in order of size."""
        ahead = forecaster.forecast(future=future)
        low, high = {}, {}
        for percent, (name_low, name_high) in zip(
            self._levels, self._names, strict=True
        ):
            band = forecaster.forecast(future=future, interval=percent / 100)
            low[name_low], high[name_high] = band.low, band.high
        return {self._alias: ahead.mean, **dict(reversed(low.items())), **high}


class _Results:
    """Forecasts of one series after the other, which become a data frame."""

    def __init__(self) -> None:
        self._rows: list[FloatArray] = []
        self._times: list[Times] = []
        self._cutoffs: list[Times] = []
        self._columns: dict[str, list[FloatArray]] = {}

    def add(
        self, row: int, times: Times, columns: dict[str, FloatArray],
        cutoff: Times | None = None,
    ) -> None:  # fmt: skip
        """Add a forecast of the series that a row of the data frame is of."""
        self._rows.append(np.repeat(row, len(times)))
        self._times.append(times)
        if cutoff is not None:
            self._cutoffs.append(cutoff)
        for name, values in columns.items():
            self._columns.setdefault(name, []).append(values)

    @property
    def times(self) -> Times:
        """The time of each row."""
        return np.concatenate(self._times)

    @property
    def cutoffs(self) -> Times:
        """The last time that was known to the forecast of each row."""
        return np.concatenate(self._cutoffs)

    def frame(self, panel: Panel, times: dict[str, Times]) -> Any:
        """All of it as a data frame, with these columns of times."""
        numbers = {name: np.concatenate(parts) for name, parts in self._columns.items()}
        return panel.frame.new_frame(np.concatenate(self._rows), times, numbers)
