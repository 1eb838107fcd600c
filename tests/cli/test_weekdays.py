"""Files of daily rows that lack some weekdays: dates, seasons and sentences."""

import csv
import json

import numpy as np
import pytest

from tests.cli.streams import thalweg, written
from thalweg import Forecaster

EVERY = np.datetime64("2021-01-04", "D") + np.arange(600)  # from a Monday on
WEEKDAYS = np.arange(600) % 7
NO_WEEKENDS = "The season is a week (5 rows, no Saturdays and Sundays)."


def values(weekdays):
    rng = np.random.default_rng(5)
    level = np.array([100, 110, 95, 90, 120, 40, 20])[weekdays]
    return np.round(level + rng.normal(0, 2, len(weekdays)), 3)


def write_days(path, chosen, y=None):
    """Write a file of the chosen days; returns their dates and values."""
    days, y = EVERY[chosen], values(WEEKDAYS)[chosen] if y is None else y
    cells = zip(days, y, strict=True)
    written(path, ["date,y\n", *(f"{day},{value}\n" for day, value in cells)])
    return days, y


def forecast_times(folder):
    with (folder / "forecast.csv").open() as file:
        return [row["time"][:10] for row in csv.DictReader(file)]


def texts(days):
    return [str(day) for day in days]


def sentences(output):
    return " ".join(output.split())


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("weekdays", [range(5), range(6), (0, 2, 4), (1, 3), (6, 0, 1)])
def test_forecasts_are_of_the_days_that_have_rows(folder, weekdays):
    chosen = np.isin(WEEKDAYS, list(weekdays))
    days, y = write_days(folder / "a.csv", chosen & (np.arange(600) < 500))
    done = thalweg("forecast", "a.csv", "-t", "y", "--horizon", "10", "--no-report")
    assert done.exit_code == 0, done.output
    ahead = EVERY[chosen & (np.arange(600) >= 500)][:10]
    assert forecast_times(folder / "out/a-forecast") == texts(ahead)
    expected = Forecaster(10).update(y, time=days).forecast()
    with (folder / "out/a-forecast/forecast.csv").open() as file:
        made = [float(row["forecast"]) for row in csv.DictReader(file)]
    assert made == expected.mean.tolist()
    season, year = len(weekdays), int(365.25 * len(weekdays) / 7 + 0.5)
    naive = {f"seasonal naive {n}" for n in (season, year)} | {
        f"seasonal mean {season}"
    }
    options = ("-t", "y", "--horizon", "10", "--no-report", "--json")
    (series,) = json.loads(thalweg("forecast", "a.csv", *options).stdout)["series"]
    assert naive & {one["name"] for one in series["errors"]}
    assert f"The season is a week ({len(weekdays)} rows, no" in sentences(done.output)


def test_the_horizon_is_a_week_of_those_days(folder):
    write_days(folder / "a.csv", WEEKDAYS < 5)
    done = thalweg("forecast", "a.csv", "-t", "y", "--no-report")
    assert "The horizon is 5 rows: one season by the calendar" in sentences(done.output)


@pytest.mark.page
def test_the_page_shows_those_days(folder):
    write_days(folder / "a.csv", WEEKDAYS < 5)
    thalweg("forecast", "a.csv", "-t", "y", "--horizon", "4")
    page = (folder / "out/a-forecast/report.html").read_text()
    assert NO_WEEKENDS in page
    assert "2022-08-27" not in page  # the Saturday after the last row, a Friday
    assert "2022-08-29" in page


@pytest.mark.parametrize("holidays", [[30], [30, 31, 121, 205, 206]])
def test_a_holiday_is_no_weekday_without_rows(folder, holidays):
    chosen = WEEKDAYS < 5
    chosen[holidays] = False
    write_days(folder / "a.csv", chosen)
    done = thalweg("forecast", "a.csv", "-t", "y", "--horizon", "5", "--no-report")
    assert NO_WEEKENDS in sentences(done.output)


def test_a_week_end_that_has_a_row_is_of_the_series(folder):
    chosen = WEEKDAYS < 5
    chosen[20:] = True  # among the first 24 rows, which decide
    write_days(folder / "a.csv", chosen)
    done = thalweg("forecast", "a.csv", "-t", "y", "--horizon", "3", "--no-report")
    ahead = EVERY[-1] + np.arange(1, 4)
    assert forecast_times(folder / "out/a-forecast") == texts(ahead)
    assert "The season is a week" not in done.output


def test_a_week_end_that_has_rows_after_the_first_24_is_left_out_and_counted(folder):
    chosen = WEEKDAYS < 5
    chosen[40:] = True
    write_days(folder / "a.csv", chosen)
    done = thalweg("forecast", "a.csv", "-t", "y", "--horizon", "3", "--no-report")
    ahead = EVERY[-1] + np.arange(1, 6)
    on_weekdays = ahead[(ahead.astype("datetime64[D]").astype(int) + 3) % 7 < 5][:3]
    assert forecast_times(folder / "out/a-forecast") == texts(on_weekdays)
    count = int((WEEKDAYS[40:] > 4).sum())
    sentence = f"{count} rows were left out: the first rows had none on Saturdays and"
    assert sentence in sentences(done.output)


