"""Runs and forecasts of files with date and time in several columns."""

import numpy as np
import pytest

from tests.cli.streams import RUNNER, thalweg, written
from thalweg.cli.main import app

HOURS = (np.datetime64("2024-01-25T00") + np.arange(240)).astype(object)
VALUES = np.random.default_rng(0).normal(size=240) + np.arange(240) % 24
NOTE = "Columns 'Date' and 'Time' are joined to the times of the rows;"


def lines(form):
    pairs = zip(HOURS, VALUES, strict=True)
    return [form.format(hour) + f",{value:.3f}\n" for hour, value in pairs]


ONE = ["when,y\n", *lines("{0:%Y-%m-%dT%H:%M}")]
TWO = ["Date,Time,y\n", *lines("{0:%d/%m/%Y},{0:%H:%M}")]
FOUR = ["Year,Month,Day,Hour,y\n", *lines("{0.year},{0.month},{0.day},{0.hour}")]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in (("one", ONE), ("two", TWO), ("four", FOUR)):
        written(tmp_path / f"{name}.csv", content)
    return tmp_path


def test_runs_are_those_of_one_column_of_times(folder):
    for name in ("one", "two", "four"):
        done = thalweg("run", f"{name}.csv", "-t", "y", "--no-report")
        assert done.exit_code == 0, done.output
        assert (NOTE in done.stderr.replace("\n", " ")) == (name == "two")
        assert "series" not in done.stderr
    one, *others = (
        (folder / f"out/{name}/predictions.csv").read_text()
        for name in ("one", "two", "four")
    )
    assert others == [one, one]


def test_forecasts_are_those_of_one_column_of_times(folder):
    for name in ("one", "two", "four"):
        done = thalweg("forecast", f"{name}.csv", "-t", "y", "--no-report")
        assert done.exit_code == 0, done.output
        assert (NOTE in done.stderr.replace("\n", " ")) == (name == "two")
    one, *others = (
        (folder / f"out/{name}-forecast/forecast.csv").read_text()
        for name in ("one", "two", "four")
    )
    assert others == [one, one]


def test_columns_can_be_named_and_the_run_be_resumed(folder):
    named = ("--time", "Date,Time", "--no-report")
    assert thalweg("run", "two.csv", "-t", "y", *named).exit_code == 0
    whole = (folder / "out/two/predictions.csv").read_text()
    written(folder / "two.csv", TWO[:150])
    assert thalweg("run", "two.csv", "-t", "y", *named).exit_code == 0
    written(folder / "two.csv", TWO)
    model = "out/two/model.thalweg"
    done = thalweg("run", "two.csv", "--resume", model, "--no-report")
    assert done.exit_code == 0, done.output
    assert (folder / "out/two/predictions.csv").read_text() == whole
    done = thalweg("forecast", "two.csv", "-t", "y", *named)
    assert done.exit_code == 0, done.output
    resume = ("--resume", "out/two-forecast/model.thalweg", "--no-report")
    assert thalweg("forecast", "two.csv", *resume).exit_code == 0


def test_pipes_join_by_the_first_row(folder):
    text = "".join(["Date,Time,y\n", *lines("{0:%Y-%m-%d},{0:%H:%M}")])
    done = RUNNER.invoke(app, ["run", "-", "-t", "y", "--no-report"], input=text)
    assert done.exit_code == 0, done.output
    assert "240,2024-02-03T23:00:00," in done.stdout


def test_one_of_them_can_be_the_target(folder):
    done = thalweg("run", "four.csv", "-t", "Hour", "--no-report")
    assert done.exit_code == 0, done.output
    assert "joined" not in done.stderr


def test_keys_are_found_beside_them(folder):
    rows = [f"{shop},{line}" for shop in ("north", "south") for line in TWO[1:]]
    written(folder / "shops.csv", ["shop," + TWO[0], *rows])
    done = thalweg("forecast", "shops.csv", "-t", "y", "--no-report")
    assert done.exit_code == 0, done.output
    assert "The rows are 2 series, distinguished by 'shop'" in done.stderr
