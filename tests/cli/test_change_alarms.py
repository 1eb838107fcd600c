import json

import numpy as np
import pytest

from tests.cli.streams import studies_in, thalweg, written

COLLAPSE = 400


@pytest.fixture(scope="module")
def lines():
    """Hourly values with a day, a column and text, that fall to a tenth in row 401."""
    rng = np.random.default_rng(4)
    hours = np.datetime64("2024-03-01", "h") + np.arange(600)
    price = rng.normal(size=600)
    y = 100 + 20 * np.sin(np.arange(600) * 2 * np.pi / 24) + 4 * price
    y = (y + 3 * rng.normal(size=600)) * np.where(np.arange(600) < COLLAPSE, 1, 0.1)
    sites = rng.choice(["north", "south"], 600)
    cells = zip(hours, price, sites, y, strict=True)
    return [
        "when,price,site,y\n",
        *(f"{when}:00,{a:.4f},{b},{label:.4f}\n" for when, a, b, label in cells),
    ]


@pytest.fixture
def stream(tmp_path, monkeypatch, lines):
    monkeypatch.chdir(tmp_path)
    return written(tmp_path / "stream.csv", lines)


def alarms_in(folder):
    (study,) = studies_in(folder / "study.json")
    return study["history"]["alarms"]


def test_alarms_do_not_depend_on_features(stream):
    features = {
        "plain": ("--features", "price"),
        "lags": ("--features", "price", "--lags", "1,2,24"),
        "calendar": ("--features", "price,site", "--calendar", "when", "--lags", "1"),
    }
    found = []
    for name, options in features.items():
        common = ("-t", "y", "--time", "when", "--no-report", "--out", name)
        outcome = thalweg("run", "stream.csv", *common, *options)
        assert outcome.exit_code == 0, outcome.output
        found.append(alarms_in(stream.parent / name))
    (alarm,) = found[0]
    assert found[1] == found[2] == [alarm]
    assert alarm["onset"] == COLLAPSE + 1 and alarm["row"] <= COLLAPSE + 8
    assert alarm["onset_time"] == "2024-03-17T16:00:00"
    assert alarm["text"].startswith("level fell by 90 %")


def test_a_resumed_run_has_the_alarms_of_one_run(stream, lines):
    head = written(stream.parent / "head.csv", lines[: COLLAPSE + 3])
    tail = written(stream.parent / "tail.csv", lines[:1] + lines[COLLAPSE + 3 :])
    options = ("-t", "y", "--time", "when", "--no-report")
    for command in (
        ("run", "stream.csv", *options, "--out", "whole"),
        ("run", head, *options, "--out", "cut"),
        ("run", tail, "--next", "--resume", "cut/model.thalweg", "--no-report"),
    ):
        outcome = thalweg(*command)
        assert outcome.exit_code == 0, outcome.output
    (alarm,) = alarms_in(stream.parent / "whole")
    assert alarms_in(stream.parent / "cut") == [alarm]
    assert "1 change. The last one, 17 March 2024 (row 401): level fell" in " ".join(
        thalweg("run", "stream.csv", *options, "--out", "again").output.split()
    )


def test_rows_of_five_minutes_can_be_cut_anywhere(stream):
    rng, rows = np.random.default_rng(5), 1500
    times = np.datetime64("2024-03-01T00:10", "m") + 5 * np.arange(rows)
    y = 100 + 30 * np.sin(np.arange(rows) * 2 * np.pi / 288) + 3 * rng.normal(size=rows)
    y[1200:] /= 10
    body = [f"{when},{v:.3f}\n" for when, v in zip(times, y, strict=True)]
    del body[700:760]
    folder, header = stream.parent, "when,y\n"
    whole = written(folder / "five.csv", [header, *body])
    head = written(folder / "head.csv", [header, *body[:1133]])
    tail = written(folder / "tail.csv", [header, *body[1133:]])
    options = ("-t", "y", "--no-report", "--out")
    for command in (
        ("run", whole, *options, "whole"),
        ("run", head, *options, "cut"),
        ("run", tail, "--next", "--resume", "cut/model.thalweg", "--no-report"),
    ):
        outcome = thalweg(*command)
        assert outcome.exit_code == 0, outcome.output
    (alarm,) = alarms_in(folder / "whole")
    assert alarms_in(folder / "cut") == [alarm]
    assert alarm["onset"] == 1141 and alarm["row"] <= 1149


def test_compare_sees_the_changes_that_run_sees(stream):
    common = ("-t", "y", "--time", "when", "--no-report", "--json")
    run = thalweg("run", "stream.csv", *common, "--out", "run")
    compared = thalweg("compare", "stream.csv", *common, "--out", "compared")
    assert run.exit_code == compared.exit_code == 0, compared.output
    (study,) = json.loads(compared.stdout)["studies"]
    assert study["alarm_count"] == 1
    assert study["alarms"] == alarms_in(stream.parent / "run")


def test_the_year_of_daily_rows_is_no_change_with_and_without_lags(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    rng, t = np.random.default_rng(5), np.arange(1000)
    days = np.datetime64("2020-03-01") + t
    year = 1000 + 200 * np.sin(2 * np.pi * t / 365.25) + 30 * rng.normal(size=1000)
    lines = [f"{day},{y:.1f}\n" for day, y in zip(days, year, strict=True)]
    written(tmp_path / "days.csv", ["day,y\n", *lines])
    for name, options in {"plain": (), "lags": ("--lags", "1,7")}.items():
        common = ("-t", "y", "--time", "day", "--no-report", "--out", name)
        outcome = thalweg("run", "days.csv", *common, *options)
        assert outcome.exit_code == 0, outcome.output
        assert alarms_in(tmp_path / name) == []
    lines = [line.split(",", 1)[1] for line in lines]
    written(tmp_path / "rows.csv", ["y\n", *lines])
    outcome = thalweg("run", "rows.csv", "-t", "y", "--no-report", "--out", "rows")
    assert outcome.exit_code == 0 and alarms_in(tmp_path / "rows") != []


def test_summer_time_is_no_alarm_where_times_are_in_utc(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    day = 50 + 5 * rng.normal(size=24)
    times = np.datetime64("2024-02-20", "h") + np.arange(1200)
    clock = np.arange(1200) + 1 * (times >= np.datetime64("2024-03-31T01"))
    y = day[clock % 24] + rng.normal(size=1200)
    later = times + np.timedelta64(60, "D")
    counts = {}
    for name, stamps in {"at the date": times, "later": later}.items():
        lines = [
            f"{when}:00Z,{label:.4f}\n" for when, label in zip(stamps, y, strict=True)
        ]
        written(tmp_path / f"{name}.csv", ["when,y\n", *lines])
        options = ("-t", "y", "--time", "when", "--no-report", "--out", name)
        outcome = thalweg("run", f"{name}.csv", *options)
        assert outcome.exit_code == 0, outcome.output
        counts[name] = len(alarms_in(tmp_path / name))
    assert counts["at the date"] == 0 < counts["later"]
