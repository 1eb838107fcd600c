"""What a practitioner would compare a one-step forecast with: simple baselines, ETS and
boosting, each from the rows before.

Baselines: the last value, the value a season and a cycle ago, drift, the mean of the
same phase of the season and of the cycle. Seasons are those of the calendar. Models are
fitted again at five places of the file, on the rows before, and forecast each row from
all rows before it. Rows whose time goes back begin another series: values of the one
before are not looked up.
"""

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from thalweg.calendar.season_finder import Seasons, calendar_seasons
from thalweg.calendar.time_grid import find_grid

TRENDS = ((None, False), ("add", False), ("add", True))
MAX_ETS_SEASON = 52
Floats = npt.NDArray[np.float64]
Times = npt.NDArray[np.datetime64]
REFITS, MAX_FIT_ROWS = 5, 1500
"""Number of fits of each model, and limit of the rows it is fitted to, the last."""


def seasons_of(times: Times | None) -> Seasons:
    """The seasons by the calendar, from the times of the first 24 that go on."""
    if times is None:
        return Seasons()
    first = times[:24]
    if np.isnat(first).any() or (np.diff(first) <= np.timedelta64(0)).any():
        return Seasons()
    grid = find_grid(first.astype("datetime64[ns]"))
    return Seasons() if grid is None else calendar_seasons(grid)


def baselines(y: Floats, times: Times | None) -> dict[str, Floats]:
    """The forecasts of each row by every simple baseline."""
    seasons = seasons_of(times)
    known = forward_fill(y)
    last = np.append(0.0, known[:-1])
    rows = np.arange(len(y))
    slope = (last - known[0]) / np.maximum(rows - 1, 1)
    made = {"persistence": last, "drift": last + slope, "mean": running_mean(y)}
    for name, period in zip(("season", "cycle"), seasons, strict=True):
        if period > 1:
            places = positions(times, len(y), seasons)
            made[f"{name} naive"] = values_ago(y, places, period, last)
            made[f"mean of the same {name}"] = phase_means(y, places % period, last)
    return made


def positions(
    times: Times | None, rows: int, seasons: Seasons
) -> npt.NDArray[np.int64]:
    """The place of each row on the grid of times; a step back begins a new cycle."""
    numbers = np.arange(rows)
    grid = None if times is None else find_grid(times[:24].astype("datetime64[ns]"))
    if times is None or grid is None or np.isnat(times).any():
        return numbers
    if grid.months:
        months = times.astype("datetime64[M]").astype(np.int64)
        return np.asarray((months - months[0]) // grid.months)
    stamps = times.astype("datetime64[ns]").astype(np.int64)
    return np.asarray((stamps - stamps[0] + grid.step // 2) // grid.step)


def values_ago(
    y: Floats, places: npt.NDArray[np.int64], period: int, last: Floats
) -> Floats:
    """The value a period before each row, or the last one where there is none."""
    made, seen, before = last.copy(), dict[int, float](), places[0] - 1
    for row, place in enumerate(places.tolist()):
        if place < before:
            seen = {}
        made[row] = seen.get(place - period, last[row])
        if y[row] == y[row]:
            seen[place] = float(y[row])
        before = place
    return made


def phase_means(y: Floats, phases: npt.NDArray[np.int64], last: Floats) -> Floats:
    """The mean of all values before at the phase of each row."""
    made, sums, counts = last.copy(), dict[int, float](), dict[int, int]()
    for row, phase in enumerate(phases.tolist()):
        if counts.get(phase):
            made[row] = sums[phase] / counts[phase]
        if y[row] == y[row]:
            sums[phase] = sums.get(phase, 0.0) + float(y[row])
            counts[phase] = counts.get(phase, 0) + 1
    return made


def running_mean(y: Floats) -> Floats:
    """The mean of all values before each row."""
    known = ~np.isnan(y)
    sums, counts = np.cumsum(np.where(known, y, 0.0)), np.cumsum(known)
    return np.append(0.0, (sums / np.maximum(counts, 1))[:-1])


def forward_fill(y: Floats) -> Floats:
    """The last known value up to each row."""
    latest = np.maximum.accumulate(np.where(np.isnan(y), 0, np.arange(len(y))))
    return np.nan_to_num(y[latest])


def rivals(y: Floats, times: Times | None, others: Floats) -> dict[str, Floats]:
    """One-step forecasts by ETS and by boosting, where their libraries are there."""
    made = {}
    for name, forecast in (("ETS", ets), ("boosting", boosting)):
        try:
            made[name] = forecast(forward_fill(y), times, others)
        except ImportError:
            continue
    return made


def _refits(rows: int) -> list[tuple[int, int]]:
    edges = np.unique(np.linspace(40, rows, REFITS + 1).astype(int)).tolist()
    return list(zip(edges, edges[1:], strict=False))


def ets(y: Floats, times: Times | None, others: Floats) -> Floats:
    """Exponential smoothing, its form chosen by AIC among six, also: AutoETS."""
    make = import_module("statsmodels.tsa.exponential_smoothing.ets").ETSModel
    season, made = seasons_of(times).season, np.append(0.0, y[:-1])
    forms: list[dict[str, Any]] = [
        {"trend": trend, "damped_trend": damped, "initialization_method": "heuristic"}
        for trend, damped in TRENDS
    ]
    if 1 < season <= MAX_ETS_SEASON:
        seasonal = {"seasonal": "add", "seasonal_periods": season}
        forms += [form | seasonal for form in forms]
    for start, stop in _refits(len(y)):
        first = max(start - MAX_FIT_ROWS, 0)
        fits = []
        for form in forms:
            if "seasonal" in form and start - first < 2 * season + 10:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fit = make(y[first:start], **form).fit(disp=False, maxiter=200)
            fits.append((fit.aic, fit.params, form))
        _, params, form = min(fits, key=lambda one: one[0])
        smoothed = make(y[first:stop], **form).smooth(params)
        made[start:stop] = smoothed.fittedvalues[start - first :]
    return made


def boosting(y: Floats, times: Times | None, others: Floats) -> Floats:
    """Boosted trees on last values, those of seasons ago, calendar and columns."""
    make = _booster()
    x, made = _boosting_features(y, times, others), np.append(0.0, y[:-1])
    for start, stop in _refits(len(y)):
        first = max(start - 5 * MAX_FIT_ROWS, 0)
        model = make().fit(x[first:start], y[first:start])
        made[start:stop] = model.predict(x[start:stop])
    return made


def _booster() -> Callable[[], Any]:
    try:
        regressor = import_module("lightgbm").LGBMRegressor
        return lambda: regressor(verbose=-1)
    except ImportError:
        return import_module("sklearn.ensemble").HistGradientBoostingRegressor


def _boosting_features(y: Floats, times: Times | None, others: Floats) -> Floats:
    season, cycle = seasons_of(times)
    columns = [np.append(np.full(lag, np.nan), y[:-lag]) for lag in (1, 2, 3)]
    columns += [
        np.append(np.full(lag, np.nan), y[:-lag])[: len(y)]
        for lag in sorted({season, season + 1, cycle, cycle + 1} - {1, 2, 3})
        if lag < len(y)
    ]
    if times is not None:
        days = times.astype("datetime64[D]")
        columns += [
            (times - days).astype("timedelta64[m]").astype(float),
            (days.astype(np.int64) + 3) % 7,
            times.astype("datetime64[M]").astype(np.int64) % 12,
        ]
    table = np.column_stack([*columns, others])
    # A value of before the file counts as the last one.
    return np.where(np.isnan(table), np.nan_to_num(table[:, :1]), table)