def test_weekly_rows_stay_weekly(folder):
    write_days(folder / "a.csv", WEEKDAYS == 2)
    thalweg("forecast", "a.csv", "-t", "y", "--horizon", "2", "--no-report")
    last = EVERY[WEEKDAYS == 2][-1]
    assert forecast_times(folder / "out/a-forecast") == texts([last + 7, last + 14])


def test_a_forecast_goes_on_on_the_same_days(folder):
    days, y = write_days(folder / "all.csv", WEEKDAYS < 5)
    rows = [f"{day},{value}\n" for day, value in zip(days, y, strict=True)]
    written(folder / "first.csv", ["date,y\n", *rows[:300]])
    written(folder / "more.csv", ["date,y\n", *rows[300:]])
    options = ("-t", "y", "--horizon", "7", "--no-report")
    assert thalweg("forecast", "first.csv", *options).exit_code == 0
    model = "out/first-forecast/model.thalweg"
    done = thalweg("forecast", "more.csv", "--resume", model, "--no-report")
    assert done.exit_code == 0, done.output
    assert thalweg("forecast", "all.csv", *options).exit_code == 0
    parts = (folder / "out/first-forecast/forecast.csv").read_text()
    assert parts == (folder / "out/all-forecast/forecast.csv").read_text()
    assert NO_WEEKENDS in sentences(done.output)


def test_later_rows_on_other_days_are_left_out_and_counted(folder):
    days, y = write_days(folder / "a.csv", (WEEKDAYS < 5) & (np.arange(600) < 300))
    options = ("-t", "y", "--horizon", "3", "--no-report")
    assert thalweg("forecast", "a.csv", *options).exit_code == 0
    chosen = (np.arange(600) >= 300) & (np.arange(600) < 320)
    write_days(folder / "b.csv", chosen)
    done = thalweg(
        "forecast", "b.csv", "--resume", "out/a-forecast/model.thalweg", "--no-report"
    )
    assert done.exit_code == 0, done.output
    count = int((WEEKDAYS[chosen] > 4).sum())
    sentence = f"{count} rows were left out: the first rows had none on Saturdays and"
    assert sentence in sentences(done.output)
    ahead = EVERY[320:][WEEKDAYS[320:] < 5][:3]
    assert forecast_times(folder / "out/a-forecast") == texts(ahead)


def test_each_series_has_its_own_days(folder):
    chosen, lines = np.arange(600) < 300, ["date,shop,y\n"]
    y = values(WEEKDAYS)
    for k in np.flatnonzero(chosen):
        lines += [f"{EVERY[k]},a,{y[k]}\n"] * int(WEEKDAYS[k] < 5)
        lines += [f"{EVERY[k]},b,{y[k]}\n"] * int(WEEKDAYS[k] < 6)
    written(folder / "shops.csv", lines)
    done = thalweg("forecast", "shops.csv", "-t", "y", "--horizon", "6", "--no-report")
    assert done.exit_code == 0, done.output
    with (folder / "out/shops-forecast/forecast.csv").open() as file:
        rows = list(csv.DictReader(file))
    for shop, count in (("a", 5), ("b", 6)):
        times = [row["time"][:10] for row in rows if row["shop"] == shop]
        assert times == texts(EVERY[300:][WEEKDAYS[300:] < count][:6])


def test_a_run_finds_weeks_of_five_rows(folder):
    write_days(folder / "a.csv", WEEKDAYS < 5)
    done = thalweg("run", "a.csv", "-t", "y", "--no-report")
    assert done.exit_code == 0, done.output
    said = sentences(done.output)
    assert NO_WEEKENDS in said
    assert "from its last values and those 5 and 261 rows ago" in said
    assert "seasonal naive (5 rows)" in said
    assert "seasonal mean (5 rows)" in said
    assert "the same weekday" in said or "the same day last week" in said


def test_a_run_goes_on_as_if_it_had_not_stopped(folder):
    """A Saturday comes long after the first rows, and in the second part."""
    chosen = WEEKDAYS < 5
    chosen[400:500] = True
    days, y = write_days(folder / "all.csv", chosen)
    rows = [f"{day},{value}\n" for day, value in zip(days, y, strict=True)]
    for name, part in (("first", rows[:15]), ("more", rows[15:])):
        written(folder / f"{name}.csv", ["date,y\n", *part])
    for name in ("first", "all"):
        done = thalweg("run", f"{name}.csv", "-t", "y", "--no-report", "--json")
        assert done.exit_code == 0, done.output
    done = thalweg(
        "run", "more.csv", "--resume", "out/first/model.thalweg", "--next",
        "--no-report",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    parts = (folder / "out/first/predictions.csv").read_text().splitlines()
    whole = (folder / "out/all/predictions.csv").read_text().splitlines()
    assert parts[-300:] == whole[-300:]
    assert json.loads((folder / "out/all/study.json").read_text())
